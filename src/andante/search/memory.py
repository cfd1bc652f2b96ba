"""Building blocks of agents' memories: mind and desk, clocks that make clearing unnecessary, and a log for observers.

A memory is a NamedTuple of bundles, each a NamedTuple of arrays with a class method ``allocate(space)``. It is
allocated once for a graph and used for any number of problems: data of an earlier problem is recognised by its stamp
and never cleared.

A memory has two parts. The *mind* is what an agent keeps between moves: learned values, its plan, where it was. The
*desk* is what it uses within one move, such as the ball of a lookahead. A thousand units share a desk, but each has a
mind. So a bundle requests the arrays of the mind from ``space.mind``, and makes those of the desk itself:

- ``mind.field(dtype)``: a field of records, one for each state, whose places ``mind.index()`` knows;
- ``mind.one(dtype)``: the single numbers that a bundle keeps, as the fields of one record: an array of length one
  called ``scalars``, whose dtype is defined beside the bundle. A kernel takes the record once,
  ``at = bundle.scalars[0]``, and reads and writes its fields by name, ``at["stage"]``;
- ``mind.row(dtype, length)``: a short array of fixed length, such as a plan.

An array of the mind is initially zero. The contents of an array of the desk are undefined when the next move begins.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple, get_type_hints

import numpy as np
import numpy.typing as npt

from andante.kernel import kernel
from andante.notation import Named
from andante.search.mind import Mind
from andante.world.changes import UNCHANGED, Changes, is_written
from andante.world.graph import Graph
from andante.world.sensing import KNOWN, Belief, View


class ThoughtKind(Named):
    """The kind of event that an entry of the log records."""

    EXPANDED = 0  # the state's successors were generated
    LEARNED = 1  # the state's heuristic became this value


EXPANDED, LEARNED = int(ThoughtKind.EXPANDED), int(ThoughtKind.LEARNED)  # as kernels take them


#: The numbers of an agent's current problem and trial, starting from 1, and the changes of map and goal since the
#: problem began. The loop keeps it. The era is the number of the problem plus the number of cells ever opened on the
#: map, so it never decreases; if no cell is opened, it stays the same throughout a problem.
CLOCK = np.dtype(
    [
        ("problem", np.int64),
        ("trial", np.int64),
        ("first", np.int64),  # the era in which the problem began
        ("era", np.int64),
        (
            "exact",
            np.int64,
        ),  # the era whose values are valid as stored: the present one; -1 if the goal moved
        ("drift", np.float64),  # the distance that the goal has moved in this problem
    ]
)

Clock = npt.NDArray[Any]  # [1], of CLOCK


@kernel
def begin_problem(clock: Any, opened: int) -> None:
    """Advance a record of CLOCK to the next problem, on a map on which ``opened`` cells have been opened so far."""
    set_problem(clock, clock["problem"] + 1, opened)


@kernel
def set_problem(clock: Any, number: int, opened: int) -> None:
    """Set a record of CLOCK to a problem that begins now."""
    clock["problem"] = number
    clock["first"] = clock["era"] = clock["exact"] = number + opened
    clock["drift"] = 0.0


@kernel
def catch_up(clock: Any, opened: int) -> None:
    """Continue the problem of a record of CLOCK, on a map on which ``opened`` cells have been opened so far."""
    clock["era"] = clock["problem"] + opened
    clock["exact"] = clock["era"] if clock["drift"] == 0.0 else -1


@kernel
def version(clock: Any, changes: Changes) -> int:
    """Return a number that grows with each new problem, and with each cell that is opened or closed on the map."""
    return clock["problem"] + changes.scalars[0]["total"]


@kernel
def season(clock: Any) -> int:
    """Return a number that grows with each new trial, and with each cell that is opened on the map."""
    return clock["trial"] + clock["era"] - clock["problem"]


LOG = np.dtype([("used", np.int64)])  # entries, including those lost beyond the capacity


class Log(NamedTuple):
    """The states that an agent expanded or learned in since the log was emptied; without capacity unless read."""

    kind: npt.NDArray[np.uint8]  # [capacity]
    state: npt.NDArray[np.int32]  # [capacity]
    value: npt.NDArray[np.float64]  # [capacity]
    scalars: npt.NDArray[Any]  # [1], of LOG: entries written

    @classmethod
    def of(cls, capacity: int) -> Log:
        """Return an empty log for ``capacity`` entries."""
        return cls(np.zeros(capacity, np.uint8), np.zeros(capacity, np.int32), np.zeros(capacity), np.zeros(1, LOG))


@kernel
def note(log: Log, kind: int, state: int, value: float) -> None:
    """Add one entry, if the log has space left."""
    if len(log.kind) == 0:
        return
    k = log.scalars[0]["used"]
    if k < len(log.kind):
        log.kind[k] = kind
        log.state[k] = state
        log.value[k] = value
    log.scalars[0]["used"] = k + 1


class Space(NamedTuple):
    """The information that a bundle may use when it is allocated."""

    graph: Graph  # the graph as the agent knows it when a problem begins
    params: Any  # the agent's parameters
    mind: Mind
    clock: Clock
    log: Log
    databases: tuple[Any, ...] = ()  # the databases given to the agent
    view: View = KNOWN  # the part of the map that the agent sees
    who: str = "this algorithm"  # its name in errors
    team_clock: Clock | None = None  # the clock of a team that learns together
    grown: int = 0  # the number of times that the agent has requested more space

    @property
    def changes(self) -> Changes:
        """The log of what changes on the map as the agent knows it."""
        return self.view.cells.changes if isinstance(self.view, Belief) else self.graph.changes

    @property
    def changes_in_time(self) -> Changes:
        """The same log, or an empty one if the map does not change: walls that come into sight always existed."""
        return self.changes if not isinstance(self.view, Belief) or is_written(self.view.news) else UNCHANGED

    @property
    def changes_to_search(self) -> Changes:
        """The log that search trees follow: an empty one if the agent discovers its map.

        Walls come into sight ahead of the agent, so a search that continues has to go around them from where it began.
        Beginning again where the path is cut leads to shorter paths (decision 23). Where a cell is found open again,
        the loop begins a new trial.
        """
        return UNCHANGED if isinstance(self.view, Belief) else self.graph.changes

    @property
    def states(self) -> int:
        """The number of states of the graph."""
        return len(self.graph)


def new_space(
    graph: Graph,
    params: Any,
    log_capacity: int = 0,
    databases: tuple[Any, ...] = (),
    view: View = KNOWN,
    who: str = "this algorithm",
    mind: Mind | None = None,
) -> Space:
    """Return a space for one agent, with a log of the given capacity and a mind, whose first record is the clock."""
    mind = Mind(len(graph)) if mind is None else mind
    return Space(graph, params, mind, mind.one(CLOCK), Log.of(log_capacity), databases, view, who)


def allocate(memory: type, space: Space) -> Any:
    """Return a memory, each field allocated by its own class."""
    return memory(**{name: bundle.allocate(space) for name, bundle in get_type_hints(memory).items()})


def bytes_of(bundle: Any, but: Collection[npt.NDArray[Any]] = ()) -> int:
    """Return the size of a bundle's arrays in bytes; an array that occurs twice, or in another view, counts once.

    The arrays of ``but`` are not counted.
    """
    seen: dict[int, int] = {}
    others = {array.ctypes.data for array in but}

    def walk(value: Any) -> None:
        if isinstance(value, np.ndarray):
            if value.ctypes.data in others:
                return
            seen[value.ctypes.data] = max(value.nbytes, seen.get(value.ctypes.data, 0))
        elif isinstance(value, tuple):
            for part in value:
                walk(part)

    walk(bundle)
    return sum(seen.values())
