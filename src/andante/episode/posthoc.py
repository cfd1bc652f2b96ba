"""Traces for Posthoc, the pathfinding community's visualiser, in its search-trace format, version 1.4.0.

The document has ``views`` (the drawing of an event, with expressions in ``${{ }}``), a ``pivot`` (an event's place) and
``events``, each with a ``type``, an ``id`` and a parent's id ``pId``. The format is YAML, of which JSON is a subset.

Andante writes a ``map`` event with the blocked cells as rectangles; ``source`` and ``destination``; ``blocking`` or
``opening`` for each cell that closes or opens; another ``destination`` for each move of the goal; ``discovering`` for
each cell that an agent with sight found blocked; ``expanding`` (with ``g``) or ``updating`` (with the new ``h``) for
each thought, with the state as its ``id``; ``moving`` for each move (with ``g``, the cost so far); and ``end``. Each
move has its own id and the previous move as its parent, so the line that Posthoc draws back from an event is the path
the agent took, including loops. A thought's parent is the move before it.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from andante.errors import OutputError
from andante.files import write_whole
from andante.search.memory import EXPANDED
from andante.world.grid import PASSABLE

if TYPE_CHECKING:
    from andante.episode.trace import Trace

POSTHOC_VERSION = "1.4.0"
EXTENSIONS = (".trace.json", ".trace.yaml", ".trace.yml")
DIGITS = 6


def to_posthoc(trace: Trace) -> str:
    """Return the trace as a JSON document that Posthoc opens."""
    document = {"version": POSTHOC_VERSION, "views": _views(), "pivot": _pivot(), "events": list(_events(trace))}
    return json.dumps(document, separators=(",", ":"), allow_nan=False)


def write_posthoc(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write the trace for Posthoc, completely or not at all."""
    check_name(path)
    write_whole(path, to_posthoc(trace).encode())


def check_name(path: str | os.PathLike[str]) -> None:
    """Raise `OutputError` if Posthoc would not open a file with this name."""
    if not Path(path).name.endswith(EXTENSIONS):
        raise OutputError(f"cannot write {path}: Posthoc opens files only whose names end in {', '.join(EXTENSIONS)}")


# --- how events are drawn -------------------------------------------------------------------------------------------


def _views() -> dict[str, list[dict[str, Any]]]:
    wall = {"x": 0, "y": 1, "width": 2, "height": 3}
    blocked = {
        "$": "rect",
        "$if": "${{ $.type == 'map' }}",
        "$for": {"$let": "i", "$to": "${{ $.walls.length }}"},
        **{name: f"${{{{ $.walls[$.i][{k}] }}}}" for name, k in wall.items()},
        "fill": "${{ theme.foreground }}",
        "alpha": 0.8,
        "clear": False,
    }
    return {
        "cell": [
            {
                "$": "rect",
                "x": "${{ $.x }}",
                "y": "${{ $.y }}",
                "width": 1,
                "height": 1,
                "fill": "${{ $.paint }}",
                "alpha": "${{ $.opacity }}",
                "clear": False,
            }
        ],
        "main": [
            blocked,
            _cell("source", "color.source", 1),
            _cell("destination", "color.destination", 1),
            _cell("expanding", "color.blue", 0.12),
            _cell("updating", "color.amber", 0.5),
            _cell("discovering", "color.green", 0.8),
            _cell("blocking", "theme.foreground", 0.8),
            _cell("opening", "theme.background", 1),
            _leg(),
            _agent(),
        ],
    }


def _cell(event: str, colour: str, alpha: float) -> dict[str, Any]:
    return {"$": "cell", "$if": f"${{{{ $.type == '{event}' }}}}", "paint": f"${{{{ {colour} }}}}", "opacity": alpha}


def _leg() -> dict[str, Any]:
    """Return the line from the agent's previous cell to this one."""
    return {
        "$": "path",
        "$if": "${{ $.type == 'moving' && !!parent }}",
        "points": [
            {"x": "${{ parent.x + 0.5 }}", "y": "${{ parent.y + 0.5 }}"},
            {"x": "${{ $.x + 0.5 }}", "y": "${{ $.y + 0.5 }}"},
        ],
        "fill": "${{ color.red }}",
        "alpha": 1,
        "line-width": 0.4,
        "lineWidth": 0.4,  # releases of the renderer spell it differently
        "clear": False,
    }


def _agent() -> dict[str, Any]:
    return {
        "$": "circle",
        "$if": "${{ $.type == 'moving' || $.type == 'end' }}",
        "x": "${{ $.x + 0.5 }}",
        "y": "${{ $.y + 0.5 }}",
        "radius": 0.6,
        "fill": "${{ color.red }}",
        "alpha": 1,
        "clear": True,
    }


def _pivot() -> dict[str, Any]:
    return {"x": "${{ $.x + 0.5 }}", "y": "${{ $.y + 0.5 }}", "scale": 1}


# --- events ---------------------------------------------------------------------------------------------------------


def _events(trace: Trace) -> Iterator[dict[str, Any]]:
    def place(state: int) -> dict[str, int]:
        x, y = trace.cells(state).tolist()
        return {"x": x, "y": y}

    title = f"{trace.title} on {trace.map_name}"
    yield {"type": "map", "id": "map", "x": 0, "y": 0, "title": title, "walls": _walls(~trace.passable)}
    yield {"type": "source", "id": _move_id(0), **place(trace.start)}
    yield {"type": "destination", "id": trace.goal, **place(trace.goal)}
    thoughts = zip(*(trace.thoughts[name].tolist() for name in ("kind", "state", "value")), strict=True)
    walls = iter(trace.discovered.tolist())
    walked, last = 0.0, trace.start
    events = _changes(trace)
    for number, (state, cost, expanded, learned, count, found, tick) in enumerate(trace.moves.tolist(), 1):
        while events and events[-1][0] <= tick:
            what, about = events.pop()[1:]
            yield {"type": what, "id": about, "pId": _move_id(number - 1), **place(about)}
        for _, wall in zip(range(found), walls, strict=False):
            yield {"type": "discovering", "id": wall, "pId": _move_id(number - 1), **place(wall)}
        for _, (kind, about, value) in zip(range(count), thoughts, strict=False):
            yield {**_thought(kind, about, value), "pId": _move_id(number - 1), **place(about)}
        walked, last = walked + cost, state
        here = {"type": "moving", "id": _move_id(number), "pId": _move_id(number - 1), **place(state), "state": state}
        yield {**here, "g": _number(walked), "expanded": expanded, "learned": _number(learned)}
    parent = _move_id(len(trace.moves))
    for _, what, about in reversed(events):
        yield {"type": what, "id": about, "pId": parent, **place(about)}
    for kind, about, value in thoughts:
        yield {**_thought(kind, about, value), "pId": parent, **place(about)}
    yield {"type": "end", "id": "end", "pId": parent, **place(last), "outcome": trace.outcome.name.lower()}


def _changes(trace: Trace) -> list[tuple[int, str, int]]:
    """Return the tick, the type and the cell of each change of the map and the goal, the last one first."""
    passable = {ord(character) for character in PASSABLE}
    changes = [
        (tick, "opening" if look in passable else "blocking", state) for tick, state, look in trace.changes.tolist()
    ]
    changes += [(tick, "destination", goal) for tick, goal in trace.goals.tolist()]
    return sorted(changes, key=lambda change: change[0])[::-1]


def _move_id(number: int) -> str:
    return f"move {number}"


def _thought(kind: int, state: int, value: float) -> dict[str, Any]:
    if kind == EXPANDED:
        return {"type": "expanding", "id": state, "g": _number(value)}
    return {"type": "updating", "id": state, "h": _number(value)}


def _number(value: float) -> float | str:
    """Return a number as JSON can express it: infinity becomes text."""
    return round(value, DIGITS) if math.isfinite(value) else "inf"


def _walls(blocked: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Return rectangles [x, y, width, height] over the blocked cells: runs of a row, merged with equal runs below."""
    done: list[list[int]] = []
    growing: dict[tuple[int, int], list[int]] = {}
    for y, row in enumerate(blocked):
        edges = np.flatnonzero(np.diff(row, prepend=False, append=False)).reshape(-1, 2).tolist()
        runs = {(left, right) for left, right in edges}
        done += [wall for run, wall in growing.items() if run not in runs]
        growing = {run: growing.get(run, [run[0], y, run[1] - run[0], 0]) for run in sorted(runs)}
        for wall in growing.values():
            wall[3] += 1
    return done + list(growing.values())
