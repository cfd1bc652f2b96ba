"""Packing of tables of subgoals into palettes and runs, as `andante.databases.pattern` stores them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.pattern import NO_STATE
from andante.offline.builder import Making
from andante.offline.division import States

BLOCK = 64  # rows that are packed at a time: the table may be transposed


class Choices(NamedTuple):
    """The table of subgoals as a palette for each region, and runs of choices from it."""

    row: States
    span: npt.NDArray[np.uint32]
    palette: States
    subgoal: States


def packed(entry: States) -> Making[Choices]:
    """Return the packed rows of a table of subgoals."""
    row, palette = [0], [0]
    spans, subgoals = [], []
    for first in range(0, len(entry), BLOCK):
        for one in np.ascontiguousarray(entry[first : first + BLOCK]):
            begin = np.flatnonzero(np.diff(one, prepend=one[:1] - 1))
            aims, choice = np.unique(one[begin], return_inverse=True)
            spans.append((begin << 16 | choice).astype(np.uint32))
            subgoals.append(aims)
            row.append(row[-1] + len(begin))
            palette.append(palette[-1] + len(aims))
        yield
    span, subgoal = np.concatenate([*spans, np.empty(0, np.uint32)]), np.concatenate([*subgoals, np.empty(0, np.int32)])
    return Choices(np.array(row, np.int32), span, np.array(palette, np.int32), subgoal)


def runs_of(region: States) -> tuple[States, States]:
    """Return runs of states in the same region; states in no region belong to the run before them."""
    known = np.maximum.accumulate(np.where(region != NO_STATE, np.arange(len(region)), 0))
    filled = region[known]
    begin = np.concatenate([[0], np.flatnonzero(np.diff(filled)) + 1]).astype(np.int32)
    return begin, filled[begin]
