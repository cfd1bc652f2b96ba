"""Write the page of all published numbers of the papers, from the results of the studies.

``python tools/published.py`` writes ``docs/explanation/published-numbers.md`` from ``studies/*/numbers.json``, which
`andante study` and `andante choose` write. The text of ``studies/choosing/results.md`` is written by hand, and the tool
writes the table of published numbers into it. `make docs` calls it, and a test fails if a page is out of date.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

from andante.markdown import markdown_table, plain
from andante.report.choosingpaper import paper_section
from andante.report.published import (
    RULE,
    UNEXPLAINED,
    Mark,
    Published,
    counted_in_words,
    few_problems,
    loosely_reproduced,
    of_data,
    tally,
)

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "explanation" / "published-numbers.md"
CHOOSING = ROOT / "studies" / "choosing" / "results.md"
STUDIES = ("graph-abstraction", "dynamic-control", "tba", "knn", "family", "choosing")  # in the order of their papers

LEAD = (
    "Written by `tools/published.py` from the [studies](../how-to/campaigns.md#studies). These are all numbers of the "
    "tables and the text of the five papers that Andante reruns; curves and words are on the studies' own pages, and "
    "so is what was tried where numbers differ."
)

ROOM = (
    '"May differ by" is how far apart the two may be. It is "-" where nothing is judged, and for correlations and '
    "ratios of counts, which are compared on another scale: Fisher's, and that of logarithms."
)

_BEGIN, _END = "<!-- written by tools/published.py -->", "<!-- end -->"


class Paper(NamedTuple):
    """One study of a paper, with the paper's numbers."""

    name: str
    title: str
    run: str  # what was run, when and with what
    numbers: list[Published]


def papers() -> list[Paper]:
    """Return all studies, in the order of their papers."""
    return [paper_of(name) for name in STUDIES]


def paper_of(name: str) -> Paper:
    """Return a study."""
    data = json.loads((ROOT / "studies" / name / "numbers.json").read_text("utf-8"))
    return Paper(name, data["title"], data["run"], of_data(data["numbers"]))


# --- the page whose text is written by hand -------------------------------------------------------------------------


def with_numbers(page: str) -> str:
    """Return the page with the paper's numbers between its two marks."""
    paper = paper_of("choosing")
    lines = "\n".join([paper.run, "", *paper_section(paper.numbers)])
    parts = re.compile(f"{re.escape(_BEGIN)}.*?{re.escape(_END)}", re.DOTALL)
    return parts.sub(lambda _: f"{_BEGIN}\n{lines}\n{_END}", page)


# --- the page of all ------------------------------------------------------------------------------------------------


def page() -> str:
    """Return the page."""
    found = papers()
    every = [number for paper in found for number in paper.numbers]
    lines = [
        "# How well are the papers' numbers reproduced",
        LEAD,
        f"**{counted_in_words(every)}** {loosely_reproduced(every)} {RULE}",
        ROOM,
        markdown_table(["", "reproduced", "not reproduced", "not judged"], [_line(paper) for paper in found]),
    ]
    for paper in found:
        lines += _section(paper)
    return "\n\n".join(lines) + "\n"


def _line(paper: Paper) -> list[str]:
    marks = tally(paper.numbers)
    return [
        f"[{plain(paper.title)}](#{_anchor(paper)})",
        *(str(marks[m]) for m in (Mark.WITHIN, Mark.OUTSIDE, Mark.OPEN)),
    ]


def _anchor(paper: Paper) -> str:
    return f"study-{paper.name}"


def _section(paper: Paper) -> list[str]:
    where = f"[The study's page](../../studies/{paper.name}/results.md)."
    counts = (counted_in_words(paper.numbers), few_problems(paper.numbers), loosely_reproduced(paper.numbers))
    said = " ".join(filter(None, [*counts, where]))
    lines = [f"## {plain(paper.title)} {{ #{_anchor(paper)} }}", paper.run, said]
    parts: dict[str, list[Published]] = {}
    for number in paper.numbers:
        parts.setdefault(number.part, []).append(number)
    head = ["", "paper", "ours", "may differ by", "", "why not"]
    for title, numbers in parts.items():
        rows = [_row(one) for one in numbers]
        lines += [f"### {plain(title)}", markdown_table(head, rows, left=("why not",))]
    return lines


def _row(one: Published) -> list[str]:
    why = one.why or (UNEXPLAINED if one.mark is Mark.OUTSIDE else "")
    return [*map(plain, (one.label, one.paper, one.ours)), one.room or "-", one.mark.value, plain(why)]


def main() -> None:
    """Write both pages, or with ``--check`` fail if they are out of date."""
    wanted = {CHOOSING: with_numbers(CHOOSING.read_text("utf-8")), PAGE: page()}
    if "--check" in sys.argv:
        stale = [file.name for file, text in wanted.items() if not file.exists() or file.read_text("utf-8") != text]
        if stale:
            sys.exit(f"out of date: {', '.join(stale)}; run 'python tools/published.py'")
        return
    for file, text in wanted.items():
        file.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
