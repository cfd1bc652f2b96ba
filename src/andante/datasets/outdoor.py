"""Outdoor maps in the style of real-time strategy games.

They have bases behind cliffs or woods with narrow entrances, roads between them, lakes with fords, cliffs with ramps,
and bays that trap agents which follow the heuristic. Like most published maps, they are symmetric.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from andante.datasets.terrain import Chance, Field, Mask, Point, grown, join, line, lowest, shrunk, stamp, top

#: The kinds of symmetry: the flips of (rows, columns) that leave a map unchanged.
SYMMETRIES = {
    "none": ((1, 1),),
    "mirror": ((1, 1), (1, -1)),
    "rotation": ((1, 1), (-1, -1)),
    "quarters": ((1, 1), (1, -1), (-1, 1), (-1, -1)),
}

#: The shortest side with room for bases.
MIN_SIDE = 64

_DIRECTIONS = 64
_COS = [round(1000 * math.cos(2 * math.pi * k / _DIRECTIONS)) for k in range(_DIRECTIONS)]
_SIN = [round(1000 * math.sin(2 * math.pi * k / _DIRECTIONS)) for k in range(_DIRECTIONS)]


def outdoor(
    chance: Chance, width: int, height: int, *, bases: int, water: float, woods: float, symmetry: str
) -> npt.NDArray[np.uint8]:
    """Return a map as a table of characters; ``water`` and ``woods`` are the shares of lakes and forests."""
    land = _Land(chance, width, height, symmetry)
    land.raise_plateaus()
    land.plant_woods(woods)
    homes = land.places_for_bases(bases)
    land.set_bays(count=12 // len(land.flips) + 2, away_from=homes)
    land.flood_lakes(water)
    land.set_edge()
    for home in homes:
        land.build_base(home)
    land.lay_roads(homes)
    land.scatter_rocks()
    land.connect()
    return land.terrain


class _Land:
    """A map under construction. Lengths are in thousandths of its shorter side, so it looks the same at every size."""

    def __init__(self, chance: Chance, width: int, height: int, symmetry: str) -> None:
        self.chance = chance
        self.shape = (height, width)
        self.flips = SYMMETRIES[symmetry]
        self.terrain = np.full(self.shape, ord("."), np.uint8)
        self.y, self.x = np.ogrid[:height, :width]
        self._wobble = chance.landscape(self.shape, self.length(50), 2) - top(2) // 2

    # --- tools ---

    def length(self, thousandths: int) -> int:
        return max(1, min(self.shape) * thousandths // 1000)

    def noise(self, spacing: int, octaves: int = 3) -> Field:
        """Return a landscape with the map's symmetry; hills are ``spacing`` thousandths apart."""
        field = self.chance.landscape(self.shape, self.length(spacing), octaves)
        return sum((field[::a, ::b] for a, b in self.flips), np.zeros(self.shape, np.int32))

    def images(self, point: Point) -> list[Point]:
        """Return the point and its images under the map's symmetry."""
        height, width = self.shape
        x, y = point
        return [(x if b > 0 else width - 1 - x, y if a > 0 else height - 1 - y) for a, b in self.flips]

    def symmetric(self, mask: Mask) -> Mask:
        """Return the union of the mask and its images."""
        both: Mask = np.logical_or.reduce([mask[::a, ::b] for a, b in self.flips])
        return both

    def paint(self, mask: Mask, character: str) -> None:
        self.terrain[mask] = ord(character)

    def is_any(self, characters: str) -> Mask:
        return np.isin(self.terrain, [ord(c) for c in characters])

    def distance(self, centre: Point, wobble: int) -> Field:
        """Return the distance of each cell from ``centre``, plus or minus up to ``wobble`` thousandths."""
        squares = (self.x - centre[0]) ** 2 + (self.y - centre[1]) ** 2
        away: Field = np.sqrt(squares.astype(np.float64)).astype(np.int32)
        return away + self._wobble * self.length(wobble) // (top(2) // 2)

    # --- the steps ---

    def raise_plateaus(self) -> None:
        """Put cliffs around high ground, broken by ramps."""
        high = lowest(self.noise(280), 0.45)
        cliff = high & ~shrunk(high, self.length(6))
        ramp = lowest(self.noise(110, 1), 0.17)
        self.paint(cliff & ~ramp, "@")

    def plant_woods(self, share: float) -> None:
        """Plant woods with ragged edges."""
        self.paint(lowest(self.noise(150, 4), share), "T")

    def flood_lakes(self, share: float) -> None:
        """Make lakes, with swamp along some of the shore."""
        depth = self.noise(300, 3)
        marsh = self.noise(110, 2)
        shore = lowest(depth, share * 1.45) & lowest(marsh, 0.45)
        self.paint(shore, "S")
        self.paint(lowest(depth, share), "W")

    def set_edge(self) -> None:
        """Close the map off with woods."""
        height, width = self.shape
        to_edge = np.minimum(np.minimum(self.x, width - 1 - self.x), np.minimum(self.y, height - 1 - self.y))
        ragged = self.noise(90, 4) * self.length(90) // (len(self.flips) * top(4))
        self.paint(to_edge < ragged - self.length(22), "T")

    def places_for_bases(self, bases: int) -> list[Point]:
        """Return one place for each orbit of bases, spread evenly around the map's middle."""
        height, width = self.shape
        orbits = bases // len(self.flips)
        span = _DIRECTIONS // len(self.flips)
        first = self.chance.pick(0, span // orbits - 1) if len(self.flips) < 4 else span // (2 * orbits)
        first += _DIRECTIONS // 4 if self.flips == SYMMETRIES["mirror"] else 0
        places = []
        for k in range(orbits):
            turn = (first + k * span // orbits) % _DIRECTIONS
            # Between a circle and a square, as bases on real maps are in the corners.
            stretch = 1000 + (1_000_000 // max(abs(_COS[turn]), abs(_SIN[turn])) - 1000) * 7 // 10
            reach = [side * 345 * stretch // 1_000_000 for side in (width, height)]
            places.append((width // 2 + reach[0] * _COS[turn] // 1000, height // 2 + reach[1] * _SIN[turn] // 1000))
        return places

    def set_bays(self, count: int, away_from: list[Point]) -> None:
        """Put horseshoes of wood or rock on the map, open to one side."""
        taken = [image for place in away_from for image in self.images(place)]
        for _ in range(count):
            radius = self.length(self.chance.pick(35, 70))
            centre = self._free_place(taken, apart=2 * radius + self.length(30))
            if centre is None:
                continue
            taken += self.images(centre)
            turn = self.chance.pick(0, _DIRECTIONS - 1)
            away = self.distance(centre, wobble=34)
            ahead = ((self.x - centre[0]) * _COS[turn] + (self.y - centre[1]) * _SIN[turn]) // 1000
            rim = (away >= radius) & (away < radius + self.length(self.chance.pick(8, 22)))
            bay = self.symmetric(rim & (ahead < radius * 5 // 10))
            hollow = self.symmetric(away < radius)
            self.paint(hollow & self.is_any("T@"), ".")
            self.paint(bay, "T" if self.chance.pick(0, 2) else "@")

    def _free_place(self, taken: list[Point], apart: int) -> Point | None:
        height, width = self.shape
        for _ in range(60):
            x, y = self.chance.pick(width // 10, width * 9 // 10), self.chance.pick(height // 10, height * 9 // 10)
            images = self.images((x, y))
            rivals = taken + images[1:]
            if all((x - a) ** 2 + (y - b) ** 2 >= apart * apart for a, b in rivals):
                return x, y
        return None

    def build_base(self, home: Point) -> None:
        """Level the ground, put a wall around it, and a few blocks of buildings on it."""
        radius = self.length(self.chance.pick(74, 88))
        away = self.distance(home, wobble=26)
        wall = (away >= radius) & (away < radius + self.length(self.chance.pick(8, 16)))
        kind = "T" if self.chance.pick(0, 1) else "@"
        self.paint(self.symmetric(away < radius), ".")
        self.paint(self.symmetric(wall), kind)
        blocks = np.zeros(self.shape, bool)
        for _ in range(self.chance.pick(5, 8)):
            turn, out = self.chance.pick(0, _DIRECTIONS - 1), radius * self.chance.pick(15, 70) // 100
            x, y = home[0] + out * _COS[turn] // 1000, home[1] + out * _SIN[turn] // 1000
            w, h = self.length(self.chance.pick(8, 20)), self.length(self.chance.pick(8, 20))
            blocks[max(0, y) : y + h, max(0, x) : x + w] = True
        self.paint(self.symmetric(blocks), "@")

    def lay_roads(self, homes: list[Point]) -> None:
        """Lay roads from each base to the middle and to the next base, with ramps up cliffs and fords through lakes."""
        height, width = self.shape
        stations = [image for home in homes for image in self.images(home)]
        middle = (width // 2, height // 2)
        stations.sort(key=lambda p: math.atan2(p[1] - middle[1], p[0] - middle[0]))
        for home in homes:
            self._road(home, middle, self.length(self.chance.pick(9, 13)))
            after = stations[(stations.index(home) + 1) % len(stations)]
            if after != home:
                self._road(home, after, self.length(self.chance.pick(6, 9)))

    def _road(self, a: Point, b: Point, radius: int) -> None:
        mask = np.zeros(self.shape, bool)
        stamp(mask, self._trail(a, b), radius)
        mask = self.symmetric(mask)
        self.paint(mask & self.is_any("W"), "S")
        self.paint(mask & self.is_any("T@"), ".")

    def _trail(self, a: Point, b: Point) -> list[Point]:
        """Return a winding path, made by repeated halving with each middle pushed aside."""
        far = max(abs(a[0] - b[0]), abs(a[1] - b[1]))
        if far <= self.length(25):
            return line(a, b)
        push = self.chance.pick(-far, far)
        aside = (b[1] - a[1]) * push // (5 * far), (a[0] - b[0]) * push // (5 * far)
        middle = (a[0] + b[0]) // 2 + aside[0], (a[1] + b[1]) // 2 + aside[1]
        return self._trail(a, middle) + self._trail(middle, b)

    def scatter_rocks(self) -> None:
        """Put single rocks and trees on open ground."""
        rocks = self.chance.cells(self.shape, 0.0012)
        self.paint(self.symmetric(grown(rocks, self.length(2) // 2)) & self.is_any("."), "@")
        thicket = lowest(self.noise(12, 1), 0.2) & lowest(self.noise(90, 2), 0.16)
        self.paint(thicket & self.is_any("."), "T")

    def connect(self) -> None:
        """Make the free cells one region."""
        free = self.is_any(".S")
        dug, filled = join(free, smallest=free.size // 200, radius=self.length(6))
        self.paint(self.symmetric(filled), "T")
        dug = self.symmetric(dug)
        self.paint(dug & self.is_any("W"), "S")
        self.paint(dug & self.is_any("T@"), ".")
