"""Goal achievement time: planning and walking on one clock, as Kiesel, Burns and Ruml (2015) count it.

The clock counts states expanded, so it shows the same time on any machine, and a turn lasts as long as a given number
of expansions. An agent stands while it plans its first move. In each turn it walks one move, or waits, and plans the
next. If planning takes longer than the turn, it stands until the plan is done. So the time until it arrives has two
parts: *walking*, the length of a turn times the number of turns, and *standing*, the first plan and the time of later
ones beyond their turns. A* stands for long and then walks. A real-time agent whose budget fits into a turn never stands
again after its first move.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.errors import ParameterError, real_number
from andante.measures.summary import Row

Values = npt.NDArray[np.float64]

#: The columns that a goal achievement time needs; in scenes, ticks instead of moves.
NEEDED = ("moves", "states_expanded", "first_move_states_expanded", "max_states_expanded")


def needed(columns: Collection[str]) -> tuple[str, ...]:
    """Return the columns that a goal achievement time needs, the turns first; raise an error if one is missing.

    In a scene a turn is a tick, because time also passes while the agent waits until its goal is no longer cut off.
    """
    found = ("ticks", *NEEDED[1:]) if {"ticks", "unit"} & set(columns) else NEEDED
    for name in found:
        if name not in columns:
            raise ParameterError(f"goal achievement times need a column {name!r}, which these rows do not have")
    return found


class Achievement(NamedTuple):
    """The two parts of goal achievement times, in expansions, and a mask of those that are only lower bounds."""

    standing: Values
    walking: Values
    is_bound: npt.NDArray[np.bool_]

    @property
    def total(self) -> Values:
        """The goal achievement times."""
        return self.standing + self.walking


def goal_achievement(columns: Mapping[str, npt.ArrayLike], turn: float) -> Achievement:
    """Return goal achievement times from the columns of trials; a turn lasts as long as ``turn`` expansions.

    The time that an agent stands after its first move is exact if no later move took longer to plan than a turn. The
    totals of a trial show this for A* and for agents that keep to a budget. Otherwise it is a lower bound: the time
    that the worst move, or the sum of all later ones, must have taken beyond their turns.

    >>> trials = {"moves": [10, 25], "states_expanded": [300, 25],
    ...           "first_move_states_expanded": [300, 1], "max_states_expanded": [300, 1]}
    >>> goal_achievement(trials, turn=20).total.tolist()  # 300 expansions and 10 turns; one expansion and 25 turns
    [500.0, 501.0]
    """
    turns, total, first, worst = (np.asarray(columns[name], np.float64) for name in needed(columns))
    length = turn_length(turn)
    later = total - first
    surely = np.maximum(later - np.maximum(turns - 1, 0) * length, np.where(worst > first, worst - length, 0.0))
    within = (worst <= length) | (later <= length)  # whether no later move took longer than a turn
    return Achievement(first + np.where(within, 0.0, np.maximum(surely, 0.0)), turns * length, ~within)


def turn_length(turn: float) -> float:
    """Return the length of a turn in expansions; raise `ParameterError` if it is invalid."""
    length = real_number(turn, "the length of a turn")
    if not 0 < length < math.inf:
        raise ParameterError(f"the length of a turn must be above 0 and finite, got {turn:g}")
    return length


def with_achievement(rows: Sequence[Row], turn: float) -> list[Row]:
    """Return the rows with columns for the goal achievement time and its two parts.

    >>> trial = {"moves": 10, "states_expanded": 300, "first_move_states_expanded": 300, "max_states_expanded": 300}
    >>> row = with_achievement([trial], turn=20)[0]
    >>> row["goal_achievement_time"], row["standing_time"], row["walking_time"]
    (500.0, 300.0, 200.0)
    """
    if not rows:
        return []
    found = goal_achievement({name: [row[name] for row in rows] for name in needed(rows[0])}, turn)
    return [
        {**row, **dict(zip(ACHIEVED, numbers, strict=True))}
        for row, numbers in zip(rows, zip(*(part.tolist() for part in columns_of(found)), strict=True), strict=True)
    ]


#: The columns of goal achievement times: the measures, and whether they are only lower bounds.
ACHIEVED = ("goal_achievement_time", "standing_time", "walking_time", "standing_is_bound")


def columns_of(found: Achievement) -> tuple[npt.NDArray[np.generic], ...]:
    """Return the columns of ACHIEVED."""
    return found.total, found.standing, found.walking, found.is_bound
