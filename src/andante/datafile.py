"""Reading of campaigns and studies: TOML tables, with line numbers for all mistakes.

The standard library reads TOML but does not keep line numbers. `Lines` finds them again in the text. A `Table` returns
the values of one table, each checked, and refuses keys that were never read.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from andante.errors import CampaignError, did_you_mean
from andante.files import read_at_most

T = TypeVar("T")

SMOKE, QUICK, FULL = SCALES = ("smoke", "quick", "full")

#: No campaign needs more than this; the longest study is a thirtieth of it.
MAX_FILE_BYTES = 2**20
MAX_DEPTH = 30

_HEADER = re.compile(r"""^\s*\[(\[?)\s*([\w."'-]+)\s*\]""")
_LONG_KEY = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){%d}""" % MAX_DEPTH  # noqa: UP031 (braces)
)
_KEY = re.compile(r"""^\s*["']?([\w-]+)["']?\s*=""")
_KINDS = {
    int: "a whole number",
    float: "a number",
    str: "text in quotes",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


class Lines:
    """The line numbers of the tables and keys of a TOML file."""

    def __init__(self, text: str) -> None:
        self._text = text.splitlines()
        self._places: dict[tuple[str, str], int] = {}
        table, counts = "", dict[str, int]()
        for number, line in enumerate(self._text, 1):
            if header := _HEADER.match(line):
                table = header[2].replace('"', "").replace("'", "")
                if header[1]:
                    counts[table] = counts.get(table, 0) + 1
                    table = f"{table} {counts[table]}"
                self._places.setdefault((table, ""), number)
            elif key := _KEY.match(line):
                self._places.setdefault((table, key[1]), number)

    def find(self, table: str, key: str = "", word: str = "") -> int:
        """Return the line of a key of a table, or of a word in its value; a best guess if it cannot be determined."""
        first = self._places.get((table, key), self._places.get((table, ""), 1))
        for number in range(first, len(self._text) + 1) if word else ():
            if word in self._text[number - 1]:
                return number
        return first


class Table:
    """One table of a file, which returns its values by key and reports mistakes in them."""

    def __init__(self, data: Mapping[str, Any], name: str, path: Path, lines: Lines) -> None:
        self._data = dict(data)
        self._known: list[str] = []
        self.name, self.path, self._lines = name, path, lines

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def fail(self, sentence: str, key: str = "", word: str = "") -> NoReturn:
        """Refuse the file for a reason found at this key, or at this word of its value."""
        raise CampaignError(f"{self.path}, line {self._lines.find(self.name, key, word)}: {sentence}")

    def take(self, key: str, kind: type[T], default: T | None = None) -> T:
        """Return the value of a key, checked to be of this kind; if absent, return the default or fail without one."""
        self._known.append(key)
        if key not in self._data:
            if default is None:
                near = get_close_matches(key, self._data.keys() - set(self._known), n=1)
                meant = f"; did you mean that by {near[0]!r}?" if near else ""
                self.fail(f"{self._title} has no {key!r}{meant}", *near)
            return default
        return self.checked(self._data[key], kind, key)

    def take_or_none(self, key: str, kind: type[T]) -> T | None:
        """Return the value of a key, checked to be of this kind, or None if it is absent."""
        self._known.append(key)
        return self.checked(self._data[key], kind, key) if key in self._data else None

    def take_texts(self, key: str, default: Iterable[str] | None = None) -> list[str]:
        """Return a list of texts."""
        values = self.take(key, list, None if default is None else list(default))
        for value in values:
            if not isinstance(value, str):
                self.fail(f"{key} must be a list of texts in quotes, but {value!r} is not a text", key, str(value))
        return values

    def take_table(self, key: str) -> Table:
        """Return a table within this one; an empty one if it is absent."""
        inner = self.take(key, dict, {})
        name = f"{self.name}.{key}" if self.name else key
        return _Inline(inner, name, self, key)

    def take_tables(self, key: str) -> list[Table]:
        """Return the tables of a list within this one."""
        found = self.take(key, list)
        for one in found:
            if not isinstance(one, dict):
                self.fail(f"each of {key} must be a table, not {one!r}", key)
        return [_Inline(one, f"{self.name}.{key}", self, key) for one in found]

    def finish(self) -> None:
        """Refuse keys that were never read."""
        for key in self._data:
            if key not in self._known:
                self.fail(f"{self._title} does not accept {key!r}; {did_you_mean(key, self._known)}", key)

    @property
    def _title(self) -> str:
        return f"[{self.name}]" if self.name else "a campaign"

    def checked(self, value: Any, kind: type[T], key: str, name: str = "") -> T:
        """Return the value if it is of this kind; errors name the key, or the name within the key's value."""
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.fail(f"{name or key} must be {_KINDS[kind]}, not {value!r}", key, name)
        return value


class _Inline(Table):
    """A table within another, on the same line or under its own header."""

    def __init__(self, data: Mapping[str, Any], name: str, outer: Table, key: str) -> None:
        super().__init__(data, name, outer.path, outer._lines)
        self._outer, self._key = outer, key

    def fail(self, sentence: str, key: str = "", word: str = "") -> NoReturn:
        if (self.name, "") in self._lines._places:
            super().fail(sentence, key, word)
        self._outer.fail(sentence, self._key, word or key)


def only_texts(values: Iterable[Any]) -> list[str]:
    """Return the values, read back from plain data; raise a `TypeError` if one is not a text.

    >>> only_texts(["a", "b"])
    ['a', 'b']
    """
    found = list(values)
    if not all(isinstance(value, str) for value in found):
        raise TypeError(f"{found!r:.100} are not all {_KINDS[str]}")
    return found


def only_numbers(values: Iterable[Any], least: int) -> list[int]:
    """Return the values, read back from plain data; raise a `TypeError` if one is not a whole number >= ``least``.

    >>> only_numbers([16, 9], least=1)
    [16, 9]
    """
    found = list(values)
    if not all(type(value) is int and value >= least for value in found):
        raise TypeError(f"{found!r:.100} are not all {_KINDS[int]} from {least}")
    return found


class Written(float):
    """A number with its text, because 2.10 is more precise than 2.1.

    >>> Written("2.10").text, Written("2.10") + 1
    ('2.10', 3.1)
    """

    text: str

    def __new__(cls, text: str) -> Written:
        """Return the number that a text contains."""
        made = super().__new__(cls, text)
        made.text = text.replace("_", "")
        return made


def read_tables(path: Path, scale: str, number: Callable[[str], float] = float) -> tuple[dict[str, Any], Lines]:
    """Return the contents of a file, with values that depend on the scale resolved, and their line numbers.

    The scale is one of `SCALES`; ``quick+NAME`` uses full values for the problems of that name, and for runs on only
    them. ``number`` converts numbers that are written with a point or an exponent.
    """
    text, data = _read_toml(path, number)
    name, *whole = scale.split("+")
    if name not in SCALES:
        raise CampaignError(f"there is no scale {name!r}; {did_you_mean(name, SCALES)}")
    if whole and name != QUICK:
        raise CampaignError(
            f"only the scale {QUICK!r} accepts problems to run in full; write quick+{'+'.join(whole)}, or {name}"
        )
    _settle_in_full(data, whole)
    settled: dict[str, Any] = _settle(data, name)
    return settled, Lines(text)


def _read_toml(path: Path, number: Callable[[str], float]) -> tuple[str, dict[str, Any]]:
    """Return the text of a file and its contents, if it is TOML within the limits on length, depth and numbers."""
    try:
        text = read_at_most(path, MAX_FILE_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise CampaignError(f"{path} is not a text file in UTF-8") from error
    except (OSError, ValueError) as error:
        raise CampaignError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    deep = f"{path} is nested too deeply: tables and lists may be nested up to {MAX_DEPTH} levels deep"
    large = f"{path} has a whole number of more than 64 bits, which TOML does not allow"
    if _LONG_KEY.search(text):  # parsing it would take time quadratic in its length
        raise CampaignError(deep)
    try:
        data = tomllib.loads(text, parse_float=number)
    except RecursionError as error:
        raise CampaignError(deep) from error
    except tomllib.TOMLDecodeError as error:
        raise CampaignError(f"{path} is not TOML: {error}") from error
    except ValueError as error:  # Python refuses numbers with thousands of digits
        raise CampaignError(large) from error
    level: list[Any] = [data]
    for _ in range(MAX_DEPTH):
        level = [part for value in level for part in _parts(value)]
        for value in level:
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise CampaignError(large)
        if not level:
            return text, data
    raise CampaignError(deep)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _settle_in_full(data: dict[str, Any], whole: list[str]) -> None:
    """Resolve these sets of problems, and runs on only these sets, at full scale."""
    sets, runs = data.get("problems"), data.get("run")
    if not (whole and isinstance(sets, dict) and isinstance(runs, list)):
        return
    for name in whole:
        if name not in sets:
            raise CampaignError(f"there are no problems {name!r} to run in full; {did_you_mean(name, sets)}")
        sets[name] = _settle(sets[name], FULL)
    for number, run in enumerate(runs):
        named = _settle(run.get("problems", list(sets)), FULL) if isinstance(run, dict) else None
        if isinstance(named, list) and all(name in whole for name in named):
            runs[number] = _settle(run, FULL)


def _settle(value: Any, scale: str) -> Any:
    """Replace each ``{quick = ..., full = ...}`` by the value for this scale.

    There may be a value for ``smoke`` too; the default is the value for ``quick``.
    """
    if isinstance(value, list):
        return [_settle(part, scale) for part in value]
    if not isinstance(value, dict):
        return value
    if {QUICK, FULL} <= set(value) <= set(SCALES):
        return _settle(value.get(scale, value[QUICK]), scale)
    return {key: _settle(part, scale) for key, part in value.items()}
