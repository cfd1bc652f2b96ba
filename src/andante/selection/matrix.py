"""The matrix: suboptimality of every algorithm on every problem, or on every map."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.errors import AndanteError, did_you_mean
from andante.measures import PLACE, Outcome, capped_suboptimality_ratio
from andante.store import Store

Values = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


class MatrixError(AndanteError):
    """Results that do not make a matrix."""


class Instance(NamedTuple):
    """A problem, or a map if start and goal are missing."""

    map: str
    fingerprint: str
    start: int | None = None
    goal: int | None = None


@dataclass(frozen=True, eq=False)
class Matrix:
    """Values of algorithms (rows) on instances (columns), lower being better; every instance has a weight.

    >>> matrix = Matrix.plain([[1, 9], [5, 2]], weights=[3, 1])
    >>> matrix.means.tolist(), matrix.best, float(matrix.virtual_best)
    ([3.0, 4.25], 0, 1.25)
    """

    values: Values  # [algorithms, instances]
    algorithms: tuple[str, ...]
    instances: tuple[Instance, ...]
    weights: Values  # [instances]

    def __post_init__(self) -> None:
        shape = (len(self.algorithms), len(self.instances))
        if self.values.shape != shape or self.weights.shape != shape[1:] or 0 in shape:
            raise MatrixError(
                f"a matrix of {shape[0]} algorithms and {shape[1]} instances cannot have values of shape "
                f"{self.values.shape} and weights of shape {self.weights.shape}"
            )
        if not np.isfinite(self.values).all():
            raise MatrixError("a matrix must contain a number for every algorithm on every instance")

    def __repr__(self) -> str:
        return f"<Matrix of {len(self.algorithms)} algorithms on {len(self.instances)} instances>"

    @classmethod
    def plain(cls, values: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Matrix:
        """Return a matrix of these values, with numbered algorithms and instances."""
        numbers = np.asarray(values, np.float64)
        rows, columns = numbers.shape
        return cls(
            numbers,
            tuple(f"algorithm {k}" for k in range(rows)),
            tuple(Instance(f"map {k}", str(k)) for k in range(columns)),
            np.ones(columns) if weights is None else np.asarray(weights, np.float64),
        )

    @property
    def means(self) -> Values:
        """The weighted mean of each algorithm."""
        return np.average(self.values, axis=1, weights=self.weights)

    @property
    def best(self) -> int:
        """The single best algorithm."""
        return int(self.means.argmin())

    @property
    def virtual_best(self) -> float:
        """The weighted mean of the best algorithm for each instance."""
        return float(np.average(self.values.min(axis=0), weights=self.weights))

    def columns(self, chosen: Numbers) -> Matrix:
        """Return the matrix of only these instances."""
        instances = tuple(self.instances[k] for k in chosen)
        return Matrix(self.values[:, chosen], self.algorithms, instances, self.weights[chosen])

    def by_map(self) -> Matrix:
        """Return the means over the problems of each map, weighted by their number.

        >>> one, two = Instance("map 1", "a"), Instance("map 2", "b")
        >>> maps = Matrix(np.array([[10.0, 20, 30]]), ("lrta",), (one, one, two), np.ones(3)).by_map()
        >>> maps.values.tolist(), maps.weights.tolist(), maps.means.tolist()
        ([[15.0, 30.0]], [2.0, 1.0], [20.0])
        """
        place: dict[tuple[str, str], int] = {}
        numbers = np.array([place.setdefault(one[:2], len(place)) for one in self.instances])
        weights: Values = np.bincount(numbers, self.weights, len(place)).astype(np.float64)
        sums = np.stack([np.bincount(numbers, row * self.weights, len(place)) for row in self.values])
        instances = tuple(Instance(*names) for names in place)
        return Matrix(sums / weights, self.algorithms, instances, weights)

    def halves(self, seed: int) -> tuple[Matrix, Matrix]:
        """Split the problems of each map at random into two halves and return both matrices, by maps.

        One half is to choose by, the other to judge the choice by. Maps with one problem are left out.
        """
        rng = np.random.default_rng(seed)
        groups: dict[tuple[str, str], list[int]] = {}
        for number, one in enumerate(self.instances):
            groups.setdefault(one[:2], []).append(number)
        mixed = [rng.permutation(group) for group in groups.values() if len(group) > 1]
        if not mixed:
            raise MatrixError("no map has two problems, one to choose by and one to judge by")
        chosen, judge = (self.columns(np.concatenate([group[side::2] for group in mixed])) for side in (0, 1))
        return chosen.by_map(), judge.by_map()


def from_store(
    folder: str | os.PathLike[str] | Store, expansions: float = math.inf, only: Sequence[str] = ()
) -> Matrix:
    """Return the matrix of a campaign's results on the problems that all algorithms were run on.

    Suboptimality is capped as in Bulitko (2016). Algorithms that expanded more than ``expansions`` states before a move
    are left out. If ``only`` is not empty, so are all algorithms with other names. An algorithm with different
    databases counts as several.
    """
    store = folder if isinstance(folder, Store) else Store(folder)
    if "optimal_cost" not in store.scan_all().collect_schema():
        raise MatrixError(f"{store.folder} has results of scenes, which have no optimal costs to choose by")
    frame = store.frame([*PLACE, *_COUNTED, *_NAMED, "map", "max_states_expanded"])
    named, kind = _numbered(frame, _NAMED)
    places, place = _numbered(frame, PLACE, "map")
    names = [f"{settings} with {given}" if given else settings for settings, given in named.rows()]
    called = _called(only, names, store)
    worst = np.full(len(names), -math.inf)
    np.maximum.at(worst, kind, frame["max_states_expanded"].to_numpy())
    kept = [name for name in called if worst[names.index(name)] <= expansions]
    if not kept:
        raise MatrixError(f"all algorithms in {store.folder} expanded more than {expansions:g} states before some move")
    rows = {name: k for k, name in enumerate(kept)}
    row = np.array([rows.get(name, -1) for name in names])[kind]
    mine = row >= 0
    cells = row[mine] * len(places) + place[mine]
    if len(np.unique(cells)) < len(cells):
        raise MatrixError(
            f"{store.folder} has several results of one algorithm on one problem, under different conditions; choose "
            "among those of a campaign with one sight and one set of limits"
        )
    values = np.full((len(kept), len(places)), np.nan)
    values.flat[cells] = _counted({name: frame[name].to_numpy()[mine] for name in _COUNTED})
    whole = np.isfinite(values).all(axis=0)
    if not whole.any():
        raise MatrixError(f"{store.folder} has no problem on which all its {len(kept):,} algorithms were run")
    instances = tuple(_instance(one) for one in places.filter(whole.tolist()).rows(named=True))
    return Matrix(values[:, whole], tuple(kept), instances, np.ones(len(instances)))


def _numbered(frame: Any, columns: Sequence[str], *also: str) -> tuple[Any, Numbers]:
    """Return the distinct combinations of some columns of a frame, and the number of the combination in each row.

    ``also`` are columns that the combinations determine.
    """
    found = frame.unique(columns, keep="first", maintain_order=True).select(*columns, *also)
    numbered = found.select(columns).with_row_index("number")
    numbers = frame.select(columns).join(numbered, on=columns, how="left", nulls_equal=True, maintain_order="left")
    return found, numbers["number"].to_numpy().astype(np.int64)


def _called(only: Sequence[str], names: Sequence[str], store: Store) -> list[str]:
    """Return the algorithms with these names in their order and without duplicates, or all if no name is given."""
    cards = {name: name.partition("(")[0].split()[0] for name in names}
    for wanted in only:
        if wanted not in cards.values():
            known = dict.fromkeys(cards.values())
            raise MatrixError(f"{store.folder} has no results of {wanted!r}; {did_you_mean(wanted, known)}")
    return [name for name, card in cards.items() if not only or card in only]


_NAMED = ("settings", "databases")
_COUNTED = ("cost", "optimal_cost", "outcome", "suboptimality_cap")


def _counted(columns: Mapping[str, npt.NDArray[Any]]) -> Values:
    """Return capped suboptimality; raise `MatrixError` if a trial did not arrive and was run without a cap."""
    cost, optimal, outcome, cap = (columns[name] for name in _COUNTED)
    if not np.isfinite(cap[outcome != Outcome.GOAL.name]).all():
        raise MatrixError(
            "trials that did not arrive have no value without a cap; give limits = { suboptimality = 1000 }"
        )
    return capped_suboptimality_ratio(cost, optimal, outcome, cap)


def _instance(place: Mapping[str, Any]) -> Instance:
    return Instance(place["map"], place["fingerprint"], int(place["start"]), int(place["goal"]))


def share_of_gap_closed(score: float, single_best: float, virtual_best: float) -> float:
    """Return the share of the gap between single best and virtual best that a selector closes: 1 is all, 0 is none.

    >>> share_of_gap_closed(12.0, single_best=20.0, virtual_best=10.0)
    0.8
    """
    gap = single_best - virtual_best
    return (single_best - score) / gap if gap > 0 else float("nan")


def greedy_portfolio(values: Values, size: int) -> list[int]:
    """Return rows that are good together if the best of them counts for each column, adding the most useful one first.

    >>> greedy_portfolio(np.array([[1.0, 9.0], [4.0, 4.0], [9.0, 1.0]]), 2)
    [1, 0]
    """
    chosen: list[int] = []
    reached = np.full(values.shape[1], np.inf)
    for _ in range(min(size, len(values))):
        means = np.minimum(values, reached).mean(axis=1)
        best = int(means.argmin())
        if chosen and means[best] >= reached.mean():
            break
        chosen.append(best)
        reached = np.minimum(reached, values[best])
    return chosen
