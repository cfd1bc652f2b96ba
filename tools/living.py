"""Draw the animation of a map that changes, for the documentation: a crowd, a bridge that falls, a target that flees.

``python tools/living.py`` writes the scene (``docs/replays/bridge.scene``), the page that replays it
(``docs/replays/bridge.html``) and the animation (``docs/images/living.gif``).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

import andante
from andante.episode.crowdresult import CrowdResult, Pace
from andante.episode.crowdrun import problems_of, run_crowd
from andante.files import write_whole
from andante.report.page import crowd_page
from andante.world.grid import Grid, cells_of
from andante.world.scenes import Cell, Change, Flight, Scene, write_scene

DOCS = Path(__file__).resolve().parents[1] / "docs"
ALGORITHM = "tba(budget=20, weight=2)"
WIDTH, HEIGHT, SCALE = 88, 50, 6
BRIDGES = (8, 24, 40)  # the rows of the bridges, two cells wide
FALLS, REBUILT = 30, 140  # ticks before which the middle bridge falls, and is rebuilt
UNITS = 150  # that cross the river, half of them in each direction
FLEES_EVERY = 3
TICKS_PER_FRAME, MILLISECONDS, PAUSE = 2, 90, 2500

GROUND, WATER, TREE, BRIDGE, FALLEN, EAST, WEST, HUNTER, TARGET = range(9)
COLOURS = ("#f4f1e8", "#9cc3dd", "#5b7f5e", "#c8a878", "#e07a5f", "#3d5a99", "#8e5ea2", "#c0392b", "#e8a600")

Picture = npt.NDArray[np.uint8]


def terrain() -> npt.NDArray[np.str_]:
    """Return a map with a river from north to south between two woods, and three bridges."""
    rng = np.random.default_rng(5)
    cells = np.full((HEIGHT, WIDTH), ".")
    for _ in range(46):
        x, y, side = int(rng.integers(WIDTH)), int(rng.integers(HEIGHT)), int(rng.integers(2, 5))
        cells[y : y + side, x : x + side] = "T"
    for y in range(HEIGHT):
        left = WIDTH // 2 - 3 + round(3 * np.sin(y / 7))
        cells[y, left - 2 : left + 8] = "."
        cells[y, left : left + 6] = "W"
    for y in BRIDGES:
        cells[y : y + 2, WIDTH // 2 - 9 : WIDTH // 2 + 9] = "."
    return cells


def scene() -> Scene:
    """Return a scene with units that cross the river, a bridge that falls, and a hunter with its target."""
    cells = terrain()
    grid = Grid(cells, name="bridge")
    rng = np.random.default_rng(2)
    middle = grid.graph.components == np.bincount(grid.graph.components[grid.passable.ravel()]).argmax()
    free = np.flatnonzero(grid.passable.ravel() & middle)
    x = free % WIDTH
    west, east = (rng.permutation(free[side]).tolist() for side in (x < WIDTH // 2 - 14, x > WIDTH // 2 + 14))
    crossing = [(west.pop(), east.pop()) if k % 2 else (east.pop(), west.pop()) for k in range(UNITS)]
    hunt = (grid.state(4, 24), grid.state(WIDTH // 2 + 12, 24))
    units = [(grid.cell(start), grid.cell(goal)) for start, goal in [hunt, *crossing]]
    planks = bridge(cells, BRIDGES[1])
    events = [Change(tick, cell, opened) for tick, opened in ((FALLS, False), (REBUILT, True)) for cell in planks]
    return Scene(grid, units, events, [Flight(0, FLEES_EVERY)])


def bridge(cells: npt.NDArray[np.str_], row: int) -> list[Cell]:
    """Return the cells of a bridge that are over the river."""
    above = cells[row - 1]
    return [(int(x), y) for y in (row, row + 1) for x in np.flatnonzero(above == "W")]


def frames(walked: Scene, result: CrowdResult) -> list[Picture]:
    """Return pictures of the map and all units, every few ticks."""
    trace, cells = result.trace, terrain()
    assert trace is not None
    ground = np.select([cells == "W", cells == "T"], [WATER, TREE], GROUND).astype(np.uint8)
    for row in BRIDGES:
        for x, y in bridge(cells, row):
            ground[y, x] = BRIDGE
    drawn, target = [], int(trace.goals[0])
    moves = {int(tick): int(state) for tick, state in zip(trace.goal_ticks, trace.goal_states, strict=True)}
    for tick, places in enumerate(trace.places):
        for change in walked.changes:
            if change.tick == tick:
                ground[change.cell[1], change.cell[0]] = BRIDGE if change.opened else FALLEN
        target = moves.get(tick, target)
        if tick % TICKS_PER_FRAME == 0:
            there = target if tick < trace.arrivals[0] else None
            drawn.append(_with_units(ground, places, trace.goals, there))
    return drawn


def _with_units(
    ground: Picture, places: npt.NDArray[np.int64], goals: npt.NDArray[np.int32], target: int | None
) -> Picture:
    """Return the map with all units, the hunter and its target last, drawn large enough to be visible."""
    picture = ground.repeat(SCALE, axis=0).repeat(SCALE, axis=1)
    for unit in range(1, len(places)):
        _dot(picture, int(places[unit]), EAST if goals[unit] % WIDTH > WIDTH // 2 else WEST, 0)
    if target is not None:
        _dot(picture, target, TARGET, -4)
    _dot(picture, int(places[0]), HUNTER, -3)
    return picture


def _dot(picture: Picture, state: int, colour: int, inset: int) -> None:
    x, y = (int(value) * SCALE for value in cells_of(state, WIDTH))
    low_y, low_x = max(y + inset, 0), max(x + inset, 0)
    picture[low_y : y + SCALE - inset, low_x : x + SCALE - inset] = colour


def main() -> None:
    """Write the scene, the page and the animation."""
    made = scene()
    run_crowd(andante.find(ALGORITHM), problems_of(made), Pace(ticks=2), scene=made)  # compiles
    result = run_crowd(andante.find(ALGORITHM), problems_of(made), Pace(), scene=made, recorded=True)
    (DOCS / "replays").mkdir(exist_ok=True)
    write_scene(made, DOCS / "replays" / "bridge.scene")
    page = crowd_page(result, title="A crowd, a bridge that falls, a target that flees")
    write_whole(DOCS / "replays" / "bridge.html", page.encode())
    palette = [int(colour[k : k + 2], 16) for colour in COLOURS for k in (1, 3, 5)]
    images = []
    for frame in frames(made, result):
        image = Image.fromarray(frame)
        image.putpalette(palette)
        images.append(image)
    picture = DOCS / "images" / "living.gif"
    durations = [MILLISECONDS] * (len(images) - 1) + [PAUSE]
    images[0].save(picture, save_all=True, append_images=images[1:], duration=durations, loop=0, optimize=False)
    print(f"wrote {picture}: {len(images)} frames, {picture.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
