"""Generated maps. The same seed gives the same map on every machine.

>>> generate("rooms", 64, 64, seed=7)
<Grid rooms-64x64-seed7 64 x 64, 3739 free cells>
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.datasets import outdoor as game
from andante.datasets.terrain import Chance, Mask, crowd, join, lowest
from andante.errors import ParameterError, did_you_mean, quoted
from andante.kernel import kernel
from andante.world.grid import CHEAPEST, COSTLIEST, MAX_SIDE, RULES, Grid
from andante.world.mapfiles import MAX_CELLS

Maker = Callable[..., npt.NDArray[Any]]


def generate(
    kind: str,
    width: int,
    height: int,
    *,
    seed: int = 0,
    rule: str = RULES[0],
    costs: Mapping[str, float] | None = None,
    **options: Any,
) -> Grid:
    """Return a map of the given kind and size: empty, random, rooms, maze, caves, outdoor or countryside.

    Each kind has its own options, which `kinds` lists. The same seed and options make the same map on every machine.
    ``rule`` and ``costs`` are those of `Grid`. Cells of a countryside have costs already, which ``costs`` override.

    >>> a, b, c = (generate("maze", 33, 33, corridor=3, seed=seed).fingerprint for seed in (1, 1, 2))
    >>> a == b, b == c
    (True, False)
    """
    if kind not in _MAKERS:
        raise ParameterError(f"there is no kind of map {kind!r}; {did_you_mean(kind, _MAKERS)}")
    _whole(kind, "width", width, 1, MAX_SIDE)
    _whole(kind, "height", height, 1, MAX_SIDE)
    _whole(kind, "seed", seed, 0, 2**63 - 1)
    if width * height > MAX_CELLS:
        raise ParameterError(f"a map of {width} x {height} cells is too large; the limit is {MAX_CELLS:,} cells")
    known = kinds()[kind]
    for name in options:
        if name not in known:
            advice = did_you_mean(name, {*known, "seed"}) if known else "it has no options"
            raise ParameterError(f"{kind} has no option {name!r}; {advice}")
    terrain = _MAKERS[kind](Chance(seed), width, height, **options)
    spelled = [f"{name}{options[name]}" for name in sorted(options)]
    own = {character: (known | options)[name] for character, name in _COSTS.get(kind, {}).items()}
    name = "-".join([kind, f"{width}x{height}", *spelled, f"seed{seed}"])
    return Grid(terrain, name=name, rule=rule, costs={**own, **(costs or {})})


def kinds() -> dict[str, dict[str, Any]]:
    """Return the kinds of map that can be generated, each with its options and their defaults.

    >>> kinds()["maze"]
    {'corridor': 1, 'loops': 0.0}
    """
    return {name: dict(_options(maker)) for name, maker in _MAKERS.items()}


@cache
def _options(maker: Maker) -> Mapping[str, Any]:
    parameters = inspect.signature(maker).parameters.values()
    return {each.name: each.default for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY}


# --- the kinds ------------------------------------------------------------------------------------------------------


def _empty(chance: Chance, width: int, height: int) -> Mask:
    """Make a map without obstacles."""
    return np.ones((height, width), bool)


def _random(chance: Chance, width: int, height: int, *, density: float = 0.2) -> Mask:
    """Make each cell an obstacle with probability ``density``; above 0.4 a large map breaks up into islands."""
    _share("random", "density", density, 0.0, 0.4)
    return ~chance.cells((height, width), density)


def _rooms(
    chance: Chance, width: int, height: int, *, size: int = 16, door_width: int = 1, door_share: float = 0.5
) -> Mask:
    """Make square rooms, ``size`` cells wide inside, all of them connected.

    Walls that need no door to connect the rooms have one with probability ``door_share``. A door is ``door_width``
    cells wide, at a random place in the wall.
    """
    _whole("rooms", "size", size, 2, MAX_SIDE)
    _whole("rooms", "door_width", door_width, 1, size)
    _share("rooms", "door_share", door_share, 0.0, 1.0)
    return _walled(chance, width, height, size, door_width, door_share)


def _maze(chance: Chance, width: int, height: int, *, corridor: int = 1, loops: float = 0.0) -> Mask:
    """Make a maze with corridors ``corridor`` cells wide, and remove a random share ``loops`` of its inner walls."""
    _whole("maze", "corridor", corridor, 1, MAX_SIDE)
    _share("maze", "loops", loops, 0.0, 1.0)
    return _walled(chance, width, height, corridor, corridor, loops)


def _caves(chance: Chance, width: int, height: int, *, rock: float = 0.5, scale: int = 4) -> Mask:
    """Make caves from random rock, smoothed, enlarged and roughened, and connect all but very small ones.

    At first a share ``rock`` of the cells is rock. Then, five times, each cell becomes what the majority of the nine
    cells around it (itself included) are. This is done with cells ``scale`` times as large as the map's.
    """
    _share("caves", "rock", rock, 0.3, 0.55)
    _whole("caves", "scale", scale, 1, 64)
    free = ~chance.cells((-(-height // scale), -(-width // scale)), rock)
    for _ in range(5):
        free = crowd(free, 1) >= 5
    free = free.repeat(scale, axis=0).repeat(scale, axis=1)[:height, :width]
    if scale > 1:
        reach = scale // 2
        # The share of cells around a cell that must be free: zero to three quarters, varying from place to place.
        needed = chance.landscape((height, width), scale, 2) * (2 * reach + 1) ** 2 // 2**17
        free = crowd(free, reach) > needed
        free = crowd(free, 1) >= 5
    if not free.any():
        raise ParameterError(f"caves: rock={rock:g} leaves no free cell on {width} x {height} cells; use less rock")
    dug, filled = join(free, smallest=max(12, 2 * scale * scale), radius=max(1, scale // 2))
    return (free & ~filled) | dug


def _outdoor(
    chance: Chance,
    width: int,
    height: int,
    *,
    bases: int = 4,
    water: float = 0.09,
    woods: float = 0.2,
    symmetry: str = "rotation",
) -> npt.NDArray[np.uint8]:
    """Make a map in the style of strategy games, with bases, roads and lakes; see `andante.datasets.outdoor`."""
    if symmetry not in game.SYMMETRIES:
        raise ParameterError(f"outdoor has no symmetry {symmetry!r}; {did_you_mean(str(symmetry), game.SYMMETRIES)}")
    images = len(game.SYMMETRIES[symmetry])
    _whole("outdoor", "bases", bases, images, 8)
    _share("outdoor", "water", water, 0.0, 0.4)
    _share("outdoor", "woods", woods, 0.0, 0.5)
    if bases % images:
        raise ParameterError(f"outdoor with symmetry {symmetry!r} needs a multiple of {images} bases, not {bases}")
    if min(width, height) < game.MIN_SIDE:
        raise ParameterError(f"outdoor needs at least {game.MIN_SIDE} x {game.MIN_SIDE} cells, not {width} x {height}")
    return game.outdoor(chance, width, height, bases=bases, water=water, woods=woods, symmetry=symmetry)


def _countryside(
    chance: Chance,
    width: int,
    height: int,
    *,
    scale: int = 16,
    water: float = 0.08,
    swamp: float = 0.15,
    grass: float = 0.4,
    woods: float = 0.1,
    swamp_cost: float = 3.0,
    grass_cost: float = 1.5,
) -> npt.NDArray[np.uint8]:
    """Make hills about ``scale`` cells apart, with these shares of lakes, swamps around the lakes, grass and woods.

    A cell of grass costs ``grass_cost``, one of swamp ``swamp_cost``, and one of bare ground 1. Lakes and woods are
    obstacles, and passages through them connect the rest.
    """
    _whole("countryside", "scale", scale, 1, 256)
    for name, share in (("water", water), ("swamp", swamp), ("grass", grass), ("woods", woods)):
        _share("countryside", name, share, 0.0, 0.4 if name in ("water", "woods") else 1.0)
    for name, cost in (("swamp_cost", swamp_cost), ("grass_cost", grass_cost)):
        _share("countryside", name, cost, CHEAPEST, COSTLIEST)
    shape = (height, width)
    heights, wet, thick = (chance.landscape(shape, scale) for _ in range(3))
    lakes, low = lowest(heights, water), lowest(heights, min(water + swamp, 1.0))
    trees = lowest(thick, woods) & ~lakes
    dug, filled = join(~(lakes | trees), smallest=12, radius=1)
    terrain = np.full(shape, ord("."), np.uint8)
    for character, cells in (("G", lowest(wet, grass)), ("S", low), ("T", trees | filled), ("W", lakes), (".", dug)):
        terrain[cells] = ord(character)
    return terrain


#: The options for the costs of cells, by kind and map character.
_COSTS: Mapping[str, Mapping[str, str]] = {"countryside": {"G": "grass_cost", "S": "swamp_cost"}}


def has_costs(kind: str) -> bool:
    """Return whether cells of maps of this kind have costs."""
    return kind in _COSTS


_MAKERS: Mapping[str, Maker] = {
    "empty": _empty,
    "random": _random,
    "rooms": _rooms,
    "maze": _maze,
    "caves": _caves,
    "outdoor": _outdoor,
    "countryside": _countryside,
}


def _whole(kind: str, name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not low <= value <= high:
        raise ParameterError(f"{kind}: {name} must be a whole number from {low} to {high}, not {quoted(value)}")


def _share(kind: str, name: str, value: object, low: float, high: float) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
        raise ParameterError(f"{kind}: {name} must be a number from {low:g} to {high:g}, not {quoted(value)}")


# --- rooms and mazes: chambers in rows and columns, walls between them ----------------------------------------------


def _walled(chance: Chance, width: int, height: int, size: int, door: int, extra: float) -> Mask:
    """Make connected chambers ``size`` cells wide, with walls of one cell between them.

    A random depth-first walk opens just enough doors to connect them. A share ``extra`` of the other walls has a door.
    """
    pitch = size + 1
    columns, rows = -(-width // pitch), -(-height // pitch)
    y, x = np.ogrid[:height, :width]
    (row, dy), (column, dx) = np.divmod(y, pitch), np.divmod(x, pitch)
    free = (dy < size) & (dx < size)
    # If the map's edge cuts off part of a chamber, its doors are in the remaining part.
    tall = np.minimum(size, height - np.arange(rows) * pitch)[:, None]
    wide = np.minimum(size, width - np.arange(columns) * pitch)[None, :]
    east, south = _doors(chance, columns, rows, extra)
    for doors, wall, along, length in ((east, dx == size, dy, tall), (south, dy == size, dx, wide)):
        begin = (chance.below(2**16, (rows, columns)) * (np.maximum(length - door, 0) + 1) >> 16)[row, column]
        free |= wall & doors[row, column] & (along >= begin) & (along < begin + door) & (along < size)
    return free


def _doors(chance: Chance, columns: int, rows: int, extra: float) -> tuple[Mask, Mask]:
    """Return which chambers have a door to the east, and which to the south."""
    east, south, seen = np.zeros((3, rows, columns), bool)
    _wander(chance.below(12, rows * columns), seen, east, south, np.empty(rows * columns, np.int64))
    east |= chance.cells((rows, columns), extra)
    south |= chance.cells((rows, columns), extra)
    east[:, -1] = False
    south[-1, :] = False
    return east, south


@kernel
def _wander(dice: npt.NDArray[np.int64], seen: Mask, east: Mask, south: Mask, trail: npt.NDArray[np.int64]) -> None:
    """Open a door to an unvisited neighbouring chamber as long as there is one, else backtrack.

    ``seen``, ``east`` and ``south`` are bool[rows, columns]. ``dice`` has one throw per chamber, from 0 to 11: twelve
    is divisible by every number of choices up to four. ``trail`` has room for the path back.
    """
    rows, columns = seen.shape
    seen[0, 0] = True
    trail[0] = 0
    top, throws = 1, 0
    while top > 0:
        y, x = trail[top - 1] // columns, trail[top - 1] % columns
        north = y > 0 and not seen[y - 1, x]
        to_east = x + 1 < columns and not seen[y, x + 1]
        to_south = y + 1 < rows and not seen[y + 1, x]
        west = x > 0 and not seen[y, x - 1]
        ways = int(north) + int(to_east) + int(to_south) + int(west)
        if ways == 0:
            top -= 1
            continue
        choice = dice[throws] % ways
        throws += 1
        if north and choice == 0:
            y -= 1
            south[y, x] = True
        elif to_east and choice == int(north):
            east[y, x] = True
            x += 1
        elif to_south and choice == int(north) + int(to_east):
            south[y, x] = True
            y += 1
        else:
            x -= 1
            east[y, x] = True
        seen[y, x] = True
        trail[top] = y * columns + x
        top += 1
