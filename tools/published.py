"""Write the page of all published numbers of the papers, from the results of the studies.

``python tools/published.py`` writes ``docs/explanation/published-numbers.md`` from ``studies/*/numbers.json``, which
`andante study` writes beside its page, and from the tables of ``studies/choosing/results.md``, a page that is written
by hand. There it counts the numbers, too. `make docs` calls it, and a test says when the page is out of date.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from andante.report.markdown import markdown_table, plain
from andante.report.published import (
    RULE,
    UNEXPLAINED,
    Mark,
    Ours,
    Published,
    counted_in_words,
    few_problems,
    judged,
    of_data,
    printed,
    tally,
)

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "explanation" / "published-numbers.md"
CHOOSING = ROOT / "studies" / "choosing" / "results.md"
STUDIES = ("graph-abstraction", "dynamic-control", "tba", "knn", "family")  # in the order of their papers

LEAD = (
    "Written by `tools/published.py` from the [studies](../how-to/campaigns.md#studies). These are all numbers of the "
    "tables and the text of the five papers that Andante reruns; curves and words are on the studies' own pages, and "
    "so is what was tried where numbers differ."
)

_BEGIN, _END = "<!-- counted by tools/published.py -->", "<!-- end -->"


class Paper(NamedTuple):
    """One study of a paper, with the paper's numbers."""

    name: str
    title: str
    run: str  # what was run, when and with what
    numbers: list[Published]


def papers() -> list[Paper]:
    """Return all studies, in the order of their papers."""
    found = []
    for name in STUDIES:
        data = json.loads((ROOT / "studies" / name / "numbers.json").read_text("utf-8"))
        found.append(Paper(name, data["title"], data["run"], of_data(data["numbers"])))
    return [*found, choosing(CHOOSING.read_text("utf-8"))]


# --- the page that is written by hand -------------------------------------------------------------------------------


def choosing(page: str) -> Paper:
    """Return the numbers of tables with the head ``| | paper | ours |`` (and perhaps a reason) in a page."""
    lines = page.splitlines()
    run = next(line for line in lines if line.startswith("Run on "))
    return Paper("choosing", lines[0].removeprefix("# "), run, list(_of_tables(lines)))


def _of_tables(lines: list[str]) -> Iterator[Published]:
    inside, section = False, ""
    for line in lines:
        if line.startswith("## "):
            section = line.removeprefix("## ")
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if cells[:3] == ["", "paper", "ours"]:
            inside = True
        elif not cells:
            inside = False
        elif inside and not set(cells[1]) <= {"-", ":"}:
            yield _judged(section, *cells)


def _judged(section: str, label: str, paper: str, ours: str, why: str = "") -> Published:
    """Return a line of a table, with both errors as they are printed."""
    there, here = printed(paper), printed(ours)
    if there is None or here is None:
        return Published(section, label, paper, ours, "", Mark.OPEN, why)
    mark, room = judged(there, Ours(here.value, here.error))
    return Published(section, label, paper, ours, f"{room:.3g}", mark, "" if mark is Mark.WITHIN else why)


def counted(page: str) -> str:
    """Return the page with the number of numbers that come out between its two marks."""
    said = f"**{counted_in_words(choosing(page).numbers)}** {RULE}"
    parts = re.compile(f"{re.escape(_BEGIN)}.*?{re.escape(_END)}", re.DOTALL)
    return parts.sub(lambda _: f"{_BEGIN}\n{said}\n{_END}", page)


# --- the page of all ------------------------------------------------------------------------------------------------


def page() -> str:
    """Return the page."""
    found = papers()
    every = [number for paper in found for number in paper.numbers]
    lines = [
        "# How well do the papers' numbers come out",
        LEAD,
        f'**{counted_in_words(every)}** {RULE} "May differ by" is how far apart the two may be.',
        markdown_table(["", "come out", "do not", "not judged"], [_line(paper) for paper in found]),
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
    where = f"The study's page is `studies/{paper.name}/results.md`."
    said = " ".join(filter(None, [counted_in_words(paper.numbers), few_problems(paper.numbers), where]))
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
    return [*map(plain, (one.label, one.paper, one.ours)), one.room or "-", one.mark.value, why]


def main() -> None:
    """Write both pages, or with ``--check`` say that they are out of date."""
    wanted = {CHOOSING: counted(CHOOSING.read_text("utf-8")), PAGE: page()}
    if "--check" in sys.argv:
        stale = [file.name for file, text in wanted.items() if not file.exists() or file.read_text("utf-8") != text]
        if stale:
            sys.exit(f"out of date: {', '.join(stale)}; run 'python tools/published.py'")
        return
    for file, text in wanted.items():
        file.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
