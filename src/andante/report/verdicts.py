"""The comparison of agents as a table and sentences, for terminals, Markdown, LaTeX and pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from andante.measures import Comparison, Statistics, Summary, measure
from andante.measures.comparison import MOST_PAIRED
from andante.measures.summary import between
from andante.report.titles import titled

_MOST_LINES = 40

#: What bold numbers in tables mean.
BOLD = "Bold: the best of a column, and all that are not clearly worse, if any agent is."


def head(comparison: Comparison) -> list[str]:
    """Return the titles of the columns of the table of differences."""
    known = measure(comparison.measure)
    best = comparison.agents[0] if len(comparison.agents[0]) <= 30 else "the best"
    return ["Agent", f"{known.title} (n = {comparison.problems:,})", f"More than {best} (95 % interval)", "Verdict"]


def lines(comparison: Comparison) -> list[list[str]]:
    """Return the table of differences from the best agent: one line per agent, the best first.

    If there are very many agents, only the first ones are in it.
    """
    known = measure(comparison.measure)
    found = []
    for name, mean in list(zip(comparison.agents, comparison.means, strict=True))[:_MOST_LINES]:
        if name == comparison.agents[0]:
            found.append([name, known.show(mean), "-", "best"])
            continue
        one = comparison.from_best(name)
        verdict = "worse" if (comparison.agents[0], name) in comparison.better else "not clearly worse"
        found.append([name, known.show(mean), f"{known.show(one.mean)} ({between(known.name, one.interval)})", verdict])
    return found


def sentences(comparison: Comparison) -> list[str]:
    """Return sentences about what was compared, how, and which agents are better than others."""
    hidden = len(comparison.agents) - _MOST_LINES
    more = f"{hidden:,} more agents are not in the table of differences." if comparison.means and hidden > 0 else ""
    return [one for one in (comparison.ground, comparison.method, more, *comparison.verdicts) if one]


def as_data(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain data, for JSON."""
    found = {key: value for key, value in asdict(comparison).items() if key not in ("better", "differences")}
    return {
        **found,
        "sentences": sentences(comparison),
        "differences": [
            {
                "first": one.first,
                "second": one.second,
                "mean": one.mean,
                "low": one.interval.low,
                "high": one.interval.high,
                "chance": one.chance,
            }
            for one in comparison.differences
        ],
        "better": sorted(map(list, comparison.better)),
        "all_pairs": len(comparison.agents) <= MOST_PAIRED,
    }


def below(summaries: Sequence[Summary], comparison: Comparison | None) -> list[str]:
    """Return the sentences below a table: about its errors, bold numbers, and which agents are better than others."""
    words = [caption(summaries)]
    if comparison is not None:
        words.append(BOLD)
    return [one for one in (*words, *(sentences(comparison) if comparison is not None else ())) if one]


def caption_and_notes(
    title: str, summaries: Sequence[Summary], comparison: Comparison | None
) -> tuple[list[str], list[str]]:
    """Return the caption of a table for a paper, and the comparison of agents as sentences for its author."""
    words = [f"{title.rstrip('.')}.", caption(summaries).replace("(a to b)", "[a,\N{NO-BREAK SPACE}b]")]
    if comparison is None:
        return [one for one in words if one], []
    comparison = titled(comparison)
    words += [BOLD, comparison.ground, comparison.method]
    return [one for one in words if one], list(comparison.verdicts)


def caption(summaries: Sequence[Summary]) -> str:
    """Return the explanation of a table's errors and intervals, for its caption.

    >>> from andante.measures import summarise
    >>> caption(summarise([{"algorithm": "a", "solved": True, "map": f"map {k}", "cost": 1.0} for k in range(12)]))
    '± is one standard error of the mean, and (a to b) a 95 % interval, both over 12 maps.'
    """
    over = list(dict.fromkeys(one.over for one in map(_widest, summaries) if one is not None))
    if not over:
        return ""
    words = f"over {over[0]}" if len(over) == 1 else "over the maps of each line, or the problems of its only map"
    return f"± is one standard error of the mean, and (a to b) a 95 % interval, both {words}."


def _widest(summary: Summary) -> Statistics | None:
    """Return the statistics of a summary that are over most numbers."""
    return max(summary.measures.values(), key=lambda one: one.count, default=None)
