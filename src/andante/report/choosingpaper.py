"""A paper's numbers about choosing algorithms, beside those of `andante choose`.

    title = "Bulitko 2016: choosing algorithms"

    [[part]]
    title = "Table 1: per map"
    by = "map"
    algorithms = 1500
    rows = [ { label = "sample of 1 %", of = "sample", run = 15, paper = "15.9 ± 0.21" } ]

A method of choosing is judged with the same number of algorithms run as in the paper, so that results with fewer
algorithms in total can be compared too. ``why`` in a part or a row gives the reason why a number is not reproduced, and
``fewer`` the reason that holds while there are fewer algorithms than in the paper.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from andante.datafile import Table, read_tables
from andante.errors import did_you_mean
from andante.markdown import markdown_table, plain
from andante.measures import Statistics
from andante.report.choosing import Split
from andante.report.published import (
    RULE,
    Mark,
    Ours,
    Published,
    counted_in_words,
    few_problems,
    judged,
    loosely_reproduced,
    printed,
)

SINGLE = ("random", "single best", "virtual best")  # scores of all results
WAYS = ("exhaustive", "prior", "sample")  # scores of a sweep
BY = ("map", "problem")

_NOT_RUN = "not run"


@dataclass(frozen=True)
class Choice:
    """A number of the paper: the score of one method of choosing."""

    part: str
    by: str  # map or problem; empty for scores of all results
    label: str
    of: str
    run: float  # algorithms run on each instance, for samples; 0 if that does not matter
    paper: str
    why: str
    fewer: str
    algorithms: int  # of the paper


@dataclass(frozen=True)
class Scores:
    """The scores that `andante choose` has computed."""

    algorithms: int
    whole: Mapping[str, Statistics]  # by `SINGLE`
    sweeps: Mapping[str, Sequence[Split]]  # by `BY`


def read_choices(path: str | os.PathLike[str]) -> tuple[str, list[Choice]]:
    """Return the title of a paper's file, and its numbers."""
    file = Path(path)
    data, lines = read_tables(file, "full")
    top = Table(data, "", file, lines)
    title, found = top.take("title", str), list[Choice]()
    for number, one in enumerate(top.take("part", list), 1):
        if not isinstance(one, dict):
            top.fail(f"each part must be a table, [[part]], not {one!r}", "part")
        found += _choices_of(Table(one, f"part {number}", file, lines))
    top.finish()
    return title, found


def _choices_of(part: Table) -> list[Choice]:
    by = part.take("by", str, "")
    if by and by not in BY:
        part.fail(f"choices are made by {' or '.join(BY)}, not by {by!r}", "by")
    heading = _Heading(
        part.take("title", str),
        by,
        part.take("algorithms", int),
        part.take("why", str, ""),
        part.take("fewer", str, ""),
    )
    found = [_choice(heading, row) for row in part.take_tables("rows")]
    part.finish()
    return found


class _Heading(NamedTuple):
    """The settings that all numbers of a part share."""

    title: str
    by: str
    algorithms: int
    why: str
    fewer: str


def _choice(part: _Heading, row: Table) -> Choice:
    known, of = WAYS if part.by else SINGLE, row.take("of", str)
    if of not in known:
        row.fail(f"there is no score of {of!r} here; {did_you_mean(of, known)}", "of", of)
    text = row.take("paper", str)
    if printed(text) is None:
        row.fail(f"'paper' must be a number, perhaps with an error as in '19.3 ± 0.23', not {text!r}", "paper", text)
    choice = Choice(
        part=part.title,
        by=part.by,
        label=row.take("label", str, of),
        of=of,
        run=row.take("run", float, 0.0),
        paper=text,
        why=row.take("why", str, part.why),
        fewer=row.take("fewer", str, part.fewer),
        algorithms=part.algorithms,
    )
    row.finish()
    return choice


def missing_for(choices: Sequence[Choice], algorithms: int) -> list[float]:
    """Return the shares of missing results, in percent, that leave samples with as many algorithms as in the paper.

    >>> some = [Choice("", "map", "", "sample", run, "1", "", "", 1500) for run in (15, 75, 200)]
    >>> missing_for(some, 100)
    [85.0, 25.0]
    """
    runs = dict.fromkeys(one.run for one in choices if 0 < one.run <= algorithms)
    return [100 - 100 * run / algorithms for run in runs]


def published(choices: Sequence[Choice], scores: Scores) -> list[Published]:
    """Return the paper's numbers with ours and their marks."""
    return [_judged(one, scores) for one in choices]


def _judged(choice: Choice, scores: Scores) -> Published:
    mine = _score(choice, scores)
    paper = printed(choice.paper)
    assert paper is not None
    if mine is None:
        return Published(choice.part, choice.label, choice.paper, _NOT_RUN, "", Mark.OPEN, _NOT_RUN)
    error = math.nan if choice.of == "single best" else mine.standard_error  # that of a minimum is not known
    mark, room = judged(paper, Ours(mine.mean, error))
    shown = f"{mine.mean:.2f}" if math.isnan(error) else f"{mine.mean:.2f} ± {error:.2f}"
    why = choice.fewer if choice.fewer and scores.algorithms < choice.algorithms else choice.why
    return Published(
        choice.part,
        choice.label,
        choice.paper,
        shown,
        f"{room:.3g}",
        mark,
        "" if mark is Mark.WITHIN else why,
        count=scores.algorithms,
        paper_count=choice.algorithms,
    )


def _score(choice: Choice, scores: Scores) -> Statistics | None:
    if not choice.by:
        return scores.whole[choice.of]
    lines = scores.sweeps[choice.by]
    if choice.run:
        lines = [one for one in lines if math.isclose(one.present * scores.algorithms, 100 * choice.run, rel_tol=1e-6)]
    return getattr(lines[0], choice.of) if lines else None


def paper_section(numbers: Sequence[Published]) -> list[str]:
    """Return how many of the paper's numbers are reproduced, and a table of each part."""
    parts: dict[str, list[list[str]]] = {}
    for one in numbers:
        cells = [plain(one.label), one.paper, one.ours, one.mark.value, plain(one.why)]
        parts.setdefault(one.part, []).append(cells)
    said = [f"**{counted_in_words(numbers)}**", few_problems(numbers), loosely_reproduced(numbers), RULE]
    lead = " ".join(filter(None, said))
    lines = [lead]
    for title, rows in parts.items():
        lines += [
            "",
            f"### {plain(title)}",
            "",
            markdown_table(["", "paper", "ours", "", "why not"], rows, ("why not",)),
        ]
    return lines
