"""The origin of rows: an entry for each machine and version of the code, with the days on which it added rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

#: The days, as texts, on which the first and the last rows of an entry were added.
FIRST_DAY, LAST_DAY = "first_day", "last_day"


def today() -> str:
    """Return the day in UTC, as ``2026-11-19``."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def on_day(made: Mapping[str, Any], day: str) -> dict[str, Any]:
    """Return an entry for rows of this day, unless it already contains days."""
    return {FIRST_DAY: day, LAST_DAY: day, **made}


def united(entries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries, with those that differ only in their days united.

    >>> monday, friday = on_day({"cores": 2}, "2026-11-16"), on_day({"cores": 2}, "2026-11-20")
    >>> united([friday, monday, on_day({"cores": 64}, "2026-11-16")])[0]
    {'first_day': '2026-11-16', 'last_day': '2026-11-20', 'cores': 2}
    """
    found: dict[str, dict[str, Any]] = {}
    for one in entries:
        rest = {name: value for name, value in one.items() if name not in (FIRST_DAY, LAST_DAY)}
        before = found.setdefault(json.dumps(rest, sort_keys=True), dict(one))
        before[FIRST_DAY] = min(before[FIRST_DAY], one[FIRST_DAY])
        before[LAST_DAY] = max(before[LAST_DAY], one[LAST_DAY])
    return list(found.values())


def days_in_words(entries: Iterable[Mapping[str, Any]]) -> str:
    """Return the days on which rows were added, as *on 2026-11-16* or *from 2026-11-16 to 2026-11-20*; empty for none.

    >>> days_in_words([{"first_day": "2026-11-16", "last_day": "2026-11-20"}])
    'from 2026-11-16 to 2026-11-20'
    """
    days = sorted(str(one[name]) for one in entries for name in (FIRST_DAY, LAST_DAY))
    if not days:
        return ""
    return f"on {days[0]}" if days[0] == days[-1] else f"from {days[0]} to {days[-1]}"
