"""Damage by chance, a bad disk or an attacker to files, and to documents whose checksum is then corrected."""

from __future__ import annotations

import json
import random
import re
from bisect import bisect
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

_NUMBERS = [
    b"0", b"-1", b"1", b"00", b"1e9", b"1e999", b"-0.0", b"nan", b"inf", b"2147483648", b"4294967296", b"9223372036854775807",
    b"9223372036854775808", b"18446744073709551616", b"0x10", b"1_000", b"3.5", b"1e-320", "٣".encode(), "²".encode(),
]  # fmt: skip
_WORDS = [
    b"", b" ", b"\n", b"\r\n", b"\t", b"\0", b"\xff", b"\xef\xbb\xbf", b"\x1b[2J", "é".encode(), "\u202e".encode(), "\U0001f600".encode(),
    b"(", b")", b"[", b"]", b"{", b"}", b"=", b",", b".", b"..", b"\"", b"'", b'"""', b"#", b"\\", b"/", b"../", b"%s", b"none", b"true",
    b"null", b"NaN", b"-", b"+", b":", b"x", b"[1..1000000000]", b"[[", b"]]",
]  # fmt: skip
_VALUES = [
    b"5", b"-1", b"0", b"1.5", b"nan", b"-inf", b'"x"', b'""', b"true", b"[]", b"{}", b"[1]", b"[[]]", b'["x"]', b"[1, 2]", b"{ a = 1 }",
    b'["x", 1]', b"1979-05-27", b"9223372036854775807", b"{ quick = 1, full = 2 }", b'"lrta"', b'[{ a = "b" }]', b"['lrta(depth=[1..9])']",
]  # fmt: skip
_DIGITS = re.compile(rb"[0-9]+")
_DEEP = 3000  # nested brackets, more than Python's recursion allows
_LONG = 20_000  # characters


# --- bytes ----------------------------------------------------------------------------------------------------------


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Return the bytes with one or a few errors."""
    found = data
    while True:
        found = _DAMAGE[bisect(_WEIGHTS, _TOTAL * rng.random())](rng, found)
        if rng.random() < 0.6 and found != data:
            return found


def _place(rng: random.Random, data: bytes) -> int:
    return int(rng.random() * (len(data) + 1))


def _span(rng: random.Random, data: bytes, longest: int = 40) -> tuple[int, int]:
    begin = _place(rng, data)
    return begin, min(len(data), begin + 1 + int(rng.expovariate(1 / longest)))


def _flip(rng: random.Random, data: bytes) -> bytes:
    if not data:
        return data
    at = int(rng.random() * len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.getrandbits(3)]) + data[at + 1 :]


def _replace(rng: random.Random, data: bytes) -> bytes:
    begin, end = _span(rng, data, 4)
    return data[:begin] + rng.randbytes(end - begin) + data[end:]


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: _place(rng, data)]


def _leave_out(rng: random.Random, data: bytes) -> bytes:
    begin, end = _span(rng, data)
    return data[:begin] + data[end:]


def _repeat(rng: random.Random, data: bytes) -> bytes:
    begin, end = _span(rng, data)
    times = 2 if rng.random() < 0.95 else rng.randrange(3, 200)
    return data[:begin] + data[begin:end] * times + data[end:]


def _insert(rng: random.Random, data: bytes) -> bytes:
    at = _place(rng, data)
    return data[:at] + rng.choice(_WORDS) + data[at:]


def _insert_bytes(rng: random.Random, data: bytes) -> bytes:
    at = _place(rng, data)
    return data[:at] + rng.randbytes(rng.randrange(1, 9)) + data[at:]


def _move_lines(rng: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    what, a, b = rng.randrange(3), rng.randrange(len(lines)), rng.randrange(len(lines))
    if what == 0:
        lines[a], lines[b] = lines[b], lines[a]
    elif what == 1:
        lines.insert(a, lines[b])
    else:
        del lines[a]
    return b"\n".join(lines)


def _number(rng: random.Random, data: bytes) -> bytes:
    """Replace the first number behind a random place, if there is one."""
    there = _DIGITS.search(data, _place(rng, data))
    begin, end = there.span() if there else (len(data), len(data))
    number = rng.choice(_NUMBERS) if rng.random() < 0.9 else b"9" * rng.randrange(20, 6000)
    return data[:begin] + number + data[end:]


def _value(rng: random.Random, data: bytes) -> bytes:
    """Replace the value after the first equals sign behind a random place, if there is one, by one of another type."""
    begin = data.find(b"=", _place(rng, data)) + 1
    if begin == 0:
        return data
    ends = [end for end in (data.find(mark, begin) for mark in (b"\n", b",", b"}", b")")) if end >= 0]
    end = min(ends, default=len(data))
    return data[:begin] + b" " + rng.choice(_VALUES) + data[end if rng.random() < 0.8 else len(data) :]


def _nest(rng: random.Random, data: bytes) -> bytes:
    begin, end = _span(rng, data)
    left, right = rng.choice(
        [(b"[", b"]"), (b"{", b"}"), (b"(", b")"), (b"a(b=", b")"), (b"{a=", b"}"), (b'{"a":', b"}"), (b"a.", b"")]
    )
    deep = rng.randrange(1, 8) if rng.random() < 0.9 else rng.randrange(20, _DEEP)
    return data[:begin] + left * deep + data[begin:end] + right * deep + data[end:]


def _stretch(rng: random.Random, data: bytes) -> bytes:
    at = _place(rng, data)
    return (
        data[:at]
        + rng.choice([b"a", b"9", b" ", b"\n", b".", b"-", b"\xff", b"a.", b'"'])[:2] * rng.randrange(100, _LONG)
        + data[at:]
    )


_DAMAGE: list[Callable[[random.Random, bytes], bytes]] = [
    _flip, _replace, _cut, _leave_out, _repeat, _insert, _insert_bytes, _move_lines, _number, _value, _nest, _stretch,
]  # fmt: skip
*_WEIGHTS, _TOTAL = accumulate([20, 15, 6, 12, 12, 20, 6, 15, 20, 15, 3, 1])


# --- documents ------------------------------------------------------------------------------------------------------


def altered(rng: random.Random, document: Any) -> Any:
    """Return a document with one or a few changes; the original is unchanged, and shares all other parts with it."""
    found = document
    while True:
        found = _altered_somewhere(rng, found)
        if rng.random() < 0.6:
            return found


def _altered_somewhere(rng: random.Random, value: Any) -> Any:
    if isinstance(value, dict | list) and value and rng.random() < 0.85:
        other: Any = value.copy()
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        what = rng.random()
        if what < 0.08:
            del other[key]
        elif what < 0.12:
            second = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
            other[key], other[second] = value[second], value[key]
        elif what < 0.16 and isinstance(value, list):
            other.insert(key, value[key])
        elif what < 0.18 and isinstance(value, dict):
            other[rng.choice(["", "x", "kind", "0", "\0", key.upper()])] = _strange(rng, value[key])
        else:
            other[key] = _altered_somewhere(rng, value[key])
        return other
    return _strange(rng, value)


def _strange(rng: random.Random, value: Any) -> Any:
    """Return a replacement for a value, often of the same type."""
    if rng.random() < 0.5 and isinstance(value, str):
        return damaged(rng, value.encode("utf-8", "surrogatepass")).decode("utf-8", rng.choice(["replace", "ignore"]))
    if rng.random() < 0.5 and isinstance(value, int | float) and not isinstance(value, bool):
        return rng.choice(
            [
                0,
                -1,
                1,
                value + 1,
                value - 1,
                -value,
                value * 2,
                value // 3,
                2**31,
                2**32 - 1,
                2**63,
                2**64,
                10**30,
                1e308,
            ]
        )
    what = rng.randrange(len(_STRANGE) + 6)
    if what < len(_STRANGE):
        return _STRANGE[what]
    if what == len(_STRANGE):
        return "y" * rng.randrange(2000)
    if what == len(_STRANGE) + 1:
        return [0] * rng.randrange(100)
    if what == len(_STRANGE) + 2:
        return _nested(rng)
    return ([value], {"x": value}, {"": {}})[what - len(_STRANGE) - 3]


def _nested(rng: random.Random) -> Any:
    value: Any = 0
    for _ in range(rng.randrange(2, 60) if rng.random() < 0.9 else rng.randrange(200, 700)):
        value = [value] if rng.random() < 0.5 else {"a": value}
    return value


#: Values of all types. Mutable ones are never changed, because altered parts of a document are copied.
_STRANGE: list[Any] = [
    None, True, False, 0, 1, -1, 7, 0.5, -0.0, 1e308, float("inf"), float("nan"), 2**31, 2**63, 2**64, 10**400, "", "x", "\0",
    "../x", "none", "é" * 3, [], {}, [[]], [None],
]  # fmt: skip


def as_json(document: Any) -> bytes:
    """Return the document as JSON, which may include NaN and lone surrogates."""
    return json.dumps(document).encode("utf-8", "surrogatepass")


def pick(rng: random.Random, samples: Sequence[bytes]) -> bytes:
    """Return one of the samples, or sometimes the head of one with the tail of another."""
    one = rng.choice(samples)
    if len(samples) > 1 and rng.random() < 0.05:
        other = rng.choice(samples)
        return one[: _place(rng, one)] + other[_place(rng, other) :]
    return one
