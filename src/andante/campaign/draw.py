"""The choice of the problems of a set: from scenarios, or at random within a band of optimal cost.

If maps are upscaled, problems are chosen on the original map and then upscaled with it, as in Bulitko et al. (2008). So
a band refers to the original map, and the optimal costs of the resulting problems to the upscaled one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from andante.campaign.file import ProblemSet
from andante.campaign.maps import MapSource, map_sources
from andante.campaign.scenes import SceneOrder
from andante.datasets import ProgressCallback
from andante.datasets.scaling import upscale_problems
from andante.datasets.scenarios import Band, random_problems, with_optimal_costs
from andante.episode.scenewalk import replanned_cost
from andante.errors import CampaignError
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.problem import Problem


class Chosen(NamedTuple):
    """Problems on one map, with their optimal costs; those of a scene are its first units, with replanned costs."""

    source: MapSource
    world: Grid | Graph
    batches: list[list[Problem]]  # the problems of each batch
    fingerprint: str  # of the map or, if there is one, of the scene


def draw(one: ProblemSet, batches: int, folder: Path, progress: ProgressCallback) -> Iterator[Chosen]:
    """Yield the problems of a set for ``batches`` batches, map by map; maps without any are left out."""
    sources = [
        source
        for text in one.maps
        for source in map_sources(text, folder, one.upscale, one.rule, one.terrain, one.landmarks or 0)
    ]
    if one.has_scenes:
        yield from _units(one, batches, sources, progress)
        return
    shares = _shares(one, batches, sources, progress) if one.total is not None else None
    for number, source in enumerate(sources):
        progress(f"choosing problems of {one.name}", number, len(sources))
        if shares is not None and number not in shares:
            continue
        original = source.original()
        world = source.upscaled(original)
        if one.source == "random":
            chosen = [_finished(_drawn(one, original, one.seed + batch), world) for batch in range(batches)]
        else:
            problems = _in_band(source.scenario(original), one)
            chosen = _picked(
                problems,
                shares[number]
                if shares is not None
                else [_some(len(problems), one.count, one.seed + batch) for batch in range(batches)],
                world,
            )
        if any(chosen):
            yield Chosen(source, world, chosen, world.fingerprint)
    progress(f"choosing problems of {one.name}", len(sources), len(sources))


def _units(one: ProblemSet, batches: int, sources: list[MapSource], progress: ProgressCallback) -> Iterator[Chosen]:
    """Yield the units of scenes, scene by scene; each batch has its own generated scenes."""
    for number, source in enumerate(sources):
        for batch in range(batches):
            seed = one.seed + batch
            order = SceneOrder(one.scene, one.count or 0, seed, one.optimal_cost) if one.scene else None
            ordered = replace(source, order=order)
            scene = ordered.scene()
            count = len(scene.units) if one.count is None else min(one.count, len(scene.units))
            costs = []
            for unit in range(count):
                progress(f"walking scene {number + 1} of {len(sources)} of {one.name} with replanned A*", unit, count)
                costs.append(replanned_cost(scene, unit))
            problems = [
                scene.grid.problem(*ends).with_optimal_cost(cost)
                for ends, cost in zip(scene.units, costs, strict=False)
            ]
            if problems:
                mine: list[list[Problem]] = [problems if k == batch else [] for k in range(batches)]
                yield Chosen(ordered, scene.grid, mine, scene.fingerprint)
    progress(f"choosing problems of {one.name}", len(sources), len(sources))


def _drawn(one: ProblemSet, world: Grid | Graph, seed: int) -> list[Problem]:
    return random_problems(world, one.count or 0, optimal_cost=one.optimal_cost, seed=seed)


def _finished(problems: list[Problem], world: Grid | Graph) -> list[Problem]:
    """Return the problems on ``world``, which is their map or that map upscaled, with their optimal costs there."""
    if problems and isinstance(world, Grid) and problems[0].grid is not world:
        problems = upscale_problems(problems, world)
    return with_optimal_costs(problems)


def _picked(problems: list[Problem], places: list[list[int]], world: Grid | Graph) -> list[list[Problem]]:
    """Return the problems at these places on ``world``, for each batch; each optimal cost is computed once."""
    wanted = sorted(set().union(*places))
    known = dict(zip(wanted, _finished([problems[k] for k in wanted], world), strict=True))
    return [[known[k] for k in batch] for batch in places]


def _in_band(problems: list[Problem], one: ProblemSet) -> list[Problem]:
    """Return the problems whose optimal cost is in the set's band."""
    band = Band(*one.optimal_cost)
    if not problems or band == Band(0.0, float("inf")):
        return problems
    known = with_optimal_costs(problems)
    inside = band.holds(np.array([problem.optimal_cost for problem in known]))
    return [problem for problem, kept in zip(known, inside, strict=True) if kept]


def _some(known: int, count: int | None, seed: int) -> list[int]:
    """Return ``count`` of ``known`` places, chosen at random and in order; all if there are not more."""
    if count is None or count >= known:
        return list(range(known))
    return sorted(np.random.default_rng(seed).choice(known, count, replace=False).tolist())


def _shares(
    one: ProblemSet, batches: int, sources: list[MapSource], progress: ProgressCallback
) -> dict[int, list[list[int]]]:
    """Return the problems that make up the total, by map and batch; all problems of all maps are equally likely."""
    sizes = []
    for number, source in enumerate(sources):
        progress(f"counting problems of {one.name}", number, len(sources))
        sizes.append(len(_in_band(source.scenario(source.original()), one)))
    ends = np.cumsum(sizes)
    everything = int(ends[-1]) if sizes else 0
    if one.total is not None and one.total > everything:
        raise CampaignError(f"the problems {one.name!r} have a total of {one.total:,}, but only {everything:,} exist")
    found: dict[int, list[list[int]]] = {}
    for batch in range(batches):
        for place in _some(everything, one.total, one.seed + batch):
            number = int(np.searchsorted(ends, place, side="right"))
            shares = found.setdefault(number, [[] for _ in range(batches)])
            shares[batch].append(place - int(ends[number] - sizes[number]))
    return found
