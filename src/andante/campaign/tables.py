"""Reading tables of a TOML file so that every mistake in it is told with its line.

The standard library reads TOML but forgets where things stood. `Lines` finds them again in the text, and a `Table`
hands out the values of one table, each checked, and refuses keys that nobody asked for.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from andante.errors import AndanteError, did_you_mean
from andante.files import read_at_most

T = TypeVar("T")

QUICK, FULL = SCALES = ("quick", "full")

#: No campaign needs more than this; the longest study has a thirtieth of it.
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


class CampaignError(AndanteError):
    """A campaign that cannot be read, run or gone on with."""


class Lines:
    """Where the tables and keys of a TOML file stand in its text."""

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
        """The line of a key of a table, or of a word in its value; the best guess where it cannot be told."""
        first = self._places.get((table, key), self._places.get((table, ""), 1))
        for number in range(first, len(self._text) + 1) if word else ():
            if word in self._text[number - 1]:
                return number
        return first


class Table:
    """One table of a file: hands out its values by key, and says what is wrong with them."""

    def __init__(self, data: Mapping[str, Any], name: str, path: Path, lines: Lines) -> None:
        self._data = dict(data)
        self._known: list[str] = []
        self.name, self.path, self._lines = name, path, lines

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def fail(self, sentence: str, key: str = "", word: str = "") -> NoReturn:
        """Refuse the file, for a reason found at this key, or at this word of its value."""
        raise CampaignError(f"{self.path}, line {self._lines.find(self.name, key, word)}: {sentence}")

    def take(self, key: str, kind: type[T], default: T | None = None) -> T:
        """The value of a key, of this kind; where it is absent the default, and an error if there is none."""
        self._known.append(key)
        if key not in self._data:
            if default is None:
                near = get_close_matches(key, self._data.keys() - set(self._known), n=1)
                meant = f"; is {near[0]!r} meant for it?" if near else ""
                self.fail(f"{self._title} lacks {key!r}{meant}", *near)
            return default
        return self.checked(self._data[key], kind, key)

    def take_or_none(self, key: str, kind: type[T]) -> T | None:
        """The value of a key, of this kind, or None where it is absent."""
        self._known.append(key)
        return self.checked(self._data[key], kind, key) if key in self._data else None

    def take_texts(self, key: str, default: Iterable[str] | None = None) -> list[str]:
        """A list of texts."""
        values = self.take(key, list, None if default is None else list(default))
        for value in values:
            if not isinstance(value, str):
                self.fail(f"{key} is a list of texts in quotes, and {value!r} is not a text", key, str(value))
        return values

    def take_table(self, key: str) -> Table:
        """A table within this one; an empty one where it is absent."""
        inner = self.take(key, dict, {})
        name = f"{self.name}.{key}" if self.name else key
        return _Inline(inner, name, self, key)

    def finish(self) -> None:
        """Refuse keys that nobody has asked for."""
        for key in self._data:
            if key not in self._known:
                self.fail(f"{self._title} has no {key!r}; {did_you_mean(key, self._known)}", key)

    @property
    def _title(self) -> str:
        return f"[{self.name}]" if self.name else "a campaign"

    def checked(self, value: Any, kind: type[T], key: str, name: str = "") -> T:
        """The value, if it is of this kind; it stands at this key, or under a name within its value."""
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.fail(f"{name or key} is {_KINDS[kind]}, not {value!r}", key, name)
        return value


class _Inline(Table):
    """A table within another, in the same line or below a header of its own."""

    def __init__(self, data: Mapping[str, Any], name: str, outer: Table, key: str) -> None:
        super().__init__(data, name, outer.path, outer._lines)
        self._outer, self._key = outer, key

    def fail(self, sentence: str, key: str = "", word: str = "") -> NoReturn:
        if (self.name, "") in self._lines._places:
            super().fail(sentence, key, word)
        self._outer.fail(sentence, self._key, word or key)


def only_texts(values: Iterable[Any]) -> list[str]:
    """The values, read back from plain data: a `TypeError` if one is no text.

    >>> only_texts(["a", "b"])
    ['a', 'b']
    """
    found = list(values)
    if not all(isinstance(value, str) for value in found):
        raise TypeError(f"{found!r:.100} are not all {_KINDS[str]}")
    return found


def only_numbers(values: Iterable[Any], least: int) -> list[int]:
    """The values, read back from plain data: a `TypeError` if one is no whole number from the least.

    >>> only_numbers([16, 9], least=1)
    [16, 9]
    """
    found = list(values)
    if not all(type(value) is int and value >= least for value in found):
        raise TypeError(f"{found!r:.100} are not all {_KINDS[int]} from {least}")
    return found


def read_tables(path: Path, scale: str) -> tuple[dict[str, Any], Lines]:
    """The contents of a file, with values that depend on the scale settled, and where they stand in its text.

    The scale is one of `SCALES`; ``quick+NAME`` takes the problems of that name in full, and what is run on them only.
    """
    text, data = _read_toml(path)
    name, *whole = scale.split("+")
    if name not in SCALES:
        raise CampaignError(f"there is no scale {name!r}; {did_you_mean(name, SCALES)}")
    if whole and name != QUICK:
        raise CampaignError(
            f"with the scale {name!r} all problems are in full; write quick+{'+'.join(whole)}, or {name}"
        )
    _settle_in_full(data, whole)
    settled: dict[str, Any] = _settle(data, name)
    return settled, Lines(text)


def _read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a file and what is in it, if that is TOML of sensible length, depth and numbers."""
    try:
        text = read_at_most(path, MAX_FILE_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise CampaignError(f"{path} is not a text file in UTF-8") from error
    except (OSError, ValueError) as error:
        raise CampaignError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    deep = f"{path} is nested too deeply: tables and lists stand in each other up to {MAX_DEPTH} times"
    large = f"{path} has a whole number of more than 64 bits, which TOML does not know"
    if _LONG_KEY.search(text):  # reading it would take time by the square of its length
        raise CampaignError(deep)
    try:
        data = tomllib.loads(text)
    except RecursionError as error:
        raise CampaignError(deep) from error
    except tomllib.TOMLDecodeError as error:
        raise CampaignError(f"{path} is not TOML: {error}") from error
    except ValueError as error:  # Python reads no numbers of thousands of digits
        raise CampaignError(large) from error
    level: list[Any] = [data]
    for _ in range(MAX_DEPTH):
        level = [part for value in level for part in _parts(value)]
        for number in level:
            if isinstance(number, int) and not -(2**63) <= number < 2**63:
                raise CampaignError(large)
        if not level:
            return text, data
    raise CampaignError(deep)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _settle_in_full(data: dict[str, Any], whole: list[str]) -> None:
    """Settle these sets of problems, and the runs that are about no others, at full scale."""
    sets, runs = data.get("problems"), data.get("run")
    if not (whole and isinstance(sets, dict) and isinstance(runs, list)):
        return
    for name in whole:
        if name not in sets:
            raise CampaignError(f"there are no problems {name!r} to take in full; {did_you_mean(name, sets)}")
        sets[name] = _settle(sets[name], FULL)
    for number, run in enumerate(runs):
        named = _settle(run.get("problems", list(sets)), FULL) if isinstance(run, dict) else None
        if isinstance(named, list) and all(name in whole for name in named):
            runs[number] = _settle(run, FULL)


def _settle(value: Any, scale: str) -> Any:
    """Replace each ``{quick = ..., full = ...}`` by the value for this scale."""
    if isinstance(value, list):
        return [_settle(part, scale) for part in value]
    if not isinstance(value, dict):
        return value
    if value and set(value) == set(SCALES):
        return _settle(value[scale], scale)
    return {key: _settle(part, scale) for key, part in value.items()}
