"""An algorithm with its memory on one graph, and the loop that is bound to that memory.

A bound loop takes only a few numbers as arguments, so a call takes a microsecond and not the time to unpack all arrays.
When the memory is allocated again, for more space or for the new edition of a database, the loop is bound again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.agent import Algorithm, algorithms, find
from andante.databases.header import Database, as_databases
from andante.episode.checks import covering, explained, wrong_move
from andante.episode.detour import edition_of, gait_of
from andante.episode.loop import WRONG_MOVE, driver, loop_parts
from andante.episode.tables import ROW_BYTES, Episodes, Trail
from andante.errors import AlgorithmError, ProblemError, expect
from andante.kernel import bind
from andante.search.memory import Space, allocate, bytes_of, new_space
from andante.search.mind import KeptMind
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.living import LivingGraph, World
from andante.world.sensing import KNOWN, Belief, View, unknown

# Work per call of the compiled loop, in expansions and moves: about a tenth of a second.
PATIENCE = 2_000_000


class Alone:
    """A lock that allows one thread at a time to use an agent, and raises `AlgorithmError` in other threads."""

    def __init__(self, algorithm: str) -> None:
        self._algorithm = algorithm
        lock = threading.RLock()
        self.acquire, self.release = lock.acquire, lock.release

    def __enter__(self) -> None:
        if not self.acquire(False):
            raise self.refusal()

    def __exit__(self, *failure: object) -> None:
        self.release()

    def refusal(self) -> AlgorithmError:
        """Return the error for a second thread."""
        return AlgorithmError(
            f"two threads use the same agent of {self._algorithm} at the same time, but it can run only one problem "
            "at a time; make an agent for each thread, or use andante.run_many(..., threads=...)"
        )


class BoundAgent:
    """An algorithm with its memory on one map or graph; `Agent` adds the methods that run it."""

    def __init__(
        self,
        algorithm: str | Algorithm,
        world: Grid | Graph,
        *,
        databases: Sequence[Any] = (),
        sight: int | None = None,
        log_rows: int = 0,
        **parameters: Any,
    ) -> None:
        self.algorithm = find(algorithm, **parameters)
        expect(world, Grid | Graph, "an agent needs a Grid or a Graph, as andante.read_map returns")
        if isinstance(world, LivingGraph):
            world = world.map
        self.graph = world.graph
        self._living = world if isinstance(world, World) and sight is None else None
        self._news = -1  # the state of a changing map's components that the agent last saw
        self._gait = gait_of(self.algorithm, self.graph)
        self.databases = as_databases(databases, world)
        self.sight = sight
        self.name = str(self.algorithm)
        self.alone = Alone(self.name)  # within a ``with`` block no other thread may use the agent
        self._world = world
        self._log_rows = log_rows
        self._renew()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise AlgorithmError(
            f"an agent cannot be copied or pickled, because parts of its memory are views of others; make another one "
            f"with Agent({str(self.algorithm)!r}, ...)"
        )

    def __repr__(self) -> str:
        given = [repr(database) for database in self.databases]
        if self.sight is not None:
            given.append(f"sight {self.sight}")
        return f"<Agent {self.algorithm} on {self._world!r}{' with ' if given else ''}{', '.join(given)}>"

    def _loop(self) -> Callable[..., int]:
        """Return the loop that drives the agent's step."""
        return driver(self._gait.step)

    def _renew(self) -> None:
        """Allocate the memory, or allocate it again when no stamps are left for another problem, and bind the loop."""
        known, view = self._first_sight()
        self._mind = KeptMind(len(known)) if self._living is not None and self.databases else None
        self._space = space = self._new_space(known, view)
        self._memory = allocate(self._gait.memory, space)
        self._edition = edition_of(self.databases, self.graph)
        self._clock = space.clock.view(np.int64).data
        self._asks = view.scalars["asked"] if isinstance(view, Belief) else None
        self._bind()

    def _new_space(self, known: Graph, view: View) -> Space:
        return new_space(known, self._gait.params, self._log_rows, self.databases, view, self.name, self._mind)

    def _bind(self) -> None:
        """Bind the loop to the memory."""
        space, arrays, codes = self._space, self.graph.arrays, self._gait.codes
        drive = bind(self._loop(), *loop_parts(arrays, space.view, self._memory, codes, space.clock, space.changes))
        self._drive = self.graph.guarded(drive) if self.algorithm.card.regions else drive

    def _turn_page(self) -> None:
        """Switch to the current editions of databases on a map that changes; the agent keeps its mind."""
        edition = edition_of(self.databases, self.graph)
        if edition != self._edition:
            assert self._mind is not None
            self._edition = edition
            self._mind.begin_again()
            log = self._space.log
            self._space = self._new_space(self.graph, KNOWN)._replace(log=log)
            self._memory = allocate(self._gait.memory, self._space)
            self._bind()

    def _give_room(self) -> None:
        """Give the agent more memory if it has asked for it, because walls that it discovers break up regions."""
        assert self._asks is not None
        if self._asks[0]:
            self._asks[0] = 0
            self._space = self._space._replace(grown=self._space.grown + 1)
            self._memory = self._memory.with_more_room(self._space)
            self._bind()

    def _first_sight(self) -> tuple[Graph, View]:
        """Return the map that the agent knows at the start of a problem, and its view."""
        if self.sight is None:
            return self.graph, KNOWN
        if self.algorithm.needs or not self.algorithm.card.senses:
            able = ", ".join(entry.card.name for entry in algorithms() if entry.card.senses)
            raise AlgorithmError(f"{self.algorithm.card.name} has to know its map; algorithms with sight are: {able}")
        if isinstance(self._world, World) and not self.algorithm.living:
            able = ", ".join(entry.card.name for entry in algorithms() if entry.card.senses and entry.living)
            raise AlgorithmError(
                f"{self.algorithm} cannot discover a map that changes; give it world.frozen(), or choose one of: {able}"
            )
        if not isinstance(self._world, Grid):
            raise ProblemError("sight is for the cells of a map, but this is a graph; use a Grid and grid.problem(...)")
        return unknown(self._world, self.sight)

    @property
    def memory_bytes(self) -> int:
        """The size of the agent's memory, including its own model of the map if it has sight; then it may grow.

        Levels above a map that changes count with all the memory that they may ever need. Most of it is never used, and
        the operating system does not provide it until then.
        """
        return bytes_of((self._memory, self._space.view))

    def drive(
        self,
        episodes: Episodes,
        first: int = 0,
        count: int = 1,
        trail: Trail | None = None,
        *,
        times: npt.NDArray[np.int64] | None = None,
        patience: int = PATIENCE,
    ) -> int:
        """Continue some episodes for a while, and return how many have ended; the caller must hold `alone`.

        Moves are written into ``trail``, which is for one episode, and their nanoseconds into ``times``.
        """
        address, rows = (0, 0) if trail is None else (trail.address, trail.room)
        clocked, timed = (0, 0) if times is None else (times.ctypes.data, len(times))
        if self._asks is not None:
            self._give_room()
        if self._mind is not None:
            self._turn_page()
        try:
            done = self._drive(episodes.address + first * ROW_BYTES, count, address, rows, clocked, timed, patience)
        except Exception as error:
            raise explained(self.algorithm, error) from None
        if done < 0:
            row = episodes.rows[first + WRONG_MOVE - done]
            raise AlgorithmError(wrong_move(self.algorithm, self._world, row, int(row["outcome"])))
        return done

    def compile(self) -> None:
        """Compile the agent's loop, or load it from the cache."""
        with self.alone:
            self.drive(Episodes(1), count=0)

    def _apart(self, start: int, goal: int) -> bool:
        """Return whether it is known that no path leads from ``start`` to ``goal``."""
        if self._living is not None:
            return bool(self.graph.apart([start], [goal])[0])
        label = self._label
        return label is not None and label[start] != label[goal]

    @cached_property
    def _label(self) -> memoryview | None:
        """The component of each state; None with sight, because the agent has to discover it."""
        return self.graph.components.data if self.sight is None else None

    @cached_property
    def _covering(self) -> list[tuple[str, Database]]:
        """The databases that the algorithm needs, with their kinds."""
        return covering(self.algorithm, self.databases, self.graph)
