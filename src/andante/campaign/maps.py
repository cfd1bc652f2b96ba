"""The maps and graphs of a campaign, from a benchmark set, from a file, or generated; and scenes on maps."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from andante.campaign.scenes import SceneOrder, is_scene_file
from andante.datafile import only_numbers, only_texts
from andante.datasets import movingai
from andante.datasets.named import generated, graph_named, is_generated, is_graph, map_named, ready_made
from andante.datasets.scaling import upscale
from andante.errors import CampaignError, DatasetError, GraphError, MapError, ScenarioError, did_you_mean
from andante.notation import expand
from andante.search.landmarks import with_landmarks
from andante.world.graph import Graph
from andante.world.graphfiles import is_graph_file
from andante.world.grid import RULES, Grid, parse_costs
from andante.world.mapfiles import read_scenario
from andante.world.problem import Problem
from andante.world.scenes import Scene, read_scene


@dataclass(frozen=True)
class MapSource:
    """The source of one map, as text that any worker understands.

    >>> MapSource("rooms(width=32, height=32, seed=1)").world().width
    32
    """

    text: str  # SET/NAME, the path of a .map, .scene or graph file, or KIND(width=..., height=..., seed=...)
    size: tuple[int, int] | None = None  # the size to upscale to
    folder: str = ""  # where relative paths start; it differs between machines and has no effect on results
    order: SceneOrder | None = None  # the scene to generate on it
    rule: str = RULES[0]  # which diagonal moves are legal on a map
    terrain: str = ""  # what cells cost, by map character
    landmarks: int = 0  # the number of landmarks whose distances are a graph's heuristic, if any

    @property
    def is_scene(self) -> bool:
        """Whether the map changes."""
        return self.order is not None or is_scene_file(self.text)

    def scene(self) -> Scene:
        """Return the scene, read or generated."""
        if self.order is not None:
            grid = self.world()
            assert isinstance(grid, Grid)  # files that ask for scenes on graphs are refused
            return self.order.make(grid)
        return read_scene(Path(self.folder, self.text))

    def world(self) -> Grid | Graph:
        """Return the map, upscaled if it should be, or the graph."""
        return self.upscaled(self.original())

    def original(self) -> Grid | Graph:
        """Return the map before it is upscaled: the one that problems are chosen on."""
        if not is_graph(self.text):
            return map_named(self.text, Path(self.folder), rule=self.rule, costs=parse_costs(self.terrain))
        graph = graph_named(self.text, Path(self.folder))
        return with_landmarks(graph, self.landmarks) if self.landmarks else graph

    def upscaled(self, original: Grid | Graph) -> Grid | Graph:
        """Return ``original``, upscaled if it should be."""
        return original if self.size is None or isinstance(original, Graph) else upscale(original, size=self.size)

    def scenario(self, original: Grid | Graph) -> list[Problem]:
        """Return the solvable problems of the map's scenario, before they are upscaled."""
        assert isinstance(original, Grid)  # files that ask for scenarios of graphs are refused
        if self.text.endswith(".map"):
            return read_scenario(Path(self.folder, f"{self.text}.scen"), original)
        if is_generated(self.text):
            raise CampaignError(f"{self.text} is generated and has no scenario; draw its problems at random")
        name, _, title = self.text.partition("/")
        return movingai.BenchmarkMap(name, title).problems(original)


#: Properties of a map that are stored only if they differ from these defaults.
_USUAL: dict[str, Any] = {"rule": RULES[0], "landmarks": 0, "terrain": ""}


class PlannedMap(NamedTuple):
    """A map of a plan: its source, and the fingerprint it must have."""

    source: MapSource
    name: str
    fingerprint: str  # of the map or, if there is one, of the scene

    @classmethod
    def of(cls, source: MapSource) -> PlannedMap:
        """Return the map as it is now."""
        world = source.world()
        return cls(source, world.name, world.fingerprint)

    def world(self) -> Grid | Graph:
        """Return the map or graph; raise an error if it has changed since the campaign was planned."""
        world = self.source.world()
        self._check("map" if isinstance(world, Grid) else "graph", world.fingerprint)
        return world

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
        source = self.source
        order: list[Any] = [] if source.order is None else [list(source.order)]
        other = {"rule": source.rule, "landmarks": source.landmarks, "terrain": source.terrain}
        more = [other] if other != _USUAL else []
        return [source.text, source.size, self.name, self.fingerprint, *order, *more]

    @classmethod
    def from_data(cls, data: list[Any], folder: str) -> PlannedMap:
        """Return the map from what `as_data` returned; relative paths start at ``folder``."""
        text, size, name, fingerprint, *more = data
        only_texts((text, name, fingerprint))
        if size is not None:
            width, height = only_numbers(size, least=1)
            size = (width, height)
        orders = [one for one in more if isinstance(one, list)]
        order = SceneOrder.from_data(*orders) if orders else None
        other = _USUAL | next((one for one in more if isinstance(one, dict)), {})
        (rule, terrain), (landmarks,) = (
            only_texts([other["rule"], other["terrain"]]),
            only_numbers([other["landmarks"]], least=0),
        )
        return cls(MapSource(text, size, folder, order, rule, terrain, landmarks), name, fingerprint)


def check_map(text: str, folder: Path) -> None:
    """Refuse a text that does not name a map, graph or scene, without fetching anything.

    Maps of a benchmark set are checked only once it is fetched.
    """
    for one in expand(text):
        if is_graph_file(one):
            if not os.path.isfile(folder / one):
                raise GraphError(f"there is no graph {folder / one}")
        elif is_graph(one):
            ready_made(one)
        elif is_scene_file(one):
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


def map_sources(
    text: str,
    folder: Path,
    size: tuple[int, int] | None = None,
    rule: str = RULES[0],
    terrain: str = "",
    landmarks: int = 0,
) -> list[MapSource]:
    """Return the maps that a text describes, fetching benchmark sets if necessary; paths start at ``folder``."""
    found: list[str] = []
    for one in expand(text):
        if one.endswith(".map") or is_scene_file(one) or is_graph_file(one):
            found.append(one)
        elif is_graph(one):
            found.append(str(ready_made(one)))
        elif is_generated(one):
            found.append(str(generated(one)))
        elif "/" in one:
            found.append(_title(one))
        else:
            found += map(str, movingai.maps(one))
    home = str(folder.resolve())
    return [MapSource(each, size, home, None, rule, terrain, landmarks) for each in found]


def _title(text: str) -> str:
    """Return the text SET/NAME, if the set has such a map."""
    name, _, title = text.partition("/")
    known = movingai.map_names(name)
    if title not in known:
        raise DatasetError(f"the set {name} has no map {title!r}; {did_you_mean(title, known)}")
    return text
