"""The MovingAI benchmarks: sets of game maps, mazes, rooms and streets, each map with a scenario of problems.

Sturtevant (2012), "Benchmarks for Grid-Based Pathfinding". The files are not part of Andante. They are fetched once,
into the user's cache, from the benchmark's own site or from a folder or mirror given as ``source`` or in
``ANDANTE_MOVINGAI``. What arrives is held against the fingerprints in this package, so a set is the published
one wherever it came from.

A derived set, such as ``wc3native``, is worked out from the maps of a published one whenever they are read. It has no
files of its own: to fetch it is to fetch the set it comes from.

    python -m andante.datasets.movingai fingerprint FOLDER

prints those fingerprints for the archives in a folder; that is how ``movingai.fingerprints.txt`` was made.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from andante.datasets import Progress, fingerprints
from andante.datasets.archives import MAX_UNPACKED_BYTES, unpack
from andante.datasets.fingerprints import Fingerprints
from andante.datasets.native import native
from andante.errors import DatasetError, did_you_mean
from andante.files import cache_folder, read_at_most, write_whole
from andante.world.grid import Grid
from andante.world.mapfiles import parse_map, parse_scenario
from andante.world.problem import Problem

SITE = "https://movingai.com/benchmarks"
SOURCE_VARIABLE = "ANDANTE_MOVINGAI"

#: A folder with archives, or the address of a mirror; None is what the variable names, or the site.
Source = str | os.PathLike[str] | None

_KNOWN_FILE = "movingai.fingerprints.txt"
_MAX_ARCHIVE_BYTES = 2**28  # the largest published archive has a few megabytes
_MAX_RECORD_BYTES = 2**24
_TIMEOUT_SECONDS = 30
_CHUNK_BYTES = 2**16


class UnverifiedSet(UserWarning):
    """A set was fetched that Andante cannot tell from another one of that name."""


@dataclass(frozen=True)
class BenchmarkSet:
    """One set of the benchmark: its name on the site, what it is, and whether scenarios are published for it.

    A derived set has an ``origin``, the published set that its maps are worked out from, and says with ``derive`` how.
    """

    name: str
    title: str
    has_scenarios: bool = True
    origin: BenchmarkSet | None = None
    derive: Callable[[Grid], Grid] | None = None

    @property
    def published(self) -> BenchmarkSet:
        """The set whose files are fetched for this one: itself, or its origin."""
        return self.origin or self

    @property
    def archives(self) -> dict[str, str]:
        """The archives that are fetched for the set, and how the names of the files in each end."""
        published = self.published
        maps = {f"{published.name}-map.zip": ".map"}
        return maps | {f"{published.name}-scen.zip": ".map.scen"} if published.has_scenarios else maps

    @property
    def verified(self) -> bool:
        """Are the set's fingerprints part of Andante? (If not, those of the first fetch are kept and compared.)"""
        return self.published.name in _known()

    @property
    def map_count(self) -> int | None:
        """How many maps the set has, where that is known."""
        expected = _expected(self.published.name)
        return None if expected is None else len(expected)

    @property
    def fetched(self) -> bool:
        """Is the set, or the one that it comes from, in the cache?"""
        return os.path.isdir(_home(self.published.name))


_WARCRAFT = BenchmarkSet("wc3maps512", "WarCraft III, scaled to 512 x 512")

# The site's sets on plain grids, and those derived from them. Not here: its weighted terrain (cells of many costs) and
# its multi-agent sets.
_SETS = (
    BenchmarkSet("bg512", "Baldur's Gate II, scaled to 512 x 512"),
    BenchmarkSet("bgmaps", "Baldur's Gate II at original size, maps only", has_scenarios=False),
    BenchmarkSet("da2", "Dragon Age 2"),
    BenchmarkSet("dao", "Dragon Age: Origins"),
    BenchmarkSet("maze", "mazes with corridors 1 to 32 cells wide, 512 x 512"),
    BenchmarkSet("random", "random obstacles on 10 to 40 % of the cells, 512 x 512"),
    BenchmarkSet("room", "square rooms 8 to 64 cells wide, 512 x 512"),
    BenchmarkSet("sc1", "StarCraft"),
    BenchmarkSet("street", "city streets, 256 x 256 to 1024 x 1024"),
    _WARCRAFT,
    BenchmarkSet(
        "wc3native",
        "WarCraft III at original size, maps only, from wc3maps512",
        has_scenarios=False,
        origin=_WARCRAFT,
        derive=native,
    ),
)

_TESTBED = ("bg512", "dao", "sc1", "wc3maps512")


def sets() -> list[BenchmarkSet]:
    """The sets, by name."""
    return list(_SETS)


def set_named(name: str) -> BenchmarkSet:
    """The set of this name."""
    named = {each.name: each for each in _SETS}
    if name not in named:
        raise DatasetError(f"there is no benchmark set {name!r}; {did_you_mean(name, named)}")
    return named[name]


# --- maps and problems ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BenchmarkMap:
    """One map of a set, read when asked for."""

    set: str
    name: str
    source: Source = None

    def grid(self, *, rule: str = "octile") -> Grid:
        """The map."""
        data, where = _contents(self.set, self.name, ".map", self.source)
        grid = parse_map(data, self.name, rule=rule, where=where)
        derive = set_named(self.set).derive
        return grid if derive is None else derive(grid)

    def problems(self, grid: Grid | None = None, *, keep_all: bool = False) -> list[Problem]:
        """The problems of the map's scenario that can be solved, on ``grid`` if that has been read before."""
        if not set_named(self.set).has_scenarios:
            raise DatasetError(f"the set {self.set} has no scenarios; draw problems on its maps with random_problems")
        data, where = _contents(self.set, self.name, ".map.scen", self.source)
        return parse_scenario(data, grid if grid is not None else self.grid(), where, keep_all=keep_all)

    def __str__(self) -> str:
        return f"{self.set}/{self.name}"


def maps(name: str, *, source: Source = None) -> list[BenchmarkMap]:
    """The maps of a set, which is fetched if need be."""
    fetch(name, source)
    return [BenchmarkMap(name, title, source) for title in sorted(_fingerprints(name))]


def map_names(name: str, *, source: Source = None) -> list[str]:
    """The names of the maps of a set, which is fetched if need be."""
    return [each.name for each in maps(name, source=source)]


def load_map(name: str, title: str | None = None, *, source: Source = None, rule: str = "octile") -> Grid:
    """A map of a set: ``load_map("dao/arena")`` or ``load_map("dao", "arena")``."""
    return _map_named(name, title, source).grid(rule=rule)


def problems(name: str, title: str | None = None, *, source: Source = None) -> list[Problem]:
    """The problems of a map that can be solved: ``problems("dao/arena")`` or ``problems("dao", "arena")``."""
    return _map_named(name, title, source).problems()


def testbed(*, source: Source = None) -> list[BenchmarkMap]:  # noqa: PT028 (not a test, see below)
    """The test bed of Bulitko (2016): 342 maps of four games, each to be read in its turn; 493,297 problems in all.

    The paper counts 493,298. Water is an obstacle, and problems that this makes unsolvable, or whose start is their
    goal, are left out.
    """
    return [each for name in _TESTBED for each in maps(name, source=source)]


testbed.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever pytest may think of the name


def _map_named(name: str, title: str | None, source: Source) -> BenchmarkMap:
    if title is None:
        name, slash, title = name.partition("/")
        if not slash:
            raise DatasetError(f"{name!r} names no map; give the set and the map, as in 'dao/arena'")
    fetch(name, source)
    known = _fingerprints(name)
    title = title.removesuffix(".map")
    if title not in known:
        raise DatasetError(f"the set {name} has no map {title!r}; {did_you_mean(title, known)}")
    return BenchmarkMap(name, title, source)


def _contents(name: str, title: str, suffix: str, source: Source) -> tuple[bytes, str]:
    """The bytes of a file of a set, if they are the ones that were fetched; and the file's place, for messages."""
    file = fetch(name, source) / (title + suffix)
    advice = f"delete the folder {file.parent} and fetch the set again"
    try:
        data = read_at_most(file, MAX_UNPACKED_BYTES)
    except OSError as error:
        raise DatasetError(f"cannot read {file}: {error.strerror or error}; {advice}") from error
    expected = _fingerprints(name)[title]
    if fingerprints.fingerprint(data) != (expected.map if suffix == ".map" else expected.scenario):
        raise DatasetError(f"{file} is not the file that was fetched; {advice}")
    return data, str(file)


# --- fetching -------------------------------------------------------------------------------------------------------


def fetch(name: str, source: Source = None, progress: Progress | None = None) -> Path:
    """The folder that holds a set's maps and scenarios; fills it first, from ``source``, if it is not in the cache.

    ``source`` is a folder with the set's archives or the address of a mirror laid out like the site; by default it is
    what ``ANDANTE_MOVINGAI`` names, or else the site itself. The folder appears whole, with the right contents, or not
    at all. For a derived set it is the folder of its origin.
    """
    chosen = set_named(name).published
    home = _home(chosen.name)
    if os.path.isdir(home):
        return home
    place = os.fspath(source) if source is not None else os.environ.get(SOURCE_VARIABLE) or SITE
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{chosen.name}-", dir=home.parent) as scratch:
            fresh = Path(scratch) / chosen.name
            _fill(fresh, chosen, place, progress)
            _verify(chosen, fingerprints.of_folder(fresh), place)
            _move(fresh, home)
    except OSError as error:
        reason = f"cannot keep the set {chosen.name} in {home.parent}: {error.strerror or error}"
        raise DatasetError(f"{reason}; set ANDANTE_CACHE to a folder with room") from error
    return home


def _home(name: str) -> Path:
    return cache_folder() / "movingai" / name


def _fill(folder: Path, chosen: BenchmarkSet, place: str, progress: Progress | None) -> None:
    folder.mkdir()
    for archive, suffix in chosen.archives.items():
        found = _archive(chosen, archive, place, folder.parent, progress)
        if not unpack(found, folder, suffix):
            raise DatasetError(f"{archive} from {place} holds no {suffix} files")


def _move(fresh: Path, home: Path) -> None:
    try:
        fresh.rename(home)
    except OSError:
        if not os.path.isdir(home):  # else another process was faster, and has the same
            raise


def _archive(chosen: BenchmarkSet, archive: str, place: str, scratch: Path, progress: Progress | None) -> Path:
    """One archive of the set as a local file: where it lies already, or downloaded into ``scratch``."""
    beside = (f"{chosen.name}/{archive}", archive)  # as on the site, or all archives in one folder
    if not place.startswith(("http://", "https://")):
        for path in beside:
            if os.path.isfile(file := Path(os.path.expanduser(place), path)):
                return file
        raise DatasetError(f"there is no {archive} in {place}; give a folder that holds it, or the address of a mirror")
    for path in beside:
        download = _download(f"{place.rstrip('/')}/{path}", archive, chosen, scratch, progress)
        if download is not None:
            return download
    raise DatasetError(f"there is no {archive} at {place}; give a folder that holds it, or the address of a mirror")


def _download(url: str, archive: str, chosen: BenchmarkSet, scratch: Path, progress: Progress | None) -> Path | None:
    """The file at an address, downloaded into ``scratch``; None if the server has no such file."""
    import pooch

    meter = _Meter(archive, progress)
    try:
        with _quiet(pooch.get_logger()):
            get = pooch.HTTPDownloader(progressbar=meter, chunk_size=_CHUNK_BYTES, timeout=_TIMEOUT_SECONDS)
            return Path(pooch.retrieve(url, known_hash=None, fname=archive, path=scratch, downloader=get))
    except (OSError, ValueError) as error:  # all that requests raises is an OSError or, for a bad address, a ValueError
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status == 404:
            return None
        reason = f"the server answers {status}" if status else f"no connection, {type(error).__name__}"
        raise DatasetError(
            f"cannot download {url} ({reason}); without a network, put {' and '.join(chosen.archives)} into a folder "
            f"and name that folder with --from or in {SOURCE_VARIABLE}"
        ) from error


class _Meter:
    """Stands where pooch expects a progress bar: passes the news on, and stops a download that does not end."""

    def __init__(self, what: str, progress: Progress | None) -> None:
        self.what, self.progress = what, progress
        self.total, self.done = 0, 0

    def update(self, count: int) -> None:
        self.done += count
        if self.done > _MAX_ARCHIVE_BYTES:
            raise DatasetError(f"{self.what} is refused: it has more than {_MAX_ARCHIVE_BYTES:,} bytes")
        if self.progress is not None:
            self.progress(f"downloading {self.what}", min(self.done, self.total or self.done), self.total)

    def reset(self) -> None:
        self.done = 0

    def close(self) -> None:
        """Nothing to let go of."""


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Within this block the logger, which would print hashes, speaks of trouble only."""
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(before)


# --- fingerprints ---------------------------------------------------------------------------------------------------


@functools.cache
def _known() -> dict[str, Fingerprints]:
    """The fingerprints that are part of Andante."""
    return fingerprints.from_text((resources.files(__package__) / _KNOWN_FILE).read_text(), _KNOWN_FILE)


def _record(name: str) -> Path:
    """Where the fingerprints of a set's first fetch are kept; beside the set, so that they outlive it."""
    return _home(name).with_name(f"{name}.fingerprints.txt")


def _keep_record(name: str, found: Fingerprints) -> None:
    write_whole(_record(name), fingerprints.to_text({name: found}).encode())


def _expected(name: str) -> Fingerprints | None:
    """The fingerprints that the set must have: those that are part of Andante, or those of the first fetch."""
    file = _record(name)
    if name in _known() or not os.path.exists(file):
        return _known().get(name)
    try:
        text = read_at_most(file, _MAX_RECORD_BYTES).decode(errors="replace")
    except OSError as error:
        raise DatasetError(f"cannot read {file}: {error.strerror or error}; delete it") from error
    return fingerprints.from_text(text, str(file)).get(name)


def _fingerprints(name: str) -> Fingerprints:
    """The fingerprints of a set that has been fetched, or of the set that it is derived from."""
    published = set_named(name).published.name
    expected = _expected(published)
    if expected is None:  # the record was deleted
        try:
            expected = fingerprints.of_folder(_home(published))
        except OSError as error:
            reason = f"cannot read {error.filename or _home(published)}: {error.strerror or error}"
            raise DatasetError(f"{reason}; delete the folder {_home(published)} and fetch the set again") from error
        _keep_record(published, expected)
    return expected


def _verify(chosen: BenchmarkSet, found: Fingerprints, place: str) -> None:
    """Refuse a set that is not the published one, or not the one first seen."""
    expected = _expected(chosen.name)
    if expected is None:
        _keep_record(chosen.name, found)
        warnings.warn(
            f"Andante has no fingerprints of the set {chosen.name} and takes what {place} gave; they are kept in "
            f"{_record(chosen.name)} and will be compared from now on",
            UnverifiedSet,
            stacklevel=3,
        )
    elif wrong := fingerprints.differences(found, expected):
        more = f", and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise DatasetError(f"{place} does not give the set {chosen.name} as published: {', '.join(wrong[:3])}{more}")


def fingerprint_archives(folder: str | os.PathLike[str]) -> str:
    """The fingerprints of every set whose archives are in a folder, as ``movingai.fingerprints.txt`` holds them."""
    found = {}
    for each in {each.published: None for each in _SETS}:
        if all((Path(folder) / archive).is_file() for archive in each.archives):
            with tempfile.TemporaryDirectory() as scratch:
                _fill(Path(scratch) / each.name, each, os.fspath(folder), None)
                found[each.name] = fingerprints.of_folder(Path(scratch) / each.name)
    return fingerprints.to_text(found)


def main(arguments: list[str]) -> None:
    """The command ``fingerprint FOLDER``."""
    if len(arguments) != 2 or arguments[0] != "fingerprint":
        sys.exit("usage: python -m andante.datasets.movingai fingerprint FOLDER")
    sys.stdout.write(fingerprint_archives(arguments[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
