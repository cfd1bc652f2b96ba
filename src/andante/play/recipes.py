"""Recipes: how the memory of an agent is laid out on any map, as formulas of the number of cells.

A plan (`andante.export.images`) is for one agent on one map, and Python makes it. A page has maps that Python has never
seen. But all that bundles ask for is so many bytes for each state, or as many as a lookahead needs and no more than
there are states: each number of a plan is ``min(a * n + b, c)``. So a recipe is found by looking at plans for maps of
some sizes, must explain every one of them, and is held to further plans that it was not made from.

Parameters are words of the context, and can have any value. Those on which memory depends too (*shaping* parameters)
are offered with some values, and the recipe has the formulas for every combination of these.
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
from andante.export.images import Planned
from andante.kernel import count_words
from andante.play.samples import Place, Sample, peeks, places_of, sample_agent
from andante.world.grid import Grid
from andante.world.living import World

SIZES = ((3, 2), (16, 12), (40, 31), (320, 200), (640, 500))  # of the maps that recipes are made from
CHECKED = ((1, 7), (57, 83), (1024, 1024))  # of those that they are held to
LOG_ROWS = 1 << 18  # thoughts of one move that a page can show

#: Values that a page offers for numbers on which memory depends.
WHOLE = (*range(11), 15, 20, 30, 50, 70, 100, 200, 300, 500, 1000)
REAL = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1000.0, math.inf)


class Formula(NamedTuple):
    """A number that follows from the number of cells: ``min(a * n + b, c)``."""

    a: int
    b: int
    c: int | None = None

    def at(self, n: int) -> int:
        """Return the number for a map of ``n`` cells."""
        value = self.a * n + self.b
        return value if self.c is None else min(value, self.c)

    def as_data(self) -> Any:
        """Return it as JSON has it: a number, or a list. JavaScript's numbers are exact up to 2**53."""
        if self.a == 0 and self.c is None:
            return self.b if abs(self.b) < 2**53 else str(self.b)
        return [self.a, self.b] if self.c is None else [self.a, self.b, self.c]


def fitted(sizes: Sequence[int], values: Sequence[int]) -> Formula | None:
    """Return the formula that explains all values, or None.

    >>> fitted([6, 192, 1240], [24, 40, 40])
    Formula(a=4, b=0, c=40)
    >>> fitted([6, 192, 1240], [6, 200, 1]) is None
    True
    """
    first, second, last = values[0], values[1], values[-1]
    slope, rest = divmod(second - first, sizes[1] - sizes[0])
    tried = [Formula(0, first)]
    if rest == 0:
        tried += [Formula(slope, first - slope * sizes[0]), Formula(slope, first - slope * sizes[0], last)]
    if first % sizes[0] == 0:
        tried.append(Formula(first // sizes[0], 0, last))
    for one in tried:
        if all(one.at(n) == value for n, value in zip(sizes, values, strict=True)):
            return one
    return None


@dataclass(frozen=True)
class Stage:
    """A map on which agents are looked at, and where its arrays are."""

    world: Grid
    places: list[Place]

    @classmethod
    def of(cls, world: Grid, databases: Sequence[Database] = ()) -> Stage:
        """Return a stage on this map."""
        return cls(world, places_of(world, databases))

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.world.graph)


@cache
def stages() -> tuple[Stage, ...]:
    """Return the maps that recipes are made from: all cells are closed, and can be opened."""
    return tuple(Stage.of(World(Grid(np.zeros((height, width), np.bool_)))) for width, height in SIZES)


@cache
def checked_stages() -> tuple[Stage, ...]:
    """Return the maps that recipes are held to, with other cells open than closed."""
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


class Shaping(NamedTuple):
    """A parameter on which memory depends: values of the same class are laid out alike."""

    name: str
    values: list[Any]
    classes: list[int]

    def class_of(self, value: Any) -> int | None:
        """Return the class of a value, None if it is not offered."""
        return self.classes[self.values.index(value)] if value in self.values else None

    def first_of_each(self) -> list[Any]:
        """Return a value of each class."""
        return [self.values[self.classes.index(one)] for one in range(max(self.classes) + 1)]


class Layout(NamedTuple):
    """The structure of some samples, and for each of them formulas and contents."""

    first: Sample
    parameters_at: int  # the word of the first parameter
    peeks: dict[str, Any]
    columns: list[tuple[list[Formula], tuple[bytes, ...]]]

    def at(self, column: int, cells: int) -> Sample:
        """Return the sample that a column stands for on a map of so many cells."""
        formulas, contents = self.columns[column]
        return self.first._replace(numbers=tuple(one.at(cells) for one in formulas), contents=contents)


@dataclass(frozen=True)
class Recipe:
    """The recipe of an algorithm: its shaping parameters, and for each combination of their classes a layout.

    Variants with the same structure share a layout, in which each has a column.
    """

    algorithm: Algorithm
    shaping: list[Shaping]
    variants: dict[tuple[int, ...], tuple[int, int]]  # by classes of the shaping parameters: layout, column
    layouts: list[Layout]

    def at(self, algorithm: Algorithm, cells: int) -> Sample | None:
        """Return how memory is laid out for these parameters, whose words are 0; None if they are not offered."""
        classes = [one.class_of(getattr(algorithm.params, one.name)) for one in self.shaping]
        found = self.variants.get(tuple(-1 if one is None else one for one in classes))
        return None if found is None else self.layouts[found[0]].at(found[1], cells)


class Maker:
    """Makes the recipe of one algorithm on these stages: of several sizes for formulas, one for the map of a page."""

    def __init__(self, algorithm: Algorithm, stages: Sequence[Stage], databases: Sequence[Database] = ()) -> None:
        self.algorithm, self.stages, self.databases = algorithm, stages, databases
        self.count = len(parameters_of(type(algorithm.params)))

    def look(self, algorithm: Algorithm, stage: Stage) -> tuple[Sample, Planned]:
        """Return how memory is laid out on one map, with 0 for the words that are parameters, and its agent."""
        agent = Planned(algorithm, stage.world, databases=self.databases, log_rows=LOG_ROWS)
        sample, begin = sample_agent(agent, stage.places), parameters_at(agent)
        numbers = [0 if begin <= i < begin + self.count else value for i, value in enumerate(sample.numbers)]
        return sample._replace(numbers=tuple(numbers)), agent

    def sample(self, algorithm: Algorithm, stage: Stage) -> Sample:
        """Return how memory is laid out on one map, with 0 for the words that are parameters."""
        return self.look(algorithm, stage)[0]

    def shaping(self, known: Callable[[str], bool]) -> list[Shaping]:
        """Return the parameters on which memory depends, with the values for which there is machine code."""
        found = []
        for one in self.algorithm.parameters:
            values, classes, seen = [], [], list[Any]()
            for value in offered(one):
                changed = self.algorithm.with_parameters(**{one.name: value})
                if not self._has_databases(changed):
                    continue
                samples = [self.sample(changed, stage) for stage in {id(s): s for s in self._ends}.values()]
                if not known(samples[0].identity):
                    continue
                if samples not in seen:
                    seen.append(samples)
                values.append(value)
                classes.append(seen.index(samples))
            if len(seen) > 1 or len(values) < len(offered(one)):
                found.append(Shaping(one.name, values, classes))
        return found

    @property
    def _ends(self) -> tuple[Stage, ...]:
        """The largest map, on which no lookahead is cut off, and a small one."""
        return self.stages[0], self.stages[-1]

    def _has_databases(self, algorithm: Algorithm) -> bool:
        return set(algorithm.needs) <= {one.kind for one in self.databases}

    def recipe(self, known: Callable[[str], bool]) -> Recipe:
        """Return the recipe, with those variants for which there is machine code, by its identity."""
        shaping = self.shaping(known)
        variants: dict[tuple[int, ...], tuple[int, int]] = {}
        layouts: dict[Any, tuple[int, Layout]] = {}
        names = [one.name for one in shaping]
        for values in itertools.product(*(one.first_of_each() for one in shaping)):
            changed = self.algorithm.with_parameters(**dict(zip(names, values, strict=True)))
            if not self._has_databases(changed):
                continue
            sample, agent = self.look(changed, self.stages[0])
            if not known(sample.identity):
                continue
            column = self._formulas(changed, sample), sample.contents
            fresh = len(layouts), Layout(sample, parameters_at(agent), peeks(agent), [])
            number, layout = layouts.setdefault(sample.structure, fresh)
            if column not in layout.columns:
                layout.columns.append(column)
            classes = tuple(one.class_of(value) for one, value in zip(shaping, values, strict=True))
            variants[classes] = number, layout.columns.index(column)  # type: ignore[index]
        return Recipe(self.algorithm, shaping, variants, [layout for _, layout in layouts.values()])

    def _formulas(self, algorithm: Algorithm, first: Sample) -> list[Formula]:
        """Return a formula for each number of samples on all stages, of which this is the first."""
        if len(self.stages) == 1:
            return [Formula(0, value) for value in first.numbers]
        samples = [first, *(self.sample(algorithm, stage) for stage in self.stages[1:])]
        cells = [stage.cells for stage in self.stages]
        if any(one.structure != first.structure or one.contents != first.contents for one in samples):
            raise AlgorithmError(f"the memory of {algorithm} is laid out in another way on larger maps")
        found = []
        for values in zip(*(one.numbers for one in samples), strict=True):
            formula = fitted(cells, values)
            if formula is None:
                raise AlgorithmError(f"no formula explains what {algorithm} needs on maps of {cells} cells: {values}")
            found.append(formula)
        return found

    def check(self, recipe: Recipe, stages: Sequence[Stage], settings: int) -> int:
        """Hold a recipe to how Python lays out memory on other maps, with random parameters; return how often."""
        rng, done = random.Random(1), 0
        shaping = {one.name: one.values for one in recipe.shaping}
        for stage in stages:
            for number in range(settings):
                chosen = {p.name: rng.choice(shaping.get(p.name) or offered(p)) for p in self.algorithm.parameters}
                changed = self.algorithm.with_parameters(**chosen) if number else self.algorithm
                found = recipe.at(changed, stage.cells)
                if found is None:
                    continue
                if found != self.sample(changed, stage):
                    raise AlgorithmError(f"the recipe of {self.algorithm} is wrong for {changed} on {stage.world!r}")
                done += 1
        return done


def parameters_at(agent: Planned) -> int:
    """Return the word of an agent's first parameter: they come after graph, view and memory."""
    return count_words(*agent.parts()[:3])
