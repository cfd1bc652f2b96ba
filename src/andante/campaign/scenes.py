"""Scenes in campaigns: orders to generate them, and checks of their problems and runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from andante.datafile import Table, only_numbers, only_texts
from andante.datasets.scenes import make_scene, scene_call
from andante.world.grid import Grid
from andante.world.scenes import Scene

if TYPE_CHECKING:
    from andante.campaign.file import ProblemSet, Run


def is_scene_file(text: str) -> bool:
    """Return whether a text names a scene file."""
    return text.endswith(".scene")


class SceneOrder(NamedTuple):
    """A scene to generate on a map."""

    text: str  # as `andante.datasets.scenes.scene_call` expects it
    units: int
    seed: int
    optimal_cost: tuple[float, float]

    def make(self, grid: Grid) -> Scene:
        """Return the scene."""
        call = scene_call(self.text)
        options: dict[str, Any] = dict(call.arguments)
        return make_scene(grid, self.units, call.name, optimal_cost=self.optimal_cost, seed=self.seed, **options)

    @classmethod
    def from_data(cls, data: list[Any]) -> SceneOrder:
        """Return the order from a manifest, where infinite costs are null."""
        text, units, seed, (low, high) = data
        only_texts([text])
        only_numbers([units, seed], least=0)
        return cls(text, units, seed, (float(low), math.inf if high is None else float(high)))


def check_problems(table: Table, one: ProblemSet) -> None:
    """Refuse keys that problems do not accept if they are units of scenes."""
    files = [text for text in one.maps if is_scene_file(text)]
    for key in ("from", "total", "upscale"):
        if key in table:
            table.fail(f"problems that are units of scenes do not accept {key!r}", key)
    if files and (one.scene or len(files) < len(one.maps)):
        table.fail("scene files have maps of their own: give them without 'scene', and without other maps", "maps")
    if one.scene:
        scene_call(one.scene)
        if one.count is None:
            table.fail("scenes to generate need a 'count' of units per map", "scene")
    elif "optimal_cost" in table:
        table.fail("the units of scene files are given; leave out 'optimal_cost'", "optimal_cost")


def check_run(table: Table, run: Run, scenes: bool) -> None:
    """Refuse keys that runs on scenes do not accept, and keys that only they accept."""
    if run.forget_goals and not scenes:
        table.fail("forget_goals is for problems that are units of scenes, where goals may move", "forget_goals")
    if run.max_trials > 1 and scenes:
        table.fail("a scene is run once; leave out 'converge'", "converge")
    for text in filter(is_scene_file, run.training):
        table.fail("databases are built from maps, not from scenes", "training", text)
