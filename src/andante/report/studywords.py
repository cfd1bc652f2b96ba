"""Numbers in the tables of a study: the paper's numbers as they are printed, and durations."""

from __future__ import annotations

from andante.datafile import Written
from andante.markdown import plain


def not_compared(fault: str) -> str:
    """Return the text that replaces a comparison that would not be fair."""
    return f"Not compared: {plain(fault)}."


def or_dash(value: float | None) -> str:
    """Return a number of the paper, or a dash if there is none."""
    return "-" if value is None else paper_text(value)


def share(percent: float | None) -> str:
    """Return a share in percent of the paper, or a dash if there is none."""
    return "-" if percent is None else f"{paper_text(percent)} %"


def paper_text(number: float | str) -> str:
    """Return a number of the paper as it is printed, or its words.

    >>> paper_text(Written("2.10")), paper_text(6.1e6), paper_text(1.058), paper_text("A*")
    ('2.10', '6.1e6', '1.058', 'A*')
    """
    if isinstance(number, Written):
        return number.text
    return f"{number:g}".replace("e+0", "e").replace("e+", "e") if isinstance(number, int | float) else number


def duration(seconds: float) -> str:
    """Return a duration in a suitable unit.

    >>> duration(0.25), duration(90), duration(600), duration(9000)
    ('0.2 seconds', '90.0 seconds', '10 minutes', '2.5 hours')
    """
    if seconds < 120:
        return f"{seconds:.1f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"
