"""The maps of a campaign: from a benchmark set, from a file, or generated; and scenes on them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from andante.campaign.scenes import SceneOrder, is_scene_file
from andante.datafile import only_numbers, only_texts
from andante.datasets import movingai
from andante.datasets.named import generated, is_generated, map_named
from andante.datasets.scaling import upscale
from andante.errors import CampaignError, DatasetError, MapError, ScenarioError, did_you_mean
from andante.notation import expand
from andante.world.grid import Grid
from andante.world.mapfiles import read_scenario
from andante.world.problem import Problem
from andante.world.scenes import Scene, read_scene


@dataclass(frozen=True)
class MapSource:
    """Where one map comes from, as text that any worker understands.

    >>> MapSource("rooms(width=32, height=32, seed=1)").grid().width
    32
    """

    text: str  # SET/NAME, the path of a .map or .scene file, or KIND(width=..., height=..., seed=...)
    size: tuple[int, int] | None = None  # the size to upscale to
    folder: str = ""  # where relative paths start; it differs between machines and decides nothing
    order: SceneOrder | None = None  # the scene to generate on it

    @property
    def is_scene(self) -> bool:
        """Whether the map changes."""
        return self.order is not None or is_scene_file(self.text)

    def scene(self) -> Scene:
        """Return the scene, read or generated."""
        if self.order is not None:
            return self.order.make(self.grid())
        return read_scene(Path(self.folder, self.text))

    def grid(self) -> Grid:
        """Return the map, upscaled if it should be."""
        return self.upscaled(self.original())

    def original(self) -> Grid:
        """Return the map before it is upscaled: the one that problems are chosen on."""
        return map_named(self.text, Path(self.folder))

    def upscaled(self, original: Grid) -> Grid:
        """Return ``original`` upscaled, or unchanged if it should not be upscaled."""
        return original if self.size is None else upscale(original, size=self.size)

    def scenario(self, original: Grid) -> list[Problem]:
        """Return the solvable problems of the map's scenario, before they are upscaled."""
        if self.text.endswith(".map"):
            return read_scenario(Path(self.folder, f"{self.text}.scen"), original)
        if is_generated(self.text):
            raise CampaignError(f"{self.text} is generated and has no scenario; draw its problems at random")
        name, _, title = self.text.partition("/")
        return movingai.BenchmarkMap(name, title).problems(original)


class PlannedMap(NamedTuple):
    """A map of a plan: where it comes from, and the fingerprint it must have."""

    source: MapSource
    name: str
    fingerprint: str  # of the map or, if there is one, of the scene

    @classmethod
    def of(cls, source: MapSource) -> PlannedMap:
        """Return the map as it is now."""
        grid = source.grid()
        return cls(source, grid.name, grid.fingerprint)

    def grid(self) -> Grid:
        """Return the map; raise an error if it has changed since the campaign was planned."""
        grid = self.source.grid()
        self._check("map", grid.fingerprint)
        return grid

    def scene(self) -> Scene:
        """Return the scene; raise an error if it has changed since the campaign was planned."""
        scene = self.source.scene()
        self._check("scene", scene.fingerprint)
        return scene

    def _check(self, what: str, fingerprint: str) -> None:
        if fingerprint != self.fingerprint:
            raise CampaignError(
                f"the {what} {self.source.text} has changed since the campaign was planned; restore it, or start a new "
                "store"
            )

    def as_data(self) -> list[Any]:
        """Return plain data, the same on every machine."""
        order = [] if self.source.order is None else [list(self.source.order)]
        return [self.source.text, self.source.size, self.name, self.fingerprint, *order]

    @classmethod
    def from_data(cls, data: list[Any], folder: str) -> PlannedMap:
        """Return the map from what `as_data` returned; relative paths start at ``folder``."""
        text, size, name, fingerprint, *orders = data
        only_texts((text, name, fingerprint))
        if size is not None:
            width, height = only_numbers(size, least=1)
            size = (width, height)
        order = SceneOrder.from_data(*orders) if orders else None
        return cls(MapSource(text, size, folder, order), name, fingerprint)


def check_map(text: str, folder: Path) -> None:
    """Refuse a text that names no map or scene, without fetching; maps of a set are checked only once it is fetched."""
    for one in expand(text):
        if is_scene_file(one):
            if not os.path.isfile(folder / one):
                raise ScenarioError(f"there is no scene {folder / one}")
        elif one.endswith(".map"):
            if not os.path.isfile(folder / one):
                raise MapError(f"there is no map {folder / one}")
        elif is_generated(one):
            generated(one)
        else:
            name, slash, _ = one.partition("/")
            if movingai.set_named(name).fetched and slash:
                _title(one)


def map_sources(text: str, folder: Path, size: tuple[int, int] | None = None) -> list[MapSource]:
    """Return the maps that a text stands for, fetching benchmark sets if necessary; paths start at ``folder``."""
    found: list[str] = []
    for one in expand(text):
        if one.endswith(".map") or is_scene_file(one):
            found.append(one)
        elif is_generated(one):
            found.append(str(generated(one)))
        elif "/" in one:
            found.append(_title(one))
        else:
            found += map(str, movingai.maps(one))
    return [MapSource(each, size, str(folder.resolve())) for each in found]


def _title(text: str) -> str:
    """Return the text SET/NAME, if the set has such a map."""
    name, _, title = text.partition("/")
    known = movingai.map_names(name)
    if title not in known:
        raise DatasetError(f"the set {name} has no map {title!r}; {did_you_mean(title, known)}")
    return text
