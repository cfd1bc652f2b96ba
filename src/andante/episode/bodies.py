"""Bodies: no two units in one cell, no two units swap places, and no diagonal moves cross.

This is priority inheritance with backtracking (PIBT), Okumura, Machida, Défago and Tamura (2022), applied to the wishes
of real-time agents. In each turn units decide in the order in which they set out. A unit takes the first place of its
list that no other unit has taken. The list begins with the state that its agent wishes to go to. Then come the other
neighbours and its own state, ordered by the cost of the move plus the agent's estimate of the rest of the path: its
learned value if there is one (`episode.wishes`), else the heuristic. If an undecided unit is there, that unit decides
first, with the priority of the unit that pushes it. If it cannot leave, the next place is tried. Every unit decides
once, so a turn takes time in proportion to the units.

The unit that set out first gets its wish if every move of the map is on a cycle, so it walks as if it were alone. If
its agent is complete it arrives, and then gives way to all other units. So all units arrive eventually, if not at the
same time. A unit that has arrived may be pushed away from its goal, and still counts as arrived.

A wish that is not granted is kept until it is, and the agent does not plan again. An agent that was pushed elsewhere
begins a new trial. A unit whose wish was denied for a while goes anywhere else rather than stay, and then yields: for
some turns it decides after all others. In dead ends, which the theorem does not cover, this resolves most jams: the
unit at the end leaves, and pushes the other back to where it can pass. Where the theorem holds, yielding makes no
difference. The first unit is never denied, and one that was denied before it became the first yields for only a few
turns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.episode.units import NEW_PROBLEM, NEW_TRIAL, NO_WISH, Ground, put
from andante.episode.wishes import UNRANKED, ranked
from andante.kernel import generic, int64, kernel
from andante.measures.outcome import Outcome
from andante.search.path import price_between
from andante.world.layout import Arrays, Csr, GridArrays, Moves, Sixteen, Terrain, degree, estimate, price, target
from andante.world.layout import unit as unit_of

_WALKING, _GOAL = int(Outcome.WALKING), int(Outcome.GOAL)

FREE = 0  # no unit, in place of 1 + a unit
UNDECIDED = -1
PATIENCE = 8  # turns for which a unit waits for its wish
YIELDING = 32  # turns for which it then yields to all others, enough for units behind it to get out of a dead end


class Bodies(NamedTuple):
    """The positions of units, the places that they will go to, and the chain of units that push each other."""

    standing: npt.NDArray[np.int32]  # [n], 1 + the unit in a state, or FREE
    taken: npt.NDArray[np.int32]  # [n], 1 + the unit that will be there, or FREE; all FREE between turns
    next: npt.NDArray[np.int64]  # [units], the state in which each will be, or UNDECIDED
    chain: npt.NDArray[np.int32]  # [units], units that decide; each is pushed by the one before
    place: npt.NDArray[np.int64]  # [units, places], the places that each of them may take, best first
    value: npt.NDArray[np.float64]  # [places], the values of the places while they are sorted
    listed: npt.NDArray[np.int32]  # [units], how many places each has ...
    tried: npt.NDArray[np.int32]  # [units], ... and how many it has tried

    @classmethod
    def over(cls, states: int, units: int, most_moves: int) -> Bodies:
        """Return bodies for this many units, none of which has a place yet."""
        places = most_moves + 1
        return cls(
            np.zeros(states, np.int32),
            np.zeros(states, np.int32),
            np.zeros(units, np.int64),
            np.zeros(units, np.int32),
            np.zeros((units, places), np.int64),
            np.zeros(places),
            np.zeros(units, np.int32),
            np.zeros(units, np.int32),
        )

    @property
    def of_units(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays that grow with the number of units, not with the map."""
        return self.next, self.chain, self.place, self.listed, self.tried


@kernel
def resolve(graph: Arrays, ground: Ground, bodies: Bodies, order: npt.NDArray[np.int32]) -> int:
    """Move all units that can move, and return how many did; ``order`` int32[any] is the order in which they decide."""
    for i in range(len(order)):
        bodies.next[order[i]] = UNDECIDED
    _decide_all(graph, ground, bodies, order, False)
    _decide_all(graph, ground, bodies, order, True)
    moved = 0
    for i in range(len(order)):
        unit = int64(order[i])
        if bodies.next[unit] == UNDECIDED:
            bodies.next[unit] = ground.units[unit]["state"]
        bodies.standing[ground.units[unit]["state"]] = FREE
    for i in range(len(order)):
        unit = int64(order[i])
        moved += _go(graph, ground, bodies, unit)
    return moved


@kernel
def _decide_all(graph: Arrays, ground: Ground, bodies: Bodies, order: npt.NDArray[np.int32], yielding: bool) -> None:
    """Decide in this order for all units with a wish: either those that yield or those that do not."""
    for i in range(len(order)):
        unit = int64(order[i])
        row = ground.units[unit]
        if row["outcome"] == _WALKING and bodies.next[unit] == UNDECIDED and (row["yields"] > 0) == yielding:
            _decide(graph, ground, bodies, unit)


@kernel
def _decide(graph: Arrays, ground: Ground, bodies: Bodies, unit: int) -> None:
    """Decide where a unit goes, and where the units go that it pushes."""
    depth = 0
    _list_places(graph, ground, bodies, 0, unit)
    while depth >= 0:
        unit = int64(bodies.chain[depth])
        here = ground.units[unit]["state"]
        if bodies.tried[depth] == bodies.listed[depth]:  # it cannot leave, and keeps its place
            bodies.next[unit], bodies.taken[here] = here, unit + 1
            depth -= 1
            continue
        to = bodies.place[depth, bodies.tried[depth]]
        bodies.tried[depth] += 1
        other = int64(bodies.standing[to]) - 1
        if bodies.taken[to] != FREE or (other >= 0 and other != unit and bodies.next[other] == here):
            continue
        if _crosses(graph, bodies, here, to):
            continue
        bodies.next[unit], bodies.taken[to] = to, unit + 1
        if other < 0 or other == unit or bodies.next[other] != UNDECIDED:
            return  # every unit in the chain gets the place that the next one leaves
        depth += 1
        _list_places(graph, ground, bodies, depth, other)


@kernel
def _list_places(graph: Arrays, ground: Ground, bodies: Bodies, depth: int, unit: int) -> None:
    """List the places that a unit may take, best first, as the next in the chain."""
    row = ground.units[unit]
    bodies.chain[depth], bodies.tried[depth] = unit, 0
    if row["wish"] == NO_WISH:
        count = _list_by_heuristic(graph, bodies, depth, 0, row, -np.inf)
    else:
        count = 0
        if row["wish"] != row["state"]:
            bodies.place[depth, 0], count = row["wish"], 1
        if row["order"] != UNRANKED:
            count = _list_in_order(graph, bodies, depth, count, row)
        else:
            stay = estimate(graph, row["state"], row["goal"]) + unit_of(graph)
            count = _list_by_heuristic(graph, bodies, depth, count, row, stay if row["denied"] < PATIENCE else np.inf)
    bodies.listed[depth] = count


@kernel
def _list_in_order(graph: Arrays, bodies: Bodies, depth: int, count: int, row: Any) -> int:
    """List places in the unit's order, but staying last if its patience has run out, and return their number."""
    here, moves = row["state"], degree(graph, row["state"])
    for i in range(moves + 1):
        k = ranked(row["order"], i)
        near = target(graph, here, k) if k < moves else here
        if (near == row["wish"] and near != here) or (k == moves and row["denied"] >= PATIENCE):
            continue
        bodies.place[depth, count] = near
        count += 1
    if row["denied"] >= PATIENCE:
        bodies.place[depth, count] = here
        count += 1
    return count


@kernel
def _list_by_heuristic(graph: Arrays, bodies: Bodies, depth: int, count: int, row: Any, stay: float) -> int:
    """List places by cost plus heuristic, and staying with the value ``stay``, and return their number."""
    here, goal, first, moves = row["state"], row["goal"], count, degree(graph, row["state"])
    for k in range(moves + 1):
        near = target(graph, here, k) if k < moves else here
        if near == row["wish"] and near != here:
            continue
        value, at = price(graph, here, k) + estimate(graph, near, goal) if k < moves else stay, count
        while at > first and bodies.value[at - 1] > value:
            bodies.value[at], bodies.place[depth, at] = bodies.value[at - 1], bodies.place[depth, at - 1]
            at -= 1
        bodies.value[at], bodies.place[depth, at] = value, near
        count += 1
    return count


@generic
def _crosses(graph: Arrays, bodies: Bodies, here: int, to: int) -> bool:
    """Return whether a move would cross the path of a unit that has decided."""
    raise TypeError(graph)


@_crosses.of(Csr, Sixteen)
def _never(graph: Csr | Sixteen, bodies: Bodies, here: int, to: int) -> bool:
    return False


@_crosses.of(Moves, Terrain)
def _diagonals(graph: GridArrays, bodies: Bodies, here: int, to: int) -> bool:
    if graph.x[here] == graph.x[to] or graph.y[here] == graph.y[to]:
        return False
    width = graph.offset[4]  # from a cell to the one below it
    beside = here + int64(graph.x[to]) - int64(graph.x[here])
    above = here + (int64(graph.y[to]) - int64(graph.y[here])) * width
    one, other = int64(bodies.standing[beside]) - 1, int64(bodies.standing[above]) - 1
    return (one >= 0 and bodies.next[one] == above) or (other >= 0 and bodies.next[other] == beside)


@kernel
def _go(graph: Arrays, ground: Ground, bodies: Bodies, unit: int) -> int:
    """Move a unit to the place that it has taken, and return 1 if it moved, else 0."""
    row, to = ground.units[unit], bodies.next[unit]
    here = row["state"]
    bodies.standing[to], bodies.taken[to] = unit + 1, FREE
    granted = to == row["wish"]
    row["yields"] = max(row["yields"] - 1, 0)
    if to != here and not granted and row["denied"] >= PATIENCE:
        row["yields"] = YIELDING
    row["denied"] = 0 if granted or to != here or row["wish"] == NO_WISH else row["denied"] + 1
    if granted or to != here:
        row["wish"] = NO_WISH
    if to == here:
        return 0
    if not granted and row["outcome"] == _WALKING:
        begins = NEW_PROBLEM if row["anchored"] else NEW_TRIAL
        row["begins"] = max(row["begins"], begins)
    row["state"] = to
    row["cost"] += price_between(graph, here, to)
    row["moves"] += 1
    put(graph, ground.cells, unit, to)
    if row["outcome"] == _WALKING and to == row["goal"]:
        row["outcome"], row["arrived"] = _GOAL, True
    return 1


@kernel
def drop_wishes(graph: Arrays, ground: Ground) -> int:
    """Drop the wishes that the map no longer allows, and return how many; their units begin a new trial.

    Other wishes are kept, but not the order of the moves, which were numbered before the map changed.
    """
    dropped = 0
    for unit in range(len(ground.units)):
        row = ground.units[unit]
        row["order"] = UNRANKED
        if row["wish"] == NO_WISH or row["wish"] == row["state"]:
            continue
        if price_between(graph, row["state"], row["wish"]) == np.inf:
            row["wish"], row["begins"] = NO_WISH, max(row["begins"], NEW_TRIAL)
            dropped += 1
    return dropped


def order_of(rows: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the indices of units in the order in which they decide, beginning with those that set out first."""
    return np.lexsort((np.arange(len(rows)), rows["joined"]))
