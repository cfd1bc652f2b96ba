"""The table of trials in Python, as `andante compare` prints it, for a terminal or a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from andante.episode.rows import rows
from andante.episode.trial import Trial
from andante.errors import ParameterError, expect
from andante.report.ground import Ground
from andante.report.table import ComparisonTable


def table(trials: Iterable[Trial], measures: Sequence[str] = ()) -> ComparisonTable:
    """Return a table of trials, one line per algorithm.

    ``measures`` are columns such as ``cost`` or ``cost:median``, instead of the usual ones. Numbers are bold if they
    are the best, or not worse than the best, on the problems that all algorithms solved.

    >>> import andante
    >>> problems = andante.random_problems(andante.generate("empty", 8, 8), 5)
    >>> trials = andante.run_many("lrta", problems) + andante.run_many("lrta(depth=2)", problems)
    >>> andante.table(trials, ["max_states_expanded:max"])
                                   Worst
                                    move
      Agent              Arrived   (states)
     ────────────────────────────────────
      lrta            100 % of 5          1
      lrta(depth=2)   100 % of 5          9
    """
    expect(trials, Iterable, "a table is of trials, as andante.run_many returns", ParameterError)
    known = [expect(one, Trial, "a table is of trials, as andante.run_many returns", ParameterError) for one in trials]
    ground = Ground.of_rows(rows(known))
    return ComparisonTable(ground.summaries, measures, best=ground.best)
