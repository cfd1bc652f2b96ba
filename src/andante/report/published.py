"""Published numbers beside ours: which of them are reproduced within their error.

A number is reproduced if ours differs from it by at most two standard errors of the difference plus the rounding of the
published digits. The standard error of ours is over problems, as in papers. That of the paper's number is the one it
prints; if it prints none, it is the error that ours would have on as many problems as the paper has. A number without a
standard error, such as a maximum, must agree to the last published digit.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from andante.markdown import markdown_table, plain

STANDARD_ERRORS = 2.0
_MOST_NAMED = 3  # rows that share a reason
_LOOSE = 0.25  # of the paper's number: pages count the numbers that agree only within at least this share of it
_FEWER = 2  # if the paper has this many times as many problems, the page says that ours are few
_ROOM_FOR_FLOATS = 1e-9  # relative: sums of floats are not exact

RULE = (
    "A number is reproduced (✓) if ours differs from it by at most two standard errors of the difference plus half a "
    "unit of its last digit, and otherwise not (✗). Our errors are over problems, as in the papers. The paper's error "
    "is the one it prints or, if it prints none, what ours would be on as many problems as it has. Times are not "
    "judged, because they depend on the machine, and neither are numbers that were not measured here."
)
UNEXPLAINED = "no reading of the paper that was tried explains it"
OVER_MAPS = "agrees within the error over maps, not all of which are known to be the paper's"

_NUMBER = re.compile(r"(?:about )?([+-]?)(\d[\d,]*)(?:\.(\d+))?(?:e([+-]?\d+))?(?: ± (\d[\d,]*(?:\.(\d+))?))?(?: %)?")


class Mark(Enum):
    """Whether a published number is reproduced; the value is the sign that pages show."""

    WITHIN = "✓"
    OUTSIDE = "✗"
    OPEN = "-"  # not judged


@dataclass(frozen=True)
class Printed:
    """A number as a paper prints it."""

    value: float
    rounding: float  # half a unit of its last digit
    error: float = math.nan  # its standard error; nan if the paper gives none


@dataclass(frozen=True)
class Ours:
    """Our number, with its standard error over ``count`` problems; nan if it has none."""

    value: float
    error: float = math.nan
    count: int = 0
    error_of_maps: float = math.nan  # the standard error over maps, if there are several
    bound: bool = False  # only a lower bound, because some agents did not arrive


@dataclass(frozen=True)
class Published:
    """One published number with ours, as pages list it; the texts are as shown."""

    part: str
    label: str
    paper: str
    ours: str
    room: str  # the allowed difference; empty if the number is not judged
    mark: Mark
    why: str = ""
    again: bool = False  # it appears in another part too, and is counted there
    place: tuple[int, int] = (0, 0)  # row and column in its part
    count: int = 0  # of our problems
    paper_count: int = 0  # of the paper's; 0 for as many


def printed(text: str) -> Printed | None:
    """Return the number that a text contains, or None if it is something else.

    A number without decimals is as exact as its error: ``1 ± 0.00`` means 1.00.

    >>> printed("2.10"), printed("6.1e6"), printed("19.3 ± 0.23")
    (Printed(value=2.1, rounding=0.005, error=nan), Printed(value=6100000.0, rounding=50000.0, error=nan), ...)
    >>> printed("about -2 %").value, printed("13 hours"), printed("inf").value
    (-2.0, None, inf)
    """
    if text == "inf":
        return Printed(math.inf, 0.0)
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    sign, whole, decimals, exponent, error, of_error = (part or "" for part in found.groups())
    value = float(f"{sign}{whole.replace(',', '')}.{decimals or 0}e{exponent or 0}")
    unit = float(f"1e{int(exponent or 0) - len(decimals or of_error)}")
    return Printed(value, unit / 2, float(error.replace(",", "")) if error else math.nan)


def judged(paper: Printed, ours: Ours, problems: int = 0) -> tuple[Mark, float]:
    """Return whether a number is reproduced, and the allowed difference between it and ours.

    ``problems`` is the number of problems in the paper; 0 means as many as ours.

    >>> judged(Printed(3.83, 0.005), Ours(4.0, error=0.1, count=300))
    (<Mark.WITHIN: '✓'>, 0.287...)
    """
    if math.isnan(ours.value):
        return Mark.OPEN, math.nan
    room = STANDARD_ERRORS * _error_of_difference(paper, ours, problems) + paper.rounding
    if math.isinf(paper.value) or math.isinf(ours.value):
        return (Mark.WITHIN if paper.value == ours.value else Mark.OUTSIDE), room
    apart = ours.value - paper.value
    within = abs(apart) <= room + _ROOM_FOR_FLOATS * abs(paper.value)
    if ours.bound and (within or apart < 0):
        return Mark.OPEN, room
    return (Mark.WITHIN if within else Mark.OUTSIDE), room


def judged_over_maps(paper: Printed, ours: Ours) -> bool:
    """Return whether a number would be reproduced if errors were over maps, as if maps had been drawn at random too."""
    if math.isnan(ours.error_of_maps):
        return False
    return judged(paper, replace(ours, error=ours.error_of_maps))[0] is Mark.WITHIN


def _error_of_difference(paper: Printed, ours: Ours, problems: int) -> float:
    mine = 0.0 if math.isnan(ours.error) else ours.error
    theirs = paper.error
    if math.isnan(theirs):
        theirs = mine * math.sqrt(ours.count / problems) if problems and ours.count else mine
    return math.hypot(mine, theirs)


# --- counting -------------------------------------------------------------------------------------------------------


def tally(numbers: Sequence[Published]) -> Mapping[Mark, int]:
    """Return how many numbers have each mark; those that appear in another part too are counted there.

    >>> one = Published("Table 1", "a", "1", "1", "0", Mark.WITHIN)
    >>> tally([one, one])[Mark.WITHIN], tally([one])[Mark.OPEN]
    (2, 0)
    """
    return Counter(one.mark for one in numbers if not one.again)


def counted_in_words(numbers: Sequence[Published]) -> str:
    """Return the counts of `tally` as a sentence."""
    marks = tally(numbers)
    judged_ones = marks[Mark.WITHIN] + marks[Mark.OUTSIDE]
    rest = f"; {marks[Mark.OPEN]:,} more are not judged" if marks[Mark.OPEN] else ""
    return f"{marks[Mark.WITHIN]:,} of {judged_ones:,} published numbers are reproduced within their error{rest}."


def counting_section(numbers: Sequence[Published]) -> list[str]:
    """Return the section of a study's page that counts which of its numbers are reproduced, and why others are not.

    It is empty if the paper has no numbers.
    """
    if not any(not one.again for one in numbers):
        return []
    parts: dict[str, list[Published]] = {}
    for one in numbers:
        parts.setdefault(one.part, []).append(one)
    lines = [_part_line(part, its) for part, its in parts.items() if any(not one.again for one in its)]
    table = markdown_table(["", "reproduced", "not reproduced", "not judged", "why not"], lines, left=("why not",))
    said = [f"**{counted_in_words(numbers)}**", few_problems(numbers), loosely_reproduced(numbers), RULE]
    lead = " ".join(filter(None, said))
    return ["## How many of the paper's numbers are reproduced", lead, table]


def few_problems(numbers: Sequence[Published]) -> str:
    """Return a sentence about numbers of ours that are over far fewer problems than the paper's, if there are any."""
    known = [one for one in numbers if one.mark is not Mark.OPEN and one.count and not one.again]
    few = [one for one in known if one.paper_count >= _FEWER * one.count]
    if not few:
        return ""
    least = min(few, key=lambda one: one.count / one.paper_count)
    which = "All" if len(few) == len(known) else f"{len(few):,}"
    return (
        f"{which} of these are over fewer problems or algorithms than the paper's ({least.count:,} instead of "
        f"{least.paper_count:,}), so their errors are wide and agreement means less."
    )


def loosely_reproduced(numbers: Sequence[Published]) -> str:
    """Return a sentence about reproduced numbers that would be hard to miss, if there are any.

    >>> loosely_reproduced([Published("Table 1", "a", "2.0", "3.1", "1.5", Mark.WITHIN)])
    'For 1 of the reproduced numbers the allowed difference is at least a quarter of the number itself, so agree...'
    """
    count = sum(_is_loose(one) for one in numbers if one.mark is Mark.WITHIN and not one.again)
    if not count:
        return ""
    return (
        f"For {count:,} of the reproduced numbers the allowed difference is at least a quarter of the number itself, "
        "so agreement means little."
    )


def _is_loose(one: Published) -> bool:
    paper = printed(one.paper)
    return paper is not None and bool(one.room) and float(one.room) >= _LOOSE * abs(paper.value)


def _part_line(part: str, numbers: Sequence[Published]) -> list[str]:
    marks = tally(numbers)
    counts = [str(marks[mark]) for mark in (Mark.WITHIN, Mark.OUTSIDE, Mark.OPEN)]
    return [plain(part), *counts, reasons(numbers)]


def reasons(numbers: Sequence[Published]) -> str:
    """Return why some of these numbers are not reproduced or not judged, each reason once.

    Rows are named if numbers that are not reproduced have different reasons.
    """
    found: dict[str, list[str]] = {}
    asides: dict[str, None] = {}
    for one in numbers:
        if one.mark is Mark.OUTSIDE and not one.again:
            found.setdefault(one.why or UNEXPLAINED, []).append(one.label)
        elif one.mark is Mark.OPEN and not one.again and one.why:
            asides[one.why] = None
    said = [f"{_some(labels)}: {why}" if len(found) > 1 else why for why, labels in found.items()]
    return plain(". ".join([*said, *(f"Not judged: {why}" for why in asides)]))


def _some(labels: Sequence[str]) -> str:
    others = f" and {len(labels) - _MOST_NAMED} more" if len(labels) > _MOST_NAMED else ""
    return "; ".join(labels[:_MOST_NAMED]) + others


# --- as plain data, for the page of all papers ----------------------------------------------------------------------


def as_data(numbers: Sequence[Published]) -> list[dict[str, Any]]:
    """Return the numbers as plain data, in their order; those that are counted elsewhere are left out."""
    names = ("part", "label", "paper", "ours", "room", "why", "count", "paper_count")
    return [{name: getattr(one, name) for name in names} | {"mark": one.mark.value} for one in numbers if not one.again]


def of_data(data: Sequence[Mapping[str, Any]]) -> list[Published]:
    """Return numbers from plain data.

    >>> one = Published("Table 1", "a", "1.5", "1.4", "0.2", Mark.WITHIN)
    >>> of_data(as_data([one])) == [one]
    True
    """
    return [Published(**{**one, "mark": Mark(one["mark"])}) for one in data]
