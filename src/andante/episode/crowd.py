"""Many units on one map that share one budget, such as the time that a game gives to pathfinding in each frame.

Every unit walks exactly as `run` would walk it. Only the timing differs: in each `tick` a unit moves at most once, and
only if the budget allows. A unit's memory grows with what it has learned, not with the map, and is released when it
arrives.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import wraps
from time import perf_counter_ns
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from andante.agent import Algorithm, find
from andante.databases.header import as_databases
from andante.episode.checks import check_goals, covering, wrong_move
from andante.episode.lanes import MEMORY, Lanes
from andante.episode.places import nearest_in_component, needed, priorities, states_at
from andante.episode.roster import NO_SQUAD, Ids, Roster, States
from andante.episode.tick import Budget, Tick
from andante.episode.units import NEW_PROBLEM, NEW_TRIAL, NO_TEAM, NO_WISH
from andante.errors import AlgorithmError, ParameterError, ProblemError, expect, quoted
from andante.measures import Outcome, jain_index
from andante.world.graph import Graph
from andante.world.grid import Grid, refuse_sixteen
from andante.world.living import LivingGraph, World

_WALKING, _UNREACHABLE = int(Outcome.WALKING), int(Outcome.UNREACHABLE)

F = TypeVar("F", bound=Callable[..., Any])


def _alone(method: F) -> F:
    """Return the method of a crowd such that only one thread at a time can call it or another method marked so."""

    @wraps(method)
    def call(self: Crowd, *args: Any, **how: Any) -> Any:
        if self._lock.locked():
            raise AlgorithmError("two threads use the same crowd at the same time; let one of them do all the work")
        with self._lock:  # a thread that comes between these two lines waits, and an interrupt never leaves it locked
            return method(self, *args, **how)

    return cast(F, call)


class Crowd:
    """Units on one map that share a budget per tick.

    ``algorithm`` is the algorithm of all units for which `add` names no other; ``Crowd(grid)`` has none, and each `add`
    names one. ``memory`` bounds the bytes that all units together may use. When it is reached, the unit that uses most
    restarts from its current state. `add` refuses more units than fit. With ``bodies`` no two units are in one cell,
    and they push each other aside (`andante.episode.bodies`). With ``share="goal"`` units of the same algorithm and
    lane that have the same goal learn together. Units are distributed among ``lanes``, each with its share of the
    budget, which ``threads`` run in parallel. Results depend on the lanes but not on the threads.

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
        algorithm: str | Algorithm | Grid | Graph | None,
        world: Grid | Graph | None = None,
        *,
        databases: Sequence[Any] = (),
        memory: float = MEMORY,
        bodies: bool = False,
        share: str | None = None,
        lanes: int = 1,
        threads: int = 1,
        **parameters: Any,
    ) -> None:
        if world is None and isinstance(algorithm, Grid | Graph):  # Crowd(grid): each `add` names an algorithm
            algorithm, world = None, algorithm
        world = cast(Grid | Graph, expect(world, Grid | Graph, "a crowd needs a Grid or a Graph, as read_map returns"))
        if isinstance(world, LivingGraph):
            world = world.map
        _refuse_sight(parameters)
        if algorithm is None and parameters:
            raise ParameterError(f"a crowd without an algorithm has no parameter {next(iter(parameters))!r}")
        self.world, self.graph = world, world.graph
        self._databases = as_databases(databases, world)
        self._share = sharing(share)
        if flag(bodies, "bodies") and isinstance(world, Grid):
            refuse_sixteen(world, "a crowd with bodies")
        self._roster = Roster(world, bodies)
        self._lanes = Lanes(self.graph, self._roster, lanes, threads, memory, self._share)
        self._lock = threading.Lock()
        self._living = world if isinstance(world, World) else None
        self._version, self._news = -1, -1  # the version of a changing map that the crowd last saw
        self._turn = 0
        self._ending = 0  # nanoseconds of the last tick after all units had their turn
        self._unreachable = 0  # units sent to unreachable goals since the last tick
        self._default = None if algorithm is None else self._check_algorithm(find(algorithm, **parameters))  # type: ignore[arg-type]
        if self._default is not None:
            self._lanes.open(self._default, self._databases)

    def __repr__(self) -> str:
        default = "" if self._default is None else f" of {self._default}"
        return f"<Crowd{default} on {self.world!r}: {len(self)} units, {self.walking} walking>"

    def __len__(self) -> int:
        """Return the number of units."""
        return len(self._roster)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise AlgorithmError("a crowd cannot be copied or pickled, because its loops are bound to its memory")

    # --- the state of the units -------------------------------------------------------------------------------------

    @property
    def cells(self) -> npt.NDArray[np.int32]:
        """The cell (x, y) of each unit, by id: a view that changes with each tick. For grids only.

        Like all such views it shows the current table: after `add`, get a new view.
        """
        if not isinstance(self.world, Grid):
            raise ProblemError("this crowd is on a graph, which has no cells; use crowd.states")
        return self._roster.cells

    @property
    def states(self) -> npt.NDArray[np.int64]:
        """The state of each unit, by id: a view that changes with each tick."""
        return self._roster.column("state")

    @property
    def goals(self) -> npt.NDArray[np.int64]:
        """The goal of each unit, as a state, by id: a view."""
        return self._roster.column("goal")

    @property
    def outcomes(self) -> npt.NDArray[np.int64]:
        """The outcome of each unit so far, by id, as numbers of `Outcome`: a view that changes with each tick."""
        return self._roster.column("outcome")

    @property
    def moves(self) -> npt.NDArray[np.int64]:
        """The number of moves of each unit since it set out, by id: a view that changes with each tick."""
        return self._roster.column("moves")

    @property
    def costs(self) -> npt.NDArray[np.float64]:
        """The cost of each unit's moves since it set out, by id: a view that changes with each tick."""
        return self._roster.column("cost")

    @property
    def expanded(self) -> npt.NDArray[np.int64]:
        """The states that each unit has expanded since it set out, by id: a view that changes with each tick."""
        return self._roster.column("expanded")

    @property
    def walking(self) -> int:
        """The number of units that are on their way."""
        return int(np.count_nonzero(self._roster.units["outcome"] == _WALKING))

    @property
    def memory_bytes(self) -> int:
        """The memory of the crowd: its units, desks and tables of places, without the map and the databases."""
        return self.unit_bytes + self._lanes.desk_bytes + self._roster.place_bytes

    @property
    def unit_bytes(self) -> int:
        """The memory that all units use: their rows, and what they have learned.

        If this exceeds ``memory`` after a move, the units that use most restart until it does not. Adding units, or a
        single move, may exceed it until then.
        """
        return self._lanes.unit_bytes

    def held_bytes(self, ids: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the memory that each of these units uses for what it has learned, without the fixed part."""
        return self._lanes.held_bytes(self._roster.known(ids))

    @property
    def jain_index(self) -> float:
        """The fairness of the shared budget, from 1 / units up to 1: Jain's index of the units' expansions per tick.

        It is relative to their priorities, over units that had to wait at some time since they set out; others got all
        that they asked for. It is nan if no unit had to wait.
        """
        rows = self._roster.units
        rows = rows[(rows["squad"] != NO_SQUAD) & (rows["turn"] > rows["joined"])]
        turns = np.where(rows["outcome"] == _WALKING, self._turn, rows["turn"]) - rows["joined"]
        waited = turns > rows["moves"]
        work = rows["expanded"] if rows["expanded"].any() else rows["moves"]
        return jain_index((work / (rows["priority"] * turns))[waited])

    # --- adding and removing units ----------------------------------------------------------------------------------

    @_alone
    def add(
        self,
        starts: npt.ArrayLike,
        goals: npt.ArrayLike,
        *,
        algorithm: str | Algorithm | None = None,
        databases: Sequence[Any] | None = None,
        priority: npt.ArrayLike = 1.0,
        nearest: bool = False,
        **parameters: Any,
    ) -> Ids:
        """Add units and return their ids, which are their indices in `cells`, `outcomes` and the others.

        ``starts`` and ``goals`` are cells of a grid, as an array with x and y of each, or states of a graph; a single
        one is used for all units. A unit of ``priority`` 2 gets twice the share of the budget; it may be an array with
        one value for each unit. A goal that cannot be reached costs nothing. With ``nearest`` the unit goes to the
        reachable cell nearest to such a goal instead, also if the goal is in a wall. Ids of removed units are reused.
        """
        chosen = self._chosen(algorithm, parameters)
        given = self._databases if databases is None else as_databases(databases, self.world)
        begin = states_at(self.world, starts, "start")
        end = self._goal_states(begin, goals, nearest)
        if len(begin) == 1:
            begin = np.broadcast_to(begin, end.shape)
        weights = priorities(priority, len(begin))
        check_goals(covering(chosen, given, self.graph), self.world, end)
        self._roster.check_room(begin)
        squad = self._lanes.open(chosen, given, len(begin))
        rows = self._roster.take(len(begin))
        table = self._roster.units
        table["anchored"][rows], table["priority"][rows] = chosen.card.anchored, weights
        self._roster.place(rows, begin)
        self._lanes.enlist(rows, squad)
        self._lanes.open_accounts(rows, self._turn)
        self._set_out(rows, end)
        return rows

    @_alone
    def send(self, ids: npt.ArrayLike, goals: npt.ArrayLike, *, nearest: bool = False) -> None:
        """Give units new goals.

        Units that already have these goals continue. A unit whose goal has moved only a few moves away, on a straight
        path, keeps what it has learned if its algorithm pursues goals (its card says so). All others begin a new
        problem.
        """
        rows, table = self._roster.known(ids), self._roster.units
        end = self._goal_states(table["state"][rows], goals, nearest, "unit")
        if len(end) != len(rows):
            raise ProblemError(f"{needed(len(rows), 'unit', 'goal')}, got {len(end)}")
        for squad, mine in self._lanes.by_squad(rows):
            check_goals(squad.covering, self.world, end[np.isin(rows, mine)])
        idle = table["outcome"][rows] != _WALKING
        new = (table["goal"][rows] != end) | idle
        new[new] = ~self._pursued(rows[new], end[new])
        self._lanes.open_accounts(rows[idle], self._turn)
        self._lanes.release(rows[new])
        self._set_out(rows[new], end[new])

    def _pursued(self, rows: Ids, goals: States) -> npt.NDArray[np.bool_]:
        """Redirect units whose goals have moved a little, and return a mask of them."""
        table = self._roster.units
        able = table["outcome"][rows] == _WALKING
        able &= self._roster.outcomes_at(table["state"][rows], goals) == _WALKING
        able[able] = self._lanes.pursue(rows[able], goals[able])
        table["goal"][rows[able]] = goals[able]
        return able

    @_alone
    def put(self, ids: npt.ArrayLike, cells: npt.ArrayLike) -> None:
        """Put units into other places. They keep their goals and what they have learned, and plan again."""
        rows, table = self._roster.known(ids), self._roster.units
        states = states_at(self.world, cells, "place")
        if len(states) not in (1, len(rows)):
            raise ProblemError(f"{needed(len(rows), 'unit', 'place')}, got {len(states)}")
        states = np.broadcast_to(states, rows.shape)
        self._roster.check_room(states, rows)
        self._roster.leave(rows)
        self._roster.place(rows, states)
        begins = np.where(table["anchored"][rows], NEW_PROBLEM, NEW_TRIAL)
        table["begins"][rows] = np.maximum(table["begins"][rows], begins)
        outcomes = self._roster.outcomes_at(states, table["goal"][rows])
        again = rows[(outcomes == _WALKING) & (table["outcome"][rows] != _WALKING)]
        table["outcome"][rows] = outcomes
        self._lanes.open_accounts(again, self._turn)
        self._roster.reorder()
        self._unreachable += int(np.count_nonzero(outcomes == _UNREACHABLE))
        self._lanes.release(rows[outcomes != _WALKING])
        self._lanes.join_teams(rows[(outcomes == _WALKING) & (table["team"][rows] == NO_TEAM)])

    @_alone
    def remove(self, ids: npt.ArrayLike) -> None:
        """Remove units, and release their memory."""
        rows = self._roster.known(ids)
        self._lanes.free(rows)
        self._roster.free(rows)

    def _set_out(self, rows: Ids, goals: States) -> None:
        """Start a new problem for each of these units."""
        table = self._roster.units
        outcomes = self._roster.outcomes_at(table["state"][rows], goals)
        table["goal"][rows] = table["aim"][rows] = goals
        table["outcome"][rows], table["begins"][rows] = outcomes, NEW_PROBLEM
        table["turn"][rows] = table["joined"][rows] = self._turn
        table["wish"][rows] = NO_WISH
        table["moves"][rows] = table["cost"][rows] = table["expanded"][rows] = 0
        self._lanes.join_teams(rows[outcomes == _WALKING])
        self._roster.reorder()
        self._unreachable += int(np.count_nonzero(outcomes == _UNREACHABLE))

    # --- a tick -----------------------------------------------------------------------------------------------------

    @_alone
    def tick(self, *, expansions: float | None = None, microseconds: float | None = None) -> Tick:
        """Move every unit at most once, until the budget is spent; without a budget, move every unit.

        A tick may exceed its budget by one move of one unit in each lane. With ``expansions`` the result is the same on
        every machine; ``microseconds`` are for games.

        Raise `AlgorithmError` if the step of an algorithm returned a wrong move. Its unit is then STUCK; all others
        have had their turn as in any other tick.
        """
        budget = Budget.of(expansions, microseconds)
        began = perf_counter_ns()
        self._turn += 1
        self._look_at_map()
        self._lanes.begin()
        self._lanes.march(self._turn, budget.without(perf_counter_ns() - began + self._ending))
        marched = perf_counter_ns()
        self._lanes.end(self._turn)
        fault = self._fault()  # before units with bodies push each other
        tick = self._report(began)
        self._ending = perf_counter_ns() - marched
        if fault is not None:
            raise fault
        return tick

    def _look_at_map(self) -> None:
        """Apply changes of the map: end units whose goals are cut off, and drop impossible wishes."""
        if self._living is None:
            return
        self._living.tend()
        if self._living.news != self._news:
            self._news = self._living.news
            lost = self._roster.end_cut_off(self._living)
            if len(lost):
                self._lanes.release(lost)
                self._unreachable += len(lost)
        if self._living.version != self._version:
            self._version = self._living.version
            self._roster.drop_wishes()

    def _report(self, began: int) -> Tick:
        """Move units with bodies where they can go, and return what happened since the time ``began``."""
        lanes, total = self._lanes, self._lanes.total
        moved, arrived, blocked = total("moved"), total("arrived"), 0
        if self._roster.has_bodies:
            moved, blocked, at_goal = self._roster.decide()
            arrived = len(at_goal)
            lanes.release(at_goal)
        lanes.release_ended()
        unreachable, self._unreachable = total("unreachable") + self._unreachable, 0
        return Tick(
            number=self._turn,
            moved=moved,
            waiting=total("walking") - total("moved"),
            arrived=arrived,
            unreachable=unreachable,
            stuck=total("stuck"),
            blocked=blocked,
            restarted=total("restarted"),
            expansions=total("expanded"),
            longest_wait=lanes.longest_wait,
            bytes=lanes.unit_bytes,
            microseconds=(perf_counter_ns() - began) / 1000,
        )

    def _fault(self) -> AlgorithmError | None:
        """Return the error for a wrong move that a step returned in this turn."""
        squad = self._lanes.faulty
        if squad is None:
            return None
        result = squad.result[0]
        return AlgorithmError(wrong_move(squad.algorithm, self.world, result, int(result["fault"])))

    @_alone
    def compile(self, memory: float = 0.0) -> None:
        """Compile everything that the crowd will call, or load it from the cache, so that the first calls are fast.

        This covers `tick`, `send`, `put` and `remove` with the crowd's algorithms, and on a `World` also its `close`
        and `open`. With ``memory`` it also makes the operating system provide this many bytes for units now, which
        might take milliseconds in a tick.
        """
        self._lanes.prepare(memory)
        self._lanes.compile()
        self._roster.compile(self._living)
        if self._living is not None:
            self._living.compile()

    # --- checks of arguments ----------------------------------------------------------------------------------------

    def _chosen(self, algorithm: str | Algorithm | None, parameters: dict[str, Any]) -> Algorithm:
        """Return the algorithm of new units."""
        _refuse_sight(parameters)
        if algorithm is None and self._default is None:
            raise AlgorithmError("this crowd has no algorithm of its own; name one: crowd.add(..., algorithm='lrta')")
        if algorithm is None and not parameters:
            assert self._default is not None
            return self._default
        return self._check_algorithm(find(self._default if algorithm is None else algorithm, **parameters))  # type: ignore[arg-type]

    def _check_algorithm(self, algorithm: Algorithm) -> Algorithm:
        """Return the algorithm; raise `AlgorithmError` if it cannot keep to a budget or be one of a crowd."""
        if not algorithm.real_time:
            raise AlgorithmError(
                f"{algorithm} may plan longer on larger maps, so it cannot keep to a crowd's budget; choose an "
                "algorithm whose card says real-time"
            )
        if not algorithm.crowd:
            raise AlgorithmError(f"{algorithm} cannot be one of a crowd: each unit would need memory for the whole map")
        if self._living is not None and self._share and not algorithm.living:
            raise AlgorithmError(
                f"{algorithm} cannot follow a map that changes, so its units cannot learn together on one; choose an "
                "algorithm whose card says living, or leave out share"
            )
        if self._share and not algorithm.card.converges:
            raise AlgorithmError(
                f"{algorithm} learns nothing that is true for others, so its units cannot learn together; choose an "
                "algorithm whose card says that it converges, or leave out share"
            )
        return algorithm

    def _goal_states(self, starts: States, goals: npt.ArrayLike, nearest: bool, what: str = "start") -> States:
        """Return the states of the goals, one for each start; a single start or goal is used for all."""
        ends = states_at(self.world, goals, "goal", walls=flag(nearest, "nearest"))
        if len(starts) == 1 and len(ends) > 1:
            starts = np.broadcast_to(starts, ends.shape)
        if len(ends) == 1 != len(starts):
            ends = np.broadcast_to(ends, starts.shape)
        if len(ends) != len(starts):
            raise ProblemError(f"{needed(len(starts), what, 'goal')}, got {len(ends)}")
        return nearest_in_component(self.world, starts, ends) if nearest else ends


def sharing(share: Any) -> bool:
    """Return whether units learn together."""
    if share not in (None, "goal"):
        raise ParameterError(f"share must be 'goal' or None, got {quoted(share)}")
    return share is not None


def flag(value: Any, name: str) -> bool:
    """Return a flag; raise `ParameterError` if it is not True or False."""
    if not isinstance(value, bool):
        raise ParameterError(f"{name} must be True or False, got {quoted(value)}")
    return value


def _refuse_sight(parameters: dict[str, Any]) -> None:
    """Raise `ParameterError` for units that would have to discover the map."""
    if "sight" in parameters:
        raise ParameterError(
            "the units of a crowd know their map, so they have no sight; an agent that discovers its map is made with "
            "andante.Agent(..., sight=...)"
        )
