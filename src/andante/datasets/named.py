"""Maps and graphs named by a text: a file, a map of a benchmark set, or one to generate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from andante.datasets import movingai
from andante.datasets.generate import generate, kinds
from andante.datasets.puzzles import pancakes, puzzle
from andante.errors import DatasetError, MapError, ParameterError, did_you_mean
from andante.notation import Call, parse
from andante.world.graph import Graph
from andante.world.graphfiles import is_graph_file, read_graph
from andante.world.grid import Grid
from andante.world.mapfiles import read_map

_MOST_DIGITS = 19  # in a seed or a size


def map_named(
    text: str, folder: Path = Path(), *, rule: str = "octile", costs: Mapping[str, float] | None = None
) -> Grid:
    """Return the map that a text names: a file ending in ``.map``, SET/NAME, or a map to generate.

    Paths are relative to ``folder``. ``rule`` says which diagonal moves are legal, and ``costs`` are the costs of cells
    by character. Generated maps that have costs keep those of other characters.

    >>> map_named("empty:9x6").height, map_named("rooms(width=32, height=32, size=5)").width
    (6, 32)
    """
    if text.endswith(".map"):
        return read_map(folder / text, rule=rule, costs=costs)
    if is_generated(text):
        call = generated(text)
        options: dict[str, Any] = dict(call.arguments)
        return generate(call.name, options.pop("width"), options.pop("height"), rule=rule, costs=costs, **options)
    if "/" in text:
        _check_set(text)
        return movingai.load_map(text, rule=rule, costs=costs)
    raise MapError(
        f"{text!r} is not a .map file, a SET/NAME of a benchmark set or KIND:WIDTHxHEIGHT:SEED; see 'andante maps list'"
    )


def _check_set(text: str) -> None:
    """Raise an error if the text does not name a map of a benchmark set; it may have been meant as a file."""
    if text.startswith((".", "/", "~")):
        raise MapError(f"there is no folder {text!r}, and a map's file ends in .map")
    name, known = text.partition("/")[0], [one.name for one in movingai.sets()]
    if name not in known:
        raise DatasetError(
            f"there is no benchmark set {name!r}, and no file or folder {text!r}; {did_you_mean(name, known)}"
        )


#: Graphs that are ready-made, each with its parameters.
_READY_MADE: dict[str, tuple[Callable[..., Graph], tuple[str, ...]]] = {
    "puzzle": (puzzle, ("width", "height", "weighted")),
    "pancakes": (pancakes, ("count",)),
}


def is_graph(text: str) -> bool:
    """Return whether a text names a graph: a file or a ready-made graph.

    >>> is_graph("roads.gr"), is_graph("puzzle(width=3, height=3)"), is_graph("maze:33x33:7")
    (True, True, False)
    """
    return is_graph_file(text) or text.partition("(")[0].strip() in _READY_MADE


def graph_named(text: str, folder: Path = Path()) -> Graph:
    """Return the graph that a text names: a file (`andante.world.graphfiles`) or a puzzle.

    >>> graph_named("puzzle(width=3, height=2)"), graph_named("pancakes(count=5)").name
    (<Graph of 360 states and 840 arcs>, 'pancakes-5')
    """
    if is_graph_file(text):
        return read_graph(folder / text)
    call = ready_made(text)
    return _READY_MADE[call.name][0](**call.arguments)


def ready_made(text: str) -> Call:
    """Return the checked call for a text that names a ready-made graph, without making the graph.

    >>> str(ready_made("pancakes(count=7)"))
    'pancakes(count=7)'
    """
    call = parse(text)
    _, known = _READY_MADE[call.name]
    for name, value in call.arguments.items():
        if name not in known:
            raise ParameterError(f"{call.name} has no option {name!r}; {did_you_mean(name, known)}")
        if type(value) is not (bool if name == "weighted" else int):
            kind = "true or false" if name == "weighted" else "a whole number"
            raise ParameterError(f"{name} of {call.name} must be {kind}, not {value!r}")
    for name in known:
        if name not in call.arguments and name != "weighted":
            raise ParameterError(f"{text} has no {name}")
    return call


def is_generated(text: str) -> bool:
    """Return whether the text names a map to generate."""
    return "(" in text or ":" in text


def generated(text: str) -> Call:
    """Return the checked call of `generate` for a text, without making the map.

    The text is KIND:WIDTHxHEIGHT:SEED or KIND(width=W, height=H, ...).

    >>> str(generated("maze:33x33:7"))
    'maze(width=33, height=33, seed=7)'
    """
    call = parse(text) if "(" in text else _spelled_out(text)
    if call.name not in kinds():
        raise ParameterError(f"there is no kind of map {call.name!r}; {did_you_mean(call.name, kinds())}")
    for name in ("width", "height"):
        if name not in call.arguments:
            raise ParameterError(f"{text} has no {name}")
    known = {"width", "height", "seed", *kinds()[call.name]}
    for name in call.arguments:
        if name not in known:
            raise ParameterError(f"{call.name} has no option {name!r}; {did_you_mean(name, known)}")
    return call


def _spelled_out(text: str) -> Call:
    """Return KIND:WIDTHxHEIGHT:SEED as a call; the seed is 0 if left out."""
    kind, _, rest = text.partition(":")
    size, _, seed = rest.partition(":")
    if not (seed or "0").isdecimal() or len(seed) > _MOST_DIGITS:
        raise MapError(f"a generated map is written KIND:WIDTHxHEIGHT:SEED, such as maze:64x64:7, not {text!r}")
    width, height = read_size(size)
    return Call(kind, {"width": width, "height": height, "seed": int(seed or 0)})


def read_size(text: str) -> tuple[int, int]:
    """Return WIDTHxHEIGHT as two numbers.

    >>> read_size("512x256")
    (512, 256)
    """
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal()) or len(text) > _MOST_DIGITS:
        raise MapError(f"a size is written WIDTHxHEIGHT, such as 512x512, not {text!r}")
    return int(width), int(height)
