"""Reading of graph files: road networks in DIMACS format, lists of edges, and formats that networkx reads.

    .gr        a road network of the 9th DIMACS challenge: ``p sp STATES ARCS`` and lines ``a FROM TO COST``; the file
               of the same name that ends in ``.co`` has a point for each state, ``v STATE X Y``
    .edges     a line per edge, ``FROM TO`` or ``FROM TO COST``, with any words for states; ``#`` begins a comment
    .arcs      the same for one-way edges
    .graphml   and .gml: graphs that networkx has written, with the attributes ``weight`` and ``pos``

Files may come from anywhere and are not trusted. Whatever does not fit the format is refused with its file and line.
"""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.errors import GraphError
from andante.files import read_at_most
from andante.world.graph import Graph
from andante.world.layout import MOST_STATES

MAX_BYTES = 2**31  # the largest published road network, of the USA, has a file of 1.5 GB
_NETWORKX = (".graphml", ".gml")
ENDINGS = (".gr", ".edges", ".arcs", *_NETWORKX)

#: Points are scaled so that no edge is longer than its cost, and by this factor in addition, because scaling rounds.
_ROOM = 1 - 2.0**-30

_NUMBER = re.compile(r"[+-]?(\d{1,300}(\.\d{0,300})?|\.\d{1,300})([eE][+-]?\d{1,4})?", re.ASCII)
_WHOLE = re.compile(r"\d{1,15}", re.ASCII)


def is_graph_file(text: str) -> bool:
    """Return whether a text names a file of a graph."""
    return text.endswith(ENDINGS)


def read_graph(path: str | os.PathLike[str]) -> Graph:
    """Return the graph in a file, named after the file; the suffix decides its format.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "triangle.edges")
    ...     _ = file.write_text("a b 3\\nb c 4\\nc a 5\\n")
    ...     graph = read_graph(file)
    >>> graph.name, graph.labels, graph.neighbours(graph.state("a"))
    ('triangle', ['a', 'b', 'c'], [(1, 3.0), (2, 5.0)])
    """
    file = Path(path)
    if not is_graph_file(file.name):
        raise GraphError(f"{file} is not a graph: its name must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
    try:
        if file.suffix in _NETWORKX:
            return _from_networkx(file).named(file.stem)
        if file.suffix == ".gr":
            return _from_dimacs(file).named(file.stem)
        return _from_edges(file, directed=file.suffix == ".arcs").named(file.stem)
    except GraphError as error:
        raise GraphError(str(error) if str(file) in str(error) else f"{file}: {error}") from error


def _lines(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the words of each line that has any, with its number."""
    try:
        text = read_at_most(file, MAX_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise GraphError(f"{file} is not a text file in UTF-8") from error
    except (OSError, ValueError) as error:
        raise GraphError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from error
    for number, line in enumerate(text.split("\n"), 1):
        if words := line.split():
            yield number, words


def _fail(file: Path, number: int, sentence: str) -> GraphError:
    return GraphError(f"{file}, line {number}: {sentence}")


def _real(file: Path, number: int, word: str, what: str) -> float:
    if not _NUMBER.fullmatch(word):
        raise _fail(file, number, f"{what} must be a number, not {word!r:.40}")
    return float(word)


# --- lists of edges -------------------------------------------------------------------------------------------------


def _from_edges(file: Path, directed: bool) -> Graph:
    numbers: dict[str, int] = {}
    edges: list[tuple[int, int, float]] = []
    for number, words in _lines(file):
        if words[0].startswith("#"):
            continue
        if len(words) not in (2, 3):
            raise _fail(
                file, number, f"an edge is written FROM TO COST, or FROM TO, but this line has {len(words)} words"
            )
        ends = [numbers.setdefault(word, len(numbers)) for word in words[:2]]
        cost = _real(file, number, words[2], "the cost") if len(words) == 3 else 1.0
        if not 0 < cost < math.inf:
            raise _fail(file, number, f"a cost must be positive and finite, not {words[2]}")
        if ends[0] == ends[1]:
            raise _fail(file, number, f"an edge leads from {words[0]!r:.40} to itself; leave it out")
        edges.append((ends[0], ends[1], cost))
    if not edges:
        raise GraphError(f"{file} has no edges")
    return Graph.from_edges(edges, states=len(numbers), directed=directed, labels=list(numbers))


# --- road networks --------------------------------------------------------------------------------------------------


def _from_dimacs(file: Path) -> Graph:
    """Return a road network; its labels are the numbers of the file, which count from 1."""
    states, announced, arcs = 0, 0, []
    for number, words in _lines(file):
        if words[0] == "a" and states:
            arcs.append(_arc(file, number, words, states))
        elif words[0] == "p":
            if states:
                raise _fail(file, number, "there is a second line that begins with 'p'")
            states, announced = _head(file, number, words, ["p", "sp"])
        elif words[0] != "c":
            raise _fail(
                file, number, f"a line begins with c, p or, after the line with p, with a, not {words[0]!r:.20}"
            )
    if not states:
        raise GraphError(f"{file} has no line 'p sp STATES ARCS'")
    if len(arcs) != announced:
        raise GraphError(f"{file} announces {announced:,} arcs and has {len(arcs):,}")
    table = _cheapest(np.array(arcs, np.float64).reshape(-1, 3))
    places = file.with_suffix(".co")
    points = _scaled(_points(places, states), table) if places.is_file() else None
    labels = range(1, states + 1)
    return Graph.from_edges(table, states=states, points=points, directed=True, labels=labels)  # type: ignore[arg-type]


def _head(file: Path, number: int, words: Sequence[str], begins: Sequence[str]) -> tuple[int, int]:
    count = 2 if begins == ["p", "sp"] else 1
    rest = words[len(begins) :]
    if list(words[: len(begins)]) != list(begins) or len(rest) != count or not all(map(_WHOLE.fullmatch, rest)):
        raise _fail(file, number, f"the line must be '{' '.join(begins)}' and {count} whole number{'s' * (count > 1)}")
    states = int(rest[0])
    if not 1 <= states <= MOST_STATES:
        raise _fail(file, number, f"a graph has 1 to {MOST_STATES:,} states, not {states:,}")
    return states, int(rest[-1])


def _arc(file: Path, number: int, words: Sequence[str], states: int) -> tuple[float, float, float]:
    if len(words) != 4:
        raise _fail(file, number, f"an arc is written a FROM TO COST, but this line has {len(words)} words")
    ends = [_state(file, number, word, states) for word in words[1:3]]
    cost = _real(file, number, words[3], "the cost")
    if not 0 < cost < math.inf:
        raise _fail(file, number, f"a cost must be positive and finite, not {words[3]}")
    if ends[0] == ends[1]:
        raise _fail(file, number, f"an arc leads from {words[1]} to itself; leave it out")
    return float(ends[0]), float(ends[1]), cost


def _state(file: Path, number: int, word: str, states: int) -> int:
    """Return the number of a state, counted from 0."""
    if not _WHOLE.fullmatch(word) or not 1 <= int(word) <= states:
        raise _fail(file, number, f"states are numbered from 1 to {states:,}, and {word!r:.40} is not one")
    return int(word) - 1


def _cheapest(table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the cheapest arc between each pair of states; road networks list some arcs twice."""
    order = np.lexsort((table[:, 2], table[:, 1], table[:, 0]))
    first = np.ones(len(order), bool)
    first[1:] = (np.diff(table[order][:, :2], axis=0) != 0).any(1)
    return table[np.sort(order[first])]


def _points(file: Path, states: int) -> npt.NDArray[np.float64]:
    """Return the points of a file of coordinates."""
    found = np.full((states, 2), math.nan)
    known = False
    for number, words in _lines(file):
        if words[0] == "v" and known:
            if len(words) != 4:
                raise _fail(file, number, f"a point is written v STATE X Y, but this line has {len(words)} words")
            place = [_real(file, number, word, "a coordinate") for word in words[2:]]
            found[_state(file, number, words[1], states)] = place
        elif words[0] == "p" and not known:
            if _head(file, number, words, ["p", "aux", "sp", "co"])[0] != states:
                raise _fail(file, number, f"there are {words[-1]} points for {states:,} states")
            known = True
        elif words[0] != "c":
            raise _fail(
                file, number, f"a line begins with c, p or, after the line with p, with v, not {words[0]!r:.20}"
            )
    if np.isnan(found).any():
        missing = int(np.isnan(found).any(1).argmax()) + 1
        raise GraphError(f"{file} has no point for state {missing:,}")
    return found


def _scaled(points: npt.NDArray[np.float64], arcs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the points in units of cost, so that the straight line between two ends never exceeds the arc's cost.

    Costs of road networks are lengths or times, and points are in millionths of a degree.
    """
    ends = arcs[:, :2].astype(np.int64)
    length = np.hypot(*(points[ends[:, 0]] - points[ends[:, 1]]).T)
    far = length > 0
    scale = float((arcs[far, 2] / length[far]).min()) if far.any() else 1.0
    return (points - points.mean(0)) * (scale * _ROOM)


# --- networkx -------------------------------------------------------------------------------------------------------


def _from_networkx(file: Path) -> Graph:
    try:
        import networkx
    except ImportError as error:
        raise GraphError(
            f"{file} is read with networkx, which is not installed; pip install 'andante[graphs]'"
        ) from error
    read: Any = networkx.read_graphml if file.suffix == ".graphml" else networkx.read_gml
    try:
        data = io.BytesIO(read_at_most(file, MAX_BYTES))
    except OSError as error:
        raise GraphError(f"cannot read {file}: {error.strerror or error}") from error
    try:
        found = read(data)
    except Exception as error:  # networkx passes on any exception of its parsers
        raise GraphError(f"{file} is not a graph that networkx reads: {error!s:.200}") from error
    if found.is_multigraph():
        raise GraphError(f"{file} has several edges between the same nodes; keep the cheapest of each")
    try:
        return Graph.from_networkx(found)
    except (TypeError, ValueError) as error:
        raise GraphError(f"{file} has a weight that is not a number: {error!s:.100}") from error
