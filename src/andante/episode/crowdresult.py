"""The result of a crowd: the times of its ticks and the walks of its units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from andante.errors import ParameterError, real_number, whole_number
from andante.measures import Outcome, replanned_ratio, suboptimality_ratio

if TYPE_CHECKING:
    from andante.episode.crowdtrace import CrowdTrace
    from andante.episode.tick import Tick

MOST_TICKS = 10_000


@dataclass(frozen=True)
class Pace:
    """The budget of each tick, in microseconds or in expansions, and the number of ticks."""

    microseconds: float | None = None
    expansions: float | None = None
    ticks: int = MOST_TICKS

    def __post_init__(self) -> None:
        if self.microseconds is not None and self.expansions is not None:
            raise ParameterError("a tick has a budget in expansions or in microseconds, not both")
        for name in ("microseconds", "expansions"):
            value = getattr(self, name)
            if value is not None and not real_number(value, name) > 0:
                raise ParameterError(f"{name} must be more than 0, got {value:g}")
        whole_number(self.ticks, "ticks", least=1, error=ParameterError)

    def __str__(self) -> str:
        if self.microseconds is not None:
            return f"{self.microseconds:,g} us per tick"
        return "no budget" if self.expansions is None else f"{self.expansions:,g} expansions per tick"


@dataclass(frozen=True, eq=False)
class CrowdResult:
    """The times of a crowd's ticks, and the outcomes of its units."""

    algorithm: str
    map_name: str
    pace: Pace
    ticks: Sequence[Tick]
    outcomes: npt.NDArray[np.int64]  # [units], numbers of `Outcome`
    optimal_costs: npt.NDArray[np.float64]  # [units]; in a scene, those of A* replanned after every event
    costs: npt.NDArray[np.float64]  # [units]
    jain_index: float
    memory_bytes: int  # of the whole crowd, at its peak
    unit_bytes: npt.NDArray[np.int64]  # [units], the highest memory seen of each
    in_scene: bool = False
    trace: CrowdTrace | None = None

    @property
    def ratio(self) -> str:
        """The name of the ratio of costs; in a scene no agent can know the optimal cost."""
        return "replanned_ratio" if self.in_scene else "suboptimality_ratio"

    @property
    def units(self) -> int:
        """The number of units."""
        return len(self.outcomes)

    def ended(self, outcome: Outcome) -> int:
        """Return the number of units with this outcome."""
        return int(np.count_nonzero(self.outcomes == int(outcome)))

    @property
    def restarted(self) -> int:
        """The number of times that a unit had to restart because memory was full."""
        return sum(tick.restarted for tick in self.ticks)

    @property
    def units_per_millisecond(self) -> float:
        """Moves per millisecond of tick time, over the ticks in which at least half of the units walked.

        With fewer units the fixed cost of a tick counts more than their moves.
        """
        busy = [tick for tick in self.ticks if 2 * (tick.moved + tick.waiting) >= self.units]
        took = sum(tick.microseconds for tick in busy)
        return 1000 * sum(tick.moved for tick in busy) / took if took else float("nan")

    def tick_microseconds(self, percent: float) -> float:
        """Return this percentile of the ticks' times."""
        took = [tick.microseconds for tick in self.ticks]
        return float(np.percentile(took, percent, method="higher")) if took else float("nan")

    @property
    def longest_wait(self) -> int:
        """The largest number of consecutive ticks in which a unit had to wait."""
        return max((tick.longest_wait for tick in self.ticks), default=0)

    @property
    def mean_wait(self) -> float:
        """The mean number of ticks that a unit waited per move."""
        moved = sum(tick.moved for tick in self.ticks)
        return sum(tick.waiting for tick in self.ticks) / moved if moved else float("nan")

    @property
    def expansions_per_move(self) -> float:
        """The mean number of states expanded per move."""
        moved = sum(tick.moved for tick in self.ticks)
        return sum(tick.expansions for tick in self.ticks) / moved if moved else float("nan")

    @property
    def ratios(self) -> npt.NDArray[np.float64]:
        """The values of `ratio` for the units that arrived."""
        measured = replanned_ratio if self.in_scene else suboptimality_ratio
        arrived = np.flatnonzero(self.outcomes == int(Outcome.GOAL))
        pairs = zip(self.costs[arrived].tolist(), self.optimal_costs[arrived].tolist(), strict=True)
        ratios = np.array([measured(*costs, Outcome.GOAL) for costs in pairs], np.float64)
        return ratios[np.isfinite(ratios)]

    def figures(self) -> dict[str, Any]:
        """Return all figures by name; nan where there is nothing to measure."""
        ratios = self.ratios
        return {
            "algorithm": self.algorithm,
            "map": self.map_name,
            "units": self.units,
            "ticks": len(self.ticks),
            "units_per_millisecond": self.units_per_millisecond,
            "tick_microseconds_p50": self.tick_microseconds(50),
            "tick_microseconds_p99": self.tick_microseconds(99),
            "tick_microseconds_p99_99": self.tick_microseconds(99.99),
            "longest_wait": self.longest_wait,
            "mean_wait": self.mean_wait,
            "arrived": self.ended(Outcome.GOAL),
            "walking": self.ended(Outcome.WALKING),
            "unreachable": self.ended(Outcome.UNREACHABLE),
            "stuck": self.ended(Outcome.STUCK),
            "restarted": self.restarted,
            f"{self.ratio}_mean": float(ratios.mean()) if len(ratios) else float("nan"),
            f"{self.ratio}_median": float(np.median(ratios)) if len(ratios) else float("nan"),
            "expansions_per_move": self.expansions_per_move,
            "jain_index": self.jain_index,
            "memory_bytes": self.memory_bytes,
            "median_unit_bytes": float(np.median(self.unit_bytes)) if self.units else float("nan"),
        }
