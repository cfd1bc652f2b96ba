"""The results in a store, prepared for reports."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from andante.agent import find_all
from andante.errors import ParameterError, did_you_mean
from andante.measures import PLACE, Contest, Outcome, Over, Summary, capped_suboptimality_ratio, map_column
from andante.measures.achievement import ACHIEVED, columns_of, goal_achievement, needed
from andante.report.charts import Setting
from andante.store import Outline, Status, Store, StoreError, outline_of, summaries
from andante.store.parts import polars
from andante.store.summaries import DIGEST, summed_digests, with_digests

if TYPE_CHECKING:
    import polars as pl

#: The columns that rows are selected by, and the value of each.
Where = Mapping[str, str | float | bool]

#: Columns with the conditions of a trial, and their wording in an agent's name.
_CONDITIONS = {
    "suboptimality_cap": "at most {} times optimal",
    "cost_cap": "cost at most {}",
    "move_cap": "at most {} moves",
    "expansion_cap": "at most {} expansions",
    "max_trials": "up to {} trials",
    "sight": "sight {}",
    "pursuit": "{}",
    "databases": "{}",
    "training": "trained on {}",
}

#: Columns whose values are in the order of their campaign; those of other columns are sorted.
AGENTS = ("agent", "algorithm")

_UNSAID = ["inf", "1", ""]  # conditions that are not mentioned: no cap, one trial, no database


class Results:
    """Rows of a store, with their summaries."""

    def __init__(self, rows: pl.DataFrame, title: str, order: Sequence[str] = (), unfinished: str = "") -> None:
        # In one chunk: with several, polars 2.1 fails internally ("assertion failed: i < self.len()").
        self.rows, self.title = _with_agents(rows.rechunk()), title
        self._order = order
        self._unfinished = unfinished  # a sentence about their campaign, if it may be unfinished

    @classmethod
    def of(cls, store: Store) -> Results:
        """Return everything in a store, with algorithms in the order of their campaign."""
        return cls._under(store, *_outline_of(store))

    @classmethod
    def _under(cls, store: Store, outline: Outline | None, doubt: str) -> Results:
        """Return everything in a store; ``doubt`` is a sentence to show if its plan is lost."""
        if not store.parts():
            raise StoreError(f"{store.folder} has no rows yet; run its campaign first")
        order = outline.planned() if outline is not None else []
        return cls(store.frame(), str(store.about.get("title", store.folder.name)), order, doubt)

    @classmethod
    def comparable(cls, store: Store, problems: str | None = None) -> Results:
        """Return a store's results on the problems, of one set or all, that all agents of its campaign have finished.

        For a finished campaign these are all results, and also for stores without a plan.
        """
        where = {} if problems is None else {"set": problems}
        outline, doubt = _outline_of(store)
        found = cls._under(store, outline, doubt).where(where)
        if outline is None:
            return found
        status = Status.of(store, outline)
        if status.finished:
            return found
        rows = found.rows.filter(polars().col("job").is_in(outline.finished_by_all(store.finished_jobs())))
        return cls(rows, found.title, found._order, _unfinished(status, rows, outline.planned(problems)))

    def _having(self, rows: pl.DataFrame) -> Results:
        return Results(rows, self.title, self._order, self._unfinished)

    @property
    def lead(self) -> str:
        """What a reader needs to know before the numbers, as one text."""
        return " ".join(self.sentences)

    @property
    def sentences(self) -> list[str]:
        """What a reader needs to know: how much is finished, what was run, and whether it can be compared."""
        nothing = self._unfinished and not len(self.rows)
        return [one for one in (self._unfinished, "" if nothing else self.counts, self.incomparable) if one]

    @property
    def incomparable(self) -> str:
        """Why the agents cannot be compared (they were run on different problems); empty if they can.

        >>> import polars as pl
        >>> rows = pl.DataFrame({"algorithm": ["lrta", "rta", "rta"], "set": ["a", "a", "b"]})
        >>> Results(rows, "an example").incomparable
        'Not all agents were run on the same problem sets (a: 2 of 2, b: 1 of 2): compare them on one with --set NAME.'
        """
        pairs = self.rows.select("set", "agent").unique()
        agents, counts = pairs["agent"].n_unique(), pairs.group_by("set").len().sort("set").iter_rows()
        if len(pairs) < agents * pairs["set"].n_unique():
            sets = ", ".join(f"{name}: {count:,} of {agents:,}" for name, count in counts)
            return f"Not all agents were run on the same problem sets ({sets}): compare them on one with --set NAME."
        kinds = len(set(self._problems().values()) - {None})  # as in `problem_mismatch`: for some it is not known
        if kinds < 2:
            return ""
        return f"The {agents:,} agents were run on {kinds:,} different samples of problems and cannot be compared."

    def _problems(self) -> dict[str, int | None]:
        """Return, for each agent, a number that identifies its set of problems, as in `Summary`."""
        digests = with_digests(self.rows).group_by("agent", maintain_order=True).agg(summed_digests())
        return dict(digests.select("agent", DIGEST).iter_rows())

    @property
    def counts(self) -> str:
        """The numbers of trials, algorithms, problems and maps, as a sentence."""
        maps, problems = self.rows["fingerprint"].n_unique(), self.rows.select(PLACE).n_unique()
        algorithms = self.rows["algorithm"].n_unique()
        place = "scene" if "unit" in self.rows.columns else "map"
        return (
            f"{len(self.rows):,} trials: {algorithms:,} algorithm{'' if algorithms == 1 else 's'} on {problems:,} "
            f"problem{'' if problems == 1 else 's'} of {maps:,} {place}{'' if maps == 1 else 's'}."
        )

    def where(self, conditions: Where) -> Results:
        """Return the rows that have these values."""
        found = self._equal(conditions)
        return self._having(self.rows.filter(found)) if found else self

    def without(self, conditions: Where) -> Results:
        """Return the rows that do not have all of these values; all rows if there are no conditions."""
        found = self._equal(conditions)
        return self._having(self.rows.filter(~polars().all_horizontal(found))) if found else self

    def _equal(self, conditions: Where) -> list[Any]:
        """Return a Polars expression for each condition; raise `ParameterError` if there is no such column."""
        for name in conditions:
            if name not in self.rows.columns:
                raise ParameterError(f"rows have no column {name!r}; {did_you_mean(name, self.rows.columns)}")
        return [polars().col(name).eq_missing(value) for name, value in conditions.items()]

    def only(self, algorithms: Sequence[str]) -> Results:
        """Return the rows of these algorithms: names (all their settings) or settings in the notation; all if empty."""
        if not algorithms:
            return self
        exact = [str(entry) for text in algorithms if "(" in text for entry in find_all(text)]
        names = self.rows["settings"].str.split("(").list.first()
        wanted = names.is_in(list(algorithms)) | self.rows["algorithm"].is_in(exact)
        return self._having(self.rows.filter(wanted))

    def within(self, worst_move: float) -> Results:
        """Return the rows of those agents that never expanded more states than this before a move."""
        kept = [one.name for one in self.summaries() if one["max_states_expanded"].max <= worst_move]
        return self._having(self.rows.filter(self.rows["agent"].is_in(kept)))

    def capped(self, most: float = math.inf) -> Results:
        """Return the results with a column for suboptimality as in Bulitko (2016), `capped_suboptimality_ratio`.

        The cap is the one that a trial was run with, or ``most`` if that is lower: an agent follows the same path until
        it is stopped. With a lower cap, only agents within it count as having arrived.
        """
        pl = polars()
        if "optimal_cost" not in self.rows.columns:
            raise ParameterError("capped_suboptimality_ratio needs optimal costs, which scenes do not have")
        cost, optimal, ran_with = (
            self.rows[name].cast(pl.Float64).to_numpy() for name in ("cost", "optimal_cost", "suboptimality_cap")
        )
        cap = np.minimum(ran_with, most)
        within = (ran_with <= most) | (cost <= cap * optimal)
        outcome = np.where(within, self.rows["outcome"].to_numpy(), Outcome.COST_CAP.name)
        return self._having(
            self.rows.with_columns(
                pl.Series("capped_suboptimality_ratio", capped_suboptimality_ratio(cost, optimal, outcome, cap)),
                pl.Series("outcome", outcome, pl.String),
                pl.Series("solved", outcome == Outcome.GOAL.name),
            )
        )

    def achieved(self, turn: float) -> Results:
        """Return the results with columns for the goal achievement time, if a turn lasts ``turn`` expansions.

        Rows of several trials on one problem (of a run that converges) have none.
        """
        pl = polars()
        columns = {name: self.rows[name].cast(pl.Float64).to_numpy() for name in needed(self.rows.columns)}
        found = goal_achievement(columns, turn)
        alone = self.rows["trials"].to_numpy() == 1 if "trials" in self.rows.columns else np.ones(len(self.rows), bool)
        *numbers, bounds = columns_of(found)
        known = [np.where(alone, one, math.nan) for one in numbers]
        return self._having(
            self.rows.with_columns(
                *(pl.Series(name, one) for name, one in zip(ACHIEVED, [*known, bounds], strict=True))
            )
        )

    @cached_property
    def _agents(self) -> list[tuple[str, str]]:
        """The agents with the full notation of their algorithms, in the order of the campaign."""
        known = self.rows.select("agent", "algorithm", "settings").unique(maintain_order=True).iter_rows()
        place = {name: number for number, name in reversed(list(enumerate(self._order)))}
        in_order = sorted(known, key=lambda row: place.get(row[1], len(place)))
        return [(agent, settings) for agent, _, settings in in_order]

    def summaries(self, by: str = "agent", over: Over = "maps") -> list[Summary]:
        """Return a summary for each agent, or for each value of another column, sorted by value.

        An agent is an algorithm, together with its conditions if it was run under several. For ``over`` see
        `andante.measures.summarise`.
        """
        orders = dict(zip(AGENTS, ([agent for agent, _ in self._agents], self._order), strict=True))
        in_order = by in orders or by not in self.rows.columns
        rows = self.rows if in_order else self.rows.sort(by, maintain_order=True)
        return summaries(rows, by, orders.get(by, ()), over)

    def maps(self) -> pl.Series:
        """Return the map of each row."""
        return self.rows[map_column(self.rows.columns) or "map"]

    def contest(self) -> Contest:
        """Return the agents side by side, problem by problem."""
        places = self.rows.select(PLACE).unique(maintain_order=True).with_row_index("place")
        numbers = self.rows.select(PLACE).join(places, on=PLACE, how="left", maintain_order="left")["place"]
        return Contest.of_columns(
            self.rows["agent"].to_list(),
            numbers.to_numpy().astype(np.int64),
            self.maps().to_numpy(),
            self.rows["solved"].to_numpy(),
        ).ordered([agent for agent, _ in self._agents])

    def summaries_of(self, numbers: npt.NDArray[np.int64], over: Over = "maps") -> list[Summary]:
        """Return a summary for each agent of the rows with these numbers; agents keep their names."""
        return summaries(self.rows[numbers], "agent", [agent for agent, _ in self._agents], over)

    def settings(self) -> list[Setting]:
        """Return a summary for each agent, with the parameters of its algorithm."""
        return Setting.of(self.summaries(), dict(self._agents))


def _outline_of(store: Store) -> tuple[Outline | None, str]:
    """Return the outline of a store, if it has that of one campaign, and a sentence if it is lost or damaged."""
    try:
        return outline_of(store), ""
    except StoreError:
        return None, "The plan of the campaign is lost or damaged, so rows may be missing."


def _unfinished(status: Status, rows: pl.DataFrame, planned: Sequence[str]) -> str:
    """Return how much of a campaign is finished, on how many problems agents are compared, and which are missing."""
    done = f"Unfinished: {status.trials_finished:,} of {status.trials:,} trials;"
    if not len(rows):
        return f"{done} there is no problem yet that all agents have finished, so they cannot be compared."
    problems = rows.select(PLACE).n_unique()
    so_far = f"{done} agents are compared on the problems that all of them have finished ({problems:,})."
    absent = [name for name in dict.fromkeys(planned) if name not in set(rows["algorithm"])]
    if not absent:
        return so_far
    who = absent[0] if len(absent) == 1 else f"{absent[0]} and {len(absent) - 1:,} more"
    return f"{so_far} There are none yet for {who}."


def _with_agents(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with a column ``agent``: the algorithm, and those conditions that distinguish its rows."""
    pl = polars()
    words = []
    for name, said in _CONDITIONS.items():
        if name in rows.columns and rows[name].n_unique() > 1:
            value = pl.col(name).cast(pl.String)
            if rows[name].dtype.is_float():
                value = value.str.strip_suffix(".0")
            if name == "databases":
                value = value.replace(_database_names(rows))
            like = ["algorithm", "databases"] if name == "training" else ["algorithm"]  # others are distinct already
            named = (pl.col(name).n_unique().over(like) > 1) & ~value.is_in(_UNSAID)
            words.append(pl.when(named).then(pl.format(f", {said}", value)).otherwise(pl.lit("")))
    return rows.with_columns(agent=pl.concat_str(pl.col("algorithm"), *words))


def _database_names(rows: pl.DataFrame) -> dict[str, str]:
    """Return the text for each value of the column ``databases`` in agents' names.

    It is the short text that was written with the rows. Rows of older campaigns have none, and in a merged store the
    same short text may mean several databases, if defaults have changed. These are named in full.

    >>> import polars as pl
    >>> _database_names(pl.DataFrame({"databases": ["regions(m=5)"], "databases_brief": ["regions"]}))
    {'regions(m=5)': 'regions'}
    """
    if "databases_brief" not in rows.columns:
        return {}
    names = dict(rows.select("databases", "databases_brief").unique().sort("databases_brief").iter_rows())
    meant = Counter(names.values())
    return {text: name if meant[name] == 1 else text for text, name in names.items()}
