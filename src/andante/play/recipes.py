"""Recipes: the layout of an agent's memory on any map, as formulas of the number of cells.

A plan (`andante.export.images`) is for one agent on one map, and Python makes it. A page has maps that Python has never
seen. But bundles request a fixed number of bytes for each state, or as many as a lookahead needs, limited by the number
of states. So each number of a plan is ``min(a * n + b, c)``. A recipe is found from plans for maps of some sizes, must
explain every one of them, and is checked against further plans.

Parameters are words of the context, and can have any value. *Shaping* parameters, on which memory depends, are offered
with some values, and the recipe has the formulas for every combination of these.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from andante.agent import Algorithm, Parameter, parameters_of
from andante.databases.header import Database
from andante.errors import AlgorithmError
from andante.export.crowds import CrowdSize, Made
from andante.export.images import Planned
from andante.export.layout import ALIGNMENT, aligned
from andante.kernel import count_words
from andante.play.samples import Place, Sample, peeks, places_in, places_of, sample_agent, sample_crowd
from andante.world.changes import RECENT
from andante.world.grid import Grid
from andante.world.living import World

SIZES = ((3, 2), (16, 12), (15, 14), (43, 31), (331, 197), (613, 509))  # of the maps that recipes are made from
CHECKED = ((1, 7), (57, 83), (1024, 1024))  # of the maps that they are checked on
MOST_OF_A_UNIT = 100  # depth, lookahead and the like
MOST_UNITS = 2000  # of a crowd in a page
CROWD_CELLS = 192  # of the smallest map for a crowd
LEARNED_BYTES = 32_000_000  # for what the units of a crowd learn, and ...
UNIT_SHARE = 1.25  # ... times their initial memory
LOG_ROWS = 1 << 18  # thoughts of one move that a page can show

#: Values that a page offers for numbers on which memory depends.
WHOLE = (*range(11), 15, 20, 30, 50, 70, 100, 200, 300, 500, 1000)
REAL = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1000.0, math.inf)


#: Features of a map of this width and height, on which numbers can depend. A log with room for a change of every cell
#: has a power of two entries. Pages of crowds are tiles of 4 x 4 cells, or 16 cells in a row. A division is a
#: multiplication by a factor and a shift.
FEATURES: dict[str, Callable[[int, int], int]] = {
    "cells": lambda width, height: width * height,
    "width": lambda width, height: width,
    "height": lambda width, height: height,
    "logged": lambda width, height: max(RECENT, 1 << (width * height - 1).bit_length()),
    "tile_columns": lambda width, height: -(-width // 4),
    "tiles": lambda width, height: -(-width // 4) * (height // 4 + 1),
    "pages": lambda width, height: -(-width * height // 16),
    "shift": lambda width, height: _shift(width),
    "factor": lambda width, height: _factor(width),
    "cells_shift": lambda width, height: _shift(width * height),
    "cells_factor": lambda width, height: _factor(width * height),
}


def _shift(divisor: int) -> int:
    return 31 + (divisor - 1).bit_length()


def _factor(divisor: int) -> int:
    return -(-(1 << _shift(divisor)) // divisor)


class Formula(NamedTuple):
    """A number that depends on a feature of the map: ``min(a * feature + b, c)``, or that in whole cache lines."""

    a: int
    b: int
    c: int | None = None
    of: str = "cells"
    lined: bool = False  # rounded up to whole cache lines

    def at(self, width: int, height: int) -> int:
        """Return the number for a map of this size."""
        value = self.a * FEATURES[self.of](width, height) + self.b
        if self.lined:
            return aligned(value)
        return value if self.c is None else min(value, self.c)

    def as_data(self) -> Any:
        """Return it for JSON, as a number or a list; JavaScript's numbers are exact up to 2**53."""
        if self.a == 0 and self.c is None:
            return self.b if abs(self.b) < 2**53 else str(self.b)
        rest = ["lined"] if self.lined else [] if self.c is None else [self.c]
        return [*([] if self.of == "cells" else [self.of]), self.a, self.b, *rest]


Size = tuple[int, int]


def fitted(sizes: Sequence[Size], values: Sequence[int]) -> Formula | None:
    """Return the formula that explains all values, or None.

    >>> fitted([(3, 2), (16, 12), (40, 31)], [24, 40, 40])
    Formula(a=4, b=0, c=40, of='cells', lined=False)
    >>> fitted([(3, 2), (16, 12), (40, 31)], [6, 200, 1]) is None
    True
    """
    if len(set(values)) == 1:
        return Formula(0, values[0])
    for name, feature in FEATURES.items():
        features = [feature(*size) for size in sizes]
        found = _fitted_to(name, features, values) or _fitted_in_lines(name, features, values)
        if found is not None and all(found.at(*size) == value for size, value in zip(sizes, values, strict=True)):
            return found
    return None


def _fitted_to(name: str, features: Sequence[int], values: Sequence[int]) -> Formula | None:
    """Return a formula of one feature that may explain the values."""
    first, last = values[0], values[-1]
    other = next((i for i in range(1, len(values)) if features[i] != features[0]), None)
    if other is None:
        return None
    slope, rest = divmod(values[other] - first, features[other] - features[0])
    tried = []
    if rest == 0:
        begin = first - slope * features[0]
        tried = [Formula(slope, begin, None, name), Formula(slope, begin, last, name)]
    if name != "cells":  # only numbers that depend on cells are ever capped
        tried = tried[:1]
    elif first % features[0] == 0:
        tried.append(Formula(first // features[0], 0, last, name))
    for one in tried:
        made = [one.a * feature + one.b for feature in features]
        if [value if one.c is None else min(value, one.c) for value in made] == list(values):
            return one
    return None


def _fitted_in_lines(name: str, features: Sequence[int], values: Sequence[int]) -> Formula | None:
    """Return a formula that may explain values rounded up to whole cache lines, as those of pools."""
    if any(value % ALIGNMENT for value in values) or features[-1] == features[0]:
        return None
    slope = round((values[-1] - values[0]) / (features[-1] - features[0]))
    for less in range(ALIGNMENT):
        begin = values[0] - slope * features[0] - less
        if [aligned(slope * feature + begin) for feature in features] == list(values):
            return Formula(slope, begin, None, name, True)
    return None


@dataclass(frozen=True, eq=False)
class Stage:
    """A map on which memory layouts are read, with databases, and the places of their arrays."""

    world: Grid
    databases: tuple[Database, ...]
    places: list[Place]

    @classmethod
    def of(cls, world: Grid, databases: tuple[Database, ...] = ()) -> Stage:
        """Return a stage on this map."""
        return cls(world, databases, [*places_of(world), *places_in(databases)])

    @property
    def size(self) -> Size:
        """Its columns and rows."""
        return self.world.width, self.world.height


@cache
def stages() -> tuple[Stage, ...]:
    """Return the maps that recipes are made from: all cells are closed, and can be opened."""
    return tuple(Stage.of(World(Grid(np.zeros((height, width), np.bool_)))) for width, height in SIZES)


@cache
def checked_stages() -> tuple[Stage, ...]:
    """Return the maps that recipes are checked on, with open and closed cells swapped."""
    rng = np.random.default_rng(1)
    return tuple(Stage.of(World(Grid(rng.random((height, width)) < 0.7))) for width, height in CHECKED)


# --- variants -------------------------------------------------------------------------------------------------------


def offered(parameter: Parameter) -> list[Any]:
    """Return the values of a shaping parameter that a page offers."""
    found: list[Any]
    if parameter.kind is bool:
        found = [False, True]
    elif issubclass(parameter.kind, IntEnum):
        found = list(parameter.kind)
    else:
        ladder: Sequence[float] = WHOLE if parameter.kind is int else REAL
        found = [value for value in ladder if parameter.range is None or value in parameter.range]
    if parameter.default is not None and parameter.default not in found:
        found = sorted([*found, parameter.default])
    return [None] * parameter.optional + found


def few_of(offered: list[Any], default: Any) -> list[Any]:
    """Return the values that show whether memory depends on a parameter: all of a choice, or the ends of a range.

    >>> few_of([None, 1, 2, 3, 5, 10, 20], 3)
    [None, 1, 3, 20]
    """
    return [one for k, one in enumerate(offered) if len(offered) < 6 or k < 2 or one in (default, offered[-1])]


class Shaping(NamedTuple):
    """A parameter on which memory depends; values of the same class have the same layout."""

    name: str
    values: list[Any]
    classes: list[int]

    def class_of(self, value: Any) -> int | None:
        """Return the class of a value, or None if it is not offered."""
        return self.classes[self.values.index(value)] if value in self.values else None

    def first_of_each(self) -> list[Any]:
        """Return a value of each class."""
        return [self.values[self.classes.index(one)] for one in range(max(self.classes) + 1)]


class Layout(NamedTuple):
    """The structure of some samples, and for each of them a formula for each number."""

    first: Sample
    parameters_at: int  # the word of the first parameter
    peeks: dict[str, Any]
    columns: list[list[Formula]]

    def at(self, column: int, size: Size) -> Sample:
        """Return the sample of a column on a map of this size."""
        return self.first._replace(numbers=tuple(one.at(*size) for one in self.columns[column]))


@dataclass(frozen=True)
class Recipe:
    """The recipe of an algorithm: its shaping parameters, and for each combination of their classes a layout.

    Variants with the same structure share a layout, in which each has a column.
    """

    algorithm: Algorithm
    shaping: list[Shaping]
    variants: dict[tuple[int, ...], tuple[int, int]]  # by classes of the shaping parameters: layout, column
    layouts: list[Layout]

    def at(self, algorithm: Algorithm, size: Size) -> Sample | None:
        """Return the layout of memory for these parameters, whose words are 0; None if they are not offered."""
        classes = [one.class_of(getattr(algorithm.params, one.name)) for one in self.shaping]
        found = self.variants.get(tuple(-1 if one is None else one for one in classes))
        return None if found is None else self.layouts[found[0]].at(found[1], size)


class Maker:
    """A maker of the recipe of one algorithm, from its memory layouts on maps of several sizes."""

    def __init__(self, algorithm: Algorithm, stages: Sequence[Stage], sight: int | None = None) -> None:
        self.algorithm, self.stages, self.sight = algorithm, stages, sight
        self.count = len(parameters_of(type(algorithm.params)))

    def look(self, algorithm: Algorithm, stage: Stage) -> tuple[Sample, Any]:
        """Return the layout of memory on one map, with 0 for words that are parameters, and the agent it is from."""
        agent = Planned(algorithm, stage.world, databases=stage.databases, sight=self.sight, log_rows=LOG_ROWS)
        return self._without_parameters(sample_agent(agent, self.places(stage)), parameters_at(agent)), agent

    def places(self, stage: Stage) -> list[Place]:
        """Return where the arrays of a map are, after an agent was laid out on it."""
        return stage.places

    def _without_parameters(self, sample: Sample, begin: int) -> Sample:
        numbers = [0 if begin <= i < begin + self.count else value for i, value in enumerate(sample.numbers)]
        return sample._replace(numbers=tuple(numbers))

    def about(self, made: Any) -> tuple[int, dict[str, Any]]:
        """Return the word of the first parameter, and what a page reads."""
        return parameters_at(made), peeks(made)

    def sample(self, algorithm: Algorithm, stage: Stage) -> Sample:
        """Return the layout of memory on one map, with 0 for the words that are parameters."""
        return self.look(algorithm, stage)[0]

    def offered(self, parameter: Parameter) -> list[Any]:
        """Return the values of a parameter that are tried, and offered if memory depends on it."""
        return offered(parameter)

    def shaping(self, known: Callable[[str], bool]) -> list[Shaping]:
        """Return the parameters on which memory depends, with the values for which there is machine code."""
        found = []
        for one in self.algorithm.parameters:
            offered = self.offered(one)
            few = few_of(offered, one.default)
            tried = self._classes(one.name, few, known)
            if len(tried.values) < len(few) or any(tried.classes):
                found.append(self._classes(one.name, offered, known))
        return found

    def _classes(self, name: str, offered: Sequence[Any], known: Callable[[str], bool]) -> Shaping:
        """Return the values of a parameter for which there is machine code, and the classes with the same layout."""
        values, classes, seen = [], [], list[Any]()
        for value in offered:
            changed = self.algorithm.with_parameters(**{name: value})
            if not self.can(changed):
                continue
            samples = [self.sample(changed, stage) for stage in dict.fromkeys((self.stages[0], self.stages[-1]))]
            if not known(samples[0].identity):
                continue
            if samples not in seen:
                seen.append(samples)
            values.append(value)
            classes.append(seen.index(samples))
        return Shaping(name, values, classes)

    def can(self, algorithm: Algorithm) -> bool:
        """Return whether the layout of a setting can be read on these maps."""
        return True

    def recipe(self, known: Callable[[str], bool]) -> Recipe:
        """Return the recipe, with those variants for which there is machine code, by its identity."""
        shaping = self.shaping(known)
        variants: dict[tuple[int, ...], tuple[int, int]] = {}
        layouts: dict[Any, tuple[int, Layout]] = {}
        names = [one.name for one in shaping]
        for values in itertools.product(*(one.first_of_each() for one in shaping)):
            changed = self.algorithm.with_parameters(**dict(zip(names, values, strict=True)))
            if not self.can(changed):
                continue
            sample, made = self.look(changed, self.stages[0])
            if not known(sample.identity):
                continue
            column = self._formulas(changed, sample)
            fresh = len(layouts), Layout(sample, *self.about(made), [])
            number, layout = layouts.setdefault(sample.structure, fresh)
            if column not in layout.columns:
                layout.columns.append(column)
            classes = tuple(one.class_of(value) for one, value in zip(shaping, values, strict=True))
            variants[classes] = number, layout.columns.index(column)  # type: ignore[index]
        return Recipe(self.algorithm, shaping, variants, [layout for _, layout in layouts.values()])

    def _formulas(self, algorithm: Algorithm, first: Sample) -> list[Formula]:
        """Return a formula for each number of samples on all stages, of which this is the first."""
        samples = [first, *(self.sample(algorithm, stage) for stage in self.stages[1:])]
        sizes = [stage.size for stage in self.stages]
        if any(one.structure != first.structure for one in samples):
            raise AlgorithmError(f"the memory of {algorithm} has another layout on larger maps")
        found = []
        for values in zip(*(one.numbers for one in samples), strict=True):
            formula = fitted(sizes, values)
            if formula is None:
                raise AlgorithmError(f"no formula explains what {algorithm} needs on maps of {sizes} cells: {values}")
            found.append(formula)
        return found

    def check(self, recipe: Recipe, stages: Sequence[Stage], settings: int) -> int:
        """Compare a recipe with memory layouts on other maps, with random parameters; return the number of checks."""
        rng, done = random.Random(1), 0
        shaping = {one.name: one.values for one in recipe.shaping}
        for stage in stages:
            for number in range(settings):
                chosen = {p.name: rng.choice(shaping.get(p.name) or self.offered(p)) for p in self.algorithm.parameters}
                changed = self.algorithm.with_parameters(**chosen) if number else self.algorithm
                found = recipe.at(changed, stage.size)
                if found is None:
                    continue
                if found != self.sample(changed, stage):
                    raise AlgorithmError(f"the recipe of {self.algorithm} is wrong for {changed} on {stage.world!r}")
                done += 1
        return done


def parameters_at(agent: Planned) -> int:
    """Return the word of an agent's first parameter; parameters are after graph, view and memory."""
    return count_words(*agent.parts()[:3])


def is_for_crowds(stage: Stage) -> bool:
    """Return whether a map is large enough for a crowd; on tiny ones, short plans are stored elsewhere."""
    return FEATURES["cells"](*stage.size) >= CROWD_CELLS


class CrowdMaker(Maker):
    """A maker of the recipe of crowds of one algorithm, of at most this many units, with or without bodies."""

    def __init__(self, algorithm: Algorithm, stages: Sequence[Stage], *, units: int, bodies: bool) -> None:
        super().__init__(algorithm, [one for one in stages if is_for_crowds(one)])
        self.units, self.bodies = units, bodies

    def offered(self, parameter: Parameter) -> list[Any]:
        """Return the values that are offered for all units of a crowd, without those above the cells of a small map."""
        values = offered(parameter)
        return [one for one in values if not isinstance(one, int) or one <= MOST_OF_A_UNIT] or values

    def size_of(self, algorithm: Algorithm) -> CrowdSize:
        """Return the size of a crowd, with memory for all units and for what they learn."""
        stage = self.stages[0]
        one = Made(algorithm, stage.world, stage.databases, CrowdSize(1, LEARNED_BYTES, self.bodies))
        return CrowdSize(self.units, LEARNED_BYTES + math.ceil(UNIT_SHARE * self.units * one.unit_bytes), self.bodies)

    def look(self, algorithm: Algorithm, stage: Stage) -> tuple[Sample, Made]:
        """Return the layout of a crowd's memory on one map, with 0 for the words that are parameters."""
        size = self.size_of(algorithm)
        made = Made(algorithm, stage.world, stage.databases, size)
        said = {"unit_bytes": made.unit_bytes, "memory": size.memory, "most_units": size.units}
        sample = sample_crowd(made, stage.places, tuple(said.values()))
        return self._without_parameters(sample, crowd_parameters_at(made)), made

    def about(self, made: Made) -> tuple[int, dict[str, Any]]:
        """Return the word of the first parameter, where contexts begin, and the words with numbers for C."""
        begins, words = {}, 0
        for name, kernel in made.kernels.items():
            begins[name], words = words, words + count_words(*kernel.parts)
        said = words + len(made.tables)
        return crowd_parameters_at(made), {
            "begins": begins,
            "words": words,
            "tables": {name: words + i for i, (name, table) in enumerate(made.tables.items()) if table.size},
            "numbers": {"unit_bytes": said, "memory": said + 1, "most_units": said + 2},
            "bodies": int(self.bodies),
        }


def crowd_makers(
    algorithm: Algorithm, stages: Sequence[Stage], maker: type[CrowdMaker] = CrowdMaker
) -> dict[str, CrowdMaker]:
    """Return the makers of the recipes of crowds without and with bodies, by the names that a page uses."""
    kinds = {"plain": False, "bodies": True}
    return {name: maker(algorithm, stages, units=MOST_UNITS, bodies=bodies) for name, bodies in kinds.items()}


def crowd_parameters_at(made: Made) -> int:
    """Return the word of the first parameter of a crowd, in its first context after the graph and the units."""
    return count_words(*next(iter(made.kernels.values())).parts[:2])
