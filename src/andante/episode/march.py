"""One turn of many units: each moves at most once, until a budget is spent.

`march` drives the same step kernels as `episode.loop`. The units of a squad have the same algorithm: they share a desk,
and each has its own mind. A squad takes its units in a circle: where the budget of one turn ends, the next turn begins.

A turn is fair in what units really spend, by deficit round-robin (Shreedhar and Varghese 1996). In each turn every unit
that is still walking is given its share of the budget, in proportion to its priority, and pays for its moves from its
account. A unit moves if it has been given enough for another move like its last one. When all units could move, all
accounts are reset. Without a budget no unit pays.

So waits are bounded. Let a move of unit i cost at most c(i), let p(i) be its priority and P the sum of all priorities,
and let a tick spend B. After a move a unit owes at most c(i), and is then given p(i) B / P in each tick. After at most
2 c(i) P / (p(i) B) ticks it has enough for another such move. From then on it waits only for its turn. Its squad is
first in every k-th tick, if the lane has k squads, and takes its units in a circle. So after at most k (C / B + 1)
ticks, where C is the sum of c(j) over its squad, all units before it have had a turn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import NEEDS_ANNEX, STUCK, UNREACHABLE, Move
from andante.episode.holdings import (
    give_back_annex,
    lost_of_all,
    release_all,
    restart,
    restart_largest,
    take_annex,
    tidy_all,
    used_by_all,
)
from andante.episode.loop import wrong
from andante.episode.pursuit import has_strayed, keeps_knowledge
from andante.episode.units import (
    NEW_PROBLEM,
    NO_ANNEX,
    NO_TEAM,
    NO_WISH,
    NOBODY,
    NOTHING_NEW,
    Annexes,
    Ground,
    Unit,
    put,
)
from andante.episode.wishes import MOST_RANKED, ranker
from andante.kernel import Each, instantiate, kernel, nanoseconds, nth, placeholder, prefetch
from andante.measures.outcome import Outcome
from andante.search.memory import Clock, begin_problem, catch_up, set_problem
from andante.search.records import Index, prefetch_expected, prefetch_holder, prefetch_place
from andante.world.changes import Changes
from andante.world.layout import Arrays, prefetch_around

_WALKING, _GOAL = int(Outcome.WALKING), int(Outcome.GOAL)
_STUCK, _UNREACHABLE = int(Outcome.STUCK), int(Outcome.UNREACHABLE)

LEAD = 2  # units by which a prefetch is ahead of its use
UNUSUAL = 16.0  # times the mean cost of a move, the most that a unit pays by the clock for one, and saves
MEAN_OF = 64.0  # moves over which the mean is taken, roughly


class Scratch(NamedTuple):
    """The scratch memory of a squad's loop."""

    clock: npt.NDArray[np.int64]  # [4], for reading the clock; outside Python the last two are the host's
    worth: npt.NDArray[np.float64]  # [moves], for ranking moves

    @classmethod
    def new(cls) -> Scratch:
        """Return arrays for a squad."""
        return cls(np.zeros(4, np.int64), np.zeros(MOST_RANKED + 1))


step = placeholder(Move, "makes one move of an algorithm (graph, memory, params, state, goal)")
rank = placeholder(int, "ranks the moves of a state (graph, memory, worth, state, goal)")


@kernel
def begin_turn(ground: Ground, members: npt.NDArray[np.int32], squad: npt.NDArray[Any]) -> float:
    """Begin a turn of a squad, and return the sum of the priorities of the units that walk."""
    at = squad[0]
    walking, weight = 0, 0.0
    for slot in range(at["slots"]):
        unit = members[slot]
        if unit != NOBODY and ground.units[unit]["outcome"] == _WALKING:
            walking += 1
            weight += ground.units[unit]["priority"]
    at["walking"], at["weight"] = walking, weight
    at["moved"] = at["arrived"] = at["unreachable"] = at["stuck"] = at["restarted"] = at["expanded"] = 0
    at["longest_wait"], at["faulty"] = 0, NOBODY
    return weight


def march(
    graph: Arrays,
    crew: Each,
    params: Any,
    clock: Clock,
    team_clock: Clock,
    changes: Changes,
    ground: Ground,
    members: npt.NDArray[np.int32],
    squad: npt.NDArray[Any],
    scratch: Scratch,
    annexes: Annexes,
    turn: int,
    budget: float,
    share: float,
    everybody: bool,
    timed: bool,
    bodies: bool,
) -> float:
    """Move the units of a squad, each at most once in this turn, until ``budget`` is spent; return what was spent.

    With ``bodies`` units only choose the state that they wish to go to. Units whose last wish was not granted do not
    plan again.

    If memory is full after a move, the unit that holds most restarts. A squad that ``pauses`` stops there instead, and
    the next call, with the same budget and no share, resumes as if it had not stopped.

    ``members`` int32[slots] contains the unit of each slot, or NOBODY. ``share`` is given to each unit that walks,
    times its priority. A unit moves if it has been given the cost of its last move, or if ``everybody`` may. This may
    be called again in the same turn with the rest of the budget. Budgets are in expansions or, if ``timed``, in
    nanoseconds.
    """
    at = squad[0]
    at["given"] += share
    opened = changes.scalars[0]["opened"]
    spent_before = at["spent"]
    began, spent = nanoseconds(scratch.clock), spent_before
    before = began
    first, k = at["next"], at["looked"] - 1
    has_moved = at["looked"] > 0
    at["looked"], at["spent"] = 0, 0.0
    while True:
        if has_moved and _has_to_pause(crew, annexes, ground, members, squad):
            at["looked"], at["spent"] = k + 1, spent
            break
        has_moved = False
        if k + 1 >= at["slots"]:
            break
        k += 1
        slot = first + k if first + k < at["slots"] else first + k - at["slots"]
        _look_out(graph, crew, ground, members, at["slots"], slot)
        unit = members[slot]
        if unit == NOBODY:
            continue
        row = ground.units[unit]
        if row["outcome"] != _WALKING or row["turn"] == turn:
            continue
        if row["wish"] != NO_WISH:
            row["turn"] = turn
            at["moved"] += 1
            continue
        _settle(row, at)
        if not everybody and row["balance"] < row["last"]:
            continue
        if spent >= budget:
            at["next"] = slot
            break
        if row["aim"] != row["goal"]:
            _turn(graph, clock, row, slot)
        one = nth(crew, slot, row["team"] + row["annex"])
        if row["begins"] != NOTHING_NEW:
            _begin(one, annexes, clock, team_clock, row, at, slot, opened)
            one = nth(crew, slot, row["team"])  # without the annex that it has released
        catch_up(clock[slot], opened)
        catch_up(team_clock[slot], opened)
        lost = lost_of_all(one.pools) + lost_of_all(one.team_pools)
        move = step(graph, one.memory, params, row["state"], row["aim"])
        complete = lost_of_all(one.pools) + lost_of_all(one.team_pools) == lost
        if move.to == NEEDS_ANNEX and complete:
            take_annex(annexes, row, at)
            k -= 1  # the same unit again
            continue
        cost = float(move.expanded)
        if timed:
            now = nanoseconds(scratch.clock)
            cost, before = float(now - before), now
        spent += cost
        if not everybody:
            _pay(row, _price(at, cost, timed))
        _note(row, at, move, turn)
        if not complete:
            restart(one, annexes, row, at)
            continue
        if _is_possible(graph, row, at, unit, move):
            if bodies:
                row["wish"], row["order"] = move.to, rank(graph, one.memory, scratch.worth, row["state"], row["aim"])
            else:
                _walk(graph, ground, row, at, unit, move)
        if row["outcome"] != _WALKING:
            release_all(one.pools)
            give_back_annex(one, annexes, row, at)
        tidy_all(one.pools)
        tidy_all(one.team_pools)
        has_moved = True
    if timed:  # including the search, after the last move, for others that could pay for theirs
        spent = spent_before + float(nanoseconds(scratch.clock) - began)
    return spent


@kernel
def end_turn(ground: Ground, members: npt.NDArray[np.int32], squad: npt.NDArray[Any], turn: int) -> None:
    """End a turn: find the longest wait, and if no unit has to wait, reset the accounts."""
    at = squad[0]
    longest = 0
    if at["moved"] < at["walking"]:
        for slot in range(at["slots"]):
            unit = members[slot]
            if unit != NOBODY and ground.units[unit]["outcome"] == _WALKING:
                longest = max(longest, turn - ground.units[unit]["turn"])
    else:
        at["round"] += 1
        at["given_before"] = at["given"]
    at["longest_wait"] = longest


@kernel
def _look_out(graph: Arrays, crew: Each, ground: Ground, members: npt.NDArray[np.int32], slots: int, slot: int) -> None:
    """Prefetch the data of the next units, because each is in another place on the map and in memory.

    Their rows come first, then their states and the indices of their records, then the records.
    """
    far, near, next_one = slot + 3 * LEAD, slot + 2 * LEAD, slot + LEAD
    if far < slots:
        prefetch(ground.units, members[far])
    if near < slots and members[near] != NOBODY:
        prefetch_around(graph, ground.units[members[near]]["state"])
        _prefetch_holders(nth(crew, near, NO_TEAM).pools)
        if ground.units[members[near]]["annex"] != NO_ANNEX:
            _prefetch_holders(nth(crew, near, ground.units[members[near]]["annex"]).team_pools)
    if next_one < slots and members[next_one] != NOBODY:
        row = ground.units[members[next_one]]
        _prefetch_records(nth(crew, next_one, NO_TEAM).pools, row["state"])
        if row["annex"] != NO_ANNEX:
            _prefetch_records(nth(crew, next_one, row["annex"]).team_pools, row["state"])


@kernel
def _prefetch_holders(pools: tuple[Index, ...]) -> None:
    for i in range(len(pools)):
        prefetch_holder(pools[i])


@kernel
def _prefetch_records(pools: tuple[Index, ...], state: int) -> None:
    for i in range(len(pools)):
        prefetch_place(pools[i], state)
        prefetch_expected(pools[i])


@kernel
def _has_to_pause(
    crew: Each, annexes: Annexes, ground: Ground, members: npt.NDArray[np.int32], squad: npt.NDArray[Any]
) -> bool:
    """Return whether to wait for more memory; if not, restart units until there is enough."""
    at = squad[0]
    while used_by_all(nth(crew, 0, NO_TEAM), at) > at["room"]:
        if at["pauses"]:
            return True
        if not restart_largest(crew, annexes, ground, members, squad):
            return False
    return False


@kernel
def _settle(row: Any, at: Any) -> None:
    """Give a unit its share of all turns since its account was last updated."""
    if row["round"] != at["round"]:
        row["round"], row["balance"], row["given"] = at["round"], 0.0, at["given_before"]
    row["balance"] += row["priority"] * (at["given"] - row["given"])
    row["balance"] = min(row["balance"], UNUSUAL * max(row["last"], at["mean"]) * max(row["priority"], 1.0))
    row["given"] = at["given"]


@kernel
def _turn(graph: Arrays, clock: Clock, row: Any, slot: int) -> None:
    """Update the aim of a unit whose goal has moved, if it should turn to it."""
    if not has_strayed(graph, row["state"], row["aim"], row["goal"]):
        return
    if not keeps_knowledge(clock[slot], graph, row["aim"], row["goal"]):
        row["begins"] = NEW_PROBLEM
    row["aim"] = row["goal"]


@kernel
def _begin(
    one: Unit, annexes: Annexes, clock: Clock, team_clock: Clock, row: Any, at: Any, slot: int, opened: int
) -> None:
    """Begin a new problem or a new trial if the unit has to; ``opened`` is the number of cells opened so far."""
    give_back_annex(one, annexes, row, at)
    if row["begins"] == NEW_PROBLEM:
        release_all(one.pools)
        begin_problem(clock[slot], opened)
        if row["team"] != NO_TEAM:
            set_problem(team_clock[slot], row["problem"], opened)
    clock[slot]["trial"] += 1
    row["begins"] = NOTHING_NEW


@kernel
def _note(row: Any, at: Any, move: Move, turn: int) -> None:
    """Note that a unit had its turn."""
    row["expanded"] += move.expanded
    row["turn"] = turn
    at["moved"] += 1
    at["expanded"] += move.expanded


@kernel
def _pay(row: Any, paid: float) -> None:
    """Charge a unit for its move."""
    row["balance"] -= paid
    row["last"] = paid


@kernel
def _price(at: Any, cost: float, timed: bool) -> float:
    """Return the price that a unit pays for a move, and update the mean.

    By the clock, a move may take a hundred times as long as usual because the machine did something else. So no unit
    pays more than UNUSUAL means. By the clock the first moves are free, because there is no mean yet and the very first
    one touches new memory. The highest of them does not count.
    """
    at["seen"] += 1
    if not timed:
        at["mean"] += (cost - at["mean"]) / min(at["seen"], MEAN_OF)
        return cost
    if at["seen"] <= MEAN_OF:
        at["total"] += cost
        at["highest"] = max(at["highest"], cost)
        at["mean"] = (at["total"] - at["highest"]) / max(at["seen"] - 1, 1)
        return 0.0
    paid = min(cost, UNUSUAL * at["mean"])
    at["mean"] += (paid - at["mean"]) / MEAN_OF
    return paid


@kernel
def _is_possible(graph: Arrays, row: Any, at: Any, unit: int, move: Move) -> bool:
    """Return whether a move can be made; if not, end the unit's walk. After a wrong move it counts as stuck."""
    if move.to == UNREACHABLE and row["aim"] != row["goal"]:  # the goal has moved since
        row["aim"], row["begins"] = row["goal"], NEW_PROBLEM
        return False
    if move.to == UNREACHABLE:
        row["outcome"] = _UNREACHABLE
        at["unreachable"] += 1
        return False
    fault = 0 if move.to == STUCK else wrong(graph, row["state"], move.to, move.cost)
    if fault != 0:
        at["faulty"], at["fault"], at["state"] = unit, fault, row["state"]
        at["wrong_to"], at["wrong_cost"] = move.to, move.cost
    if fault != 0 or move.to == STUCK:
        row["outcome"] = _STUCK
        at["stuck"] += 1
        return False
    return True


@kernel
def _walk(graph: Arrays, ground: Ground, row: Any, at: Any, unit: int, move: Move) -> None:
    """Make a unit's move."""
    row["state"] = move.to
    row["cost"] += move.cost
    row["moves"] += 1
    put(graph, ground.cells, unit, move.to)
    if move.to == row["goal"]:
        row["outcome"] = _GOAL
        at["arrived"] += 1


@cache
def marcher(
    step_kernel: Callable[..., Move], memory: type, clock: Callable[..., int] = nanoseconds
) -> Callable[..., float]:
    """Return `march` for one algorithm's step and memory; named settings of an algorithm share it.

    Tests pass their own clock, a kernel like `nanoseconds`.
    """
    home = step_kernel.__module__.rpartition(".")[2]
    name = f"march_{home}_{step_kernel.__name__}"
    return instantiate(march, name, step=step_kernel, rank=ranker(memory), nanoseconds=clock)
