"""The width of texts typeset by LaTeX, accurate enough to reserve space and to split tables that are too wide.

Widths are those of Computer Modern at ten points. Most other fonts of papers are narrower.
"""

from __future__ import annotations

import re
from collections.abc import Callable

#: Widths in points of the signs that differ from most.
_WIDTHS = {
    **dict.fromkeys("ijl.,:;'!|", 2.8),
    **dict.fromkeys("ftrs()[]-/ ", 3.9),
    **dict.fromkeys("mwM%", 8.4),
    **dict.fromkeys("ABCDEFGHKLNOPQRSTUVXYZ=+<>&#", 7.8),
    "W": 10.3,
}
_USUAL = 5.3  # of all other signs; digits have 5.0
_DIGIT = 5.0
_COMMANDS = {"geq": 7.8, "pm": 8.4, "infty": 10.0, "mu": 6.0, "quad": 10.0, ",": 1.7, "text": 0.0}

_TOKEN = re.compile(r"\\([a-zA-Z]+|.)|([{}$~])|(.)", re.DOTALL)


def width(text: str) -> float:
    r"""Return the approximate width of a text, in points.

    >>> width("12") == width("$12$"), width("{(1)}") < width(r"{\,(1)}")
    (True, True)
    """
    found = 5.6 * text.count("=") if "$" in text else 0.0  # the space around it in a formula
    for command, hidden, sign in _TOKEN.findall(text):
        if command:
            found += _COMMANDS.get(command, _of(command) if len(command) == 1 else _USUAL)
        elif not hidden:
            found += _of(sign)
    return found


def _of(sign: str) -> float:
    return _DIGIT if sign.isdigit() else _WIDTHS.get(sign, _USUAL)


def broken(text: str, most: float, measured: Callable[[str], float] = width) -> list[str]:
    """Return the lines of a text, none wider than ``most``, broken at commas or, if there are none, at spaces.

    >>> broken("TBA* (budget=10, r=0.5, weight=2)", 90)
    ['TBA* (budget=10,', 'r=0.5, weight=2)']
    """
    lines = [""]
    for part in re.split("(?<=[,;]) ", text):
        for word in [part] if measured(part) <= most else part.split(" "):
            longer = f"{lines[-1]} {word}".lstrip()
            if lines[-1] and measured(longer) > most:
                lines.append(word)
            else:
                lines[-1] = longer
    return lines
