"""The notation for an algorithm and its parameters: ``name(parameter=value, ...)``.

Values are numbers (``3``, ``0.5``, ``inf``), words (``median``), ``true``, ``false``, ``none``, and nested algorithms
(``pdb(level=3)``). Reading a written value gives the same value.

>>> parse("lrta(depth=9)")
Call(name='lrta', arguments={'depth': 9})
>>> str(parse(" lrta( depth = 9 ) "))
'lrta(depth=9)'
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from andante.errors import NotationError, ParameterError


@dataclass(frozen=True)
class Call:
    """A name with its arguments, in the order they were written."""

    name: str
    arguments: dict[str, Value] = field(default_factory=dict)

    def __hash__(self) -> int:
        """Return the hash of the name only, so that calls can be looked up like words."""
        return hash(self.name)

    def __str__(self) -> str:
        if not self.arguments:
            return self.name
        return f"{self.name}({', '.join(f'{key}={write(value)}' for key, value in self.arguments.items())})"


Value = int | float | bool | None | str | Call


class Named(IntEnum):
    """A number with a name, and printed as that name.

    >>> class Side(Named):
    ...     LEFT = 0
    >>> print(Side.LEFT)
    LEFT
    >>> [Side.LEFT]
    [Side.LEFT]
    """

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class Word(Named):
    """One of the words that a parameter may be set to, printed as in the notation.

    >>> class Ties(Word):
    ...     FIRST = 0
    ...     LAST = 1
    >>> print(Ties.LAST)
    last
    >>> [Ties.LAST]
    [Ties.LAST]
    """

    def __str__(self) -> str:
        return self.name.lower()


_TOKEN = re.compile(
    r"\s*(?:(?P<number>[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf\b))|(?P<name>[A-Za-z_][\w.+-]*)|(?P<mark>[(),=]))"
)
_WORDS: dict[str, Value] = {"true": True, "false": False, "none": None}

# Longer text is refused before it is read: no algorithm needs it, and reading and writing recurse once per bracket.
MAX_LENGTH = 1000
MAX_CALLS = 50


def parse(text: str) -> Call:
    """Parse an algorithm; raise `NotationError`, which says where the text is wrong, if it is not one."""
    if len(text) > MAX_LENGTH:
        raise NotationError(f"{text[:40]!r}... has {len(text)} characters; an algorithm has at most {MAX_LENGTH}")
    if text.count("(") > MAX_CALLS:
        raise NotationError(f"{text[:40]!r}... has {text.count('(')} opening brackets; at most {MAX_CALLS} are allowed")
    value, rest = _value(text, _tokens(text))
    if rest:
        raise NotationError(f"{text!r} has {rest[0][1]!r} after the end of the algorithm")
    if isinstance(value, str):
        return Call(value)
    if not isinstance(value, Call):
        raise NotationError(f"{text!r} is not an algorithm; write name(parameter=value, ...)")
    return value


def write(value: Value) -> str:
    """Return a value in the notation.

    >>> write(1.0), write(math.inf), write(True), write(None)
    ('1.0', 'inf', 'true', 'none')
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Call) and not value.arguments:  # without brackets it would read back as a word
        return f"{value.name}()"
    return repr(value) if isinstance(value, int | float) else str(value)


Token = tuple[str, str]


def _tokens(text: str) -> list[Token]:
    tokens, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            if text[at:].lstrip()[0] == "[":
                raise NotationError(f"{text!r} has a list of values, which only campaigns accept; write a single value")
            raise NotationError(
                f"{text!r} has {text[at:].strip()[:1]!r} where a name, a number or one of ( ) , = is expected"
            )
        tokens.append((str(match.lastgroup), match[match.lastindex or 0]))
        at = match.end()
    return tokens


def _value(text: str, tokens: list[Token]) -> tuple[Value, list[Token]]:
    if not tokens:
        raise NotationError(f"{text!r} ends where a name or a value is expected")
    (kind, word), rest = tokens[0], tokens[1:]
    if kind == "number":
        return _number(word), rest
    if kind != "name":
        raise NotationError(f"{text!r} has {word!r} where a name or a value is expected")
    if rest and rest[0][1] == "(":
        return _call(text, word, rest[1:])
    return _WORDS.get(word, word), rest


def _number(word: str) -> int | float:
    if word.lstrip("+-").isdigit():
        return int(word)
    return math.copysign(math.inf, -1 if word[0] == "-" else 1) if word.endswith("inf") else float(word)


def _call(text: str, name: str, tokens: list[Token]) -> tuple[Call, list[Token]]:
    arguments: dict[str, Value] = {}
    while tokens and tokens[0][1] != ")":
        if tokens[0][0] != "name" or len(tokens) < 3 or tokens[1][1] != "=":
            raise NotationError(f"{text!r} has {tokens[0][1]!r} where parameter=value is expected")
        key = tokens[0][1]
        if key in arguments:
            raise NotationError(f"{text!r} gives {key!r} twice")
        arguments[key], tokens = _value(text, tokens[2:])
        if tokens and tokens[0][1] == ",":
            tokens = tokens[1:]
        elif tokens and tokens[0][1] != ")":
            raise NotationError(f"{text!r} has {tokens[0][1]!r} where a comma or a closing bracket is expected")
    if not tokens:
        raise NotationError(f"{text!r} lacks a closing bracket")
    return Call(name, arguments), tokens[1:]


# --- lists of values ------------------------------------------------------------------------------------------------

_LIST = re.compile(r"\[([^\[\]]*)\]")
_MARK = re.compile(r"[(),]")
_RANGE = re.compile(r"\s*(-?\d{1,18})\s*\.\.\s*(-?\d{1,18})\s*")
MOST_SETTINGS = 1_000_000
MOST_CHARACTERS = 100_000_000  # of all settings together


def expand(text: str) -> list[str]:
    """Return all combinations that a text with lists of values describes; the last list changes fastest.

    >>> expand("lrts(depth=[1, 2], gamma=[0.5, 1])")
    ['lrts(depth=1, gamma=0.5)', 'lrts(depth=1, gamma=1)', 'lrts(depth=2, gamma=0.5)', 'lrts(depth=2, gamma=1)']
    """
    fixed, inside = _LIST.split(text)[::2], _LIST.findall(text)
    choices = [_values(one, text) for one in inside]
    count = math.prod(sum(map(len, values)) for values in choices)
    if count > MOST_SETTINGS:  # checked before any setting is made
        raise ParameterError(f"{text!r} describes more than {MOST_SETTINGS:,} settings; draw a sample instead")
    lists = [[str(value) for values in each for value in values] for each in choices]
    longest = sum(map(len, fixed)) + sum(max(map(len, values)) for values in lists)
    if lists and longest > MAX_LENGTH:
        raise ParameterError(f"{text!r} describes settings of {longest:,} characters; the limit is {MAX_LENGTH:,}")
    if lists and count * longest > MOST_CHARACTERS:
        raise ParameterError(
            f"{text!r} describes {count:,} settings of up to {longest:,} characters, too many to list; draw a sample "
            "instead"
        )
    return ["".join(map("".join, zip(fixed, [*chosen, ""], strict=True))) for chosen in itertools.product(*lists)]


def _values(inside: str, text: str) -> list[Sequence[object]]:
    """Return the values of one list, piece by piece; ``3..5`` is the range 3, 4, 5."""
    values: list[Sequence[object]] = []
    for word in _words(inside):
        if span := _RANGE.fullmatch(word):
            values.append(range(int(span[1]), int(span[2]) + 1))
        elif word.strip():
            values.append([word.strip()])
    if not any(map(len, values)):
        raise ParameterError(f"{text!r} has a list without values; write values, as in [1, 3, 5] or [4..16]")
    return values


def _words(inside: str) -> Iterator[str]:
    """Split at commas, except at those within brackets, which belong to a value."""
    begin = depth = 0
    for mark in _MARK.finditer(inside):
        depth += (mark[0] == "(") - (mark[0] == ")")
        if mark[0] == "," and depth <= 0:
            yield inside[begin : mark.start()]
            begin = mark.end()
    yield inside[begin:]
