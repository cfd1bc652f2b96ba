"""What a page contains for its map: databases, levels, and recipes of the agents that need them.

Such a recipe is for this map only, so its formulas are numbers. Agents with databases walk on the map while it changes:
they search where a move that they looked up is no longer possible, as in Python. Levels are updated in Python only, so
agents that plan over levels get the initial ones, and walk as long as the map is unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from andante.agent import Algorithm, find
from andante.databases.header import Database
from andante.errors import AndanteError
from andante.notation import Call
from andante.play.about import about_crowds, about_recipe, is_known
from andante.play.code import CARRIED, ground_of, is_anywhere, marches
from andante.play.recipes import CrowdMaker, Maker, Recipe, Shaping, Stage, crowd_makers, is_for_crowds
from andante.play.samples import Sample
from andante.world.grid import Grid

MOST_CELLS = 65_536  # of a map whose levels are included, which take some 60 bytes per cell
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

    def __init__(self, algorithm: Algorithm, stages: Sequence[Stage]) -> None:
        super().__init__(algorithm, stages)
        self._samples: dict[str, Sample | None] = {}

    def can(self, algorithm: Algorithm) -> bool:
        """Return whether the same databases are enough for a setting."""
        return algorithm.needs == self.algorithm.needs and self._try(algorithm) is not None

    def can_use(self, known: Callable[[str], bool]) -> bool:
        """Return whether there is machine code for the algorithm, and its databases are enough."""
        found = self._try(self.algorithm)
        return found is not None and known(found.identity)

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


def kinds_for(engine: dict[str, Any]) -> list[str]:
    """Return the kinds of databases that agents of an engine can use."""
    return list(dict.fromkeys(kind for one in _waiting(engine) for kind in one.needs if kind in CARRIED))


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
    known = partial(is_known, names)
    recipes: dict[str, Any] = {}
    crowds: dict[str, dict[str, Recipe]] = {}
    kinds, waiting = {one.kind for one in databases}, _waiting(engine)
    for number, algorithm in enumerate(waiting):
        progress(f"memory of {algorithm.card.name}", number, len(waiting))
        if not set(algorithm.needs) <= kinds:
            continue
        if algorithm.card.regions and grid.width * grid.height > MOST_CELLS:
            continue
        used = tuple(next(one for one in databases if one.kind == kind) for kind in algorithm.needs)
        stage = Stage.of(ground_of(algorithm, grid), used)
        maker = GivenMaker(algorithm, [stage])
        if not maker.can_use(known):
            continue
        recipe = maker.recipe(known)
        recipes[algorithm.card.name] = about_recipe(recipe, names, blob.keep)
        if marches(algorithm) and is_for_crowds(stage):
            makers = crowd_makers(algorithm, [stage], GivenCrowdMaker)
            crowds[algorithm.card.name] = {name: one.recipe(known) for name, one in makers.items()}
    about = {
        "databases": [
            {"kind": one.kind, "about": str(Call(one.kind, dict(one.parameters))), "file": blob.keep(one.to_bytes())}
            for one in databases
        ],
        "recipes": recipes,
        "crowds": about_crowds(crowds, names, blob.keep),
    }
    return about, bytes(blob)
