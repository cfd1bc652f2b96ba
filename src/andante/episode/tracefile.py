"""Files of traces: JSON documents (``format`` "andante-trace", ``version`` 2).

Plain fields contain the problem and the result; the long lists are columns (`andante.episode.columns`):

- ``terrain``: the map's characters at the start, row by row, as their codes;
- ``moves``: for each move the ``state`` it led to, its ``cost``, the number of states ``expanded`` for it, the amount
  ``learned``, the number of ``thoughts`` before it, the number of cells ``discovered`` to be blocked, and the ``tick``
  in which it was made. Ticks are numbered from 1; in those that are missing the agent waited;
- ``thoughts``: ``kind`` (0 expanded, 1 learned), ``state`` and ``value`` (expanded: the cost to get there, if the agent
  records it; learned: the new heuristic value). Thoughts after those of the last move led to no move;
- ``discovered``: the cells that an agent with ``sight`` found blocked, in order of discovery; empty if it knew the map
  and ``sight`` is null;
- ``changes``: for each cell that closed or opened the ``tick`` before which it did, its ``state``, and its map
  character afterwards (``look``);
- ``goals``: for each move of the goal the ``tick`` before which it happened, and its new ``state``.

If there are changes or moves of the goal, ``optimal_cost`` is null, as no single cost is optimal; otherwise null means
that there is no path. ``checksum`` is the SHA-256 of the document without it, as JSON with sorted keys and no spaces.

Files of version 1 can still be read. They have no ``changes``, no ``goals`` and no ``tick``: every tick is a move.
"""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from andante.episode.columns import dump, pack, pack_table, unpack, unpack_table
from andante.errors import TraceError
from andante.files import json_checksum
from andante.measures import Outcome
from andante.search.memory import EXPANDED, LEARNED
from andante.world.arcs import SMALLEST
from andante.world.grid import BLOCKED, COSTLIEST, PASSABLE
from andante.world.mapfiles import MAX_CELLS

if TYPE_CHECKING:
    from andante.episode.trace import Trace

FORMAT = "andante-trace"
VERSION = 2
_STILL = 1  # the version of traces in which neither map nor goal changes

#: One row per move, thought, changed cell, and move of the goal.
MOVE = np.dtype(
    [
        ("state", np.int32),
        ("cost", np.float64),
        ("expanded", np.int32),
        ("learned", np.float64),
        ("thoughts", np.int32),
        ("discovered", np.int32),
        ("tick", np.int32),
    ]
)
THOUGHT = np.dtype([("kind", np.uint8), ("state", np.int32), ("value", np.float64)])
CHANGE = np.dtype([("tick", np.int32), ("state", np.int32), ("look", np.uint8)])
NEW_GOAL = np.dtype([("tick", np.int32), ("state", np.int32)])

_STILL_MOVE = np.dtype([(name, MOVE[name]) for name in MOVE.names or () if name != "tick"])


def to_text(trace: Trace) -> str:
    """Return a trace as the text of its file."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "algorithm": trace.algorithm,
        "title": trace.title,
        "map": trace.map_name,
        "width": trace.width,
        "height": trace.height,
        "diagonal": trace.diagonal,
        **({} if trace.straight == 1.0 else {"straight": trace.straight}),
        **({"sixteen": True} if trace.sixteen else {}),
        "start": trace.start,
        "goal": trace.goal,
        "outcome": trace.outcome.name,
        "optimal_cost": trace.optimal_cost if math.isfinite(trace.optimal_cost) else None,
        "thoughts_cut": trace.thoughts_cut,
        "sight": trace.sight,
        "discovered": pack(trace.discovered),
        "terrain": pack(trace.terrain.ravel()),
        "moves": pack_table(trace.moves),
        "thoughts": pack_table(trace.thoughts),
        "changes": pack_table(trace.changes),
        "goals": pack_table(trace.goals),
    }
    return dump({**document, "checksum": _checksum(document)})


def read_document(text: str | bytes, where: str) -> dict[str, Any]:
    """Return the document of a trace; raise `TraceError` if it is damaged or has another format or version."""
    try:
        document = json.loads(text)
        sealed = document.pop("checksum", None) if isinstance(document, dict) else None
        seal = _checksum(document)
    except (ValueError, RecursionError) as error:
        raise TraceError(f"{where} is not a trace: it is not JSON, or incomplete ({error})") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise TraceError(f'{where} is not a trace: it lacks "format": "{FORMAT}"')
    found = document.get("version")
    if type(found) is not int or found not in (_STILL, VERSION):
        newer = type(found) is int and found > VERSION
        do = "update Andante, or record it again" if newer else "record it again"
        raise TraceError(f"{where} is a trace of version {found!r}; this Andante reads versions 1 to {VERSION}; {do}")
    if sealed != seal:
        raise TraceError(f"{where} is damaged: its checksum is wrong; record it again")
    return document


def _checksum(document: Any) -> str:
    return json_checksum(document, compact=True)


def fields_of(document: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a `Trace` in a document; a correct checksum does not imply that its contents are valid."""
    width, height = (_whole(document, name, 1, MAX_CELLS) for name in ("width", "height"))
    cells = width * height
    if cells > MAX_CELLS:
        raise ValueError(f"a map of {width} x {height} cells is not possible")
    terrain = unpack(document["terrain"], np.dtype(np.uint8), cells)
    _check_looks(terrain)
    moves, changes, goals = _timed(document)
    thoughts = unpack_table(document["thoughts"], THOUGHT)
    found = int(moves["discovered"].sum(dtype=np.int64))
    if moves["discovered"].min(initial=0) < 0 or found > cells:
        raise ValueError(f"a map of {cells} cells does not have {found} to be discovered")
    discovered = unpack(document["discovered"], np.dtype(np.int32), found)
    _check_states(cells, moves["state"], thoughts["state"], discovered, changes["state"], goals["state"])
    _check_rows(moves, thoughts)
    _check_events(changes, goals)
    optimal = document["optimal_cost"]
    unknown = math.nan if len(changes) or len(goals) else math.inf
    return {
        "algorithm": _text(document, "algorithm"),
        "title": _text(document, "title"),
        "map_name": _text(document, "map"),
        "terrain": terrain.reshape(height, width),
        "diagonal": _amount(document, "diagonal", most=2.0 * COSTLIEST),
        "straight": _amount(document, "straight", most=COSTLIEST) if "straight" in document else 1.0,
        "sixteen": bool(document.get("sixteen", False)),
        "start": _whole(document, "start", 0, cells - 1),
        "goal": _whole(document, "goal", 0, cells - 1),
        "outcome": Outcome[document["outcome"]],
        "optimal_cost": unknown if optimal is None else _amount(document, "optimal_cost"),
        "moves": moves,
        "thoughts": thoughts,
        "thoughts_cut": bool(document["thoughts_cut"]),
        "sight": None if document["sight"] is None else _whole(document, "sight", 1, MAX_CELLS),
        "discovered": discovered,
        "changes": changes,
        "goals": goals,
    }


def _timed(document: dict[str, Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Return moves, changes of the map and moves of the goal; in version 1 every tick is a move, and nothing else."""
    if document["version"] != _STILL:
        tables = (("moves", MOVE), ("changes", CHANGE), ("goals", NEW_GOAL))
        moves, changes, goals = (unpack_table(document[name], dtype) for name, dtype in tables)
        return moves, changes, goals
    still = unpack_table(document["moves"], _STILL_MOVE)
    moves = np.zeros(len(still), MOVE)
    for name in _STILL_MOVE.names or ():
        moves[name] = still[name]
    moves["tick"] = np.arange(1, len(still) + 1)
    return moves, np.zeros(0, CHANGE), np.zeros(0, NEW_GOAL)


def _text(document: dict[str, Any], name: str) -> str:
    if not isinstance(value := document[name], str):
        raise TypeError(f"{name} is not text")
    return value


def _whole(document: dict[str, Any], name: str, low: int, high: int) -> int:
    if type(value := document[name]) is not int or not low <= value <= high:
        raise ValueError(f"{name} is not a whole number from {low} to {high}")
    return value


def _amount(document: dict[str, Any], name: str, most: float = sys.float_info.max) -> float:
    value = document[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise ValueError(f"{name} is not a number from 0 to {most:g}")
    return float(value)


def _check_looks(looks: npt.NDArray[np.uint8]) -> None:
    if not np.isin(looks, [ord(character) for character in PASSABLE + BLOCKED]).all():
        raise ValueError("its map has unknown characters")


def _check_states(cells: int, *columns: npt.NDArray[np.int32]) -> None:
    states = np.concatenate(columns)
    if states.min(initial=0) < 0 or states.max(initial=0) >= cells:
        raise ValueError(f"a state lies outside the map's {cells} cells")


def _check_rows(moves: npt.NDArray[Any], thoughts: npt.NDArray[Any]) -> None:
    """Raise `ValueError` for moves and thoughts that no agent can produce."""
    if moves["thoughts"].min(initial=0) < 0 or int(moves["thoughts"].sum(dtype=np.int64)) > len(thoughts):
        raise ValueError("its moves refer to thoughts that it does not contain")
    if not ((moves["cost"] >= 0) & (moves["cost"] <= 1 / SMALLEST) & (moves["expanded"] >= 0)).all():
        raise ValueError("its moves have impossible costs or expansions")
    if np.isnan(moves["learned"]).any() or np.isnan(thoughts["value"]).any():
        raise ValueError("it contains values that are not numbers")
    if not np.isin(thoughts["kind"], (EXPANDED, LEARNED)).all():
        raise ValueError("it contains thoughts of an unknown kind")
    if not (np.diff(moves["tick"].astype(np.int64), prepend=0) > 0).all():
        raise ValueError("the ticks of its moves are not numbered from 1 upwards")


def _check_events(changes: npt.NDArray[Any], goals: npt.NDArray[Any]) -> None:
    """Raise `ValueError` for changes that are not in the order of their ticks, or give a cell an unknown look."""
    _check_looks(changes["look"])
    for events in (changes, goals):
        if len(events) and (events["tick"][0] < 1 or (np.diff(events["tick"].astype(np.int64)) < 0).any()):
            raise ValueError("its changes are not in the order of their ticks, which are numbered from 1")
