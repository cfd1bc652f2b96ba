"""Every parser of external files and texts, tested with damaged and forged inputs.

For any input, a parser must return a valid value or raise an `AndanteError` with one line that fits on a screen, within
two seconds of computing and without filling the memory. Formats with a checksum are tested twice: damaged as by a bad
disk, where every change must be noticed, and with the checksum corrected, as by an attacker.
"""

from __future__ import annotations

import atexit
import base64
import io
import json
import math
import os
import random
import resource
import shutil
import signal
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np

import andante
from andante.agent import find
from andante.campaign import read_campaign
from andante.campaign.engines.local import Local
from andante.campaign.orders import full_database
from andante.campaign.run import prepare
from andante.campaign.run import run as run_campaign
from andante.campaign.standing import status
from andante.databases.header import Database, load, read_header
from andante.datasets import cache, fingerprints
from andante.datasets.archives import unpack
from andante.datasets.named import generated, map_named
from andante.datasets.scenarios import random_problems
from andante.episode import trace as traces
from andante.episode.plain import PlainAgent
from andante.episode.single import Agent
from andante.episode.tracefile import _checksum as trace_checksum
from andante.errors import LONGEST_MESSAGE, AndanteError
from andante.notation import expand, parse
from andante.offline import build
from andante.report.studyfile import read_study
from andante.selection.advise import QUESTION, check_folder
from andante.selection.journal import Journal, digest
from andante.selection.journal import _checksum as journal_checksum
from andante.store import Store
from andante.store import check as check_store
from andante.store.store import _checksum as manifest_checksum
from andante.world.graphfiles import read_graph
from andante.world.grid import RULES, Grid, costs_text, parse_costs
from andante.world.mapfiles import parse_map, parse_scenario, read_map, write_map
from tests.campaign.samples import ROOMS
from tests.databases.files import put_together, taken_apart
from tests.torture.frame import Attempt, FoundError
from tests.torture.mutate import altered, as_json, damaged, pick

UNIT = "inputs"

SECONDS = 2.0  # of computing, for any input
BYTES = 2**28  # by which any input may raise the memory in use
LOOKS = 100  # first inputs of a process after each of which memory is measured; later it is after each hundredth
TICK_SECONDS = 0.02  # of computing, between two checks of the time

REFUSED, READ = {"refused": 1}, {"read": 1}

# --- what every parser must do --------------------------------------------------------------------------------------


class _TooLongError(BaseException):
    """An error that is not an `Exception`, so that no parser catches it."""


class _Watch:
    """The limits on time and memory, with one timer for all cases, because setting one for each would take too long."""

    def __init__(self) -> None:
        self.on = False
        self.deadline = math.inf  # in seconds of computing
        self.peak = 0  # of memory, in bytes, when it was last measured
        self.looks = 0

    def tick(self, number: int, frame: object) -> None:
        """Check the time; this is called regularly while the process computes."""
        now = time.process_time()
        if now > self.deadline:
            self.deadline = now + SECONDS  # raised again later, if compiled code ignored it
            raise _TooLongError

    def memory_fault(self) -> str | None:
        """Return a sentence if too much memory was used since the last call.

        Calls take time, so they follow each input only at first, and later each hundredth.
        """
        self.looks += 1
        apart = 1 if self.looks <= LOOKS else LOOKS
        if self.looks % apart:
            return None
        before, self.peak = self.peak, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        if self.peak - before <= BYTES:
            return None
        where = (
            ""
            if apart == 1
            else f" in one of the last {apart} cases; --first {apart - 1} less and --size {apart} shows which"
        )
        return f"more than {BYTES:,} bytes of memory were used{where}"


_watch = _Watch()


@contextmanager
def around() -> Iterator[None]:
    """Apply the limits within this block."""
    if _watch.on:
        yield
        return
    _watch.on = True
    _watch.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    before = signal.signal(signal.SIGPROF, _watch.tick)
    signal.setitimer(signal.ITIMER_PROF, TICK_SECONDS, TICK_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        _watch.on = False


def checked(
    read: Callable[[Any], Any], data: Any, sound: Callable[[Any], str | None] = lambda value: None
) -> Mapping[str, int]:
    """Read an input, and check that it is refused properly, or that ``sound`` finds no fault with its value."""
    if not _watch.on:
        with around():
            return checked(read, data, sound)
    try:
        try:
            _watch.deadline = time.process_time() + SECONDS
            fault = sound(read(data))
        finally:
            _watch.deadline = math.inf
        came = READ
    except AndanteError as error:
        fault, came = _fault_of(str(error)), REFUSED
    except _TooLongError:
        fault = f"not read within {SECONDS:g} seconds of computing"
    except Exception as error:
        fault = f"{type(error).__name__}: {str(error)[:300]}{_where(error)}"
    fault = fault or _watch.memory_fault()
    if fault is not None:
        raise FoundError(fault, data)
    return came


def _where(error: Exception) -> str:
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if "andante" in file:
            place = f" ({file}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return place


def _fault_of(message: str) -> str | None:
    if not message.strip():
        return "an error without a message"
    if len(message) > LONGEST_MESSAGE:
        return f"a message of {len(message)} characters"
    return (
        None if message.isprintable() else f"a message of more than one line, or that controls the screen: {message!r}"
    )


def _folder() -> Path:
    """Return a folder for this process, in memory if there is such a file system."""
    home = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="andante-torture-", dir=home))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class _File:
    """A file that is written repeatedly; it stays open under the same name."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT)

    def put(self, data: bytes) -> None:
        """Replace its contents by these bytes."""
        os.pwrite(self._handle, data, 0)
        os.ftruncate(self._handle, len(data))


def _same(a: Any, b: Any) -> bool:
    """Return whether two pieces of plain data are the same, where nan equals nan."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


# --- maps and scenarios ---------------------------------------------------------------------------------------------


def _map_bytes(grid: Grid) -> bytes:
    file = _folder() / "one.map"
    write_map(grid, file)
    return file.read_bytes()


def _maps() -> Attempt:
    grids = [
        andante.generate(kind, w, h, seed=s)
        for kind, w, h, s in (("rooms", 9, 7, 1), ("empty", 1, 1, 0), ("random", 20, 12, 2))
    ]
    samples = [_map_bytes(grid) for grid in grids]
    samples += [samples[0].replace(b"\n", b"\r\n"), samples[0].rstrip(b"\n"), samples[2] + b"\n \n"]
    file = _folder() / "one.map"

    def sound(grid: Grid) -> str | None:
        again = parse_map(_map_bytes_of(grid), grid.name, rule=grid.rule)
        return None if np.array_equal(again.terrain, grid.terrain) else "it differs after writing and reading"

    def attempt(rng: random.Random) -> Mapping[str, int]:
        data, rule = damaged(rng, pick(rng, samples)), rng.choice(RULES)
        found = checked(lambda text: parse_map(text, "one", rule=rule, where=str(file)), data, sound)
        if rng.random() < 0.05:
            file.write_bytes(data)
            if checked(lambda path: read_map(path, rule=rule), file) is not found:
                raise FoundError("read_map and parse_map do not agree", data)
        return found

    return attempt


def _map_bytes_of(grid: Grid) -> bytes:
    rows = b"".join(row.tobytes() + b"\n" for row in grid.terrain)
    return f"type octile\nheight {grid.height}\nwidth {grid.width}\nmap\n".encode() + rows


def _graphs() -> Attempt:
    """Prepare files of graphs: lists of edges and road networks."""
    edges = b"# three places\na b 3\nb c 4.5\nc a\n"
    roads = b"c roads\np sp 3 4\na 1 2 5\na 2 1 5\na 2 3 7\na 3 1 9\n"
    points = b"c points\np aux sp co 3\nv 1 0 0\nv 2 30 40\nv 3 -60 80\n"
    folder = _folder()

    def sound(graph: andante.Graph) -> str | None:
        arcs = graph.to_scipy().tocoo()
        positive = all(cost > 0 for cost in arcs.data)
        return None if positive and graph.arcs == len(arcs.data) else "arcs that cost nothing"

    def attempt(rng: random.Random) -> Mapping[str, int]:
        ending = rng.choice([".edges", ".arcs", ".gr"])
        file = folder / f"one{ending}"
        file.write_bytes(damaged(rng, roads if ending == ".gr" else edges))
        (folder / "one.co").write_bytes(damaged(rng, points) if rng.random() < 0.5 else points)
        return checked(read_graph, file, sound)

    return attempt


def _scenarios() -> Attempt:
    grid = andante.generate("rooms", 12, 9, seed=1)
    lines = [
        "\t".join(
            map(
                str,
                [i, f"rooms/{grid.name}.map", 12, 9, *grid.cell(p.start), *grid.cell(p.goal), p.optimal_cost or 7.5],
            )
        )
        for i, p in enumerate(random_problems(grid, 6, seed=1))
    ]
    text = "\n".join(["version 1", *lines, ""])
    samples = [
        text.encode(),
        text.replace("\t", " ").replace("version 1", "version 1.0").encode(),
        text.replace("\n", "\r\n").encode(),
    ]
    assert all(len(parse_scenario(sample, grid)) == 6 for sample in samples)

    def sound(problems: list[andante.Problem]) -> str | None:
        size = len(grid.graph)
        inside = all(0 <= p.start < size and 0 <= p.goal < size and p.start != p.goal for p in problems)
        costs = all(p.listed_cost is not None and p.listed_cost >= 0 for p in problems)
        return None if inside and costs else "problems outside the map, or of no cost"

    def attempt(rng: random.Random) -> Mapping[str, int]:
        data, keep = damaged(rng, pick(rng, samples)), rng.random() < 0.5
        return checked(lambda text: parse_scenario(text, grid, keep_all=keep), data, sound)

    return attempt


# --- texts ----------------------------------------------------------------------------------------------------------


def _text(rng: random.Random, samples: list[bytes]) -> str:
    return damaged(rng, pick(rng, samples)).decode("utf-8", rng.choice(["replace", "surrogateescape"]))


def _algorithms() -> Attempt:
    texts = [text for entry in andante.algorithms() for text in (str(entry), *entry.card.examples)]
    texts += [
        "family(w=2.5, wc=7, b=0.3, operator=median, da=true)",
        "tba( budget = 10, r=.1, weight=3e1 )",
        "knn(candidates=none)",
    ]
    texts += ["lrts(depth=5, gamma=1, quota=inf)", "DA-LRTA*", "3*min(w*f)", "lrta"]
    samples = [text.encode() for text in texts]

    def attempt(rng: random.Random) -> Mapping[str, int]:
        def sound(entry: Any) -> str | None:
            return None if find(str(entry)) == entry else f"{entry} is found as another one"

        return checked(find, _text(rng, samples), sound)

    return attempt


def _notation() -> Attempt:
    samples = [
        b"a(b=1, c=2.5, d=inf, e=true, f=none, g=word, h=x(y=z(w=-3)))",
        b"name",
        b"a()",
        b"a(b=.5e-3, c=-inf, d=+7)",
    ]

    def attempt(rng: random.Random) -> Mapping[str, int]:
        return checked(
            parse,
            _text(rng, samples),
            lambda call: None if str(parse(str(call))) == str(call) else "it differs after writing and reading",
        )

    return attempt


def _settings() -> Attempt:
    samples = [
        b"lrta(depth=[1, 3..5])",
        b"lrts(depth=[1, 2], gamma=[0.5, 1], quota=[1..4])",
        b"pattern(level=[1..3], base=0)",
        b"rta",
    ]

    def attempt(rng: random.Random) -> Mapping[str, int]:
        return checked(expand, _text(rng, samples), lambda texts: None if texts else "it has no settings")

    return attempt


def _costs_of_cells() -> Attempt:
    samples = [b"S=2,W=5", b"S=0.5", b".=1, G=1.5,S=3", b"1=1,2=2,9=1024", b""]

    def read(text: str) -> Any:
        costs = parse_costs(text)
        assert parse_costs(costs_text(costs)) == costs
        return parse_map("type octile\nheight 1\nwidth 4\nmap\n.SGW\n", costs=costs).graph

    return lambda rng: checked(read, _text(rng, samples))


def _map_names() -> Attempt:
    samples = [
        b"maze:33x33:7",
        b"rooms(width=32, height=32, size=5, seed=1)",
        b"empty:9x6",
        b"caves(width=16, height=16)",
        b"dao/arena",
    ]
    samples += [
        b"random(width=9, height=9, density=0.3)",
        b"a/b.map",
        b"maze(width=9, height=9, corridor=2, loops=0.1)",
    ]
    samples += [
        b"outdoor(width=32, height=32, bases=2, water=0.1, symmetry=quarters)",
        b"caves(width=9, height=9, rock=0.4)",
    ]

    def read(text: str) -> Any:
        call = generated(text)
        small = all(
            type(call.arguments[side]) is int and -99 < call.arguments[side] < 99 for side in ("width", "height")
        )
        return map_named(text) if small else call

    return lambda rng: checked(read, _text(rng, samples))


def _fingerprints() -> Attempt:
    text = fingerprints.to_text(
        {"one": {"a": fingerprints.Pair("0" * 16, "1" * 16), "b c": fingerprints.Pair("2" * 16, "-")}, "two": {}}
    )
    return lambda rng: checked(lambda data: fingerprints.from_text(data, "here"), _text(rng, [text.encode()]))


# --- campaigns and studies ------------------------------------------------------------------------------------------

_HEAD = """
title = "t"
seed = 1
measures = ["cost"]
[problems.a]
maps = ["rooms(width=9, height=9, seed=[1, 2])", "empty:5x5"]
count = { quick = 5, full = 20 }
optimal_cost = [1.5, 99]
upscale = [20, 20]
"""
_PLAIN_RUN = """
[problems."b c"]
maps = ["one.map"]
from = "scenarios"
total = 3
[[run]]
problems = ["a"]
algorithms = ["lrta(depth=[1, 3])", "rta"]
limits = { suboptimality = 1000, moves = 1e6 }
batches = 2
converge = true
max_trials = 10
"""
_SAMPLE_RUN = """
[[run]]
sight = 3
sample = { of = "family", count = 4, seed = 2, ranges = { w = [1, 2] }, keep = { b = 0.5 } }
"""
_DATABASE_RUN = """
[[run]]
algorithms = ["dlrta", "dtlrta"]
databases = ["pattern(level=[1, 2])", "depth-tree"]
training = ["empty:9x9"]
[run.limits]
cost = 100.0
"""
_SHORT_PROBLEMS = """
[problems.a]
maps = ["empty:5x5"]
count = 2
"""

#: Everything that a campaign may contain, and its parts separately, because long texts take longer to read.
_CAMPAIGNS = [
    _HEAD + _PLAIN_RUN + _SAMPLE_RUN + _DATABASE_RUN,
    "run = []" + _HEAD,
    *(_SHORT_PROBLEMS + run for run in (_PLAIN_RUN, _SAMPLE_RUN, _DATABASE_RUN)),
    ROOMS,
]

_SMALL_STUDY = """
title = "t"
about = "x"
paper = "y"
[[table]]
title = "Table 1"
measures = ["suboptimality_ratio", "cost"]
rows = [ { algorithm = "tba(budget=10)", paper = [3.83, "-"], where = { set = "a" }, note = "n" } ]
[[best]]
title = "b"
rows = [ { label = "l", measure = "cost", worst_move = 10, paper = "lrta" } ]
[[front]]
title = "f"
algorithms = ["lrta(depth=[1..3])"]
rows = [ { x = "cost", y = "suboptimality_ratio", paper = "rta" } ]
[[duel]]
title = "d"
first = "lrta"
second = "rta"
paper = { ratio = 2.5 }
[[pairs]]
title = "p"
paper = { least = 1 }
[[correlation]]
title = "c"
x = "cost"
y = "moves"
rows = [ { algorithm = "rta", paper = 0.5 } ]
[[influence]]
title = "i"
parameters = ["depth"]
rows = [ { measure = "cost", paper = ["up"] } ]
[[amortization]]
title = "a"
where = { databases = "pattern" }
rivals = ["rta"]
rows = [ { algorithm = "dlrta", paper = 100 } ]
[[figure]]
title = "g"
kind = "heat-map"
parameters = ["depth", "gamma"]
panels = "quota"
differences = true
most = [10, 100.5]
[[figure]]
title = "h"
kind = "trade-off"
x_by = { lrta = "depth" }
marks = [ { algorithm = "rta", paper = 2 } ]
"""


def _toml(read: Callable[[Path, str], Any], texts: list[str]) -> Attempt:
    folder = _folder()
    grid = andante.generate("empty", 5, 5)
    write_map(grid, folder / "one.map")
    file, samples = folder / "campaign.toml", [text.strip().encode() for text in texts]
    for text in texts:
        file.write_text(text)
        read(file, "full")
    open_file = _File(file)

    def attempt(rng: random.Random) -> Mapping[str, int]:
        data, scale = damaged(rng, pick(rng, samples)), rng.choice(["full", "quick", "quick+a"])
        open_file.put(data)

        def from_file(_: bytes) -> Any:
            return read(file, scale)

        return checked(from_file, data)

    return attempt


def _campaigns() -> Attempt:
    return _toml(read_campaign, _CAMPAIGNS)


def _studies() -> Attempt:
    parts = ["[[" + part for part in _SMALL_STUDY.split("[[")[1:]]
    return _toml(partial(read_study, full_database=full_database), [_SMALL_STUDY, *parts])


# --- databases ------------------------------------------------------------------------------------------------------

#: A small database of each kind, and an agent that uses it.
_SMALL_DATABASES = {
    "moves": ("moves", "cpd"),
    "subgoals": ("subgoals(records=20, series=true)", "knn"),
    "pattern": ("pattern(level=1, cap=8, goal_depths=capped)", "dlrta"),
    "depth-tree": ("depth-tree(deepest=4, problems=4, leaf=5)", "dtlrta"),
    "regions": ("regions(m=2)", "hcdps"),
}


def _room() -> Grid:
    free = np.ones((6, 7), bool)
    free[2, 1:5] = False
    return Grid(free, name="room")


def _database_files() -> tuple[Grid, dict[str, bytes]]:
    grid, file = _room(), _folder() / "one.db"
    files = {}
    for name, (text, _) in _SMALL_DATABASES.items():
        build(text, [grid] if name == "depth-tree" else grid, threads=1).save(file)
        files[name] = file.read_bytes()
    return grid, files


def _databases() -> Attempt:
    """Damage files as a bad disk does."""
    grid, files = _database_files()
    file = _folder() / "one.db"
    open_file, samples = _File(file), list(files.values())

    def attempt(rng: random.Random) -> Mapping[str, int]:
        sample = rng.choice(samples)
        data = damaged(rng, sample)
        open_file.put(data)
        read_header_too = rng.random() < 0.2

        def read(_: bytes) -> Any:
            return read_header(file) if read_header_too else load(file, map=grid)

        return checked(read, data, lambda _: None if data in samples else "a damaged file was accepted")

    return attempt


def _forged_databases() -> Attempt:
    """Forge files with correct checksums and lengths, and use those that are accepted."""
    grid, files = _database_files()
    file = _folder() / "one.db"
    problems = random_problems(grid, 4, seed=3)

    def read(_: bytes) -> Database:
        return load(file, map=grid)

    def use(database: Database) -> str | None:
        entry = find(_SMALL_DATABASES[database.kind][1])
        # Walking with data of unknown origin is safe only if indices are checked.
        kind = Agent if numba.config.BOUNDSCHECK else PlainAgent
        limits = andante.Limits(moves=60 if numba.config.BOUNDSCHECK else 4)
        agent = kind(entry, grid, databases=[database])
        for problem in problems:
            agent.run(problem, limits)
        return None

    names = list(files)
    for data in files.values():  # compile everything outside the limit on time
        file.write_bytes(data)
        use(read(data))

    def attempt(rng: random.Random) -> Mapping[str, int]:
        data = forged(rng, files[rng.choice(names)])
        file.write_bytes(data)
        return checked(read, data, use)

    return attempt


def forged(rng: random.Random, data: bytes) -> bytes:
    """Return the file of a database with another header or other contents, and correct lengths and checksum."""
    head, body = taken_apart(data)
    what = rng.random()
    if what > 0.4:
        body = _other_numbers(rng, body, head["arrays"])
    if what < 0.5:
        _change_head(rng, head)
    return put_together(head, body)


def _change_head(rng: random.Random, head: dict[str, Any]) -> None:
    """Change numbers or letters in one or a few fields."""
    wide = [0, 1, 2, 64, 2**31, 2**32 - 1]
    while True:
        row = rng.choice(head["arrays"])
        match rng.randrange(9):
            case 0:
                head["text"] = damaged(rng, head["text"])
            case 1:
                name = rng.choice(["kind", "map"])
                head[name] = damaged(rng, head[name])[:24]
            case 2:
                head[rng.choice(["count", "text_bytes"])] = rng.choice([*wide, len(head["arrays"]) + 1])
            case 3:
                head["stale"] = rng.choice([*wide, 2**63])
            case 4:
                name = rng.choice(["name", "dtype"])
                row[name] = damaged(rng, row[name])[:24]
            case 5:
                row["dtype"] = rng.choice([b"i1", b"i2", b"i4", b"i8", b"u1", b"u2", b"u4", b"f4", b"f8", b"b1", b"O"])
            case 6:
                row["sides"] = rng.choice([*wide, 3])
            case 7:
                row[rng.choice("abc")] = rng.choice(
                    [*wide, 2**63, 2**64 - 1, min(row["a"], 2**64 - 2) + 1, max(0, row["a"] - 1)]
                )
            case _:
                row["offset"] = rng.choice([*wide, 2**63, row["offset"] + 64, rng.choice(head["arrays"])["offset"]])
        if rng.random() < 0.6:
            return


def _other_numbers(rng: random.Random, body: bytes, arrays: list[dict[str, Any]]) -> bytes:
    """Return the arrays with one or a few numbers changed."""
    found = bytearray(body)
    while True:
        one = rng.choice(arrays)
        dtype = np.dtype("<" + one["dtype"].rstrip(b"\0").decode())
        count = int(np.prod([one["a"], one["b"], one["c"]][: one["sides"]]))
        if count:
            at = one["offset"] + dtype.itemsize * rng.randrange(count)
            before = np.frombuffer(bytes(found[at : at + dtype.itemsize]), dtype)[0]
            if dtype.kind == "f":
                value = rng.choice([np.nan, np.inf, -np.inf, 0.0, -before, before + 1, 1e300])
            else:
                low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
                near = [int(before) + step for step in (-2, -1, 1, 2, 40)]
                value = rng.choice(
                    [low, high, 0, 1, 42, 41, rng.randint(low, high), *(min(max(x, low), high) for x in near)]
                )
            found[at : at + dtype.itemsize] = np.array([value], dtype).tobytes()
        if rng.random() < 0.6:
            return bytes(found)


# --- traces ---------------------------------------------------------------------------------------------------------


def _trace_samples() -> list[bytes]:
    grid = _room()
    problem = random_problems(grid, 1, optimal_cost=(5, 99), seed=1)[0]
    return [traces.record("lrta", problem, sight=sight).to_json().encode() for sight in (None, 2)]


def _traces() -> Attempt:
    """Damage files as a bad disk does."""
    samples = _trace_samples()
    known = {traces.Trace.from_json(sample).to_json() for sample in samples}

    def attempt(rng: random.Random) -> Mapping[str, int]:
        data = damaged(rng, rng.choice(samples))
        return checked(
            traces.Trace.from_json,
            data,
            lambda trace: None if trace.to_json() in known else "a damaged trace was accepted",
        )

    return attempt


def _forged_traces() -> Attempt:
    """Forge files with correct checksums."""
    documents = [json.loads(sample) for sample in _trace_samples()]

    def sound(trace: traces.Trace) -> str | None:
        shown = (
            trace.cost,
            trace.suboptimality_ratio,
            trace.path,
            trace.passable,
            trace.learned_rise,
            repr(trace),
            trace.to_posthoc(),
        )
        again = traces.Trace.from_json(trace.to_json())
        return None if shown and again.to_json() == trace.to_json() else "it differs after writing and reading"

    def attempt(rng: random.Random) -> Mapping[str, int]:
        document = rng.choice(documents)
        document = _other_column(rng, document) if rng.random() < 0.5 else altered(rng, document)
        if isinstance(document, dict):
            document = {name: value for name, value in document.items() if name != "checksum"}
            document["checksum"] = trace_checksum(document)
        return checked(traces.Trace.from_json, as_json(document), sound)

    return attempt


def _other_column(rng: random.Random, document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with some bytes of a column changed, before or after compression."""
    name = rng.choice(["moves", "thoughts", "terrain", "discovered"])
    table, of_table = document[name], None if "data" in document[name] else rng.choice(list(document[name]))
    column = dict(table if of_table is None else table[of_table])
    raw = base64.b64decode(column["data"])
    plain = bytearray(zlib.decompress(raw))
    if rng.random() < 0.7 and plain:
        for _ in range(rng.randrange(1, 4)):
            plain[rng.randrange(len(plain))] = rng.choice([0, 1, 2, 127, 128, 255, rng.randrange(256)])
        raw = zlib.compress(bytes(plain))
    elif rng.random() < 0.5:
        raw = zlib.compress(damaged(rng, bytes(plain)))
    else:
        raw = damaged(rng, raw)
    column["data"] = base64.b64encode(raw).decode()
    if rng.random() < 0.2:
        column["delta"] = not column["delta"]
    return {**document, name: column if of_table is None else {**table, of_table: column}}


# --- stores ---------------------------------------------------------------------------------------------------------

_STORED_CAMPAIGN = """
seed = 1
[problems.a]
maps = ["empty(width=5, height=[4, 5])"]
count = 2
[[run]]
algorithms = ["lrta(depth=[1, 2])"]
limits = { suboptimality = 1000 }
"""


def _stored() -> tuple[Any, Path]:
    folder = _folder()
    file = folder / "campaign.toml"
    file.write_text(_STORED_CAMPAIGN)
    campaign = read_campaign(file)
    run_campaign(campaign, folder / "store", Local(1))
    return campaign, folder / "store"


def _manifests() -> Attempt:
    """Damage files as a bad disk does."""
    _, home = _stored()
    file = home / "manifest.json"
    sample = file.read_bytes()
    about, open_file = Store(home).about, _File(file)

    def attempt(rng: random.Random) -> Mapping[str, int]:
        data = damaged(rng, sample)
        open_file.put(data)
        return checked(
            lambda _: Store(home),
            data,
            lambda store: None if _same(store.about, about) else "a damaged manifest was accepted",
        )

    return attempt


def _forged_manifests() -> Attempt:
    """Forge manifests with correct checksums, and use those that are accepted."""
    campaign, home = _stored()
    file = home / "manifest.json"
    document = json.loads(file.read_bytes())

    uses = [status, lambda _: prepare(campaign, home), check_store]

    def attempt(rng: random.Random) -> Mapping[str, int]:
        found = altered(rng, document)
        if isinstance(found, dict):
            found = {**found, "checksum": manifest_checksum(found)}
        data = as_json(found)
        file.write_bytes(data)
        use = rng.choice(uses)
        return checked(lambda _: use(Store(home)), data)

    return attempt


def _parts() -> Attempt:
    """Damage rows as a bad disk does; either the same rows are read, or nothing."""
    _, home = _stored()
    store = Store(home)
    part = store.parts()[0]
    sample, rows = part.path.read_bytes(), store.frame().rows()
    fresh, open_file = (
        Store(home),
        _File(part.path),
    )  # a store that has not read the rows yet

    def attempt(rng: random.Random) -> Mapping[str, int]:
        data = damaged(rng, sample)
        open_file.put(data)
        return checked(
            lambda _: fresh.frame(),
            data,
            lambda frame: None if frame.rows() == rows else "damaged rows were accepted",
        )

    return attempt


# --- files of advise, and of the cache ------------------------------------------------------------------------------

_PIECE = {"rows": [{"max_states_expanded": 3, "solved": True, "cost": 1.5, "name": "é"}], "seconds": [0.25, None]}


def _journals() -> Attempt:
    """Damage journals as a bad disk does; a piece is unchanged, or is computed again."""
    folder = _folder()
    what, fresh = {"piece": 1}, {"made": "again"}
    Journal(folder).once(what, lambda: _PIECE)
    (file,) = folder.glob("*.json")
    sample = file.read_bytes()
    journal, open_file = Journal(folder), _File(file)

    def read(_: bytes) -> Any:
        return Journal(folder).once(what, lambda: fresh) if journal.holds(what) else fresh

    def attempt(rng: random.Random) -> Mapping[str, int]:
        data = damaged(rng, sample)
        open_file.put(data)

        return checked(
            read,
            data,
            lambda piece: (
                None if piece == fresh or _same(piece, _PIECE) else f"a damaged piece was accepted: {piece!r}"
            ),
        )

    return attempt


def _forged_journals() -> Attempt:
    """Forge files with correct checksums."""
    folder = _folder()
    what = {"piece": 1}
    Journal(folder).once(what, lambda: _PIECE)
    (file,) = folder.glob("*.json")
    document = json.loads(file.read_bytes())

    def attempt(rng: random.Random) -> Mapping[str, int]:
        found = altered(rng, document)
        if isinstance(found, dict) and {"piece", "seconds"} <= set(found):
            found = {**found, "checksum": journal_checksum(digest(what), found)}
        data = as_json(found)
        file.write_bytes(data)

        def read(_: bytes) -> Any:
            journal = Journal(folder)
            journal.once(what, lambda: _PIECE)
            return journal.seconds, journal.seconds_of(what)

        return checked(read, data, lambda times: None if min(times) >= 0 else f"times of {times}")

    return attempt


def _questions() -> Attempt:
    folder = _folder()
    question = {
        "maps": {"room": "0" * 32},
        "expansions": 10,
        "microseconds": None,
        "changing": False,
        "optimal_cost": [0.0, None],
    }
    file, sample = _File(folder / QUESTION), json.dumps(question, indent=1).encode()

    def attempt(rng: random.Random) -> Mapping[str, int]:
        data = damaged(rng, sample)
        file.put(data)
        return checked(lambda _: check_folder(folder, question), data)

    return attempt


def _costs() -> Attempt:
    """Damage and forge optimal costs in the cache; the same costs are read, or others of the right shape, or none."""
    os.environ["ANDANTE_CACHE"], before = str(_folder()), os.environ.get("ANDANTE_CACHE")
    graph = _room().graph
    starts, goals, costs = np.array([0, 1, 2]), np.array([40, 39, 38]), np.array([1.5, 2.5, np.inf])
    cache.keep_costs(graph, starts, goals, costs)
    file = cache._costs_file(graph, starts, goals)
    _restore("ANDANTE_CACHE", before)
    sample = file.read_bytes()
    payload, open_file = sample.partition(b"\n")[2], _File(file)

    def read(_: bytes) -> Any:
        kept = os.environ.get("ANDANTE_CACHE")
        os.environ["ANDANTE_CACHE"] = str(file.parents[1])
        try:
            return cache.kept_costs(graph, starts, goals)
        finally:
            _restore("ANDANTE_CACHE", kept)

    def attempt(rng: random.Random) -> Mapping[str, int]:
        if rng.random() < 0.5:
            data = damaged(rng, sample)
            open_file.put(data)
            return checked(
                read,
                data,
                lambda found: None if found is None or np.array_equal(found, costs) else "damaged costs were accepted",
            )
        other = damaged(rng, payload)
        data = cache._head(graph, starts, goals, other) + b"\n" + other
        open_file.put(data)
        return checked(
            read,
            data,
            lambda found: None if found is None or found.shape == costs.shape else f"costs of shape {found.shape}",
        )

    return attempt


def _restore(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


# --- archives -------------------------------------------------------------------------------------------------------

_WAYS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_LIMIT = 2**20


def _zip(members: list[tuple[str, bytes]], way: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", way) as pack:
        for name, data in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = way
            pack.writestr(info, data)
    return buffer.getvalue()


def _archives() -> Attempt:
    folder = _folder()
    file, home = folder / "some.zip", folder / "out"
    content = _map_bytes(_room())
    samples = [_zip([("a/one.map", content), ("two.map", b"x" * 500), ("readme", b"y")], way) for way in _WAYS]
    home.mkdir()
    open_file = _File(file)
    names = [
        "one.map",
        "../one.map",
        "/one.map",
        "a\\one.map",
        "one.map",
        ".map",
        "a/../one.map",
        "x" * 300 + ".map",
        "\n.map",
        "a\0b.map",
    ]

    def attempt(rng: random.Random) -> Mapping[str, int]:
        if rng.random() < 0.9:
            data = damaged(rng, rng.choice(samples))
        else:
            some = [
                (rng.choice(names) if rng.random() < 0.7 else _text(rng, [b"dir/one.map"])[:300])
                for _ in range(rng.randrange(4))
            ]
            try:
                data = _zip([(name, content) for name in dict.fromkeys(some)], rng.choice(_WAYS[:2]))
            except (ValueError, OSError, UnicodeError):  # names that zipfile does not write
                data = samples[0]
        open_file.put(data)
        try:
            found = checked(lambda _: unpack(file, home, ".map", limit=_LIMIT), data)
            if set(os.listdir(folder)) != {"some.zip", "out"}:
                raise FoundError("files appeared outside the folder", data)
            if sum(one.stat().st_size for one in os.scandir(home)) > _LIMIT:
                raise FoundError("more was unpacked than is allowed", data)
        finally:
            for one in os.listdir(home):
                os.unlink(home / one)
        return found

    return attempt


PARTS: dict[str, Callable[[], Attempt]] = {
    "maps": _maps,
    "graphs": _graphs,
    "scenarios": _scenarios,
    "notation": _notation,
    "algorithms": _algorithms,
    "settings": _settings,
    "costs-of-cells": _costs_of_cells,
    "map-names": _map_names,
    "fingerprints": _fingerprints,
    "campaigns": _campaigns,
    "studies": _studies,
    "databases": _databases,
    "forged-databases": _forged_databases,
    "traces": _traces,
    "forged-traces": _forged_traces,
    "manifests": _manifests,
    "forged-manifests": _forged_manifests,
    "parts": _parts,
    "journals": _journals,
    "forged-journals": _forged_journals,
    "questions": _questions,
    "costs": _costs,
    "archives": _archives,
}
