"""Lanes: the squads of a crowd, which share a budget and the memory.

Units are distributed among lanes by their ids. Each lane has one squad for each algorithm, and its share of every
budget. Results depend only on the lanes: any number of threads runs them with the same result.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import Algorithm
from andante.episode.pursuit import MOST_AT_ONCE
from andante.episode.roster import Ids, Roster
from andante.episode.squad import Squad
from andante.episode.tick import Budget
from andante.episode.units import NEW_PROBLEM, NO_TEAM, NOBODY
from andante.errors import ParameterError, quoted, real_number, whole_number
from andante.kernel import bind
from andante.measures import Outcome
from andante.search.hillclimb import walk_all_straight
from andante.world.graph import Graph

MOST_LANES = 64
MEMORY = 256e6  # bytes for all minds, unless another number is given
LEAST_MEMORY, MOST_MEMORY = 1e6, 64e9
KEPT_SHARE = 0.1  # of the memory, reserved for learning: without any, units could never arrive
PATIENT_PASSES = 4  # times that the rest of a budget is shared before more is given than is left
MOST_AHEAD = 4  # shares that units may be given in advance

_WALKING = int(Outcome.WALKING)


class _Work(NamedTuple):
    """The work of a lane in a tick."""

    lane: int
    squads: list[Squad]
    budget: Budget
    weight: float  # the sum of the priorities of its units that walk


class Lanes:
    """The squads of all lanes. The squads of lane k have the numbers k, k + lanes, k + 2 lanes, and so on."""

    def __init__(self, graph: Graph, roster: Roster, lanes: int, threads: int, memory: float, share: bool) -> None:
        self._graph, self._roster = graph, roster
        self._lanes, self._threads = _lanes_and_threads(lanes, threads)
        self._memory, self._share = _memory(memory), share
        self._squads: list[Squad] = []
        self._first: dict[tuple[Any, ...], int] = {}  # by algorithm and databases: the squad in the first lane
        self._ground = roster.ground
        self._fixed = [0] * self._lanes  # bytes that the units of each lane use before they have learned anything
        self._timed = False  # whether the last budget was in nanoseconds
        self._ahead = [0.0] * self._lanes  # the amount that a unit of priority 1 was given ahead of the next tick

    # --- members ----------------------------------------------------------------------------------------------------

    def open(self, algorithm: Algorithm, databases: tuple[Any, ...], units: int = 0) -> int:
        """Return the number of the first lane's squad for this algorithm; there is one in each lane.

        Raise `ParameterError` if there is no memory for this number of new ``units``, even if they learn nothing.
        """
        key = (algorithm, *map(id, databases))
        if key in self._first:
            self._check_memory(units, self._first[key])
            return self._first[key]
        room, ground, first = int(self._memory / self._lanes), self._roster.ground, len(self._squads)
        try:
            made = [Squad(algorithm, databases, self._graph, ground, room, self._share) for _ in range(self._lanes)]
        except MemoryError:
            raise ParameterError(f"memory={self._memory:g} is more than this machine has; give less") from None
        self._squads += made
        try:
            self._check_memory(units, first)
        except ParameterError:
            del self._squads[first:]
            raise
        self._first[key] = first
        return first

    def enlist(self, rows: Ids, first: int) -> None:
        """Distribute new units among the squads of an algorithm, of which ``first`` is the first lane's."""
        if self._ground is not self._roster.ground:  # the table has grown
            self._ground = self._roster.ground
            for squad in self._squads:
                squad.stand_on(self._ground)
        for lane in range(self._lanes):
            mine, number = rows[rows % self._lanes == lane], first + lane
            self._units["squad"][mine], self._units["slot"][mine] = number, self._squads[number].take_slots(mine)
        self._fixed = [self._fixed_bytes(lane) for lane in range(self._lanes)]

    def open_accounts(self, rows: Ids, turn: int) -> None:
        """Reset the accounts of units that set out: nothing was given to them and nothing spent."""
        table = self._units
        table["balance"][rows] = table["last"][rows] = 0.0
        table["turn"][rows] = table["joined"][rows] = turn
        for squad, mine in self.by_squad(rows):
            table["round"][mine], table["given"][mine] = squad.result["round"], squad.result["given"]

    def join_teams(self, rows: Ids) -> None:
        """Put units into teams if units learn together; they begin their teams' problems."""
        if not self._share:
            return
        for squad, mine in self.by_squad(rows):
            squad.join_teams(self._units, mine)
        self._units["begins"][rows] = NEW_PROBLEM

    def pursue(self, rows: Ids, goals: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which units continue if their goals move to these: those that pursue goals, if the move is short.

        Units that learn together do not, because what they share is for one goal.
        """
        kept = np.zeros(len(rows), np.bool_)
        if self._share:
            return kept
        squads = self._units["squad"][rows]
        for number in np.unique(squads).tolist():
            if self._squads[number].algorithm.pursues:
                mine = np.flatnonzero(squads == number)
                kept[mine] = self._walked(goals[mine], self._units["goal"][rows[mine]]) < math.inf
        return kept

    def _walked(self, starts: npt.NDArray[np.int64], goals: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the costs of straight walks of a few moves, infinite where there is no such walk."""
        walked = np.full(len(starts), math.inf)
        ends = np.ascontiguousarray(starts), np.ascontiguousarray(goals)
        self._walk(*(part for one in (*ends, walked) for part in (one.ctypes.data, len(one))), MOST_AT_ONCE)
        return walked

    @cached_property
    def _walk(self) -> Callable[..., None]:
        states, costs = np.dtype(np.int64), np.dtype(np.float64)
        return bind(walk_all_straight, self._graph.arrays, states, states, costs)

    def release(self, rows: Ids) -> None:
        """Release what units hold, and remove them from their teams."""
        for squad, mine in self.by_squad(rows):
            squad.leave_teams(self._units, mine)
            squad.release_units(mine)

    def release_ended(self) -> None:
        """Remove units that have ended from their teams; what they hold alone was released when they ended."""
        if self._share:
            self.release(np.flatnonzero((self._units["team"] != NO_TEAM) & (self._units["outcome"] != _WALKING)))

    def free(self, rows: Ids) -> None:
        """Remove units from their squads."""
        self.release(rows)
        for squad, mine in self.by_squad(rows):
            squad.free_slots(self._units["slot"][mine])

    def by_squad(self, rows: Ids) -> Iterator[tuple[Squad, Ids]]:
        """Yield each squad with those of these units that are in it, if any."""
        squads = self._units["squad"][rows]
        for number in np.unique(squads).tolist():
            yield self._squads[number], rows[squads == number]

    @property
    def _units(self) -> npt.NDArray[Any]:
        return self._roster.units

    # --- memory -----------------------------------------------------------------------------------------------------

    def held_bytes(self, rows: Ids) -> npt.NDArray[np.int64]:
        """Return the memory that each of these units holds."""
        squads, held = self._units["squad"][rows], np.zeros(len(rows), np.int64)
        for number in np.unique(squads).tolist():
            mine = np.flatnonzero(squads == number)
            held[mine] = self._squads[number].held_bytes(rows[mine])
        return held

    @property
    def unit_bytes(self) -> int:
        """The bytes that all units use, fixed and learned, which the memory bounds."""
        return sum(self._fixed) + sum(squad.used_bytes for squad in self._squads)

    @property
    def desk_bytes(self) -> int:
        """The size of all desks."""
        return sum(squad.desk_bytes for squad in self._squads)

    def _fixed_bytes(self, lane: int, more: Ids | None = None, first: int = 0) -> int:
        """Return the bytes that the units of a lane use before they have learned anything.

        ``more`` adds new units of the algorithm whose first squad is ``first``.
        """
        ever, count = self._roster.ever_used, 0
        if more is not None:
            ever, count = max(ever, int(more.max(initial=-1)) + 1), int(np.count_nonzero(more % self._lanes == lane))
        rows = (ever - lane + self._lanes - 1) // self._lanes
        slots = sum(
            squad.slot_bytes(count if lane + k * self._lanes == first + lane else 0)
            for k, squad in enumerate(self._squads[lane :: self._lanes])
        )
        return rows * self._roster.row_bytes + slots

    def _check_memory(self, count: int, first: int) -> None:
        """Raise `ParameterError` if this number of new units needs more memory than there is, even without learning."""
        room = (1 - KEPT_SHARE) * self._memory / self._lanes

        def fit(units: int) -> bool:
            ids = self._roster.next_ids(units)
            return all(self._fixed_bytes(lane, ids, first) <= room for lane in range(self._lanes))

        if fit(count):
            return
        most = bisect_left(range(count), True, key=lambda units: not fit(units + 1))
        raise ParameterError(
            f"memory={self._memory:g} has room for {most:,} more unit{'' if most == 1 else 's'} of "
            f"{self._squads[first].algorithm}, not for {count:,}; a tenth of it is kept for what they learn. Give the "
            "crowd more memory or add fewer units"
        )

    def _limit_memory(self, lane: int, squad: Squad, squads: list[Squad]) -> None:
        """Set the memory for a squad to what the lane's other squads have left."""
        others = sum([other.used_bytes for other in squads if other is not squad])
        squad.count["room"][0] = max(0, int(self._memory / self._lanes) - self._fixed[lane] - others)

    # --- turns ------------------------------------------------------------------------------------------------------

    def compile(self) -> None:
        """Compile the loops of all squads, and the kernel that checks goals that have moved."""
        no_units = np.zeros(0, np.int64)
        for squad in self._squads:
            squad.compile(self._roster.has_bodies)
        if not self._share and any(squad.algorithm.pursues for squad in self._squads):
            self._walked(no_units, no_units)

    def prepare(self, size: Any) -> None:
        """Touch this number of bytes of the memory of all units, or all of it if there is less."""
        number = real_number(size, "memory, in bytes,")
        if not 0 <= number <= MOST_MEMORY:
            raise ParameterError(f"memory, in bytes, must be from 0 to {MOST_MEMORY:g}, got {quoted(size)}")
        for squad in self._squads if number else ():
            squad.prepare(int(min(number, self._memory) / len(self._squads)))

    def begin(self) -> None:
        """Begin a turn."""
        self._weights = [squad.begin() for squad in self._squads]

    def march(self, turn: int, budget: Budget) -> None:
        """Make the units of all lanes move, or with bodies wish, until the budget is spent."""
        if budget.timed is not self._timed and budget.amount < math.inf:
            self._close_accounts()
            self._timed = budget.timed
        work = self._dealt(budget)[::-1]
        helpers = [self._pool.submit(self._march_lanes, turn, work) for _ in range(min(self._threads, len(work)) - 1)]
        try:
            self._march_lanes(turn, work)  # this thread takes lanes too, because waking a sleeping one takes time
        finally:
            failures = [failure for helper in helpers if (failure := helper.exception()) is not None]
        for failure in failures:
            raise failure

    def _march_lanes(self, turn: int, work: list[_Work]) -> None:
        """Make the units of lanes move while there are lanes that no thread has started, beginning with the last."""
        while work:
            try:
                one = work.pop()
            except IndexError:  # another thread was faster
                return
            self._march_lane(turn, one)

    def _close_accounts(self) -> None:
        """Reset all accounts, because their unit changes between expansions and nanoseconds."""
        self._units["last"] = 0.0
        self._ahead = [0.0] * self._lanes
        for squad in self._squads:
            squad.close_accounts()

    def end(self, turn: int) -> None:
        """End a turn."""
        for squad in self._squads:
            squad.end(turn)

    def total(self, name: str) -> int:
        """Return the sum of one result of the turn over all squads."""
        return sum([squad.count[name][0] for squad in self._squads])

    @property
    def longest_wait(self) -> int:
        """The largest number of ticks for which a unit has waited."""
        return max([squad.count["longest_wait"][0] for squad in self._squads], default=0)

    @property
    def faulty(self) -> Squad | None:
        """A squad whose step returned a wrong move in this turn."""
        return next((squad for squad in self._squads if squad.count["faulty"][0] != NOBODY), None)

    def _dealt(self, budget: Budget) -> list[_Work]:
        """Return the work of the lanes in which units walk, each with its share of the budget."""
        total, dealt = sum(self._weights) or 1.0, []
        for lane in range(self._lanes):
            weight = sum(self._weights[lane :: self._lanes])
            if weight:
                part = Budget(budget.amount * weight / total, budget.timed)
                dealt.append(_Work(lane, self._squads[lane :: self._lanes], part, weight))
        if budget.timed and self._threads > 1:  # lanes that run side by side have the whole time each
            turns = -(-len(dealt) // self._threads)
            whole = budget._replace(amount=budget.amount / max(turns, 1))
            dealt = [one._replace(budget=whole) for one in dealt]
        return dealt

    def _march_lane(self, turn: int, work: _Work) -> None:
        """Make the squads of a lane move until its budget is spent; each tick begins with another squad.

        All units are given their share of the budget, and units that have been given the cost of their next move make
        it. While some of the budget is left and units wait, it is shared among all again, in advance of the next tick,
        whose share is reduced by as much.
        """
        lane, squads, (left, timed), weight = work
        first = turn % len(squads)
        squads, everybody = squads[first:] + squads[:first], left == math.inf
        usual = 0.0 if everybody else left / weight
        ahead, share = max(0.0, self._ahead[lane] - usual), max(0.0, usual - self._ahead[lane])
        passes, waits = 0, True
        while left > 0 and waits:
            for squad in squads:  # including those that do not wait, whose units are given their share
                self._limit_memory(lane, squad, squads)
                left -= squad.march(turn, left, share, everybody, timed, self._roster.has_bodies)
            passes += 1
            share = max(left, 0.0) / weight * 2 ** max(0, passes - PATIENT_PASSES)
            ahead += share
            waits = any(squad.waits for squad in squads)
        self._ahead[lane] = min(ahead, MOST_AHEAD * usual) if waits else 0.0

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._threads, "andante crowd")


def _lanes_and_threads(lanes: Any, threads: Any) -> tuple[int, int]:
    """Return both numbers; raise `ParameterError` if they do not fit together."""
    many = whole_number(lanes, "lanes", least=1, error=ParameterError)
    if many > MOST_LANES:
        raise ParameterError(f"lanes must be at most {MOST_LANES}, got {quoted(lanes)}")
    at_once = whole_number(threads, "threads", least=1, error=ParameterError)
    if at_once > many:
        raise ParameterError(f"{threads} threads need at least as many lanes, got {lanes}")
    return many, at_once


def _memory(memory: Any) -> float:
    number = real_number(memory, "memory, in bytes,")
    if not LEAST_MEMORY <= number <= MOST_MEMORY:
        raise ParameterError(
            f"memory, in bytes, must be from {LEAST_MEMORY:g} to {MOST_MEMORY:g}, got {quoted(memory)}"
        )
    return number
