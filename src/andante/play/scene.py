"""What a page contains for the map that it was written with."""

from __future__ import annotations

from typing import Any

from andante.errors import MapError
from andante.play.engine import packed
from andante.world.grid import Grid, refuse_costs, refuse_sixteen

MOST_SIDE = 1024  # cells, of a map in the page


def scene_of(grid: Grid, given: dict[str, Any] | None = None, blob: bytes = b"") -> bytes:
    """Return what a page contains for a map; ``given`` and ``blob`` are for agents that walk on this map only."""
    check_map(grid)
    about: dict[str, Any] = {
        "name": grid.name,
        "width": grid.width,
        "height": grid.height,
        "rows": ["".join(".@"[1 - int(free)] for free in row) for row in grid.passable.tolist()],
    }
    return packed({"map": about, **(given or {"databases": [], "levels": {}, "recipes": {}, "crowds": {}})}, blob)


def check_map(grid: Grid) -> None:
    """Raise `MapError` if a page cannot show a map."""
    if grid.width > MOST_SIDE or grid.height > MOST_SIDE:
        raise MapError(
            f"{grid.name} has {grid.width} x {grid.height} cells, and the playground accepts at most "
            f"{MOST_SIDE} x {MOST_SIDE}; name a smaller map"
        )
    refuse_costs(grid, "the playground")
    refuse_sixteen(grid, "the playground")
    if grid.free_cells < 2:
        raise MapError(f"{grid.name} has fewer than two free cells, so there is nowhere to walk")
