"""What a page contains for its map: databases, levels, and recipes of the agents that need them.

Such a recipe is for this map only, so its formulas are numbers. Agents follow the map while it changes, as in Python:
those with databases search where a move that they looked up is no longer possible, and levels are repaired.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

from andante.agent import Algorithm, Parameter, find
from andante.databases.header import Database
from andante.errors import AndanteError
from andante.export.images import Planned
from andante.notation import Call
from andante.play.about import about_crowds, about_recipe, is_known
from andante.play.code import CARRIED, is_anywhere, marches, orders_of
from andante.play.levels import CarriedLevels, levels_in
from andante.play.recipes import CrowdMaker, Maker, Shaping, Stage, crowd_makers, is_for_crowds
from andante.play.samples import Place, Sample
from andante.world.grid import Grid
from andante.world.living import World

MOST_CELLS = 65_536  # of a map whose levels are included; each hierarchy takes some 60 bytes per cell
LEVELS = range(6)  # on which agents can plan in a page; each number of levels has its own hierarchy
LEVEL = "level"  # the parameter for the level
LONG = 256  # bytes; longer contents are not written as text


class Blob:
    """Bytes behind the JSON of a scene; equal contents are stored once."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._places: dict[bytes, int] = {}
        self._end = 0

    def keep(self, content: bytes) -> Any:
        """Return the JSON value for contents: text, or their place."""
        if len(content) < LONG:
            return content.hex()
        if content not in self._places:
            self._places[content] = self._end
            self._parts.append(content)
            self._end += len(content)
        return {"at": self._places[content], "bytes": len(content)}

    def __bytes__(self) -> bytes:
        return b"".join(self._parts)


class GivenMaker(Maker):
    """A maker of the recipe of an agent for one map, with the settings that its databases are enough for."""

    def __init__(self, algorithm: Algorithm, stage: Stage, levels: CarriedLevels) -> None:
        super().__init__(algorithm, [stage])
        self._levels = levels
        self._samples: dict[str, Sample | None] = {}

    def places(self, stage: Stage) -> list[Place]:
        """Return where the arrays of the map are, and those of the levels above it."""
        return [*stage.places, *self._levels.places()]

    def offered(self, parameter: Parameter) -> list[Any]:
        """Return the values of a parameter that are tried, only a few levels to plan on."""
        values = super().offered(parameter)
        return [one for one in values if one in LEVELS] if parameter.name == LEVEL else values

    def can(self, algorithm: Algorithm) -> bool:
        """Return whether the databases and levels in the page are enough for a setting.

        These are the ones of settings that differ from the default in a single parameter, as long as there is room.
        """
        if algorithm.needs != self.algorithm.needs:
            return False
        found = self._try(algorithm)
        if found is None:
            return False
        pairs = zip(algorithm.params, self.algorithm.params, strict=True)
        if sum(one != other for one, other in pairs) <= 1:
            self._levels.carry(levels_in(found))
        return levels_in(found) <= self._levels.carried

    def can_use(self, known: Callable[[str], bool]) -> bool:
        """Return whether there is machine code for the algorithm, and its databases are enough."""
        found = self._try(self.algorithm)
        if found is None or not known(found.identity):
            return False
        self._levels.carry(levels_in(found), always=True)
        return True

    def _try(self, algorithm: Algorithm) -> Sample | None:
        """Return the layout of memory, or None if the databases are for agents that plan differently."""
        key = str(algorithm)
        if key not in self._samples:
            try:
                self._samples[key] = self.look(algorithm, self.stages[0])[0]
            except AndanteError:
                self._samples[key] = None
        return self._samples[key]

    def sample(self, algorithm: Algorithm, stage: Stage) -> Sample:
        """Return the layout of memory, which is read once for each possible setting."""
        found = self._try(algorithm)
        assert found is not None
        return found


class GivenCrowdMaker(CrowdMaker):
    """A maker of the recipe of crowds for one map, at the algorithm's defaults, because more would take too long."""

    def shaping(self, known: Callable[[str], bool]) -> list[Shaping]:
        """Return all parameters, each with its default."""
        return [Shaping(one.name, [one.default], [0]) for one in self.algorithm.parameters]


def _waiting(engine: dict[str, Any]) -> list[Algorithm]:
    """Return the algorithms of an engine that cannot walk on any map."""
    every = [find(card["name"]) for card in engine["cards"]]
    return [one for one in every if not is_anywhere(one)]


def orders_for(engine: dict[str, Any]) -> list[str]:
    """Return the orders of the databases that agents of an engine can use."""
    waiting = [one for one in _waiting(engine) if set(one.needs) <= CARRIED.keys()]
    return list(dict.fromkeys(order for one in waiting for order in orders_of(one)))


def _fitting(algorithm: Algorithm, world: World, databases: Sequence[Database]) -> tuple[Database, ...] | None:
    """Return databases that an algorithm can use, one of each kind that it needs; None if any is missing."""
    for used in product(*([one for one in databases if one.kind == kind] for kind in algorithm.needs)):
        try:
            Planned(algorithm, world, databases=used)
        except AndanteError:
            continue
        return used
    return None


def given_scene(
    grid: Grid,
    databases: Sequence[Database],
    engine: dict[str, Any],
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> tuple[dict[str, Any], bytes]:
    """Return what a page contains for agents that cannot walk on any map, as JSON and bytes.

    ``engine`` is the description of the built engine; agents whose code it lacks are left out.
    """
    blob, names = Blob(), engine["codes"]
    world = World(grid)
    levels = CarriedLevels(world)
    known = partial(is_known, names)
    recipes: dict[str, Any] = {}
    crowds: dict[str, Any] = {}
    waiting = _waiting(engine)
    for number, algorithm in enumerate(waiting):
        progress(f"memory of {algorithm.card.name}", number, len(waiting))
        if algorithm.card.regions and grid.width * grid.height > MOST_CELLS:
            continue
        used = _fitting(algorithm, world, databases)
        if used is None:
            continue
        stage = Stage.of(world, used)
        maker = GivenMaker(algorithm, stage, levels)
        if not maker.can_use(known):
            continue
        recipe = maker.recipe(known)
        places = [databases.index(one) for one in used]
        recipes[algorithm.card.name] = {**about_recipe(recipe, names, blob.keep), "files": places}
        if marches(algorithm) and is_for_crowds(stage):
            makers = crowd_makers(algorithm, [stage], GivenCrowdMaker)
            found = about_crowds(
                {algorithm.card.name: {name: one.recipe(known) for name, one in makers.items()}}, names, blob.keep
            )
            crowds |= {
                name: {kind: {**one, "files": places} for kind, one in kinds.items()} for name, kinds in found.items()
            }
    about = {
        "databases": [
            {"kind": one.kind, "about": str(Call(one.kind, dict(one.parameters))), "file": blob.keep(one.to_bytes())}
            for one in databases
        ],
        "levels": {name: levels.about(name, blob.keep) for name in sorted(levels.carried)},
        "recipes": recipes,
        "crowds": crowds,
    }
    return about, bytes(blob)
