"""The maps that a campaign names: of a benchmark set, of a file, or generated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from andante.campaign.settings import expand
from andante.campaign.tables import CampaignError
from andante.datasets import movingai
from andante.datasets.generate import generate, kinds, upscale
from andante.errors import DatasetError, MapError, ParameterError, did_you_mean
from andante.notation import parse
from andante.world.grid import Grid
from andante.world.mapfiles import read_map, read_scenario
from andante.world.problem import Problem


@dataclass(frozen=True)
class MapSource:
    """Where one map comes from, in words that any worker can follow.

    >>> MapSource("rooms(width=32, height=32, seed=1)").grid().width
    32
    """

    text: str  # SET/NAME, the path of a .map file, or KIND(width=..., height=..., seed=...)
    size: tuple[int, int] | None = None  # to which it is upscaled
    folder: str = ""  # where paths begin: it differs from machine to machine, and decides nothing

    def grid(self) -> Grid:
        """The map."""
        return self._upscaled(self._plain())

    def _plain(self) -> Grid:
        if self.text.endswith(".map"):
            return read_map(self._path)
        if "(" in self.text:
            call = parse(self.text)
            options: dict[str, Any] = dict(call.arguments)
            return generate(call.name, options.pop("width"), options.pop("height"), **options)
        return movingai.load_map(self.text)

    @property
    def _path(self) -> Path:
        return Path(self.folder, self.text)

    def _upscaled(self, grid: Grid) -> Grid:
        return grid if self.size is None else upscale(grid, size=self.size)

    def scenario(self, grid: Grid) -> list[Problem]:
        """The problems of the map's scenario that can be solved."""
        if self.size is not None:
            raise CampaignError(f"{self.text} is upscaled and its scenario is not; draw its problems at random")
        if self.text.endswith(".map"):
            return read_scenario(self._path.with_name(f"{self._path.name}.scen"), grid)
        if "(" in self.text:
            raise CampaignError(f"{self.text} is generated and has no scenario; draw its problems at random")
        name, _, title = self.text.partition("/")
        return movingai.BenchmarkMap(name, title).problems(grid)


class PlannedMap(NamedTuple):
    """A map of a plan: where it comes from, and what it must be like."""

    source: MapSource
    name: str
    fingerprint: str

    @classmethod
    def of(cls, source: MapSource) -> PlannedMap:
        """The map as it is now."""
        grid = source.grid()
        return cls(source, grid.name, grid.fingerprint)

    def grid(self) -> Grid:
        """The map; an error if it is not the one that was planned with."""
        grid = self.source.grid()
        if grid.fingerprint != self.fingerprint:
            raise CampaignError(
                f"the map {self.source.text} is not the one that the campaign was planned with; restore it, or begin "
                "another store"
            )
        return grid

    def as_data(self) -> list[Any]:
        """As plain data: the same on every machine."""
        return [self.source.text, self.source.size, self.name, self.fingerprint]

    @classmethod
    def from_data(cls, data: list[Any], folder: str) -> PlannedMap:
        """What `as_data` made of it; ``folder`` is where paths begin."""
        text, size, name, fingerprint = data
        return cls(MapSource(text, tuple(size) if size else None, folder), name, fingerprint)


def check_map(text: str, folder: Path) -> None:
    """Refuse a text that names no map, without fetching anything."""
    for one in expand(text):
        if one.endswith(".map"):
            if not (folder / one).is_file():
                raise MapError(f"there is no map {folder / one}")
        elif "(" in one or ":" in one:
            _check_generated(_as_call(one))
        else:
            movingai.set_named(one.partition("/")[0])


def map_sources(text: str, folder: Path, size: tuple[int, int] | None = None) -> list[MapSource]:
    """The maps that a text stands for; a benchmark set is fetched if need be. ``folder`` is where paths begin."""
    found: list[str] = []
    for one in expand(text):
        if one.endswith(".map"):
            found.append(one)
        elif "(" in one or ":" in one:
            found.append(_as_call(one))
        elif "/" in one:
            found.append(_title(one))
        else:
            found += map(str, movingai.maps(one))
    return [MapSource(each, size, str(folder.resolve())) for each in found]


def _title(text: str) -> str:
    """SET/NAME, if the set has such a map."""
    name, _, title = text.partition("/")
    known = movingai.map_names(name)
    if title not in known:
        raise DatasetError(f"the set {name} has no map {title!r}; {did_you_mean(title, known)}")
    return text


def _as_call(text: str) -> str:
    """KIND:WIDTHxHEIGHT:SEED, as commands take it, in the notation.

    >>> _as_call("maze:33x33:7")
    'maze(width=33, height=33, seed=7)'
    """
    if "(" in text:
        return text
    kind, _, rest = text.partition(":")
    size, _, seed = rest.partition(":")
    width, _, height = size.partition("x")
    if not (width.isdigit() and height.isdigit() and (seed or "0").isdigit()):
        raise MapError(f"a generated map is written KIND:WIDTHxHEIGHT:SEED, such as maze:64x64:7, not {text!r}")
    return f"{kind}(width={width}, height={height}, seed={seed or 0})"


def _check_generated(text: str) -> None:
    call = parse(text)
    if call.name not in kinds():
        raise ParameterError(f"there is no kind of map {call.name!r}; {did_you_mean(call.name, kinds())}")
    for name in ("width", "height"):
        if name not in call.arguments:
            raise ParameterError(f"{text} lacks its {name}")
    known = {"width", "height", "seed", *kinds()[call.name]}
    for name in call.arguments:
        if name not in known:
            raise ParameterError(f"{call.name} has no option {name!r}; {did_you_mean(name, known)}")
