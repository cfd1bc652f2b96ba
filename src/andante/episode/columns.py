"""Columns of numbers in JSON documents, from which traces of agents and of crowds are made.

A column is ``{"type": "int32", "length": n, "delta": true, "data": "..."}``. Its numbers or, if ``delta`` is set, the
first number and the differences between neighbours, are written little-endian: all lowest bytes first, then the next
lowest, up to the highest. They are compressed with zlib and encoded in base64.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

#: The maximum number of rows that are read from a table, so that no file can fill the memory.
MAX_ROWS = 2**24

# Neighbouring numbers in these columns are close, so their differences are small.
_DELTA = {"state", "tick"}


def pack(numbers: npt.NDArray[Any], delta: bool = False) -> dict[str, Any]:
    """Return an array of numbers as a column of a document."""
    small = numbers.dtype.newbyteorder("<")
    changes = np.diff(numbers, prepend=numbers.dtype.type(0)) if delta else numbers
    planes = np.ascontiguousarray(changes.astype(small)).view(np.uint8).reshape(len(numbers), small.itemsize).T
    data = base64.b64encode(zlib.compress(planes.tobytes())).decode()
    return {"type": numbers.dtype.name, "length": len(numbers), "delta": delta, "data": data}


def pack_table(table: npt.NDArray[Any]) -> dict[str, Any]:
    """Return a table as a column for each of its fields."""
    return {name: pack(table[name], name in _DELTA) for name in table.dtype.names or ()}


def unpack(column: dict[str, Any], dtype: np.dtype[Any], length: int) -> npt.NDArray[Any]:
    """Return the array of ``length`` numbers in a column."""
    if column["type"] != dtype.name or column["length"] != length:
        found = f"{column['length']} of type {column['type']}"
        raise ValueError(f"{length} numbers of type {dtype.name} are expected and there are {found}")
    size = length * dtype.itemsize
    stream = zlib.decompressobj()
    raw = stream.decompress(base64.b64decode(column["data"], validate=True), size + 1)
    if len(raw) != size or not stream.eof:
        raise ValueError(f"a column that announces {size} bytes has more or fewer")
    planes = np.frombuffer(raw, np.uint8).reshape(dtype.itemsize, length)
    numbers = np.ascontiguousarray(planes.T).view(dtype.newbyteorder("<"))[:, 0] if length else np.zeros(0, dtype)
    if not column["delta"]:
        return numbers.astype(dtype)
    with np.errstate(all="ignore"):  # invalid numbers are refused later
        return np.cumsum(numbers, dtype=dtype)


def unpack_table(columns: dict[str, Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return the table in columns; there must be a column for each field of ``dtype``."""
    names = dtype.names or ()
    length = int(columns[names[0]]["length"])
    if not 0 <= length <= MAX_ROWS:
        raise ValueError(f"a table of {length} rows is too long; at most {MAX_ROWS} are read")
    table = np.zeros(length, dtype)
    for name in names:
        table[name] = unpack(columns[name], dtype[name], length)
    return table


def dump(document: dict[str, Any]) -> str:
    """Return a document as JSON in its shortest form."""
    return json.dumps(document, separators=(",", ":"), allow_nan=False)
