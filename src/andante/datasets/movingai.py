"""The MovingAI benchmarks: sets of game maps, mazes, rooms and streets, each map with a scenario of problems.

Sturtevant (2012), "Benchmarks for Grid-Based Pathfinding". The files are not part of Andante. They are fetched once
into the user's cache, from the benchmark's own site or from a folder or mirror given as ``source`` or in
``ANDANTE_MOVINGAI``. Fetched files are checked against the fingerprints in this package, so every source yields the
published set.

A derived set, such as ``wc3native``, is computed from the maps of a published set each time they are read. It has no
files of its own: fetching it fetches the set it is derived from.

    python -m andante.datasets.movingai fingerprint FOLDER

prints the fingerprints of the archives in a folder; ``movingai.fingerprints.txt`` was made with it.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from andante.datasets import ProgressCallback, fingerprints
from andante.datasets.archives import MAX_UNPACKED_BYTES, unpack
from andante.datasets.download import SOURCE_VARIABLE, archive_of
from andante.datasets.fingerprints import Fingerprints
from andante.datasets.native import native
from andante.errors import DatasetError, did_you_mean
from andante.files import cache_folder, read_at_most, write_whole
from andante.world.grid import Grid
from andante.world.mapfiles import parse_map, parse_scenario
from andante.world.problem import Problem

SITE = "https://movingai.com/benchmarks"

#: A folder with archives, or the address of a mirror; None means the environment variable's, or else the site.
Source = str | os.PathLike[str] | None

_KNOWN_FILE = "movingai.fingerprints.txt"
_MAX_RECORD_BYTES = 2**24


class UnverifiedSet(UserWarning):
    """A warning that the contents of a fetched set could not be verified."""


@dataclass(frozen=True)
class BenchmarkSet:
    """A set of the benchmark: its name on the site, its title, and whether it has published scenarios.

    A derived set has an ``origin``, the published set its maps are computed from, and a function ``derive`` that
    computes them.
    """

    name: str
    title: str
    has_scenarios: bool = True
    origin: BenchmarkSet | None = None
    derive: Callable[[Grid], Grid] | None = None

    @property
    def published(self) -> BenchmarkSet:
        """The set whose files are fetched for this one: itself or its origin."""
        return self.origin or self

    @property
    def archives(self) -> dict[str, str]:
        """The archives to fetch for the set, each with the suffix of the files to take from it."""
        published = self.published
        maps = {f"{published.name}-map.zip": ".map"}
        return maps | {f"{published.name}-scen.zip": ".map.scen"} if published.has_scenarios else maps

    @property
    def verified(self) -> bool:
        """Whether the set's fingerprints are part of Andante; otherwise those of the first fetch are compared."""
        return self.published.name in _known()

    @property
    def fetched(self) -> bool:
        """Whether the set, or the one it is derived from, is in the cache."""
        return os.path.isdir(_home(self.published.name))


_WARCRAFT = BenchmarkSet("wc3maps512", "WarCraft III, scaled to 512 x 512")

# The site's sets on plain grids, and those derived from them. Its weighted terrain (cells with different costs) and its
# multi-agent sets are left out.
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
    """Return all sets, in order of name."""
    return list(_SETS)


def set_named(name: str) -> BenchmarkSet:
    """Return the set of this name."""
    named = {each.name: each for each in _SETS}
    if name not in named:
        raise DatasetError(f"there is no benchmark set {name!r}; {did_you_mean(name, named)}")
    return named[name]


# --- maps and problems ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BenchmarkMap:
    """One map of a set, read on demand."""

    set: str
    name: str
    source: Source = None

    def grid(self, *, rule: str = "octile", costs: Mapping[str, float] | None = None) -> Grid:
        """Read and return the map; ``costs`` are the costs of cells by character."""
        data, where = _contents(self.set, self.name, ".map", self.source)
        grid = parse_map(data, self.name, rule=rule, where=where, costs=costs)
        derive = set_named(self.set).derive
        return grid if derive is None else derive(grid)

    def problems(self, grid: Grid | None = None, *, keep_all: bool = False) -> list[Problem]:
        """Return the solvable problems of the map's scenario; ``grid`` is the map, if it has already been read."""
        if not set_named(self.set).has_scenarios:
            raise DatasetError(f"the set {self.set} has no scenarios; draw problems on its maps with random_problems")
        data, where = _contents(self.set, self.name, ".map.scen", self.source)
        return parse_scenario(data, grid if grid is not None else self.grid(), where, keep_all=keep_all)

    def __str__(self) -> str:
        return f"{self.set}/{self.name}"


def maps(name: str, *, source: Source = None) -> list[BenchmarkMap]:
    """Return the maps of a set, fetching the set if necessary."""
    fetch(name, source)
    return [BenchmarkMap(name, title, source) for title in sorted(_fingerprints(name))]


def map_names(name: str, *, source: Source = None) -> list[str]:
    """Return the names of the maps of a set, fetching the set if necessary."""
    return [each.name for each in maps(name, source=source)]


def load_map(
    name: str,
    title: str | None = None,
    *,
    source: Source = None,
    rule: str = "octile",
    costs: Mapping[str, float] | None = None,
) -> Grid:
    """Return a map of a set: ``load_map("dao/arena")`` or ``load_map("dao", "arena")``."""
    return _map_named(name, title, source).grid(rule=rule, costs=costs)


def problems(name: str, title: str | None = None, *, source: Source = None) -> list[Problem]:
    """Return the solvable problems of a map: ``problems("dao/arena")`` or ``problems("dao", "arena")``."""
    return _map_named(name, title, source).problems()


def testbed(*, source: Source = None) -> list[BenchmarkMap]:  # noqa: PT028 (not a test, see below)
    """Return the test bed of Bulitko (2016): 342 maps of four games, each read on demand, with 493,297 problems in all.

    The paper counts 493,298. Water is an obstacle. Problems that this makes unsolvable, or whose start is their goal,
    are left out.
    """
    return [each for name in _TESTBED for each in maps(name, source=source)]


testbed.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it by its name


def _map_named(name: str, title: str | None, source: Source) -> BenchmarkMap:
    if title is None:
        name, slash, title = name.partition("/")
        if not slash:
            raise DatasetError(f"{name!r} does not name a map; give the set and the map, as in 'dao/arena'")
    fetch(name, source)
    known = _fingerprints(name)
    title = title.removesuffix(".map")
    if title not in known:
        raise DatasetError(f"the set {name} has no map {title!r}; {did_you_mean(title, known)}")
    return BenchmarkMap(name, title, source)


def _contents(name: str, title: str, suffix: str, source: Source) -> tuple[bytes, str]:
    """Return the bytes of a file of a set, checked against its fingerprint, and the file's path for messages."""
    file = fetch(name, source) / (title + suffix)
    advice = f"delete the folder {file.parent} and fetch the set again"
    try:
        data = read_at_most(file, MAX_UNPACKED_BYTES)
    except OSError as error:
        raise DatasetError(f"cannot read {file}: {error.strerror or error}; {advice}") from error
    expected = _fingerprints(name)[title]
    if fingerprints.fingerprint(data) != (expected.map if suffix == ".map" else expected.scenario):
        raise DatasetError(f"{file} has changed since it was fetched; {advice}")
    return data, str(file)


# --- fetching -------------------------------------------------------------------------------------------------------


def fetch(name: str, source: Source = None, progress: ProgressCallback | None = None) -> Path:
    """Return the folder with a set's maps and scenarios, filling it from ``source`` if the set is not in the cache.

    ``source`` is a folder with the set's archives or the address of a mirror laid out like the site. The default is
    the value of ``ANDANTE_MOVINGAI``, or else the site itself. The folder appears complete and verified, or not at all.
    For a derived set it is the folder of its origin.
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
        reason = f"cannot store the set {chosen.name} in {home.parent}: {error.strerror or error}"
        raise DatasetError(f"{reason}; set ANDANTE_CACHE to a folder with enough space") from error
    return home


def _home(name: str) -> Path:
    return cache_folder() / "movingai" / name


def _fill(folder: Path, chosen: BenchmarkSet, place: str, progress: ProgressCallback | None) -> None:
    folder.mkdir()
    for archive, suffix in chosen.archives.items():
        found = archive_of(chosen, archive, place, folder.parent, progress)
        if not unpack(found, folder, suffix):
            raise DatasetError(f"{archive} from {place} contains no {suffix} files")


def _move(fresh: Path, home: Path) -> None:
    try:
        fresh.rename(home)
    except OSError:
        if not os.path.isdir(home):  # else another process has just put the same folder there
            raise


# --- fingerprints ---------------------------------------------------------------------------------------------------


@functools.cache
def _known() -> dict[str, Fingerprints]:
    """Return the fingerprints that are part of Andante."""
    return fingerprints.from_text((resources.files(__package__) / _KNOWN_FILE).read_text(), _KNOWN_FILE)


def _record(name: str) -> Path:
    """Return the file for the fingerprints of a set's first fetch, which is beside the set so that it outlives it."""
    return _home(name).with_name(f"{name}.fingerprints.txt")


def _keep_record(name: str, found: Fingerprints) -> None:
    write_whole(_record(name), fingerprints.to_text({name: found}).encode())


def _expected(name: str) -> Fingerprints | None:
    """Return the fingerprints that the set must have: those that are part of Andante, or those of the first fetch."""
    file = _record(name)
    if name in _known() or not os.path.exists(file):
        return _known().get(name)
    try:
        text = read_at_most(file, _MAX_RECORD_BYTES).decode(errors="replace")
    except OSError as error:
        raise DatasetError(f"cannot read {file}: {error.strerror or error}; delete it") from error
    return fingerprints.from_text(text, str(file)).get(name)


def _fingerprints(name: str) -> Fingerprints:
    """Return the fingerprints of a fetched set, or of the set it is derived from."""
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
    """Raise `DatasetError` for a set that differs from the published one or, if unknown, from the first one fetched."""
    expected = _expected(chosen.name)
    if expected is None:
        _keep_record(chosen.name, found)
        warnings.warn(
            f"Andante has no fingerprints for the set {chosen.name} and accepts what {place} provides; its "
            f"fingerprints are stored in {_record(chosen.name)}, and later fetches are compared with them",
            UnverifiedSet,
            stacklevel=3,
        )
    elif wrong := fingerprints.differences(found, expected):
        more = f", and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise DatasetError(f"{place} does not have the published set {chosen.name}: {', '.join(wrong[:3])}{more}")


def fingerprint_archives(folder: str | os.PathLike[str]) -> str:
    """Return the fingerprints of all sets whose archives are in a folder, as in ``movingai.fingerprints.txt``."""
    found = {}
    for each in {each.published: None for each in _SETS}:
        if all((Path(folder) / archive).is_file() for archive in each.archives):
            with tempfile.TemporaryDirectory() as scratch:
                _fill(Path(scratch) / each.name, each, os.fspath(folder), None)
                found[each.name] = fingerprints.of_folder(Path(scratch) / each.name)
    return fingerprints.to_text(found)


def main(arguments: list[str]) -> None:
    """Run the command ``fingerprint FOLDER``."""
    if len(arguments) != 2 or arguments[0] != "fingerprint":
        sys.exit("usage: python -m andante.datasets.movingai fingerprint FOLDER")
    sys.stdout.write(fingerprint_archives(arguments[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
