"""The loop that drives every agent: one compiled function per algorithm, for one move or for a million problems.

`drive` takes a table of episodes and runs each to its end, in order. It returns early when the trail, to which it
writes each move, is full, when it has worked for a while, so that the caller can look at the moves, show progress or
stop, or when the agent asks for more memory. The next call resumes there. `watch` calls it with a trail of one move,
`run_many` without a trail, and `Agent.move` with patience for one move. It is bound once to the result of `loop_parts`.

Before each step the agent looks around. The graph passed to its step contains only the part of the map that it knows.
After the step, the move is checked against the true graph: an agent moves along its arcs, at their cost, or waits at no
cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.agent import STUCK, UNREACHABLE, Move
from andante.episode.pursuit import lost_aim, next_aim
from andante.episode.tables import EPISODE, TIMES, TRAIL
from andante.kernel import generic, instantiate, int64, interpreted, kernel, nanoseconds, placeholder
from andante.measures.outcome import Outcome
from andante.search.memory import Clock, begin_problem, catch_up
from andante.world.changes import Changes
from andante.world.layout import PRICE, Arrays, Csr, Moves, Sixteen, Terrain, degree, direction_to, price, size, target
from andante.world.sensing import View, doubt, forget, is_asking, is_cut_off, model, sense

_WAITING, _WALKING, _GOAL = int(Outcome.WAITING), int(Outcome.WALKING), int(Outcome.GOAL)
_COST_CAP, _MOVE_CAP, _EXPANSION_CAP = int(Outcome.COST_CAP), int(Outcome.MOVE_CAP), int(Outcome.EXPANSION_CAP)
_STUCK, _UNREACHABLE = int(Outcome.STUCK), int(Outcome.UNREACHABLE)

# In place of an outcome: the fault of the move that the step returned, stored in ``wrong_to`` and ``wrong_cost``.
NO_STATE = -1  # such a state does not exist
NO_MOVE = -2  # no move leads to this state
WRONG_COST = -3  # the move costs something else

WRONG_MOVE = -1  # returned by the loop, minus the index of the episode

_SLACK = 1e-9  # relative error that a cost may have


step = placeholder(Move, "makes one move of an algorithm (graph, memory, params, state, goal)")


@kernel
def wrong(graph: Arrays, state: int, to: int, cost: float) -> int:
    """Return the fault of a move from ``state`` to ``to`` at this cost; 0 if it is correct."""
    if to == state:
        return 0 if cost == 0.0 else WRONG_COST
    if to < 0 or to >= size(graph):
        return NO_STATE
    return _fault(graph, state, to, cost)


@generic
def _fault(graph: Arrays, state: int, to: int, cost: float) -> int:
    """Return the fault of a move to another state: NO_MOVE, WRONG_COST, or 0 if it is correct."""
    raise TypeError(graph)


@_fault.of(Csr, Terrain, Sixteen)
def _fault_on_a_graph(graph: Arrays, state: int, to: int, cost: float) -> int:
    fault = NO_MOVE
    for k in range(degree(graph, state)):
        if target(graph, state, k) == to:
            if abs(price(graph, state, k) - cost) <= _SLACK * price(graph, state, k):
                return 0
            fault = WRONG_COST  # unless another arc leads there too
    return fault


@_fault.of(Moves)
def _fault_on_a_grid(graph: Moves, state: int, to: int, cost: float) -> int:
    """Look up the direction, because the branches of a search for it are hard to predict."""
    direction = direction_to(graph, state, to)
    if not int64(graph.mask[state]) >> direction & 1:
        return NO_MOVE
    return 0 if abs(PRICE[direction] - cost) <= _SLACK * PRICE[direction] else WRONG_COST


def drive(
    graph: Arrays,
    view: View,
    memory: Any,
    params: Any,
    clock: Clock,
    changes: Changes,
    scratch: npt.NDArray[np.int64],
    episodes: npt.NDArray[Any],
    trail: npt.NDArray[Any],
    times: npt.NDArray[np.int64],
    patience: int,
) -> int:
    """Run all episodes until they end, the trail is full, or ``patience`` expansions and moves are spent.

    The loop also pauses when the agent asks for more memory.

    Return the index of the first episode that has not ended, the number of episodes if all have, or WRONG_MOVE minus
    the index of one in which the step returned a move that does not exist. ``episodes`` is EPISODE[any], ``trail`` is
    TRAIL[any] (if empty, moves are not written), and ``scratch`` is int64[2]. ``times`` int64[any] gets the nanoseconds
    from the end of the previous move to the end of each move in the trail, as far as it is long enough. Reading the
    clock takes a quarter of the time of a cheap move, so it is optional.
    """
    written, spent, known = 0, 0, model(view, graph)
    for i in range(len(episodes)):
        outcome = episodes[i]["outcome"]
        if outcome > _WALKING:
            continue
        if outcome == _WAITING:
            if episodes[i]["again"] == 0:
                forget(view)
                begin_problem(clock[0], changes.scalars[0]["opened"])
            clock[0]["trial"] += 1
            episodes[i]["state"] = episodes[i]["start"]
            outcome = _WALKING
        catch_up(clock[0], changes.scalars[0]["opened"])
        began = nanoseconds(scratch)
        before = began
        state, goal, cost_cap = episodes[i]["state"], episodes[i]["goal"], episodes[i]["cost_cap"]
        aim = episodes[i]["aim"]
        move_cap, expansion_cap = episodes[i]["move_cap"], episodes[i]["expansion_cap"]
        cost, moves, learned, stored = (
            episodes[i]["cost"],
            episodes[i]["moves"],
            episodes[i]["learned"],
            episodes[i]["stored"],
        )
        expanded, touched = episodes[i]["expanded"], episodes[i]["touched"]
        most, discovered = episodes[i]["max_expanded"], episodes[i]["discovered"]
        paused = False
        while outcome == _WALKING:
            if (len(trail) > 0 and written == len(trail)) or spent >= patience or is_asking(view):
                paused = True
                break
            found = sense(view, state)
            discovered += found
            if found > 0:
                era = clock[0]["era"]
                catch_up(clock[0], changes.scalars[0]["opened"])
                if clock[0]["era"] != era:  # cells were found open again, so plans made without them are dropped
                    clock[0]["trial"] += 1
            if is_cut_off(view, state, goal):
                if doubt(view):
                    aim = lost_aim(clock, changes, goal)
                    continue
                outcome = _UNREACHABLE
                break
            if aim != goal:
                aim = next_aim(clock, changes, known, state, aim, goal)
            move = step(known, memory, params, state, aim)
            expanded += move.expanded
            touched += move.touched
            learned += move.learned
            stored += move.stored
            most = max(most, move.expanded)
            spent += move.expanded + 1
            if moves == 0:
                episodes[i]["first_expanded"], episodes[i]["first_touched"] = move.expanded, move.touched
                episodes[i]["first_nanoseconds"] = nanoseconds(scratch) - began
            if move.to == UNREACHABLE and aim != goal:  # the goal has moved since
                aim = lost_aim(clock, changes, goal)
                continue
            if move.to == UNREACHABLE and doubt(view):
                aim = lost_aim(clock, changes, goal)
                continue
            if move.to == STUCK or move.to == UNREACHABLE:
                outcome = _STUCK if move.to == STUCK else _UNREACHABLE
                break
            fault = wrong(graph, state, move.to, move.cost)
            if fault != 0:
                outcome, episodes[i]["wrong_to"], episodes[i]["wrong_cost"] = fault, move.to, move.cost
                break
            state = move.to
            cost += move.cost
            moves += 1
            if written < len(trail):
                trail[written]["state"] = state
                trail[written]["cost"] = move.cost
                trail[written]["expanded"] = move.expanded
                trail[written]["touched"] = move.touched
                trail[written]["learned"] = move.learned
                trail[written]["discovered"] = found
                if written < len(times):
                    now = nanoseconds(scratch)
                    times[written], before = now - before, now
                written += 1
            if state == goal:
                outcome = _GOAL
            elif cost > cost_cap:
                outcome = _COST_CAP
            elif moves >= move_cap:
                outcome = _MOVE_CAP
            elif expanded >= expansion_cap:
                outcome = _EXPANSION_CAP
        episodes[i]["outcome"], episodes[i]["state"], episodes[i]["cost"], episodes[i]["moves"] = (
            outcome,
            state,
            cost,
            moves,
        )
        episodes[i]["aim"] = aim
        episodes[i]["expanded"], episodes[i]["max_expanded"], episodes[i]["touched"] = expanded, most, touched
        episodes[i]["learned"], episodes[i]["stored"], episodes[i]["discovered"] = learned, stored, discovered
        episodes[i]["nanoseconds"] += nanoseconds(scratch) - began
        if paused:
            return i
        if outcome < 0:
            return WRONG_MOVE - i
    return len(episodes)


@cache
def driver(step_kernel: Callable[..., Move]) -> Callable[..., int]:
    """Return the loop for one algorithm's step; named settings of an algorithm share it."""
    home = step_kernel.__module__.rpartition(".")[2]
    name = f"drive_{home}_{step_kernel.__name__}"  # distinguishes them in the cache
    return instantiate(drive, name, step=step_kernel)


def plain_driver(
    step_kernel: Callable[..., Move], instead: Mapping[Callable[..., Any], Callable[..., Any]]
) -> Callable[..., int]:
    """Return the same loop in plain Python, without a clock and with some functions that the step calls replaced."""
    return interpreted(drive, {step: interpreted(step_kernel, instead), nanoseconds: lambda scratch: 0})


def loop_parts(graph: Arrays, view: View, memory: Any, params: Any, clock: Clock, changes: Changes) -> tuple[Any, ...]:
    """Return the arguments that a loop of `driver` is bound to; the others are three arrays and its patience."""
    scratch = np.zeros(2, np.int64)
    return graph, view, memory, params, clock, changes, scratch, EPISODE, TRAIL, TIMES
