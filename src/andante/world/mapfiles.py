"""Reading and writing of the MovingAI file formats: maps (``.map``) and scenarios (``.scen``).

A map is four header lines (``type octile``, ``height``, ``width``, ``map``) and rows of characters. A scenario is a
``version`` line and one problem per line: bucket, map, width, height, start x and y, goal x and y, optimal length.

Files may come from anywhere and are not trusted. Whatever does not fit the format is refused with its file, line and
column or field, and no more is read than the header announces.
"""

from __future__ import annotations

import functools
import io
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from andante.errors import MapError, ScenarioError, expect
from andante.files import write_whole
from andante.world.grid import BLOCKED, MAX_SIDE, PASSABLE, Grid, checked_costs
from andante.world.problem import Problem, checked_problems

#: Maps with more cells are refused: published maps are far smaller, and the graph would not fit on an ordinary machine.
MAX_CELLS = 2**27

#: Scenarios with more bytes are refused: the largest published ones have less than a megabyte.
MAX_SCENARIO_BYTES = 2**28

#: The benchmark sorts problems into buckets of this width by their optimal cost.
BUCKET_WIDTH = 4

_MOST_DIGITS = 10
_HEADER_BYTES = 256  # far more than four valid header lines need
_MAP_FIELDS = ("type", "height", "width", "map")
_LEGAL = np.isin(np.arange(256), [ord(c) for c in PASSABLE + BLOCKED])
_SCENARIO_FIELDS = ("bucket", "map", "width", "height", "start x", "start y", "goal x", "goal y", "optimal length")


# --- maps -----------------------------------------------------------------------------------------------------------


def read_map(path: str | os.PathLike[str], *, rule: str = "octile", costs: Mapping[str, float] | None = None) -> Grid:
    """Return the grid in a ``.map`` file, named after the file; ``rule`` says which diagonal moves are legal.

    ``costs`` are the costs of cells by character: {"S": 2, "W": 5} makes swamp cost 2 and water passable at 5.
    """
    expect(path, str | os.PathLike, "a map is read from the path of a file, a text", MapError)
    file = Path(path)
    try:
        with file.open("rb") as stream:
            return _parse_map(stream, str(file), file.stem, rule, costs)
    except (OSError, ValueError) as error:  # the name may contain characters that no file name can
        named = isinstance(error, FileNotFoundError) and not file.suffix
        hint = "; to open a map of a benchmark set, use andante.datasets.movingai.load_map" if named else ""
        raise MapError(f"cannot read the map {file}: {getattr(error, 'strerror', None) or error}{hint}") from error


def parse_map(
    text: str | bytes,
    name: str = "map",
    *,
    rule: str = "octile",
    where: str | None = None,
    costs: Mapping[str, float] | None = None,
) -> Grid:
    r"""Return the grid in the text of a map file, with this name; error messages name ``where`` the text is from.

    >>> parse_map("type octile\nheight 2\nwidth 3\nmap\n..@\n.T.\n", "tiny")
    <Grid tiny 3 x 2, 4 free cells>
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
    return _parse_map(io.BytesIO(data), where or name, name, rule, costs)


def write_map(grid: Grid, path: str | os.PathLike[str]) -> None:
    """Write ``grid`` as a ``.map`` file, completely or not at all. The format stores no rule for moves and no costs."""
    expect(grid, Grid, "a map is written as write_map(grid, path), with a Grid first", MapError)
    write_whole(path, map_text(grid).encode())


def map_text(grid: Grid) -> str:
    """Return the text of a ``.map`` file."""
    lines = np.full((grid.height, grid.width + 1), ord("\n"), np.uint8)
    lines[:, :-1] = grid.terrain
    return f"type octile\nheight {grid.height}\nwidth {grid.width}\nmap\n{lines.tobytes().decode('ascii')}"


def _parse_map(stream: BinaryIO, where: str, name: str, rule: str, costs: Mapping[str, float] | None) -> Grid:
    """Return the grid in a stream of a file or a text."""
    given = checked_costs(costs or {})
    legal = _LEGAL.copy()
    legal[[ord(character) for character in given]] = True
    data = _read_as_announced(stream, where)
    height, width, start = _header(data, where)
    return Grid(_rows(data, start, height, width, where, legal), name=name, rule=rule, costs=given)


def _read_as_announced(stream: BinaryIO, where: str) -> bytes:
    """Return the whole file, if it is no longer than its header allows."""
    head = stream.read(_HEADER_BYTES)
    height, width, start = _header(head, where)
    # Rows may end in two characters, and blank lines may follow the last.
    limit = start + height * (width + 2) + _HEADER_BYTES
    data = head + stream.read(max(0, limit - len(head)))
    if stream.read(1):
        raise MapError(
            f"{where} continues after the {height} rows of {width} cells that its header announces (lines 2 and 3); "
            "correct the height and width or cut the file"
        )
    return data


def _header(data: bytes, where: str) -> tuple[int, int, int]:
    """Return the height and width from the header, and the offset in ``data`` at which the rows begin."""
    values: dict[str, str] = {}
    start = 0
    for number, field in enumerate(_MAP_FIELDS, start=1):
        end = data.find(b"\n", start, start + _HEADER_BYTES)
        ended = end >= 0 or field == "map"
        line = data[start : end if end >= 0 else start + _HEADER_BYTES].decode("utf-8", "replace").strip()
        found, value = (*line.split(maxsplit=1), "", "")[:2]
        if found != field or not ended or (field == "map" and value):
            expected = {"type": "type octile", "map": "map"}.get(field, f"{field} and a number")
            raise MapError(f"{where}, line {number}: expected '{expected}', found {_quote(line)}; is this a .map file?")
        values[field] = value
        start = end + 1 if end >= 0 else len(data)
    if values["type"] != "octile":
        raise MapError(f"{where}, line 1: the type of map is {_quote(values['type'])}, but only 'octile' is supported")
    height, width = (_side(values[field], field, number, where) for number, field in ((2, "height"), (3, "width")))
    if height * width > MAX_CELLS:
        raise MapError(f"{where} announces {width} x {height} cells (lines 2 and 3); the limit is {MAX_CELLS:,} cells")
    return height, width, start


def _side(text: str, field: str, number: int, where: str) -> int:
    value = _whole_number(text)
    if value is None or not 1 <= value <= MAX_SIDE:
        allowed = f"a whole number from 1 to {MAX_SIDE}"
        raise MapError(f"{where}, line {number}: {field} must be {allowed}, not {_quote(text)}")
    return value


def _rows(
    data: bytes, start: int, height: int, width: int, where: str, legal: npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint8]:
    """Return the cells as uint8[height, width]; ``legal`` says which characters are allowed."""
    tidy = _tidy_rows(data, start, height, width)
    if tidy is None:
        tidy = _untidy_rows(data[start:], height, width, where, legal)
    strange = ~legal[tidy]
    if strange.any():
        y, x = divmod(int(strange.argmax()), width)
        raise MapError(_strange_cell(tidy[y, x:].tobytes(), where, line=5 + y, column=1 + x))
    return tidy


def _tidy_rows(data: bytes, start: int, height: int, width: int) -> npt.NDArray[np.uint8] | None:
    """Return the cells if every row has the right length and ends in a plain newline, else None."""
    body = np.frombuffer(data, np.uint8, offset=start)
    if len(body) == height * (width + 1) - 1:
        body = np.append(body, np.uint8(ord("\n")))
    if len(body) != height * (width + 1):
        return None
    lines = body.reshape(height, width + 1)
    cells = lines[:, :-1]
    return cells if (lines[:, -1] == ord("\n")).all() and not (cells == ord("\n")).any() else None


def _untidy_rows(
    body: bytes, height: int, width: int, where: str, legal: npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint8]:
    """Return the cells of a file with other line ends or trailing blank lines; report ragged rows and truncation."""
    lines = [line.removesuffix(b"\r") for line in body.split(b"\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    for number, line in enumerate(lines[:height], start=5):
        if len(line) != width:
            _check_characters(line, where, number, legal)
            raise MapError(f"{where}, line {number}: this row has {len(line)} cells; the header (line 3) says {width}")
    if len(lines) < height:
        raise MapError(f"{where} ends after {len(lines)} of the {height} rows that its header (line 2) announces")
    if len(lines) > height:
        raise MapError(f"{where}, line {5 + height}: more rows than the {height} that the header (line 2) announces")
    return np.frombuffer(b"".join(lines), np.uint8).reshape(height, width)


def _check_characters(line: bytes, where: str, number: int, legal: npt.NDArray[np.bool_]) -> None:
    strange = ~legal[np.frombuffer(line, np.uint8)]
    if strange.any():
        column = int(strange.argmax())
        raise MapError(_strange_cell(line[column:], where, line=number, column=1 + column))


def _strange_cell(rest: bytes, where: str, *, line: int, column: int) -> str:
    """Return the message about the first character of ``rest``."""
    what = f"the byte 0x{rest[0]:02x}, which is not UTF-8 text"
    for length in (4, 3, 2, 1):  # the shortest prefix that is valid text is the character
        with suppress(UnicodeDecodeError):
            what = repr(rest[:length].decode())
    allowed = f"{' '.join(PASSABLE)} (passable) and {' '.join(BLOCKED)} (blocked); others need a cost"
    return f"{where}, line {line}, column {column}: found {what}; a map is made of {allowed}"


# --- scenarios ------------------------------------------------------------------------------------------------------


def read_scenario(path: str | os.PathLike[str], grid: Grid, *, keep_all: bool = False) -> list[Problem]:
    """Return the problems of a ``.scen`` file for ``grid``, with the file's costs as ``listed_cost``.

    Problems that cannot be solved, because an end is blocked or the ends are in different components, are left out
    unless ``keep_all``. Lines whose start equals the goal are always left out.
    """
    expect(path, str | os.PathLike, "a scenario is read from the path of a file, a text", ScenarioError)
    expect(grid, Grid, "a scenario is read for its map, a Grid", ScenarioError)
    file = Path(path)
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_SCENARIO_BYTES + 1)
    except (OSError, ValueError) as error:
        raise ScenarioError(f"cannot read the scenario {file}: {getattr(error, 'strerror', None) or error}") from error
    return parse_scenario(data, grid, str(file), keep_all=keep_all)


def parse_scenario(text: str | bytes, grid: Grid, name: str = "scenario", *, keep_all: bool = False) -> list[Problem]:
    r"""Return the problems in the text of a scenario file; ``name`` is used in error messages.

    >>> grid = parse_map("type octile\nheight 1\nwidth 3\nmap\n...\n", "tiny")
    >>> parse_scenario("version 1\n0\ttiny.map\t3\t1\t0\t0\t2\t0\t2\n", grid)
    [<Problem (0, 0) to (2, 0) on tiny>]
    """
    graph, component = grid.graph, grid.graph.components
    problems = []
    for where, fields in _scenario_lines(text, name):
        start, goal, cost = _start_goal_cost(fields, grid, where)
        # A blocked cell is a component of its own.
        if start != goal and (keep_all or component[start] == component[goal]):
            problems.append(Problem(graph, start, goal, grid, listed_cost=cost))
    return problems


def write_scenario(problems: Iterable[Problem], path: str | os.PathLike[str]) -> None:
    """Write problems on grids as a ``.scen`` file, completely or not at all; each needs its optimal or listed cost."""
    known = checked_problems(problems)
    lines = [_line_of(problem, f"problem {number} ({problem!r})") for number, problem in enumerate(known)]
    write_whole(path, "".join(["version 1\n", *lines]).encode())


def _line_of(problem: Problem, what: str) -> str:
    grid = problem.grid
    cost = problem.known_cost if problem.known_cost is not None else problem.listed_cost
    if grid is None:
        raise ScenarioError(f"{what} is not on a grid; a scenario file can only hold problems on grids")
    if not grid.name.isprintable() or _title(grid.name) != grid.name:
        raise ScenarioError(f"{what} is on a map whose name does not fit a scenario file; give the grid a plain name")
    if cost is None or not math.isfinite(cost):
        raise ScenarioError(f"{what} has no cost to write; use with_optimal_costs first")
    cells = (*grid.cell(problem.start), *grid.cell(problem.goal))
    fields = (int(cost // BUCKET_WIDTH), f"{grid.name}.map", grid.width, grid.height, *cells, f"{cost:.8f}")
    return "\t".join(map(str, fields)) + "\n"


@functools.lru_cache(maxsize=64)
def _title(map_name: str) -> str:
    """Return a map's name without folders, because published scenarios name folders that their maps are not in."""
    return re.split(r"[/\\]", map_name.strip())[-1]


def _scenario_lines(text: str | bytes, name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the file and line of each problem, and its fields."""
    if len(text) > MAX_SCENARIO_BYTES:
        raise ScenarioError(f"{name} is larger than {MAX_SCENARIO_BYTES:,} bytes, too large for a scenario")
    lines = _decoded(text, name).split("\n")
    if lines[0].split() not in (["version", "1"], ["version", "1.0"]):
        raise ScenarioError(f"{name}, line 1: expected 'version 1', found {_quote(lines[0])}; is this a .scen file?")
    for number, line in enumerate(lines[1:], start=2):
        if line and not line.isspace():
            where = f"{name}, line {number}"
            yield where, _scenario_fields(line, where)


def _decoded(text: str | bytes, where: str) -> str:
    if isinstance(text, str):
        return text
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        column = error.start - (text.rfind(b"\n", 0, error.start) + 1) + 1
        raise ScenarioError(
            f"{where}, line {line}, column {column}: the byte 0x{text[error.start]:02x} is not UTF-8 text"
        ) from error


def _scenario_fields(line: str, where: str) -> list[str]:
    # Fields are separated by spaces or tabs; the second, the name of the map, may contain spaces.
    bucket, rest = (*line.split(maxsplit=1), "")[:2]
    fields = [bucket, *rest.rsplit(maxsplit=len(_SCENARIO_FIELDS) - 2)]
    if len(fields) != len(_SCENARIO_FIELDS):
        expected = f"{len(_SCENARIO_FIELDS)} fields ({', '.join(_SCENARIO_FIELDS)})"
        raise ScenarioError(f"{where}: expected {expected}, found {len(fields)}")
    return fields


def _start_goal_cost(fields: list[str], grid: Grid, where: str) -> tuple[int, int, float]:
    """Return a problem's start, goal and cost, after checking that they make sense and are for this map."""
    title = _title(fields[1]).removesuffix(".map")
    if title != grid.name:
        raise ScenarioError(
            f"{where}: this problem is for the map {_quote(title)} (field 2), not for {_quote(grid.name)}; if it is "
            f"the same map, set the grid's name to {_quote(title)}"
        )
    _, width, height, x, y, goal_x, goal_y = _whole_fields(fields, where)
    if width != grid.width or height != grid.height:
        raise ScenarioError(
            f"{where}: this problem is for a map of {width} x {height} cells (fields 3 and 4), but {grid.name} has "
            f"{grid.width} x {grid.height}"
        )
    if x >= width or y >= height:
        raise ScenarioError(f"{where}: the start ({x}, {y}) (fields 5 and 6) lies outside {grid.name}")
    if goal_x >= width or goal_y >= height:
        raise ScenarioError(f"{where}: the goal ({goal_x}, {goal_y}) (fields 7 and 8) lies outside {grid.name}")
    return y * width + x, goal_y * width + goal_x, _listed_cost(fields[8], where)


def _whole_fields(fields: list[str], where: str) -> list[int]:
    numbers = [fields[0], *fields[2:8]]
    together = "".join(numbers)  # a single test for all of them, because there are hundreds of thousands of lines
    if together.isascii() and together.isdigit() and len(max(numbers, key=len)) <= _MOST_DIGITS:
        return [int(number) for number in numbers]
    k = next(k for k in (0, 2, 3, 4, 5, 6, 7) if _whole_number(fields[k]) is None)
    what = f"{_SCENARIO_FIELDS[k]} (field {k + 1})"
    raise ScenarioError(f"{where}: {what} must be a whole number, not {_quote(fields[k])}")


def _listed_cost(text: str, where: str) -> float:
    with suppress(ValueError):
        cost = float(text)
        if math.isfinite(cost) and cost >= 0:
            return cost
    raise ScenarioError(f"{where}: optimal length (field 9) must be a number of at least 0, not {_quote(text)}")


# --- text -------------------------------------------------------------------------------------------------


def _whole_number(text: str) -> int | None:
    """Return a number written in plain digits; None if the text is anything else or too long."""
    return int(text) if len(text) <= _MOST_DIGITS and text.isascii() and text.isdigit() else None


def _quote(text: str) -> str:
    """Return text for an error message: quoted, on one line, and not too long."""
    return repr(text if len(text) <= 40 else text[:40] + "...")
