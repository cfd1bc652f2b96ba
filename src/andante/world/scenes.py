"""Scenes: a map, units on it, and events at given ticks, all stored in one text file.

A scene file is UTF-8 text. Its first line is ``andante scene 1``. Lines of words follow, separated by spaces, in this
order. The map follows, as in a ``.map`` file, beginning with the line ``type octile``::

    andante scene 1
    name rooms              the map's name: the rest of the line
    rule octile             which diagonal moves are legal: octile, corners or cardinal
    unit 3 4 60 61          for each unit, numbered from 0: x and y of its start, x and y of its goal
    flee 0 3                the goal of unit 0 flees from it: it makes a move before every third tick
    close 120 30 31         before tick 120 the cell (30, 31) becomes impassable
    open 240 30 31          before tick 240 it becomes passable
    goal 300 0 50 51        before tick 300 the goal of unit 0 moves to (50, 51)

A unit makes one move per tick. Ticks are numbered from 1 and never decrease from line to line. Starts and goals are
passable on the map in the file, and start and goal of a unit are not the same cell. Files may come from anywhere and
are not trusted. Whatever does not fit the format is refused with its file and line. `andante.episode.stage` runs
scenes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

from andante.errors import AndanteError, ScenarioError, did_you_mean, quoted
from andante.files import write_whole
from andante.world.grid import RULES, Grid, refuse_sixteen
from andante.world.mapfiles import map_text, parse_map

FIRST_LINE = "andante scene 1"
MAP_BEGINS = "type "
MOST_BYTES = 2**28
MOST_TICK = 10**9
_FIRST_ITEM = 4  # the line of a scene file on which units begin

Cell = tuple[int, int]


class Change(NamedTuple):
    """A cell that is closed or opened before a tick."""

    tick: int
    cell: Cell
    opened: bool


class NewGoal(NamedTuple):
    """A new goal for a unit before a tick."""

    tick: int
    unit: int
    goal: Cell


class Flight(NamedTuple):
    """A goal that flees from its unit, with a move before every tick that is a multiple of ``every``."""

    unit: int
    every: int


Event = Change | NewGoal


class _ItemError(ScenarioError):
    """An error in a unit, a flight or an event, which are numbered in the order of a scene file."""

    def __init__(self, message: str, item: int) -> None:
        super().__init__(message)
        self.item = item


@dataclass(frozen=True, eq=False)
class Scene:
    """A map, units with their starts and goals, events in the order of their ticks, and goals that flee.

    >>> import andante
    >>> Scene(andante.generate("empty", 4, 4), [((0, 0), (3, 3))], [Change(5, (1, 1), opened=False)])
    <Scene on empty-4x4-seed0: 1 unit, 1 event>
    """

    grid: Grid
    units: Sequence[tuple[Cell, Cell]]
    events: Sequence[Event] = ()
    flights: Sequence[Flight] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.grid, Grid):
            raise ScenarioError(f"a scene is on a Grid, as andante.read_map returns, not on {quoted(self.grid)}")
        refuse_sixteen(self.grid, "a scene")
        for item, check in enumerate(self._checks()):
            try:
                check()
            except AndanteError as error:
                raise _ItemError(str(error), item) from None

    def _checks(self) -> Iterator[Callable[[], object]]:
        """Yield a check of each unit, flight and event, in the order of a scene file."""
        for start, goal in self.units:
            yield partial(self.grid.problem, start, goal)
        fleeing: set[int] = set()
        for flight in self.flights:
            yield partial(self._check_flight, flight, fleeing)
            fleeing.add(flight.unit)
        for before, event in zip([None, *self.events], self.events, strict=False):
            yield partial(self._check_event, event, before)

    def _check_event(self, event: Event, before: Event | None) -> None:
        if not 1 <= event.tick <= MOST_TICK:
            raise ScenarioError(f"ticks are numbered from 1 to {MOST_TICK}, and an event names tick {event.tick}")
        if before is not None and event.tick < before.tick:
            raise ScenarioError(f"events come in the order of their ticks, and {event.tick} follows {before.tick}")
        if isinstance(event, NewGoal):
            self._check_unit(event.unit)
        self.grid.state(*(event.goal if isinstance(event, NewGoal) else event.cell))

    def _check_unit(self, unit: int) -> None:
        if not 0 <= unit < len(self.units):
            raise ScenarioError(f"an event names unit {unit}, and there are {len(self.units)}, numbered from 0")

    def _check_flight(self, flight: Flight, fleeing: set[int]) -> None:
        self._check_unit(flight.unit)
        if not 1 <= flight.every <= MOST_TICK:
            raise ScenarioError(f"a goal flees every 1 to {MOST_TICK} ticks, not every {flight.every}")
        if flight.unit in fleeing:
            raise ScenarioError(f"the goal of unit {flight.unit} flees twice")

    def __repr__(self) -> str:
        units, events = len(self.units), len(self.events)
        return f"<Scene on {self.grid.name}: {units} unit{'s' * (units != 1)}, {events} event{'s' * (events != 1)}>"

    @property
    def changes(self) -> list[Change]:
        """The events that change the map."""
        return [event for event in self.events if isinstance(event, Change)]

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that affects a run: the map's legal moves, units, events and flights."""
        lines = (self.grid.fingerprint, *self._lines())
        return hashlib.blake2b("\n".join(lines).encode(), digest_size=16).hexdigest()

    def _lines(self) -> Iterator[str]:
        """Yield the lines of units, flights and events."""
        yield from (f"unit {sx} {sy} {gx} {gy}" for (sx, sy), (gx, gy) in self.units)
        yield from (f"flee {unit} {every}" for unit, every in self.flights)
        yield from map(_written, self.events)

    @property
    def last_tick(self) -> int:
        """The tick before which the last event happens, or 0 if there are no events."""
        return self.events[-1].tick if self.events else 0

    def to_text(self) -> str:
        """Return the scene as the text of a scene file."""
        if not self.grid.name.isprintable() or self.grid.name != self.grid.name.strip():
            raise ScenarioError("the map's name does not fit a scene file; give the grid a plain name")
        if self.grid.weights is not None:
            raise ScenarioError("a scene file cannot store costs of cells; this scene can be run but not written")
        lines = [FIRST_LINE, f"name {self.grid.name}", f"rule {self.grid.rule}", *self._lines()]
        return "\n".join(lines) + "\n" + map_text(self.grid)


def _written(event: Event) -> str:
    if isinstance(event, NewGoal):
        return f"goal {event.tick} {event.unit} {event.goal[0]} {event.goal[1]}"
    return f"{'open' if event.opened else 'close'} {event.tick} {event.cell[0]} {event.cell[1]}"


def write_scene(scene: Scene, path: str | os.PathLike[str]) -> None:
    """Write a scene to a file, completely or not at all."""
    if not isinstance(scene, Scene):
        raise ScenarioError(f"write_scene writes a Scene, as make_scene returns, not {quoted(scene)}")
    write_whole(path, scene.to_text().encode())


def read_scene(path: str | os.PathLike[str]) -> Scene:
    """Return the scene in a file; raise `ScenarioError` or `MapError` if the file is not a scene."""
    file = Path(path)
    try:
        with file.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise ScenarioError(f"cannot read the scene {file}: {getattr(error, 'strerror', None) or error}") from error
    return parse_scene(data, str(file))


def is_scene(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins with the first line of a scene."""
    try:
        with Path(path).open("rb") as stream:
            return stream.readline(len(FIRST_LINE) + 2).rstrip() == FIRST_LINE.encode()
    except (OSError, ValueError):
        return False


def parse_scene(data: bytes, where: str = "scene") -> Scene:
    r"""Return the scene in the bytes of a scene file; error messages name ``where`` they are from.

    >>> head = b"andante scene 1\nname tiny\nrule octile\nunit 0 0 2 0\nclose 3 1 0\n"
    >>> parse_scene(head + b"type octile\nheight 1\nwidth 3\nmap\n...\n")
    <Scene on tiny: 1 unit, 1 event>
    """
    if not isinstance(data, bytes):
        raise ScenarioError(f"a scene is parsed from the bytes of its file, not from {quoted(data)}")
    if len(data) > MOST_BYTES:
        raise ScenarioError(f"{where} is larger than {MOST_BYTES:,} bytes, too large for a scene")
    lines = _lines(data, where)
    if next(lines, (0, ""))[1] != FIRST_LINE:
        raise ScenarioError(f"{where}, line 1: expected {FIRST_LINE!r}; is this a scene?")
    name, rule = _header(lines, "name", where), _header(lines, "rule", where)
    if rule not in RULES:
        raise ScenarioError(f"{where}, line 3: unknown rule {rule[:20]!r} for moves; {did_you_mean(rule, RULES)}")
    units: list[tuple[Cell, Cell]] = []
    flights: list[Flight] = []
    events: list[Event] = []
    map_begin = None
    for number, (begin, line) in enumerate(lines, start=_FIRST_ITEM):
        if line.startswith(MAP_BEGINS):
            map_begin = begin
            break
        _take(line, units, flights, events, f"{where}, line {number}")
    if map_begin is None:
        raise ScenarioError(f"{where}: there is no map; it begins with a line 'type octile'")
    grid = parse_map(data[map_begin:], name, rule=rule, where=f"the map of {where}")
    try:
        return Scene(grid, units, events, flights)
    except _ItemError as error:  # each item is on its own line
        raise ScenarioError(f"{where}, line {_FIRST_ITEM + error.item}: {error}") from None


def _lines(data: bytes, where: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and the text of each line before the map."""
    begin = 0
    while begin < len(data):
        end = data.find(b"\n", begin)
        end = len(data) if end < 0 else end
        try:
            text = data[begin:end].decode().rstrip("\r")
        except UnicodeDecodeError:
            raise ScenarioError(f"{where}, line {_number_of(data, begin)}: this is not UTF-8 text") from None
        yield begin, text
        begin = end + 1


def _number_of(data: bytes, begin: int) -> int:
    return data.count(b"\n", 0, begin) + 1


def _header(lines: Iterator[tuple[int, str]], word: str, where: str) -> str:
    _, line = next(lines, (0, ""))
    if not line.startswith(f"{word} "):
        number = {"name": 2, "rule": 3}[word]
        raise ScenarioError(f"{where}, line {number}: expected '{word} ...', found {line[:40]!r}")
    return line.removeprefix(f"{word} ")


def _take(line: str, units: list[tuple[Cell, Cell]], flights: list[Flight], events: list[Event], where: str) -> None:
    """Add the unit, the flight or the event of a line."""
    word, *rest = line.split(" ")
    if word == "unit":
        if flights or events:
            raise ScenarioError(f"{where}: units come before goals that flee, and before events")
        sx, sy, gx, gy = _numbers(rest, 4, where)
        units.append(((sx, sy), (gx, gy)))
    elif word == "flee":
        if events:
            raise ScenarioError(f"{where}: goals that flee come before events")
        flights.append(Flight(*_numbers(rest, 2, where)))
    elif word in ("close", "open"):
        tick, x, y = _numbers(rest, 3, where)
        events.append(Change(tick, (x, y), word == "open"))
    elif word == "goal":
        tick, unit, x, y = _numbers(rest, 4, where)
        events.append(NewGoal(tick, unit, (x, y)))
    else:
        raise ScenarioError(f"{where}: expected unit, flee, close, open, goal or the map, found {line[:40]!r}")


def _numbers(words: Sequence[str], count: int, where: str) -> list[int]:
    if len(words) != count or not all(word.isascii() and word.isdigit() and len(word) <= 10 for word in words):
        raise ScenarioError(f"{where}: expected {count} whole numbers, found {' '.join(words)[:40]!r}")
    return [int(word) for word in words]
