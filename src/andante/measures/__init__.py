"""What a number means: its unit, which way is better, how to add it up; and rows, summaries and advice made of them."""

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
