"""Many units on one map, and one budget for all of them: what a game gives to pathfinding in each of its frames.

Every unit walks exactly as `run` would walk it. What differs is when: in each `tick` a unit moves at most once, and
only if the budget allows. A unit's memory grows with what it has learned, not with the map, and is given back when it
arrives.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, wraps
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from andante.agent import Algorithm, find
from andante.databases.header import as_databases
from andante.episode.bodies import FREE, Bodies, order_of, resolve
from andante.episode.checks import check_goals, covering, place_name, wrong_move
from andante.episode.march import NEW_PROBLEM, NEW_TRIAL, NO_TEAM, NO_WISH, NOBODY, UNIT, Ground
from andante.episode.places import nearest_in_component, states_at
from andante.episode.squad import Squad
from andante.errors import AlgorithmError, ParameterError, ProblemError, quoted, real_number, whole_number
from andante.kernel import bind
from andante.measures import Outcome, jain_index
from andante.search.memory import bytes_of
from andante.world.graph import Graph
from andante.world.grid import Grid

FIRST_UNITS = 1024
NO_SQUAD = -1
NOWHERE = -1  # the state and the cells of units that were removed
PATIENT_PASSES = 4  # times that what is left of a budget is shared before more is given than is left
MOST_AHEAD = 4  # shares that units may be given ahead of time
MOST_LANES = 64
MOST_MEMORY = 64e9
MEMORY = 256e6  # bytes for all minds, unless another number is given

_WALKING, _GOAL, _UNREACHABLE = int(Outcome.WALKING), int(Outcome.GOAL), int(Outcome.UNREACHABLE)

Ids = npt.NDArray[np.int64]
F = TypeVar("F", bound=Callable[..., Any])


class Tick(NamedTuple):
    """What happened in one tick of a crowd."""

    number: int  # from 1
    moved: int  # units that moved, or would have if they had not ended
    waiting: int  # units that still walk and for which the budget was too small
    arrived: int
    unreachable: int  # units that found out that no path leads to their goal, and those sent there since the last tick
    stuck: int
    blocked: int  # with bodies: units that could not go where they wished
    restarted: int  # units that had to begin again from where they stand, because memory was full
    expansions: int
    longest_wait: int  # ticks since the last move of the unit that has waited longest
    bytes: int  # held by all units
    microseconds: float  # it took


def _alone(method: F) -> F:
    """Let one thread at a time call this method of a crowd, or another one with this mark."""

    @wraps(method)
    def call(self: Crowd, *args: Any, **how: Any) -> Any:
        if not self._lock.acquire(blocking=False):
            raise AlgorithmError("two threads use the same crowd at once; let one of them do all the work")
        try:
            return method(self, *args, **how)
        finally:
            self._lock.release()

    return cast(F, call)


class Crowd:
    """Units on one map that share a budget per tick.

    ``algorithm`` is what units use unless `add` names another. ``memory`` bounds the bytes that all minds together may
    hold: if it is reached, the unit that holds most begins again from where it stands. With ``bodies`` no two units are
    in one cell, and they push each other out of the way (`andante.episode.bodies`). With ``share="goal"`` units of the
    same algorithm and lane that have the same goal learn together. Units are dealt into ``lanes``, each with its share
    of the budget, which ``threads`` run side by side; results depend on the lanes and not on the threads.

    >>> import andante
    >>> grid = andante.generate("empty", 8, 8)
    >>> crowd = Crowd("lrta", grid)
    >>> ids = crowd.add([(0, 0), (7, 0)], (3, 4))
    >>> while crowd.walking:
    ...     tick = crowd.tick(expansions=100)
    >>> crowd.cells[ids].tolist(), tick.number
    ([[3, 4], [3, 4]], 4)
    """

    def __init__(
        self,
        algorithm: str | Algorithm | None,
        world: Grid | Graph,
        *,
        databases: Sequence[Any] = (),
        memory: float = MEMORY,
        bodies: bool = False,
        share: str | None = None,
        lanes: int = 1,
        threads: int = 1,
        **parameters: Any,
    ) -> None:
        if not isinstance(world, Grid | Graph):
            raise ProblemError(f"a crowd needs a Grid or a Graph, as andante.read_map returns, not {quoted(world)}")
        self.world, self.graph = world, world.graph
        self._databases = as_databases(databases)
        self._lock = threading.Lock()
        self._lanes = whole_number(lanes, "lanes", least=1, error=ParameterError)
        if self._lanes > MOST_LANES:
            raise ParameterError(f"lanes must be at most {MOST_LANES}, got {quoted(lanes)}")
        if not isinstance(bodies, bool):
            raise ParameterError(f"bodies must be True or False, got {quoted(bodies)}")
        if algorithm is None and parameters:
            raise ParameterError(f"a crowd without an algorithm has no parameter {next(iter(parameters))!r}")
        self._threads = whole_number(threads, "threads", least=1, error=ParameterError)
        if self._threads > self._lanes:
            raise ParameterError(f"{threads} threads need at least as many lanes, got {lanes}")
        self._memory = _between(memory, 1e6, MOST_MEMORY, "memory, in bytes,")
        if share not in (None, "goal"):
            raise ParameterError(f"share must be 'goal' or None, got {quoted(share)}")
        self._share = share is not None
        self._units = np.zeros(FIRST_UNITS, UNIT)
        self._units["squad"] = NO_SQUAD
        self._cells = np.zeros((FIRST_UNITS, 2), np.int32)
        self._squads: list[Squad] = []
        self._squad_of: dict[tuple[Any, ...], int] = {}  # by algorithm and databases: that of the first lane
        self._rows = 0  # of the table that are or were in use
        self._gone: list[int] = []  # rows that can be used again, the first freed first
        self._turn = 0
        self._bodies = Bodies.over(len(self.graph), FIRST_UNITS, self.graph.max_degree) if bodies else None
        self._order: npt.NDArray[np.int32] | None = None  # in which units with bodies decide; None: it has changed
        self._ending = 0  # nanoseconds of the last tick after all had their turn
        self._ahead = [0.0] * self._lanes  # what a unit of priority 1 was given ahead of the next tick
        self._unreachable = 0  # units sent to unreachable goals since the last tick
        self._default = None if algorithm is None else self._able(find(algorithm, **parameters))
        if self._default is not None:
            self._squads_for(self._default, self._databases)

    def __repr__(self) -> str:
        default = "" if self._default is None else f" of {self._default}"
        return f"<Crowd{default} on {self.world!r}: {len(self)} units, {self.walking} walking>"

    def __len__(self) -> int:
        """Return the number of units."""
        return self._rows - len(self._gone)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise AlgorithmError("a crowd cannot be copied or pickled, because its loops are bound to its memory")

    # --- who is where -----------------------------------------------------------------------------------------------

    @property
    def cells(self) -> npt.NDArray[np.int32]:
        """The cell (x, y) of each unit, by id: a view that changes with each tick. For grids only.

        Like all such views it is of the present table: after `add`, ask again.
        """
        if not isinstance(self.world, Grid):
            raise ProblemError("this crowd is on a graph, which has no cells; use crowd.states")
        return _shown(self._cells[: self._rows])

    @property
    def states(self) -> npt.NDArray[np.int64]:
        """The state of each unit, by id: a view that changes with each tick."""
        return _shown(self._units["state"][: self._rows])

    @property
    def goals(self) -> npt.NDArray[np.int64]:
        """The goal of each unit, as a state, by id: a view."""
        return _shown(self._units["goal"][: self._rows])

    @property
    def outcomes(self) -> npt.NDArray[np.int64]:
        """How each unit stands, by id, as numbers of `Outcome`: a view that changes with each tick."""
        return _shown(self._units["outcome"][: self._rows])

    @property
    def moves(self) -> npt.NDArray[np.int64]:
        """The number of moves of each unit since it set out, by id: a view that changes with each tick."""
        return _shown(self._units["moves"][: self._rows])

    @property
    def costs(self) -> npt.NDArray[np.float64]:
        """What each unit has walked since it set out, by id: a view that changes with each tick."""
        return _shown(self._units["cost"][: self._rows])

    @property
    def expanded(self) -> npt.NDArray[np.int64]:
        """The states that each unit has expanded since it set out, by id: a view that changes with each tick."""
        return _shown(self._units["expanded"][: self._rows])

    @property
    def walking(self) -> int:
        """The number of units that are on their way."""
        return int(np.count_nonzero(self._units["outcome"][: self._rows] == _WALKING))

    @property
    def memory_bytes(self) -> int:
        """The memory of the crowd: minds, desks and tables; without the map and the databases."""
        tables = self._units.nbytes + self._cells.nbytes + (bytes_of(self._bodies) if self._bodies else 0)
        return tables + sum(squad.used_bytes + squad.fixed_bytes for squad in self._squads)

    def held_bytes(self, ids: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the memory that each of these units holds, besides its row in the tables."""
        rows = self._known(ids)
        held = np.zeros(len(rows), np.int64)
        for number, squad in enumerate(self._squads):
            mine = np.flatnonzero(self._units["squad"][rows] == number)
            held[mine] = squad.held_bytes(self._units["slot"][rows[mine]])
        return held

    @property
    def jain_index(self) -> float:
        """How evenly the budgets were shared, from 1 / units up to 1: Jain's index of what units expanded per tick.

        It is relative to their priorities, over units that had to wait at some time since they set out: others got all
        that they asked for. nan if nobody had to wait.
        """
        rows = self._units[: self._rows]
        rows = rows[(rows["squad"] != NO_SQUAD) & (rows["turn"] > rows["joined"])]
        turns = np.where(rows["outcome"] == _WALKING, self._turn, rows["turn"]) - rows["joined"]
        waited = turns > rows["moves"]
        work = rows["expanded"] if rows["expanded"].any() else rows["moves"]
        return jain_index((work / (rows["priority"] * turns))[waited])

    # --- coming and going -------------------------------------------------------------------------------------------

    @_alone
    def add(
        self,
        starts: npt.ArrayLike,
        goals: npt.ArrayLike,
        *,
        algorithm: str | Algorithm | None = None,
        databases: Sequence[Any] | None = None,
        priority: float = 1.0,
        nearest: bool = False,
        **parameters: Any,
    ) -> Ids:
        """Add units and return their ids, which are their places in `cells`, `outcomes` and the others.

        ``starts`` and ``goals`` are cells of a grid, as an array of x and y for each, or states of a graph; a single
        one serves all units. A unit of priority 2 gets twice the share of the budget. A goal that cannot be reached
        costs nothing; with ``nearest`` the unit goes to the reachable cell nearest to it instead, also if the goal is
        in a wall. Ids of units that were removed are used again.
        """
        chosen = self._chosen(algorithm, parameters)
        given = self._databases if databases is None else as_databases(databases)
        weight = _between(priority, 1e-6, 1e6, "priority")
        begin = states_at(self.world, starts, "start")
        end = self._ends(begin, goals, nearest)
        if len(begin) == 1:
            begin = np.broadcast_to(begin, end.shape)
        check_goals(covering(chosen, given, self.graph), self.world, end)
        self._check_room(begin)
        squads = self._squads_for(chosen, given)
        rows = self._new_rows(len(begin))
        table = self._units
        table[rows] = 0
        table["wish"][rows], table["anchored"][rows] = NO_WISH, chosen.card.anchored
        table["state"][rows], table["priority"][rows] = begin, weight
        self._place(rows, begin)
        for lane, number in enumerate(squads):
            mine = rows[rows % self._lanes == lane]
            table["squad"][mine], table["slot"][mine] = number, self._squads[number].enlist(mine)
        self._open_accounts(rows)
        self._set_out(rows, end)
        return rows

    @_alone
    def send(self, ids: npt.ArrayLike, goals: npt.ArrayLike, *, nearest: bool = False) -> None:
        """Give units new goals. They forget what they learned for the last one; those that already have it go on."""
        rows = self._known(ids)
        end = self._ends(self._units["state"][rows], goals, nearest, "units")
        if len(end) != len(rows):
            raise ProblemError(f"{len(rows)} units need as many goals, or one for all, got {len(end)}")
        for number, squad in enumerate(self._squads):
            mine = self._units["squad"][rows] == number
            check_goals(squad.covering, self.world, end[mine])
        idle = self._units["outcome"][rows] != _WALKING
        new = (self._units["goal"][rows] != end) | idle
        self._open_accounts(rows[idle])
        self._forget(rows[new])
        self._set_out(rows[new], end[new])

    @_alone
    def put(self, ids: npt.ArrayLike, cells: npt.ArrayLike) -> None:
        """Put units somewhere else. They keep their goals and what they have learned, and make new plans."""
        rows = self._known(ids)
        states = states_at(self.world, cells, "place")
        if len(states) not in (1, len(rows)):
            raise ProblemError(f"{len(rows)} units need as many places, or one for all, got {len(states)}")
        states = np.broadcast_to(states, rows.shape)
        self._check_room(states, rows)
        goals = self._units["goal"][rows]
        self._leave(rows)
        self._units["state"][rows], self._units["wish"][rows] = states, NO_WISH
        self._place(rows, states)
        begins = np.where(self._units["anchored"][rows], NEW_PROBLEM, NEW_TRIAL)
        self._units["begins"][rows] = np.maximum(self._units["begins"][rows], begins)
        outcomes = self._outcomes(states, goals)
        again = rows[(outcomes == _WALKING) & (self._units["outcome"][rows] != _WALKING)]
        self._units["outcome"][rows] = outcomes
        self._open_accounts(again)
        self._unreachable += int(np.count_nonzero(outcomes == _UNREACHABLE))
        self._forget(rows[outcomes != _WALKING])
        self._join(rows[(outcomes == _WALKING) & (self._units["team"][rows] == NO_TEAM)])

    @_alone
    def remove(self, ids: npt.ArrayLike) -> None:
        """Remove units; what they hold is given back."""
        rows = self._known(ids)
        for number, squad in enumerate(self._squads):
            mine = rows[self._units["squad"][rows] == number]
            squad.quit(self._units, mine)
            squad.discharge(self._units["slot"][mine])
        self._leave(rows)
        self._order = None
        self._units[rows] = 0
        self._units["squad"][rows], self._units["wish"][rows] = NO_SQUAD, NO_WISH
        self._units["state"][rows], self._cells[rows] = NOWHERE, NOWHERE
        self._gone.extend(rows.tolist())

    @_alone
    def compile(self) -> None:
        """Compile the loops of the crowd's algorithms, or load them from the cache: else its first tick does so."""
        for squad in self._squads:
            squad.compile(self._bodies is not None)
        if self._bodies is not None:
            self._deciding(0, 0)

    # --- a tick -----------------------------------------------------------------------------------------------------

    @_alone
    def tick(self, *, expansions: float | None = None, microseconds: float | None = None) -> Tick:
        """Let every unit move at most once, as far as the budget reaches; without one, let every unit move.

        A tick may exceed its budget by one move of one unit in each lane. With ``expansions`` it is the same on every
        machine; ``microseconds`` are for games.
        """
        if expansions is not None and microseconds is not None:
            raise ParameterError("a tick has a budget in expansions or in microseconds, not both")
        timed, budget = microseconds is not None, math.inf
        if expansions is not None:
            budget = _positive(expansions, "expansions")
        if microseconds is not None:
            budget = 1000.0 * _positive(microseconds, "microseconds")
        began = time.perf_counter_ns()
        self._turn += 1
        weights = [squad.begin() for squad in self._squads]
        lanes = [list(range(lane, len(self._squads), self._lanes)) for lane in range(self._lanes)]
        total = sum(weights) or 1.0
        parts = [sum(weights[number] for number in lane) / total for lane in lanes]
        if timed:
            if self._threads > 1:  # lanes that run side by side have the whole time each
                turns = -(-sum(part > 0 for part in parts) // self._threads)
                parts = [1 / turns if part else 0.0 for part in parts]
            aside = time.perf_counter_ns() - began + self._ending  # what goes on before and after
            budget = max(budget - aside, budget / 2)
        work = [
            (lane, budget * part, sum(weights[number] for number in lane), timed)
            for lane, part in zip(lanes, parts, strict=True)
            if part
        ]
        if self._threads == 1:
            for one in work:
                self._run_lane(*one)
        else:
            list(self._pool.map(lambda one: self._run_lane(*one), work))
        marched = time.perf_counter_ns()
        for squad in self._squads:
            squad.end(self._turn)
        moved = self._resolve() if self._bodies is not None else None
        if self._share:
            self._forget(np.flatnonzero((self._units["team"] != NO_TEAM) & (self._units["outcome"] != _WALKING)))
        tick = self._told(moved)
        ended = time.perf_counter_ns()
        self._ending = ended - marched
        return tick._replace(microseconds=(ended - began) / 1000)

    def _resolve(self) -> int:
        """Let units with bodies go where they can; return how many moved."""
        assert self._bodies is not None
        if self._order is None:
            rows = np.flatnonzero(self._units["squad"][: self._rows] != NO_SQUAD)
            self._order = rows[order_of(self._units[rows])].astype(np.int32)
        moved = int(self._deciding(self._order.ctypes.data, len(self._order)))
        arrived = np.flatnonzero(self._units["arrived"][: self._rows])
        if len(arrived):
            self._forget(arrived)
        return moved

    def _run_lane(self, lane: list[int], budget: float, weight: float, timed: bool) -> None:
        """Let the squads of a lane move until its budget is spent; each tick begins with another squad.

        All units are given their share of the budget, and those that have been given what their next move may cost
        move. While some of the budget is left and units wait, it is shared among all once more, ahead of the next tick,
        whose share is the smaller for it.
        """
        squads = [self._squads[number] for number in lane]
        first, which = self._turn % len(lane), lane[0] % self._lanes
        squads, everybody = squads[first:] + squads[:first], budget == math.inf
        usual = 0.0 if everybody else budget / weight
        ahead, share = max(0.0, self._ahead[which] - usual), max(0.0, usual - self._ahead[which])
        left, passes = budget, 0
        while left > 0 and any(squad.waits for squad in squads):
            for squad in squads:  # also those that do not wait: their units are given their share
                self._limit_memory(squad, squads)
                left -= squad.march(self._turn, left, share, everybody, timed, self._bodies is not None)
            passes += 1
            share = max(left, 0.0) / weight * 2 ** max(0, passes - PATIENT_PASSES)
            ahead += share
        waits = any(squad.waits for squad in squads)
        self._ahead[which] = min(ahead, MOST_AHEAD * usual) if waits else 0.0

    def _limit_memory(self, squad: Squad, squads: list[Squad]) -> None:
        """Let a squad of a lane have what the others have left of the lane's memory."""
        if len(squads) > 1:
            others = sum(other.used_bytes for other in squads if other is not squad)
            squad.result["room"] = max(0, int(self._memory / self._lanes) - others)

    def _told(self, moved: int | None) -> Tick:
        """Return what happened; raise `AlgorithmError` if a step returned a wrong move."""
        results = [squad.result[0] for squad in self._squads]
        for squad, result in zip(self._squads, results, strict=True):
            if result["faulty"] != NOBODY:
                row = self._units[int(result["faulty"])]
                raise AlgorithmError(wrong_move(squad.algorithm, self.world, row))

        def total(name: str) -> int:
            return int(sum(result[name] for result in results))

        unreachable, self._unreachable = total("unreachable") + self._unreachable, 0
        units = self._units[: self._rows]
        arrived, blocked = total("arrived"), 0
        if moved is not None:
            arrived, blocked = int(units["arrived"].sum()), int(np.count_nonzero(units["wish"] != NO_WISH))
            units["arrived"] = False
        return Tick(
            self._turn,
            total("moved") if moved is None else moved,
            total("walking") - total("moved"),
            arrived,
            unreachable,
            total("stuck"),
            blocked,
            total("restarted"),
            total("expanded"),
            max((int(result["longest_wait"]) for result in results), default=0),
            sum(squad.used_bytes for squad in self._squads),
            0.0,
        )

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._threads, "andante crowd")

    # --- inside -----------------------------------------------------------------------------------------------------

    def _able(self, algorithm: Algorithm) -> Algorithm:
        """Return the algorithm; raise `AlgorithmError` if it cannot keep to a budget, or not as one of many."""
        if not algorithm.real_time:
            raise AlgorithmError(
                f"{algorithm} may plan for as long as the map is large, so it cannot keep to a crowd's budget; choose "
                "an algorithm whose card says real-time"
            )
        if not algorithm.crowd:
            raise AlgorithmError(f"{algorithm} cannot be one of a crowd: each unit would need memory for the whole map")
        if self._share and not algorithm.card.converges:
            raise AlgorithmError(
                f"{algorithm} learns nothing that is true for others, so its units cannot learn together; choose an "
                "algorithm whose card says that it converges, or leave out share"
            )
        return algorithm

    def _chosen(self, algorithm: str | Algorithm | None, parameters: dict[str, Any]) -> Algorithm:
        if algorithm is None and self._default is None:
            raise AlgorithmError("this crowd has no algorithm of its own; name one: crowd.add(..., algorithm='lrta')")
        if algorithm is None and not parameters:
            assert self._default is not None
            return self._default
        return self._able(find(self._default if algorithm is None else algorithm, **parameters))  # type: ignore[arg-type]

    def _squads_for(self, algorithm: Algorithm, databases: tuple[Any, ...]) -> list[int]:
        """Return the numbers of the squads for this algorithm, one for each lane: the remainder by the lanes."""
        key = (algorithm, *map(id, databases))
        if key not in self._squad_of:
            ground, room = Ground(self._units, self._cells), int(self._memory / self._lanes)
            try:
                made = [Squad(algorithm, databases, self.graph, ground, room, self._share) for _ in range(self._lanes)]
            except MemoryError:
                raise ParameterError(f"memory={self._memory:g} is more than this machine has; give less") from None
            self._squad_of[key] = len(self._squads)
            self._squads += made
        first = self._squad_of[key]
        return list(range(first, first + self._lanes))

    def _ends(
        self, starts: npt.NDArray[np.int64], goals: npt.ArrayLike, nearest: bool, what: str = "starts"
    ) -> npt.NDArray[np.int64]:
        """Return the states to go to, one for each start; a single start or goal serves all."""
        if not isinstance(nearest, bool):
            raise ParameterError(f"nearest must be True or False, got {quoted(nearest)}")
        ends = states_at(self.world, goals, "goal", walls=nearest)
        if len(starts) == 1 != len(ends):
            starts = np.broadcast_to(starts, ends.shape)
        if len(ends) == 1 != len(starts):
            ends = np.broadcast_to(ends, starts.shape)
        if len(ends) != len(starts):
            raise ProblemError(f"{len(starts)} {what} need as many goals, or one for all, got {len(ends)}")
        return nearest_in_component(self.world, starts, ends) if nearest else ends

    def _new_rows(self, count: int) -> Ids:
        """Return free rows of the table, the first freed first, then new ones."""
        old, self._gone = self._gone[:count], self._gone[count:]
        first, more = self._rows, count - len(old)
        self._rows += more
        if self._rows > len(self._units):
            size = max(self._rows, 2 * len(self._units))
            units = np.zeros(size, UNIT)
            units["squad"] = NO_SQUAD
            units[:first] = self._units[:first]
            cells = np.zeros((size, 2), np.int32)
            cells[:first] = self._cells[:first]
            self._units, self._cells = units, cells
            if self._bodies is not None:
                wider = Bodies.over(0, size, self.graph.max_degree)
                self._bodies = wider._replace(standing=self._bodies.standing, taken=self._bodies.taken)
                self.__dict__.pop("_deciding", None)
            for squad in self._squads:
                squad.stand_on(Ground(units, cells))
        return np.array(old + list(range(first, first + more)), np.int64)

    def _known(self, ids: npt.ArrayLike) -> Ids:
        """Return ids as an array; raise `ProblemError` if one is not that of a unit, or occurs twice."""
        rows = np.atleast_1d(np.asarray(ids))
        if rows.dtype == bool and rows.shape == (self._rows,):  # a mask, such as crowd.outcomes == Outcome.GOAL
            rows = np.flatnonzero(rows & (self._units["squad"][: self._rows] != NO_SQUAD))
        if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
            raise ProblemError(f"ids are whole numbers, as crowd.add returns them, not {quoted(ids)}")
        rows = rows.astype(np.int64)
        for row in rows[(rows < 0) | (rows >= self._rows)][:1]:
            raise ProblemError(f"there is no unit {row}; ids are those that crowd.add returned")
        for row in rows[self._units["squad"][rows] == NO_SQUAD][:1]:
            raise ProblemError(f"there is no unit {row}: it was removed")
        if len(np.unique(rows)) < len(rows):
            raise ProblemError("a unit is named twice")
        return rows

    @cached_property
    def _deciding(self) -> Callable[..., int]:
        """The kernel in which units with bodies decide, bound to all tables."""
        ground = Ground(self._units, self._cells)
        return bind(resolve, self.graph.arrays, ground, self._bodies, np.dtype(np.int32))

    def _check_room(self, states: npt.NDArray[np.int64], rows: Ids | None = None) -> None:
        """Raise `ProblemError` if two units with bodies would be in one place; ``rows`` are those that move there."""
        if self._bodies is None:
            return
        seen, times = np.unique(states, return_counts=True)
        for state in seen[times > 1][:1]:
            where = place_name(self.world, int(state))
            raise ProblemError(f"two units with bodies cannot be in one place, and two would be at {where}")
        others = self._bodies.standing[states].astype(np.int64) - 1
        taken = others >= 0 if rows is None else (others >= 0) & ~np.isin(others, rows)
        for i in np.flatnonzero(taken)[:1]:
            where = place_name(self.world, int(states[i]))
            raise ProblemError(f"unit {others[i]} stands at {where}, and units have bodies")

    def _leave(self, rows: Ids) -> None:
        """Let units with bodies leave their places."""
        if self._bodies is not None:
            self._bodies.standing[self._units["state"][rows]] = FREE

    def _place(self, rows: Ids, states: npt.NDArray[np.int64]) -> None:
        if self._bodies is not None:
            self._bodies.standing[states] = rows + 1
        if isinstance(self.world, Grid):
            self._cells[rows, 1], self._cells[rows, 0] = np.divmod(states, self.world.width)

    def _outcomes(self, states: npt.NDArray[np.int64], goals: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return how units stand that are in these states and have these goals."""
        label = self.graph.components
        outcomes = np.where(label[states] == label[goals], _WALKING, _UNREACHABLE)
        return np.where(states == goals, _GOAL, outcomes)

    def _open_accounts(self, rows: Ids) -> None:
        """Let units begin with nothing given and nothing spent: they were not on their way."""
        table = self._units
        table["balance"][rows] = table["last"][rows] = 0.0
        table["turn"][rows] = table["joined"][rows] = self._turn
        for number, squad in enumerate(self._squads):
            mine = rows[table["squad"][rows] == number]
            table["round"][mine], table["given"][mine] = squad.result["round"], squad.result["given"]

    def _set_out(self, rows: Ids, goals: npt.NDArray[np.int64]) -> None:
        """Let units begin a problem."""
        table = self._units
        outcomes = self._outcomes(table["state"][rows], goals)
        table["goal"][rows], table["outcome"][rows], table["begins"][rows] = goals, outcomes, NEW_PROBLEM
        table["turn"][rows] = table["joined"][rows] = self._turn
        table["wish"][rows], self._order = NO_WISH, None
        table["moves"][rows] = table["cost"][rows] = table["expanded"][rows] = table["spent"][rows] = 0
        self._join(rows[outcomes == _WALKING])
        self._unreachable += int(np.count_nonzero(outcomes == _UNREACHABLE))

    def _join(self, rows: Ids) -> None:
        """Put units into teams, if units learn together: they begin their teams' problems."""
        if not self._share:
            return
        for number, squad in enumerate(self._squads):
            squad.join(self._units, rows[self._units["squad"][rows] == number])
        self._units["begins"][rows] = NEW_PROBLEM

    def _forget(self, rows: Ids) -> None:
        """Give back what units hold, and let them leave their teams."""
        for number, squad in enumerate(self._squads):
            mine = rows[self._units["squad"][rows] == number]
            squad.quit(self._units, mine)
            squad.forget(self._units["slot"][mine])


def _shown(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a view that cannot be written to: a unit is moved by `Crowd.put` and sent by `Crowd.send`."""
    view = array.view()
    view.flags.writeable = False
    return view


def _between(value: Any, low: float, high: float, what: str) -> float:
    number = real_number(value, what)
    if not low <= number <= high:
        raise ParameterError(f"{what} must be from {low:g} to {high:g}, got {quoted(value)}")
    return number


def _positive(value: Any, what: str) -> float:
    number = real_number(value, what)
    if not number > 0:
        raise ParameterError(f"{what} must be more than 0, got {quoted(value)}")
    return number
