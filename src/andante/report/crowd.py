"""The numbers of a crowd in words, one line for each, for the terminal and for pages."""

from __future__ import annotations

import math
from typing import NamedTuple

from andante.episode.crowdresult import CrowdResult
from andante.measures import measure
from andante.report.table import counted


class Line(NamedTuple):
    """A measured number with its title and its meaning."""

    title: str
    text: str
    about: str


def crowd_lead(run: CrowdResult) -> str:
    """Return one sentence that describes the crowd."""
    units, ticks = counted(run.units, "unit"), counted(len(run.ticks), "tick")
    return f"{units} of {run.algorithm} on {run.map_name}: {ticks}, {run.pace}."


def crowd_lines(run: CrowdResult) -> list[Line]:
    """Return the lines of the table."""
    size = measure("memory_bytes").show
    figures = run.figures()
    walking = f"{figures['walking']:,} still walk, " if figures["walking"] else ""
    ends = f"{figures['unreachable']:,} unreachable, {figures['stuck']:,} stuck"
    ratio = measure(run.ratio)
    return [
        Line(
            "units per millisecond",
            _number(figures["units_per_millisecond"], 0),
            "Moves per millisecond of tick time, over the ticks in which at least half of the units walked.",
        ),
        Line(
            "time of a tick",
            ", ".join(f"{run.tick_microseconds(share):,.0f} us at {share:g} %" for share in (50, 99, 99.99)),
            "The time that this share of the ticks did not exceed.",
        ),
        Line(
            "waits",
            f"{counted(run.longest_wait, 'tick')} the longest, {_number(run.mean_wait, 3)} per move",
            "Ticks in which a unit did not move because the budget was spent: the most in a row, the mean per move.",
        ),
        Line(
            "units",
            f"{figures['arrived']:,} arrived, {walking}{ends}",
            "How units ended.",
        ),
        Line(
            "restarts",
            f"{figures['restarted']:,}",
            "How often a unit had to start again from its cell, because memory was full.",
        ),
        Line(
            ratio.title[:1].lower() + ratio.title[1:],
            f"{ratio.show(figures[f'{run.ratio}_mean'])} mean, {ratio.show(figures[f'{run.ratio}_median'])} median"
            if figures["arrived"]
            else "-",
            "The cost of the path walked over that of A*, replanned after every change, for the units that arrived."
            if run.in_scene
            else "The cost of the path walked over the optimal cost, for the units that arrived.",
        ),
        Line(
            "expansions per move",
            _number(run.expansions_per_move, 2),
            "States expanded, in search and in learning, over all moves.",
        ),
        Line(
            "Jain's index",
            "- (no unit had to wait)" if math.isnan(run.jain_index) else f"{run.jain_index:.3f}",
            "How evenly the budget was shared among units that had to wait: 1 if all had the same. With a budget in "
            "microseconds, units also pay for the time that other processes take.",
        ),
        Line(
            "memory",
            f"{size(run.memory_bytes)} in total, {size(figures['median_unit_bytes'])} per unit in the median",
            "The most memory that the crowd used, without the map and databases; and the most that a unit used.",
        ),
    ]


def _number(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{value:,.{digits}f}"
