"""Measures: their definitions, units, better direction and aggregation, and advice based on them."""

from andante.measures.achievement import Achievement, goal_achievement, with_achievement
from andante.measures.advice import Choice, choices, choices_of, recommend
from andante.measures.clusters import Clusters, Interval, Over
from andante.measures.comparison import Comparison, compare, compare_rows
from andante.measures.contest import Contest, solved_by_all
from andante.measures.fairness import jain_index
from andante.measures.measure import (
    MEASURES,
    STATISTICS,
    Better,
    Headline,
    Measure,
    measure,
    measure_and_statistic,
)
from andante.measures.outcome import Outcome
from andante.measures.suboptimality import (
    capped_replanned_ratio,
    capped_suboptimality_ratio,
    capped_suboptimality_with_waits,
    replanned_ratio,
    suboptimality_ratio,
)
from andante.measures.summary import (
    PLACE,
    QUALITIES,
    Row,
    Statistics,
    Summary,
    map_column,
    problem_mismatch,
    quality_of,
    summarise,
)

__all__ = [
    "MEASURES",
    "PLACE",
    "QUALITIES",
    "STATISTICS",
    "Achievement",
    "Better",
    "Choice",
    "Clusters",
    "Comparison",
    "Contest",
    "Headline",
    "Interval",
    "Measure",
    "Outcome",
    "Over",
    "Row",
    "Statistics",
    "Summary",
    "capped_replanned_ratio",
    "capped_suboptimality_ratio",
    "capped_suboptimality_with_waits",
    "choices",
    "choices_of",
    "compare",
    "compare_rows",
    "goal_achievement",
    "jain_index",
    "map_column",
    "measure",
    "measure_and_statistic",
    "problem_mismatch",
    "quality_of",
    "recommend",
    "replanned_ratio",
    "solved_by_all",
    "suboptimality_ratio",
    "summarise",
    "with_achievement",
]
