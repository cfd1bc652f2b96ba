"""Functions that several commands share: maps and cells from arguments, progress, machine-readable output."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.status import Status
from rich.text import Text

from andante.errors import AndanteError, NotationError, printable
from andante.files import check_place
from andante.world.grid import Grid

if TYPE_CHECKING:
    from andante.agent import Algorithm
    from andante.databases.header import Database
    from andante.measures import Over


class _Console(Console):
    """A console that prints names unchanged: nothing in them is markup or controls the terminal."""

    def __init__(self, **to: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **to)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else "\n".join(map(printable, text.split("\n"))), style, control)


out = _Console()
err = _Console(stderr=True)

_REDRAWN_SECONDS = 0.2  # between two updates of a quiet bar
_LOGGED_SECONDS = 5.0  # between two lines about compilation without a terminal

MAP_HELP = (
    "A .map file, or a map of a benchmark set as SET/NAME (dao/arena), or a generated one as KIND:WIDTHxHEIGHT:SEED."
)
RULE_OPTION = typer.Option(
    "octile",
    metavar="octile|corners|cardinal|sixteen",
    help="Legal moves: diagonals that cut no corner (octile), all diagonals between free cells (corners), none "
    "(cardinal), or octile with knight's moves (sixteen).",
)
TERRAIN_OPTION = typer.Option(
    "",
    metavar="S=2,W=5",
    help="The cost of cells by map character; others cost 1. A character with a cost is passable.",
)
SIGHT_OPTION = typer.Option(
    None,
    metavar="R",
    min=1,
    help="Agents do not know the map: they see cells up to R cells away, and assume that unseen cells are free.",
)
DATABASE_OPTION = typer.Option(
    [],
    metavar="FILE",
    help="A database for this map, made by 'andante build'; may be repeated. Of several of one kind, the first is "
    "used.",
)


def _a_number(value: Any) -> Any:
    for number in value if isinstance(value, tuple) else (value,):
        if number is not None and math.isnan(number):
            raise typer.BadParameter("'nan' is not a number")
    return value


def number_option(default: Any, low: float | None = None, **about: Any) -> Any:
    """Return an option that takes a number or a pair of numbers; "inf" is allowed, "nan" is not."""
    return typer.Option(default, min=low, callback=_a_number, **about)


JSON_OPTION = typer.Option(False, "--json", help="Print the result as JSON.")
PENALTY_OPTION = number_option(
    None,
    1,
    metavar="P",
    help="Compare agents on all problems, where one that did not arrive, or walked further, counts as P times optimal "
    "(in scenes, P times replanned A*). Default: compare them on the problems that all agents solved.",
)


TURN_OPTION = number_option(
    None,
    1,
    metavar="N",
    help="Also show goal achievement times, which add planning and walking: a turn lasts as long as N expansions.",
)


def read_over(text: str) -> Over:
    """Return the sample for errors and intervals."""
    from andante.errors import ParameterError, did_you_mean

    known: dict[str, Over] = {"maps": "maps", "problems": "problems"}
    if text in known:
        return known[text]
    raise ParameterError(f"errors cannot be over {text!r}; {did_you_mean(text, known)}")


def read_world(text: str, rule: str = "octile", terrain: str = "") -> Grid:
    """Return the grid that an argument names, with this rule for diagonal moves, and these costs of cells."""
    from andante.datasets.named import map_named
    from andante.world.grid import parse_costs
    from andante.world.mapfiles import read_map
    from andante.world.scenes import is_scene

    if is_scene(text):
        raise AndanteError(
            f"{text} is a scene, not a map; 'andante crowd {text}' runs all of its units together, and "
            f"'andante compare {text}' runs each unit alone"
        )
    costs = parse_costs(terrain)
    read = read_map if os.path.exists(text) else map_named
    return read(text, rule=rule, costs=costs)


def refuse_unused(rule: str, terrain: str, what: str) -> None:
    """Raise an error for a rule or costs without a map; ``what`` would name one."""
    for option, given in (("--rule", rule != "octile"), ("--terrain", bool(terrain))):
        if given:
            raise AndanteError(f"{option} determines how a map is read, so it needs {what}")


def read_cell(text: str, option: str) -> tuple[int, int]:
    """Return the two numbers of X,Y, or of (X, Y) as Python prints cells."""
    x, comma, y = text.strip().removeprefix("(").removesuffix(")").partition(",")
    if not comma:
        raise AndanteError(f"{option} is written X,Y, such as 12,40, not {text!r}")
    return _whole(x, text, option), _whole(y, text, option)


def _whole(word: str, text: str, option: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise AndanteError(f"{option}: {text!r} should have a whole number instead of {word!r}") from None


def split_algorithms(texts: Sequence[str]) -> list[str]:
    """Return the algorithms in arguments; one may list several, separated by spaces or commas outside brackets.

    >>> split_algorithms(["rta, lrta(depth=3)", "astar"])
    ['rta', 'lrta(depth=3)', 'astar']
    """
    found: list[str] = []
    for text in texts:
        word, depth = "", 0
        for character in text + ",":
            depth += (character == "(") - (character == ")")
            if depth < 0:
                raise NotationError(f"{text!r} has a closing bracket too many")
            if character in ", " and depth == 0:
                found.extend([word] if word else [])
                word = ""
            else:
                word += character
        if word:
            raise NotationError(f"{text!r} lacks a closing bracket")
    return found


def print_json(value: Any) -> None:
    """Print one JSON value and nothing else; numbers that JSON cannot express become null."""
    typer.echo(json.dumps(_plain(value), indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def check_places(*files: Path | None) -> None:
    """Raise an error if one of these files cannot be written, before any work is done."""
    for file in filter(None, files):
        check_place(file)


def print_written(*files: Path | None) -> None:
    """Print which files were written."""
    for file in files:
        if file is not None:
            err.print(f"wrote {file}", soft_wrap=True)


def with_bold(words: str, rest: str) -> Text:
    """Return a line whose first words are bold."""
    return Text.assemble((words, "bold"), rest)


@contextmanager
def progress_bar(what: str, total: int, *, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """Show a bar that the yielded function advances; show nothing without a terminal.

    A ``quiet`` bar is drawn only within calls of that function, so that it does not disturb timing between them.
    """
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    shown = err.is_terminal
    with Progress(*columns, console=err, transient=True, disable=not shown, auto_refresh=not quiet) as bar:
        task = bar.add_task(what, total=total)
        drawn = time.monotonic()

        def advance(done: int) -> None:
            nonlocal drawn
            bar.advance(task, done)
            if quiet and shown and time.monotonic() - drawn > _REDRAWN_SECONDS:
                bar.refresh()
                drawn = time.monotonic()

        yield advance


@contextmanager
def progress_of_parts() -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for each part that the yielded function is called with: its name, the amount done, and the total."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        tasks: dict[str, TaskID] = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=None)
            bar.update(tasks[what], completed=done, total=total or None)

        yield report


@contextmanager
def show_compilation() -> Iterator[Callable[[str, int, int], None]]:
    """Show which kernel is being compiled, in one line that disappears; without a terminal, print lines for a log.

    The line also shows that this process waits for another one that is compiling the same kernel. The yielded function
    sets what is compiled from now on: ``report(what, number, total)``.
    """
    from andante.kernel import on_compile

    with err.status("") if err.is_terminal else nullcontext() as status:
        if status is not None:
            status.stop()
        line = _Compiling(status)
        with on_compile(line.begin, line.wait):
            yield line.report


class _Compiling:
    """The line that shows what is being compiled."""

    def __init__(self, status: Status | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._status = status  # None without a terminal
        self._clock = clock
        self._what = "compiling kernels, once"
        self._kernels = 0
        self._logged = "", -math.inf  # the purpose shown in the last line that was printed, and its time
        self._waited = False

    def report(self, what: str, number: int, total: int) -> None:
        """Set what the next kernels are compiled for."""
        self._what = f"compiling kernels, once: {what}, {number} of {total}"

    def begin(self, kernel: str) -> None:
        """Show which kernel is compiled; in a log, show the first for each purpose, then one every few seconds."""
        self._kernels += 1
        line = f"{self._what} (kernel {self._kernels}: {kernel})"
        if self._status is not None:
            self._show(line)
            return
        (what, at), now = self._logged, self._clock()
        if what != self._what or now - at >= _LOGGED_SECONDS:
            self._logged = self._what, now
            typer.echo(line, err=True)

    def wait(self, kernel: str) -> None:
        """Show that another process compiles this kernel; in a log, show it once."""
        line = f"waiting for another process that is compiling {kernel}"
        if self._status is not None:
            self._show(line)
        elif not self._waited:
            self._waited = True
            typer.echo(line, err=True)

    def _show(self, line: str) -> None:
        assert self._status is not None
        self._status.update(line)
        self._status.start()


def load_databases(files: Sequence[Path], grid: Grid) -> tuple[Database, ...]:
    """Return the databases in these files, which must be for this map."""
    from andante.databases.header import load

    return tuple(load(path, map=grid) for path in files)


class Offer(NamedTuple):
    """A database for agents, or one that would be built for them."""

    kind: str
    name: str  # its file, or the text it is built from


def offers_of(databases: Iterable[Database]) -> list[Offer]:
    """Return the offers of databases that were loaded from files."""
    return [Offer(one.kind, str(one.path)) for one in databases]


def warn_unused(offers: Sequence[Offer], entries: Iterable[Algorithm]) -> list[Offer]:
    """Print which databases are not used by any of these algorithms, and why; return the others."""
    needed = {kind for entry in entries for kind in entry.needs}
    first: dict[str, Offer] = {}
    used: list[Offer] = []
    for one in offers:
        if one.kind not in needed:
            reason = f"no agent here uses {one.name}; 'andante algorithms' shows which agents need its kind of database"
        elif one.kind in first:
            rival = first[one.kind].name
            reason = f"{one.name} is not used: agents use the first database of each kind, which is {rival}"
        else:
            first[one.kind] = one
            used.append(one)
            continue
        err.print(reason, soft_wrap=True)
    return used


def print_lines(lines: Iterable[str]) -> None:
    """Print sentences, wrapped between words on a terminal, and one per line in a file or a pipe."""
    for line in lines:
        out.print(line, soft_wrap=not out.is_terminal)


def print_items(items: Iterable[tuple[str, str]], indent: int = 2) -> None:
    """Print names with their descriptions.

    On a terminal a long description is wrapped in its column; in a pipe or a file each item is one line.
    """
    from rich.table import Table

    rows = list(items)
    if not out.is_terminal:
        longest = max((len(name) for name, _ in rows), default=0)
        for name, text in rows:
            out.print(Text(f"{'':{indent}}{name:{longest}}  {text}"), soft_wrap=True)
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in rows:
        table.add_row(Text(" " * indent + name), Text(text))
    out.print(table)
