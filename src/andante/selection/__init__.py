"""Choosing algorithms: by racing them (`advise`), from a matrix of results, or by features of a problem."""

from andante.selection.advise import advise
from andante.selection.answer import Advice, Standing
from andante.selection.ladder import Rung, ladder
from andante.selection.requirements import AdviceError, Breach, Dropped, Requirements

__all__ = [
    "Advice",
    "AdviceError",
    "Breach",
    "Dropped",
    "Requirements",
    "Rung",
    "Standing",
    "advise",
    "ladder",
]
