"""The answer of `advise`: the finalists with their numbers, and sentences that explain them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from andante.episode.run import Outfit
from andante.measures import Row, Statistics, Summary, measure
from andante.measures.comparison import clearly_less, difference
from andante.notebook import html_sentences, html_table
from andante.selection.crowds import TICK_CAP, crowd_code
from andante.selection.library import BuiltDatabases
from andante.selection.requirements import Dropped, Requirements
from andante.selection.space import complexity
from andante.selection.trials import SCORE
from andante.world.grid import Grid

#: An agent is stopped at this many times the optimal cost, and counted with that ratio.
CAP = 100.0
CONFIDENCE = 0.95  # of the intervals, for all standings together


@dataclass(frozen=True)
class Standing:
    """One candidate on the fresh problems."""

    candidate: Outfit[str]
    summary: Summary
    rows: list[Row]
    interval: tuple[float, float]  # confidence interval of the mean suboptimality, for all standings together
    worst_microseconds: float | None  # time of the slowest move; None if there is no limit on it
    timed: int  # number of problems whose moves were timed
    built: BuiltDatabases
    noise: float = 0.0  # error of the mean suboptimality that is due to the machine and not to the problems

    @property
    def suboptimality(self) -> Statistics:
        """Capped suboptimality on the fresh problems, with a turn in which the agent waited as a move of cost 1."""
        return self.summary[SCORE]

    @property
    def lost(self) -> int:
        """The number of problems that were not solved."""
        return self.summary.trials - self.summary.solved

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """The suboptimality on each problem."""
        return np.array([row[SCORE] for row in self.rows], np.float64)

    def __repr__(self) -> str:
        return f"<Standing: {self._in_short()}>"

    def _in_short(self) -> str:
        ratio = measure(SCORE).show(self.suboptimality.mean, self.suboptimality.standard_error)
        return f"{self.candidate.name}, {ratio} times optimal on {self.summary.trials:,} problems"


@dataclass(frozen=True)
class Advice:
    """The answer of `advise`."""

    requirements: Requirements
    maps: tuple[Grid, ...]
    ranking: tuple[Standing, ...]  # the finalists that keep all limits, best first
    dropped: tuple[Dropped, ...]
    tried: int  # number of candidates that were tried
    untried: int  # number of candidates that were not tried for lack of time
    uncompiled: int  # number of candidates left out because compiling had taken too long
    race_problems: int  # number of problems on which the finalists were chosen
    fresh_problems: int
    compile_seconds: float = 0.0  # time for compiling, which is not part of the minutes
    files: dict[str, list[Path]] = field(default_factory=dict)  # the winner's databases, by map

    @property
    def winner(self) -> Standing:
        """The agent to use."""
        return self.ranking[0]

    @property
    def rows(self) -> list[Row]:
        """Every trial on the fresh problems."""
        return [row for standing in self.ranking for row in standing.rows]

    @property
    def summaries(self) -> list[Summary]:
        """The summaries of the ranking, best first."""
        return [standing.summary for standing in self.ranking]

    @property
    def code(self) -> str:
        """A line of Python that makes the winner, or a crowd of it."""
        entry, sight = self.winner.candidate.algorithm, self.requirements.sight
        options = [f"sight={sight}"] if sight is not None else []
        if self.winner.candidate.databases:
            files = [str(file) for file in self.files.get(self.maps[0].name, [])]
            loads = [f"andante.load({file!r}, map=grid)" for file in files]
            builds = [f"andante.build({text!r}, grid)" for text in self.winner.candidate.databases]
            options.append(f"databases=[{', '.join(loads or builds)}]")
        if self.requirements.units is not None:
            return crowd_code(options, str(entry), min(float(row["mind_bytes"]) for row in self.winner.rows))
        return f"andante.Agent({', '.join([repr(str(entry)), 'grid', *options])})"

    @property
    def sentences(self) -> list[str]:
        """The answer in words: the agent to use, the certainty of the result, and the candidates tried."""
        sentences = [
            *self._use(),
            self._sure(),
            *self._simpler(),
            self._tried(),
            self.unfinished,
            *self._left_out(),
            *self._changing(),
        ]
        return [sentence for sentence in sentences if sentence]

    def __repr__(self) -> str:
        return f"<Advice: {self.winner._in_short()}>"

    def _repr_html_(self) -> str:
        shown = [measure(name) for name in (SCORE, "states_expanded_per_move", "max_states_expanded", "database_bytes")]
        lines = []
        for standing in self.ranking:
            numbers = standing.summary.measures
            cells = [
                standing.summary.show(one.name, one.headline.value) if one.name in numbers else "-" for one in shown
            ]
            lines.append([standing.candidate.name, *cells])
        heads = [f"{one.title} ({one.unit})" if one.unit not in ("", "B", "s") else one.title for one in shown]
        return html_table(["Agent", *heads], lines) + html_sentences([*self.sentences, f"Use it: {self.code}"])

    def _use(self) -> list[str]:
        best = self.winner
        sentences = self._use_agent() if self.requirements.units is None else self._use_crowd()
        if best.built.databases:
            size, time = measure("database_bytes"), measure("build_seconds")
            sentences.append(
                f"Its databases take at most {size.show(best.built.nbytes)} for a map, and took at most "
                f"{time.show(best.built.build_seconds)} to build."
            )
        if not best.candidate.algorithm.complete:
            sentences.append("It is not proven to solve every problem that has a solution; others in the table may be.")
        return sentences

    def _use_agent(self) -> list[str]:
        best = self.winner
        ratio = measure(SCORE).show(best.suboptimality.mean, best.suboptimality.standard_error)
        low, high = best.interval
        worst = f"its worst move expanded {_states(best.summary['max_states_expanded'].max)}"
        if best.worst_microseconds is not None:
            worst += f", and the slowest on {best.timed} of them took {best.worst_microseconds:,.1f} µs"
        answer = (
            f"Use {best.candidate.name}: on {self.fresh_problems:,} fresh problems it walked {ratio} times the optimal "
            f"cost ({CONFIDENCE:.0%} interval {low:.3f} to {high:.3f}), and {worst}."
        )
        sentences = [answer, *self._waits()]
        if best.lost:
            sentences.append(
                f"It did not arrive in {best.lost} of them: it reached {CAP:g} times the optimal cost, or got stuck."
            )
        return sentences

    def _use_crowd(self) -> list[str]:
        """Return sentences about the winner's crowds: what a player would see, and their memory and time."""
        best, summary = self.winner, self.winner.summary
        arrived = [row for row in best.rows if row["solved"]]
        walked, lasted, waited = (
            _mean(name, rows)
            for name, rows in (
                ("suboptimality_ratio", arrived),
                ("arrival_ratio", arrived),
                ("waiting_share", best.rows),
            )
        )
        size = _sizes(best.rows)
        answer = (
            f"Use {best.candidate.name}: of {self.fresh_problems:,} units with fresh problems, in crowds of {size}, "
            f"{len(arrived):,} arrived. These took {lasted} times as many ticks as a cheapest path has moves, and "
            f"walked {walked} times the optimal cost. All units waited in {waited} of their ticks."
        )
        sentences = [answer]
        if best.lost:
            sentences.append(
                f"{best.lost:,} did not arrive: when their crowd was stopped, after {TICK_CAP} times the moves of the "
                f"longest of its cheapest paths, they were still on their way, or they were stuck."
            )
        low, high = best.interval
        ratio = measure(SCORE).show(best.suboptimality.mean, best.suboptimality.standard_error)
        sentences.append(
            f"The ranking counts a tick waited as a move of cost 1, and a unit that did not arrive as {CAP:g} times "
            f"the optimal cost: {ratio} for this one ({CONFIDENCE:.0%} interval {low:.3f} to {high:.3f}). A second run "
            f"of the same crowds differed by {best.noise * math.sqrt(2):.3f}, which the interval includes."
        )
        restarts = round(sum(int(row["crowd_restarts"]) / int(row["crowd_units"]) for row in best.rows))
        full = f"; memory was full {restarts:,} times, and the unit that used most restarted" if restarts else ""
        sentences.append(
            f"Units and databases took at most {measure('crowd_bytes').show(summary['crowd_bytes'].max)}{full}. Half "
            f"of the ticks took at most {summary['tick_microseconds'].max / 1000:.2f} ms, and 99 of 100 at most "
            f"{summary['slow_tick_microseconds'].max / 1000:.2f} ms."
        )
        return [*sentences, *self._smaller(), *self._interrupted()]

    def _smaller(self) -> list[str]:
        """Return a sentence that there was no time for crowds of full size, if so."""
        units = self.requirements.units
        largest = max(int(row["crowd_units"]) for row in self.winner.rows)
        if units is None or largest >= units:
            return []
        why = f"There was no time for crowds of {units:,} units"
        return [f"{why}: those of {largest:,} had proportionally less time in a tick and less memory for minds."]

    def _interrupted(self) -> list[str]:
        """Return a sentence that other programs took time from ticks, if so; a quiet machine would move more units."""
        limit, slow = self.requirements.tick_ms, self.winner.summary["slow_tick_microseconds"].max / 1000
        if limit is None or slow <= _INTERRUPTED * limit:
            return []
        why = "Some ticks took much longer than allowed, most likely because other programs were running"
        return [f"{why}. Units wait in such ticks, so expect shorter waits on a quiet machine."]

    def _waits(self) -> list[str]:
        """Return a sentence on how turns waited are counted, if a finalist waited."""
        if not any(one.summary["turns_waited"].max for one in self.ranking):
            return []
        waited = measure("turns_waited").show(self.winner.summary["turns_waited"].mean)
        counted = "In these numbers a turn in which an agent waits counts as a move of cost 1"
        return [f"{counted}; this one waited for {waited} turns per problem on average."]

    @cached_property
    def _clear(self) -> set[tuple[int, int]]:
        """The pairs of places in the ranking for which the first is clearly better than the second."""
        return clearly_less([one.scores for one in self.ranking], noise=[one.noise for one in self.ranking])

    def _sure(self) -> str:
        """Return a sentence that compares the winner with the second, problem by problem."""
        if len(self.ranking) < 2:
            return "No other candidate that was tried kept all limits on the fresh problems."
        best, second = self.ranking[:2]
        mean, error = _between(second, best)
        if mean == 0 == error:
            return f"The second, {second.candidate.name}, did exactly as well, problem by problem."
        sure = (
            f"the first is clearly better, even considering that {len(self.ranking)} were compared"
            if (0, 1) in self._clear
            else "that may be chance; decide by other criteria or use more problems"
        )
        return f"The second, {second.candidate.name}, walks {_apart(mean, error)} more: {sure}."

    def _simpler(self) -> list[str]:
        """Return a sentence about the simplest agent that is not clearly worse, if one is simpler than the winner."""
        best = self.winner
        ties = [
            one
            for place, one in enumerate(self.ranking)
            if complexity(one.candidate) < complexity(best.candidate) and (0, place) not in self._clear
        ]
        if not ties:
            return []
        one = min(ties, key=lambda tie: complexity(tie.candidate))
        mean, error = _between(one, best)
        return [f"{one.candidate.name} is simpler and not clearly worse ({_apart(mean, error)} more)."]

    def _tried(self) -> str:
        broken = Counter(_BROKEN[one.breach.limit] for one in self.dropped if one.breach is not None)
        why = "".join(f", {count:,} broke the limit on {limit}" for limit, count in sorted(broken.items()))
        if self.requirements.units is None:
            return f"{self.tried:,} candidates raced on up to {self.race_problems:,} problems{why}."
        how = "as crowds, first of fewer units with proportionally less time and memory"
        return f"{self.tried:,} candidates raced {how}, on up to {self.race_problems:,} problems{why}."

    @property
    def unfinished(self) -> str:
        """The sentence that there was no time for all candidates, empty if there was."""
        if not self.untried:
            return ""
        return f"There was no time to try {self.untried:,} more: with more minutes a better one may be found."

    def _left_out(self) -> list[str]:
        """Return a sentence that not all candidates were compiled, if so."""
        if not self.uncompiled:
            return []
        why = f"because compiling had taken {self.compile_seconds:.0f} s by then"
        return [f"{self.uncompiled} candidates were left out {why}. Compiled code is cached: run it again for more."]

    def _changing(self) -> list[str]:
        """Return a sentence on the conditions of the numbers, if the map may change."""
        if not self.requirements.changing or self.requirements.sight is not None:
            return []
        sentence = (
            "The numbers are for maps that do not change. An agent that follows changes is made with sight=R, the "
        )
        return [f"{sentence}number of cells that it can see; for such numbers use --sight R (in Python sight=R)."]


#: The names of limits in sentences.
_BROKEN = {
    "expansions": "expansions",
    "microseconds": "time",
    "memory_bytes": "memory",
    "build_seconds": "build time",
    "tick_ms": "ticks",
    "total_memory": "total memory",
}

_INTERRUPTED = 1.5  # times the budget; if one tick in a hundred takes longer, the machine is called busy


def _mean(name: str, rows: Sequence[Row]) -> str:
    """Return the mean of a measure with its standard error."""
    numbers = Statistics.of(float(row[name]) for row in rows)
    if name == "waiting_share":
        return f"{100 * numbers.mean:.1f} ± {100 * numbers.standard_error:.1f} %"
    return measure(name).show(numbers.mean, numbers.standard_error)


def _sizes(rows: Sequence[Row]) -> str:
    """Return the sizes of crowds in words.

    >>> _sizes([{"crowd_units": 200}, {"crowd_units": 120}]), _sizes([{"crowd_units": 200}])
    ('120 to 200', '200')
    """
    sizes = [int(row["crowd_units"]) for row in rows]
    return f"{max(sizes):,}" if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,}"


def _between(one: Standing, best: Standing) -> tuple[float, float]:
    """Return the difference of one from the best in suboptimality, and its standard error."""
    return difference(one.scores, best.scores, math.hypot(one.noise, best.noise))


def _apart(mean: float, error: float) -> str:
    """Return a difference with its standard error, with as many digits as the error justifies.

    >>> _apart(0.5, 0.25), _apart(0.000123, 0.00004)
    ('0.500 ± 0.250', '0.00012 ± 0.00004')
    """
    digits = 3 if error >= 0.001 or mean == error == 0 else 5
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def _states(count: float) -> str:
    return f"{count:,.0f} state{'' if count == 1 else 's'}"
