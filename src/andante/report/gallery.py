"""The plots of a report with sentences that describe them, for pages and for papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from andante.errors import OutputError
from andante.files import write_whole
from andante.measures import Comparison, Summary, measure
from andante.report.charts import dominance_plot
from andante.report.figure import COLUMN, PAGE, Look, save_for_paper
from andante.report.ground import Ground
from andante.report.plots import difference_plot, planning_plot, spread_plot
from andante.report.table import counted
from andante.report.titles import title_of, titled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTIONS = "captions.txt"
_MOST_BOXES = 40  # agents whose spread can be shown in one plot
_BARS = "Bars are one standard error of the mean."


class Picture(NamedTuple):
    """A plot, the name of its file, and its description."""

    name: str
    figure: Figure
    words: str


def plots(ground: Ground, look: Look = PAGE) -> list[Picture]:
    """Return the plots of planning and of the spread of results; for a paper, with the papers' names for algorithms."""
    known = _named([s for s in ground.common if ground.quality in s.measures and s[ground.quality].count], look)
    if not known:
        return []
    far = _lower(measure(ground.quality).title)
    which = about_problems(ground)
    front = f"No agent here is better than those on the line in both. {which}".strip()
    bars = f" {_BARS}" if look.printed else ""
    against = {
        "max_states_expanded": f"The worst move against {far}: of agents within a limit on planning, the lowest wins.",
        "states_expanded_per_move": f"Mean planning per move against {far}.",
        "waiting_share": f"The share of ticks in which units wait against {far}.",
    }
    names = {"max_states_expanded": "worst-move", "states_expanded_per_move": "planning", "waiting_share": "waiting"}
    found = [
        Picture(names[effort], planning_plot(known, effort, look), f"{words} {front}{bars}")
        for effort, words in against.items()
        if any(effort in summary.measures for summary in known)
    ]
    values = ground.values(ground.quality)
    if 0 < len(values) <= _MOST_BOXES:
        named = {_title(name, look): numbers for name, numbers in values.items()}
        words = f"The spread of {far} over problems: quartiles with the median, whiskers at 5 and 95 %, the mean as a"
        found.append(Picture("spread", spread_plot(named, ground.quality, look), f"{words} diamond. {which}".strip()))
    return found


def dominance(ground: Ground, x: str, y: str, look: Look = PAGE) -> Picture:
    """Return the plot of the agents that are dominated in two measures."""
    words = "Solid: not dominated. Hollow: dominated."
    if look.printed:
        titles = " and ".join(_lower(measure(name).title) for name in (x, y))
        words = f"Agents that no other dominates in {titles} are solid. {_BARS} {about_problems(ground)}".strip()
    return Picture("dominance", dominance_plot(_named(ground.common, look), x, y, look=look), words)


def differences(comparison: Comparison, look: Look = PAGE) -> Picture:
    """Return the plot of the differences between agents and the best one."""
    compared = titled(comparison) if look.printed else comparison
    words = (
        "Differences from the best agent with 95 % intervals; solid: worse, hollow: not clearly worse. "
        f"{compared.ground} {compared.method}"
    )
    return Picture("differences", difference_plot(compared, look), words)


def about_problems(ground: Ground) -> str:
    """Return a sentence about the problems on which agents are compared in plots, if these are not all."""
    if ground.penalty is not None:
        return f"Trials that did not arrive count as {ground.penalty:g} {measure(ground.quality).unit}."
    counts = {one[ground.quality].count for one in ground.common if ground.quality in one.measures}
    if any(one.solved < one.trials for one in ground.summaries) and len(counts) == 1:
        return f"Means are of the {counted(counts.pop(), 'problem')} that all agents solved."
    return ""


def write_figures(ground: Ground, x: str, y: str, folder: Path) -> list[Path]:
    """Write all plots into a folder as SVG, PDF and PNG, one column wide, and their captions; return the files.

    A figure of an earlier report is replaced.
    """
    compared = ground.comparison
    found = plots(ground, COLUMN)
    if found and ground.contest is not None:
        found.append(dominance(ground, x, y, COLUMN))
    if compared is not None and compared.problems and len(compared.agents) > 1:
        found.append(differences(compared, COLUMN))
    if not found:
        raise OutputError(f"{folder} was not written: there is no problem on which agents can be compared")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot create {folder}: {error.strerror or error}") from error
    files = [file for one in found for file in save_for_paper(one.figure, folder / one.name)]
    captions = "".join(f"{one.name}: {one.words}\n" for one in found)
    write_whole(folder / CAPTIONS, captions.encode())
    return [*files, folder / CAPTIONS]


def _named(summaries: Sequence[Summary], look: Look) -> list[Summary]:
    return [replace(one, name=_title(one.name, look)) for one in summaries]


def _title(name: str, look: Look) -> str:
    return title_of(name) if look.printed else name


def _lower(title: str) -> str:
    return f"{title[0].lower()}{title[1:]}"
