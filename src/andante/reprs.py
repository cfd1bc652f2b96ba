"""Representations of records in Python that show only fields that differ from their defaults."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any


def brief(record: Any) -> str:
    """Return a dataclass as a Python expression, without the fields that have their default values.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Point:
    ...     x: float
    ...     kind: type = float
    ...     label: str = ""
    ...     __repr__ = brief
    >>> Point(1.5), Point(2, int)
    (Point(x=1.5), Point(x=2, kind=int))
    """
    shown = [
        f"{one.name}={_shown(getattr(record, one.name))}" for one in fields(record) if not _is_default(record, one)
    ]
    return f"{type(record).__name__}({', '.join(shown)})"


def _is_default(record: Any, one: Any) -> bool:
    value = getattr(record, one.name)
    if one.default_factory is not MISSING:
        return bool(value == one.default_factory())
    return one.default is not MISSING and bool(value == one.default)


def _shown(value: Any) -> str:
    return value.__name__ if isinstance(value, type) else repr(value)
