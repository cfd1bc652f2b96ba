"""The measures: each numeric column of a result row, with the facts that are needed to interpret it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from andante.errors import ParameterError, did_you_mean


class Better(Enum):
    """The direction in which a measure is better."""

    LESS = "less"
    MORE = "more"
    NEITHER = "neither"


class Headline(Enum):
    """The statistic to show where there is space for only one."""

    MEAN = "mean"
    MEDIAN = "median"
    MAX = "max"


@dataclass(frozen=True)
class Measure:
    """A number by which trials are judged.

    >>> measure("suboptimality_ratio").show(6.2149)
    '6.215'
    >>> measure("memory_bytes").show(7_340_032)
    '7.3 MB'
    """

    name: str  # of the column in a row
    title: str  # the header of a table column, the label of an axis
    about: str  # its definition in one sentence
    unit: str
    better: Better = Better.LESS
    headline: Headline = Headline.MEAN
    digits: int = 2  # after the decimal point, below ten; larger numbers have fewer
    adds_up: bool = False  # grows with every move, so it is a lower bound for a trial that did not arrive
    bounded_by: str = ""  # a column that marks trials that have only a lower bound for another reason

    def show(self, value: float, error: float | None = None) -> str:
        """Return the text of a value for tables, with its standard error if given, and a unit if its size needs one.

        >>> measure("suboptimality_ratio").show(154.599, 41.459)
        '154.6 ± 41.5'
        >>> measure("suboptimality_ratio").show(-0.0001)  # never -0.000
        '0.000'
        """
        if not math.isfinite(value):
            return "-" if math.isnan(value) else str(value)
        if self.unit in _WRITERS:
            return _WRITERS[self.unit](value)
        digits = max(0, self.digits + 1 - len(str(int(abs(value)))))
        spread = "" if error is None or math.isnan(error) else f" ± {error:,.{digits}f}"
        return f"{value:z,.{digits}f}{spread}"


def _bytes(value: float) -> str:
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def _seconds(value: float) -> str:
    return f"{value * 1000:.3g} ms" if value < 0.9995 else f"{value:.1f} s"


_WRITERS: dict[str, Callable[[float], str]] = {"B": _bytes, "s": _seconds}

_ALL = [
    Measure(
        "suboptimality_ratio",
        "Suboptimality",
        "The cost of the agent's path divided by the cost of a cheapest path: 1 is optimal; a lower bound for a trial "
        "that ended at a limit.",
        "times optimal",
        digits=3,
        adds_up=True,
    ),
    Measure(
        "replanned_ratio",
        "Cost over replanned A*",
        "In a scene: the cost of the agent's path divided by that of a walker that knows every change immediately and "
        "replans with A* after each; a lower bound for a trial that ended at a limit.",
        "times replanned A*",
        digits=3,
        adds_up=True,
    ),
    Measure(
        "capped_suboptimality_ratio",
        "Suboptimality, capped",
        "Suboptimality as Bulitko (2016) counts it: at most the cap, which is also the value of a trial that did not "
        "arrive; an agent that got stuck counts as the cap plus one move.",
        "times optimal",
        digits=3,
    ),
    Measure(
        "capped_replanned_ratio",
        "Cost over replanned A*, capped",
        "In a scene: the cost of the agent's path divided by that of replanned A*, at most the cap, which is also the "
        "value of a trial that did not arrive.",
        "times replanned A*",
        digits=3,
    ),
    Measure(
        "capped_suboptimality_with_waits",
        "Suboptimality with waits, capped",
        "Capped suboptimality, with every turn in which the agent waited counted as a move of cost 1.",
        "times optimal",
        digits=3,
    ),
    Measure(
        "arrival_ratio",
        "Time to arrive",
        "Ticks that a unit of a crowd took to arrive, including waits, divided by the moves of a cheapest path; a "
        "lower bound for a unit that did not arrive.",
        "times optimal",
        digits=3,
        adds_up=True,
    ),
    Measure(
        "waiting_share",
        "Waiting",
        "The share of ticks in which a unit of a crowd was on its way but did not move.",
        "of ticks",
        digits=3,
    ),
    Measure(
        "states_expanded_per_move",
        "Expanded per move",
        "States expanded divided by moves made, for each trial.",
        "states",
    ),
    Measure(
        "max_states_expanded",
        "Worst move",
        "The most states expanded before any single move.",
        "states",
        headline=Headline.MAX,
        digits=0,
        adds_up=True,
    ),
    Measure(
        "first_move_states_expanded",
        "First move",
        "States expanded before the first move, during which the agent waits at the start.",
        "states",
        digits=1,
    ),
    Measure(
        "first_move_states_touched",
        "First move, touched",
        "States touched before the first move: first-move lag as Bulitko et al. (2007) count it.",
        "states",
        digits=1,
    ),
    Measure(
        "first_move_microseconds",
        "First move, time",
        "Time in the loop before the first move.",
        "µs",
    ),
    Measure(
        "microseconds_per_move",
        "Time per move",
        "Time in the loop divided by moves made, for each trial.",
        "µs",
    ),
    Measure(
        "values_stored",
        "Values stored",
        "States whose heuristic value was stored.",
        "values",
        digits=0,
        adds_up=True,
    ),
    Measure("memory_bytes", "Agent memory", "Working memory of the agent, allocated once per map.", "B"),
    Measure(
        "crowd_bytes",
        "Crowd memory",
        "The peak memory of the unit's crowd: minds, desks, tables and databases.",
        "B",
        headline=Headline.MAX,
    ),
    Measure(
        "tick_microseconds",
        "Tick, median",
        "Half of the ticks of the unit's crowd took no longer.",
        "µs",
        headline=Headline.MAX,
    ),
    Measure(
        "slow_tick_microseconds",
        "Tick, 99 %",
        "99 of 100 ticks of the unit's crowd took no longer.",
        "µs",
        headline=Headline.MAX,
    ),
    Measure("database_bytes", "Database", "Size of the agent's databases.", "B"),
    Measure(
        "database_records",
        "Records",
        "Entries in the agent's databases: solved problems, pairs of regions, runs of moves, nodes of a tree.",
        "records",
        digits=0,
    ),
    Measure(
        "database_maps",
        "Database in maps",
        "States and moves in the database per cell of the map.",
        "maps",
    ),
    Measure("build_seconds", "Build time", "Time to prepare for a map, once, before any problem.", "s"),
    Measure("cost", "Cost", "The cost of the agent's path.", "cost", adds_up=True),
    Measure("optimal_cost", "Optimal cost", "The cost of a cheapest path.", "cost", better=Better.NEITHER),
    Measure(
        "replanned_cost",
        "Replanned A*",
        "In a scene: the cost of a walker that knows every change immediately and replans with A* after each.",
        "cost",
        better=Better.NEITHER,
    ),
    Measure(
        "moves",
        "Turns",
        "Turns until the end: moves made, and turns in which the agent waited, which cost nothing but time. In a scene "
        "those in which its goal was cut off are not counted; ticks are.",
        "turns",
        digits=0,
        adds_up=True,
    ),
    Measure(
        "ticks",
        "Ticks",
        "In a scene: ticks until the end, including those in which the agent waited.",
        "ticks",
        digits=0,
        adds_up=True,
    ),
    Measure(
        "goal_achievement_time",
        "Goal achievement time",
        "The time until the agent arrives, planning and walking on one clock: standing plus walking.",
        "expansions",
        digits=0,
        adds_up=True,
        bounded_by="standing_is_bound",
    ),
    Measure(
        "standing_time",
        "Standing",
        "The part of the goal achievement time in which the agent stands and plans: before its first move, and after "
        "it whenever a plan takes longer than a turn.",
        "expansions",
        digits=0,
        adds_up=True,
        bounded_by="standing_is_bound",
    ),
    Measure(
        "walking_time",
        "Walking",
        "The part of the goal achievement time in which the agent walks, or waits: its turns, or in a scene the ticks, "
        "times their length.",
        "expansions",
        digits=0,
        adds_up=True,
    ),
    Measure("turns_waited", "Turns waited", "Turns in which the agent stayed where it was.", "turns", adds_up=True),
    Measure(
        "states_expanded",
        "Expanded",
        "States whose successors were generated, in search or in learning, counted each time this happens.",
        "states",
        digits=0,
        adds_up=True,
    ),
    Measure(
        "states_touched",
        "Touched",
        "States looked at, counted each time.",
        "states",
        digits=0,
        adds_up=True,
    ),
    Measure(
        "learned",
        "Learned",
        "The total increase of heuristic values.",
        "cost",
        better=Better.NEITHER,
        adds_up=True,
    ),
    Measure(
        "cells_discovered",
        "Cells discovered",
        "Cells that an agent with limited sight found blocked or, on a map that changes, open again.",
        "cells",
        better=Better.NEITHER,
        digits=0,
        adds_up=True,
    ),
    Measure("seconds", "Time", "Time spent in the loop, planning and moving.", "s", adds_up=True),
]

#: All measures, by the name of their column.
MEASURES: dict[str, Measure] = {entry.name: entry for entry in _ALL}


#: The statistics that tables can show.
STATISTICS = ("mean", "median", "p95", "max")


def measure_and_statistic(text: str) -> tuple[str, str | None]:
    """Return the measure and the statistic that a text such as ``cost:median`` names, or None for the statistic.

    >>> measure_and_statistic("cost:median"), measure_and_statistic("cost")
    (('cost', 'median'), ('cost', None))
    """
    name, colon, statistic = (word.strip() for word in text.partition(":"))
    measure(name)
    if colon and statistic not in STATISTICS:
        raise ParameterError(f"{name} has no statistic {statistic!r}; {did_you_mean(statistic, STATISTICS)}")
    return name, statistic or None


def measure(name: str) -> Measure:
    """Return the measure of that name."""
    if name not in MEASURES:
        raise ParameterError(f"there is no measure {name!r}; {did_you_mean(name, MEASURES)}")
    return MEASURES[name]
