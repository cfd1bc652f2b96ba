"""What numbers mean: their units, which direction is better, how to aggregate them; and rows, summaries and advice."""

from andante.measures.advice import Choice, choices, recommend
from andante.measures.measure import MEASURES, Better, Headline, Measure, measure
from andante.measures.rows import Row, rows
from andante.measures.summary import PLACE, Statistics, Summary, summarise, unlike

__all__ = [
    "MEASURES",
    "PLACE",
    "Better",
    "Choice",
    "Headline",
    "Measure",
    "Row",
    "Statistics",
    "Summary",
    "choices",
    "measure",
    "recommend",
    "rows",
    "summarise",
    "unlike",
]
