"""Records that a host and the library exchange, defined once for the C header, JavaScript and the playground.

C lays these fields out as NumPy does, because the offset of each field is a multiple of its size.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from andante.episode.tables import EPISODE, TRAIL
from andante.episode.tick import Tick


def tick_names() -> list[str]:
    """Return the names of what C reports about a tick: the same as in Python, except times, which the host measures."""
    return [name for name in Tick._fields if name != "microseconds"]


def _record(*fields: tuple[str, type]) -> np.dtype[Any]:
    return np.dtype(list(fields))


def _of_episode(*names: str) -> list[tuple[str, type]]:
    return [(name, EPISODE[name].type) for name in names]


#: One move, and what the decision cost.
MOVE = _record(
    ("to", np.int32),  # the next state; the state itself to wait; STUCK or UNREACHABLE
    ("reserved", np.int32),
    *_of_episode("cost", "expanded", "touched", "learned", "stored"),
)
#: When to give up a run. 0 means no limit.
LIMITS = _record(("cost", np.float64), ("moves", np.int64), ("expansions", np.int64))
#: How far a run is. ``steps`` is the number of steps that this call has written.
TRIAL = _record(
    *_of_episode("outcome", "state"),
    ("steps", np.int64),
    *_of_episode("cost", "moves", "expanded", "touched", "max_expanded", "learned", "stored"),
)
#: The state of a unit of a crowd.
ABOUT_UNIT = _record(
    *_of_episode("outcome", "state", "goal", "moves", "cost", "expanded"),
    ("restarts", np.int64),
)
#: What happened in a tick.
TICK = _record(*((name, np.int64) for name in tick_names()))

RECORDS = {"MOVE": MOVE, "LIMITS": LIMITS, "STEP": TRAIL, "TRIAL": TRIAL, "ABOUT_UNIT": ABOUT_UNIT, "TICK": TICK}

#: What a tick may spend, as laid out in WebAssembly, where addresses have 32 bits. For C it is declared in crowd.h.
BUDGET = _record(
    ("expansions", np.float64),
    ("nanoseconds", np.float64),
    ("clock", np.int32),
    ("user", np.int32),
    ("pause_when_full", np.int64),
)

_IN_C = {"int64": "int64_t", "int32": "int32_t", "float64": "double", "bool": "uint8_t"}


def in_c(dtype: np.dtype[Any]) -> str:
    """Return the fields of a record in C.

    >>> print(in_c(np.dtype([("to", np.int32), ("cost", np.float64)])))
        int32_t to;
        double cost;
    """
    return "\n".join(f"    {_IN_C[dtype[name].name]} {name};" for name in dtype.names or ())


def record_data(dtype: np.dtype[Any]) -> dict[str, Any]:
    """Return the size of a record, and the offset and type of each field, for JSON.

    >>> record_data(np.dtype([("to", np.int32), ("reserved", np.int32), ("cost", np.float64)]))
    {'bytes': 16, 'fields': {'to': [0, 'int32'], 'cost': [8, 'float64']}}
    """
    fields = {name: [part[1], part[0].name] for name, part in (dtype.fields or {}).items() if name != "reserved"}
    return {"bytes": dtype.itemsize, "fields": fields}


def exchanged() -> dict[str, Any]:
    """Return the data of all records that a host of the WebAssembly module reads or writes."""
    return {name: record_data(dtype) for name, dtype in {**RECORDS, "BUDGET": BUDGET}.items()}


def in_javascript() -> str:
    """Return the offsets and types of the fields of all records, as JavaScript."""
    return "{\n" + "".join(f"  {key}: {json.dumps(one)},\n" for key, one in exchanged().items()) + "}"
