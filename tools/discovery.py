"""Draw the animation of an agent that discovers a map, for the documentation.

``python tools/discovery.py`` writes ``docs/images/discovery.gif``. Cells that the agent has not seen, and assumes to be
free, are grey.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

import andante
from andante.world.grid import cells_of

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "discovery.gif"
ALGORITHM, SIGHT = "lss(lookahead=100)", 6
SIDE, SCALE = 96, 4
MOVES_PER_FRAME, MILLISECONDS, PAUSE = 2, 80, 2500

UNSEEN, UNSEEN_WALL, FREE, WALL, WALKED, GOAL, AGENT = range(7)
COLOURS = ("#c9ccd1", "#bcc0c6", "#ffffff", "#3b4252", "#e8a798", "#2e9e5b", "#c0392b")

Picture = npt.NDArray[np.uint8]


def problem() -> andante.Problem:
    """Return a problem with a long path across a map of rooms."""
    grid = andante.generate("rooms", SIDE, SIDE, seed=3)
    return andante.random_problems(grid, 1, optimal_cost=(100, 130), seed=4)[0]


def frames(asked: andante.Problem) -> list[Picture]:
    """Return pictures of what the agent knows and where it has been, every few moves."""
    grid = asked.grid
    assert grid is not None
    known = np.where(grid.passable, UNSEEN, UNSEEN_WALL).astype(np.uint8)
    state, drawn = asked.start, []
    for turn in andante.watch(ALGORITHM, asked, sight=SIGHT):
        _look(known, grid, state)
        known.flat[state] = WALKED
        if (turn.number - 1) % MOVES_PER_FRAME == 0 or turn.state == asked.goal:
            drawn.append(_with_figures(known, asked.goal, state))
        state = turn.state
    return [*drawn, _with_figures(known, asked.goal, state)]


def _look(known: Picture, grid: andante.Grid, state: int) -> None:
    x, y = grid.cell(state)
    window = slice(max(y - SIGHT, 0), y + SIGHT + 1), slice(max(x - SIGHT, 0), x + SIGHT + 1)
    fresh = known[window] < FREE
    known[window][fresh] = np.where(grid.passable[window], FREE, WALL)[fresh]


def _with_figures(known: Picture, goal: int, state: int) -> Picture:
    """Return the map with agent and goal drawn large enough to be visible."""
    picture = known.copy()
    for place, colour in ((goal, GOAL), (state, AGENT)):
        x, y = cells_of(place, SIDE).tolist()
        picture[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2] = colour
    return picture.repeat(SCALE, axis=0).repeat(SCALE, axis=1)


def main() -> None:
    """Write the animation."""
    palette = [int(colour[k : k + 2], 16) for colour in COLOURS for k in (1, 3, 5)]
    images = []
    for frame in frames(problem()):
        image = Image.fromarray(frame)
        image.putpalette(palette)
        images.append(image)
    durations = [MILLISECONDS] * (len(images) - 1) + [PAUSE]
    images[0].save(PICTURE, save_all=True, append_images=images[1:], duration=durations, loop=0, optimize=False)
    print(f"wrote {PICTURE}: {len(images)} frames, {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
