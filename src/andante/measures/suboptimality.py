"""Suboptimality: how much more expensive a path is than a cheapest one. There are five measures, with five names.

`suboptimality_ratio` contains only what is known, and no made-up number for an agent that did not arrive. Bulitko
(2016) needs a number for every trial, so `capped_suboptimality_ratio` has one for trials that did not arrive as well.
Both measure only cost, and waiting is free. `capped_suboptimality_with_waits` also counts turns waited, because time
passes. On a map that changes there is no cheapest path to compare with. `replanned_ratio` compares with a walker that
knows each change, and `capped_replanned_ratio` has a number for trials that did not arrive, too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from andante.measures.outcome import Outcome


def suboptimality_ratio(cost: float, optimal_cost: float, outcome: Outcome) -> float:
    """Return the cost of the agent's path divided by the optimal cost: 1 is optimal.

    For a trial that ended at a limit, or that is still in progress, this is a lower bound of at least 1, because an
    agent that has not arrived would have continued. It is nan if the agent got stuck or there is no path.

    >>> suboptimality_ratio(12.0, 10.0, Outcome.GOAL), suboptimality_ratio(4.0, 10.0, Outcome.MOVE_CAP)
    (1.2, 1.0)
    >>> suboptimality_ratio(4.0, 10.0, Outcome.STUCK)
    nan
    """
    if outcome in (Outcome.STUCK, Outcome.UNREACHABLE) or optimal_cost == math.inf:
        return math.nan
    ratio = cost / optimal_cost if optimal_cost else 1.0 if cost == 0 else math.inf  # start and goal may be one state
    return ratio if outcome is Outcome.GOAL else max(ratio, 1.0)


def replanned_ratio(cost: float, replanned_cost: float, outcome: Outcome) -> float:
    """Return the cost of the agent's path in a scene divided by that of A* replanned after every event.

    It may be below 1, because no walker knows future changes, and a detour may prove to be the cheaper path. For a
    trial that ended at a limit it is a lower bound. It is nan if the agent got stuck or was cut off for good, or if the
    replanned walker did not arrive.

    >>> replanned_ratio(12.0, 10.0, Outcome.GOAL), replanned_ratio(4.0, 10.0, Outcome.MOVE_CAP)
    (1.2, 0.4)
    >>> replanned_ratio(4.0, float("inf"), Outcome.GOAL)
    nan
    """
    if outcome in (Outcome.STUCK, Outcome.UNREACHABLE) or not 0 < replanned_cost < math.inf:
        return math.nan
    return cost / replanned_cost


def capped_suboptimality_ratio(
    cost: npt.ArrayLike, optimal_cost: npt.ArrayLike, outcome: npt.ArrayLike, cap: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """Return suboptimality as Bulitko (2016) counts it, for columns of trials; ``outcome`` contains names of outcomes.

    Ratios above the cap count as the cap. A trial that did not arrive counts as the cap, and an agent that got stuck as
    the cap plus one move.

    >>> capped_suboptimality_ratio([12.0, 900.0, 5.0], 10.0, ["GOAL", "COST_CAP", "STUCK"], 50.0).tolist()
    [1.2, 50.0, 50.1]
    """
    walked, optimal, most = (np.asarray(column, np.float64) for column in (cost, optimal_cost, cap))
    ended: npt.NDArray[Any] = np.asarray(outcome)
    missed = most + np.where(ended == Outcome.STUCK.name, 1.0 / optimal, 0.0)
    return np.where(ended == Outcome.GOAL.name, np.minimum(walked / optimal, most), missed)


def capped_replanned_ratio(
    cost: npt.ArrayLike, replanned_cost: npt.ArrayLike, outcome: npt.ArrayLike, cap: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """Return `capped_suboptimality_ratio` with the cost of replanned A* instead of the optimal cost.

    It is nan if the replanned walker did not arrive, as `replanned_ratio` is.

    >>> capped_replanned_ratio([12.0, 4.0, 4.0], [10.0, 10.0, np.inf], ["GOAL", "UNREACHABLE", "GOAL"], 50.0).tolist()
    [1.2, 50.0, nan]
    """
    least = np.asarray(replanned_cost, np.float64)
    known = np.where((least > 0) & (least < math.inf), least, math.nan)
    return np.where(np.isnan(known), math.nan, capped_suboptimality_ratio(cost, known, outcome, cap))


def capped_suboptimality_with_waits(
    cost: npt.ArrayLike,
    turns_waited: npt.ArrayLike,
    optimal_cost: npt.ArrayLike,
    outcome: npt.ArrayLike,
    cap: npt.ArrayLike,
) -> npt.NDArray[np.float64]:
    """Return `capped_suboptimality_ratio` with every turn in which the agent waited counted as a move of cost 1.

    >>> capped_suboptimality_with_waits([12.0, 12.0], [0, 3], 10.0, ["GOAL", "GOAL"], 50.0).tolist()
    [1.2, 1.5]
    """
    spent = np.asarray(cost, np.float64) + np.asarray(turns_waited, np.float64)
    return capped_suboptimality_ratio(spent, optimal_cost, outcome, cap)
