"""The results in a store, as reports want them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from andante.campaign.settings import grid
from andante.errors import ParameterError, did_you_mean
from andante.measures import Summary
from andante.notation import Call, parse
from andante.offline import builders
from andante.report.charts import Setting
from andante.store import Store, StoreError, summaries
from andante.store.identity import PLACE
from andante.store.store import polars

if TYPE_CHECKING:
    import polars as pl

#: A column that rows are chosen by, and the value they must have.
Where = Mapping[str, str | float | bool]

#: Columns that tell under what a trial was run, and how an agent's name says so.
_CONDITIONS = {
    "suboptimality_cap": "at most {} times optimal",
    "cost_cap": "cost at most {}",
    "move_cap": "at most {} moves",
    "expansion_cap": "at most {} expansions",
    "max_trials": "up to {} trials",
    "sight": "sight {}",
    "databases": "{}",
    "training": "trained on {}",
}

_UNSAID = ["inf", "1", ""]  # no cap, one trial, no database


class Results:
    """Rows of a store, and what they come to."""

    def __init__(self, rows: pl.DataFrame, title: str, order: Sequence[str] = ()) -> None:
        self.rows, self.title = _with_agents(rows), title
        self._order = order

    @classmethod
    def of(cls, store: Store) -> Results:
        """All that a store holds; algorithms in the order of their campaign."""
        tasks = store.about.get("plan", {}).get("tasks", [])
        if not store.parts():
            raise StoreError(f"{store.folder} holds no rows yet; run its campaign first")
        return cls(store.frame(), str(store.about.get("title", store.folder.name)), [task[1] for task in tasks])

    @property
    def lead(self) -> str:
        """What was run, counted from the rows."""
        maps, problems = self.rows["fingerprint"].n_unique(), self.rows.select(PLACE).n_unique()
        algorithms = self.rows["algorithm"].n_unique()
        return (
            f"{len(self.rows):,} trials: {algorithms:,} algorithm{'' if algorithms == 1 else 's'} on {problems:,} "
            f"problem{'' if problems == 1 else 's'} of {maps:,} map{'' if maps == 1 else 's'}."
        )

    def where(self, conditions: Where) -> Results:
        """The rows that have these values."""
        rows = self.rows
        for name, value in conditions.items():
            if name not in rows.columns:
                raise ParameterError(f"rows have no column {name!r}; {did_you_mean(name, rows.columns)}")
            rows = rows.filter(polars().col(name) == value)
        return Results(rows, self.title, self._order)

    def only(self, algorithms: Sequence[str]) -> Results:
        """The rows of these algorithms: names (all settings of them) or settings in the notation; all rows if none."""
        if not algorithms:
            return self
        exact = [str(entry) for text in algorithms if "(" in text for entry in grid(text)]
        names = self.rows["settings"].str.split("(").list.first()
        wanted = names.is_in(list(algorithms)) | self.rows["algorithm"].is_in(exact)
        return Results(self.rows.filter(wanted), self.title, self._order)

    def within(self, worst_move: float) -> Results:
        """The rows of those agents that never expanded more states before a move."""
        kept = [one.name for one in self.summaries() if one["max_states_expanded"].max <= worst_move]
        return Results(self.rows.filter(self.rows["agent"].is_in(kept)), self.title, self._order)

    def capped(self, most: float = math.inf) -> Results:
        """The same, with suboptimality as seed 004 counts it.

        Nobody walks further than the cap: a trial that was cut short counts as the cap, and a stuck agent as the cap
        and one move more. The cap is the one that a trial was run with, or ``most`` where that is less: an agent walks
        the same way until it is stopped.
        """
        pl = polars()
        ratio, cap = pl.col("suboptimality_ratio"), pl.min_horizontal(pl.col("suboptimality_cap"), most)
        within = pl.col("cost") <= cap * pl.col("optimal_cost")
        stuck = cap + 1.0 / pl.col("optimal_cost")
        counted = (
            pl.when(pl.col("solved") & within)
            .then(ratio)
            .when((pl.col("outcome") == "STUCK") & within)
            .then(stuck)
            .otherwise(cap)
        )
        rows = self.rows.with_columns(suboptimality_ratio=counted, solved=pl.col("solved") & within)
        return Results(rows, self.title, self._order)

    @cached_property
    def _agents(self) -> list[tuple[str, str]]:
        """Every agent with the full notation of its algorithm, in the order of the campaign."""
        known = self.rows.select("agent", "algorithm", "settings").unique(maintain_order=True).iter_rows()
        place = {name: number for number, name in reversed(list(enumerate(self._order)))}
        in_order = sorted(known, key=lambda row: place.get(row[1], len(place)))
        return [(agent, settings) for agent, _, settings in in_order]

    def summaries(self, by: str = "agent") -> list[Summary]:
        """A summary for each agent, or for each value of another column.

        An agent is an algorithm, with the conditions it was run under where there are others that it was run under too.
        """
        return summaries(self.rows, by, [agent for agent, _ in self._agents])

    def settings(self) -> list[Setting]:
        """A summary for each agent, with the parameters of its algorithm."""
        return Setting.of(self.summaries(), dict(self._agents))

    def values(self, name: str) -> dict[str, npt.NDArray[np.float64]]:
        """All values of a measure, for each agent."""
        groups = self.rows.group_by("agent").agg(polars().col(name).cast(polars().Float64))
        found = dict(zip(groups["agent"], (values.to_numpy() for values in groups[name]), strict=True))
        return {agent: found[agent] for agent, _ in self._agents}


def _with_agents(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with a column ``agent``: the algorithm, and whatever of the conditions tells its rows apart."""
    pl = polars()
    words = []
    for name, said in _CONDITIONS.items():
        if name in rows.columns and rows[name].n_unique() > 1:
            value = pl.col(name).cast(pl.String)
            if name == "databases":
                value = value.replace({text: _brief(text) for text in rows[name].unique()})
            like = ["algorithm", "databases"] if name == "training" else ["algorithm"]  # others are told apart already
            told = (pl.col(name).n_unique().over(like) > 1) & ~value.is_in(_UNSAID)
            words.append(pl.when(told).then(pl.format(f", {said}", value)).otherwise(pl.lit("")))
    return rows.with_columns(agent=pl.concat_str(pl.col("algorithm"), *words))


def _brief(databases: str) -> str:
    """Databases without those parameters that are at their defaults.

    >>> _brief("subgoals(records=500, seed=0, coverage=random, series=false, m=25)")
    'subgoals(records=500)'
    """
    found = []
    for text in filter(None, databases.split("; ")):
        call, known = parse(text), builders()
        usual = {p.name: p.word(p.default) for p in known[call.name].parameters} if call.name in known else {}
        found.append(
            Call(call.name, {name: value for name, value in call.arguments.items() if value != usual.get(name, ...)})
        )
    return "; ".join(map(str, found))
