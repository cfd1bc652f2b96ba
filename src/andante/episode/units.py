"""The tables of a crowd's loops: a row for each unit, a record for each squad, and the cells of all units."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.kernel import generic
from andante.search.records import Index
from andante.world.layout import Arrays, Csr, GridArrays, Moves, Sixteen, Terrain

NOBODY = -1  # in place of a unit
NO_WISH = -1  # in place of a state
NO_TEAM = NO_ANNEX = 0  # in place of a team or an annex, where nothing is ever stored

# What a unit begins at its next move.
NOTHING_NEW, NEW_TRIAL, NEW_PROBLEM = 0, 1, 2

#: One row per unit.
UNIT = np.dtype(
    [
        # Fields that are read for every unit in every turn are in its first cache line.
        ("outcome", np.int64),
        ("turn", np.int64),  # the turn of its last move, or the one after which it set out
        ("wish", np.int64),  # with bodies: the state that its step has chosen, until it gets there; or NO_WISH
        ("state", np.int64),
        ("goal", np.int64),
        ("aim", np.int64),  # the goal's state when it last turned to it (`episode.pursuit`)
        ("annex", np.int32),
        ("team", np.int32),  # the units with which it shares what it learns; NO_TEAM if it learns for itself
        ("begins", np.int32),
        ("denied", np.int32),  # with bodies: turns since its wish could have been granted
        ("balance", np.float64),  # the amount that it has been given and not spent
        ("last", np.float64),  # the cost of its last move
        ("given", np.float64),  # the amount that a unit of priority 1 had been given when the balance was updated
        ("round", np.int64),  # the round of accounts that the balance belongs to
        ("priority", np.float64),
        ("moves", np.int64),
        ("cost", np.float64),
        ("expanded", np.int64),
        ("joined", np.int64),  # the turn after which it set out
        ("squad", np.int64),
        ("slot", np.int64),  # the slot of its mind in its squad
        ("problem", np.int64),  # the number of its team's problem
        ("restarts", np.int64),  # the number of times that it restarted because memory was full
        ("order", np.int64),  # with bodies: its moves, best first (`episode.wishes`), while it has a wish
        ("yields", np.int32),  # with bodies: turns in which it decides after all others
        ("arrived", np.bool_),  # with bodies: it has just arrived, and still holds what it learned
        ("anchored", np.bool_),  # its learned values belong to the state where it set out
    ],
    align=True,
)

#: A squad: the first fields are its own, the others the result of a turn.
SQUAD = np.dtype(
    [
        ("slots", np.int64),  # that are or were in use
        ("next", np.int64),  # the slot whose turn it is
        ("given", np.float64),  # the amount that a unit of priority 1 has been given
        ("round", np.int64),  # of accounts
        ("given_before", np.float64),  # the amount that it had been given when the round began
        ("mean", np.float64),  # cost of a move, over recent ones
        ("seen", np.int64),  # moves in the mean, including older ones ...
        ("total", np.float64),  # ... the total cost of the first of them ...
        ("highest", np.float64),  # ... and the most expensive one
        ("room", np.int64),  # bytes that minds may take
        ("annex_bytes", np.int64),  # the size of an annex without records; 0 if there are none
        ("annexes", np.int64),  # that are or were in use ...
        ("annexes_free", np.int64),  # ... and those of them that can be given out again
        ("pauses", np.int64),  # whether to wait for more memory when it is full; never in Python
        ("looked", np.int64),  # slots that were looked at before such a pause; 0 if there was none
        ("spent", np.float64),  # the amount that was spent before it
        ("walking", np.int64),  # units that were walking when the turn began ...
        ("weight", np.float64),  # ... and the sum of their priorities
        ("moved", np.int64),
        ("arrived", np.int64),
        ("unreachable", np.int64),
        ("stuck", np.int64),
        ("restarted", np.int64),
        ("expanded", np.int64),
        ("longest_wait", np.int64),  # turns since the last move of the unit that waits longest
        ("faulty", np.int64),  # a unit whose step returned a wrong move; NOBODY if all were correct
        ("fault", np.int64),  # the fault of that move (`episode.loop`) ...
        ("state", np.int64),  # ... which leads from this state ...
        ("wrong_to", np.int64),  # ... to this one ...
        ("wrong_cost", np.float64),  # ... at this cost
    ]
)


class Unit(NamedTuple):
    """One unit's memory, the pools that its own records are from, and the pools of its team's or its annex's records.

    No unit has both a team and an annex: units that learn together follow every change of the map and need no annex.
    """

    memory: Any
    pools: tuple[Index, ...]
    team_pools: tuple[Index, ...]


class Annexes(NamedTuple):
    """Memory that units are given when they need it. A new annex is a copy of number 0, which no unit uses."""

    bytes: npt.NDArray[np.uint8]  # [annexes * size], their single numbers
    head: npt.NDArray[Any]  # [annexes], of ANNEX; empty if there are none
    free: npt.NDArray[np.int32]  # [annexes], those that can be given out again: a stack
    size: int


class Ground(NamedTuple):
    """The rows and the cells of all units."""

    units: npt.NDArray[Any]  # [units], of UNIT
    cells: npt.NDArray[np.int32]  # [units, 2], x and y; not written on graphs without cells


@generic
def put(graph: Arrays, cells: npt.NDArray[np.int32], unit: int, state: int) -> None:
    """Write the cell that a unit is in."""
    raise TypeError(graph)


@put.of(Moves, Terrain, Sixteen)
def _put_on_grid(graph: GridArrays | Sixteen, cells: npt.NDArray[np.int32], unit: int, state: int) -> None:
    cells[unit, 0], cells[unit, 1] = graph.x[state], graph.y[state]


@put.of(Csr)
def _put_on_graph(graph: Csr, cells: npt.NDArray[np.int32], unit: int, state: int) -> None:
    pass
