"""Checks for both agents and crowds: the goals that databases are for, and the moves that steps return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.agent import Algorithm
from andante.databases.header import Database, pick
from andante.episode.loop import NO_MOVE, NO_STATE
from andante.errors import AlgorithmError, AndanteError
from andante.faults import has_passed, raised
from andante.world.graph import Graph
from andante.world.grid import Grid


def place_name(world: Grid | Graph, state: int) -> str:
    """Return the name of a state for messages, which is a cell on grids."""
    if isinstance(world, Grid) and 0 <= state < len(world.graph):
        return str(world.cell(state))
    return f"state {state}"


def wrong_move(algorithm: Algorithm, world: Grid | Graph, row: npt.NDArray[Any], fault: int) -> str:
    """Return a sentence about a wrong move that a step returned, and about the moves that it may return.

    ``row`` is a row of an episode or of a squad, with the fields ``state``, ``wrong_to`` and ``wrong_cost``.
    """
    cost = float(row["wrong_cost"])
    here, there = place_name(world, int(row["state"])), place_name(world, int(row["wrong_to"]))
    allowed = "its step must return a neighbour of the agent's state and the cost of the move, or wait at cost 0"
    if fault == NO_STATE:
        what = f"to state {row['wrong_to']}, which does not exist: there are {len(world.graph)}"
    elif fault == NO_MOVE:
        what = f"from {here} to {there}, which is not a move"
    elif row["wrong_to"] == row["state"]:
        what = f"nowhere from {here} and returned the cost {cost:g}, but waiting costs nothing"
    else:
        near = world.graph.neighbours(int(row["state"]))
        true = next(price for state, price in near if state == row["wrong_to"])
        what = f"from {here} to {there} and returned the cost {cost:.10g}, but it costs {true:.10g}"
    return f"{algorithm} went {what}; {allowed}"


def explained(algorithm: Algorithm, error: Exception) -> Exception:
    """Return an error of one sentence for an exception in the algorithm's step; return other exceptions unchanged."""
    if isinstance(error, AndanteError) or not has_passed(algorithm.step, error):
        return error
    return raised(algorithm.step, error)


def covering(algorithm: Algorithm, databases: Sequence[Any], graph: Graph) -> list[tuple[str, Database]]:
    """Return the databases that the algorithm needs, with their kinds; each may cover only some goals."""
    given = [one for one in databases if isinstance(one, Database)]
    return [(kind, pick(given, kind, graph, who=str(algorithm))) for kind in (algorithm.needs if given else ())]


def check_goals(used: list[tuple[str, Database]], world: Grid | Graph, goals: npt.ArrayLike) -> None:
    """Raise `AlgorithmError` for goals that one of these databases was not built for."""
    states = np.asarray(goals, np.int64)
    for kind, one in used:
        lacking = np.flatnonzero(~one.covers(world.graph, states))
        if len(lacking):
            raise AlgorithmError(
                f"the database of kind {kind!r} was built for other goals than "
                f"{place_name(world, int(states[lacking[0]]))}; build one that has it among its goals, or one for all "
                "goals"
            )
