"""What numbers mean: their definitions, units, which direction is better, how to aggregate them; and advice."""

from andante.measures.advice import Choice, choices, recommend
from andante.measures.fairness import jain_index
from andante.measures.measure import MEASURES, Better, Headline, Measure, measure
from andante.measures.outcome import CUT_SHORT, Outcome
from andante.measures.suboptimality import (
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
    problem_mismatch,
    quality_of,
    summarise,
)

__all__ = [
    "CUT_SHORT",
    "MEASURES",
    "PLACE",
    "QUALITIES",
    "Better",
    "Choice",
    "Headline",
    "Measure",
    "Outcome",
    "Row",
    "Statistics",
    "Summary",
    "capped_suboptimality_ratio",
    "capped_suboptimality_with_waits",
    "choices",
    "jain_index",
    "measure",
    "problem_mismatch",
    "quality_of",
    "recommend",
    "replanned_ratio",
    "suboptimality_ratio",
    "summarise",
]
