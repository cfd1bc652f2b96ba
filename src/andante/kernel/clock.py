"""Clocks for compiled loops."""

from __future__ import annotations

import sys
import time

import numpy as np
from numba.core import types

from andante.kernel.compiler import JIT
from andante.kernel.making import kernel

if not JIT:

    def nanoseconds(buffer: np.ndarray) -> int:
        """Return the nanoseconds of a clock that never goes back."""
        return time.perf_counter_ns()

elif sys.platform == "win32":
    _counter = types.ExternalFunction("QueryPerformanceCounter", types.intc(types.voidptr))
    _NS_PER_TICK = 100  # Windows' performance counter runs at 10 MHz on every supported release

    @kernel
    def nanoseconds(buffer: np.ndarray) -> int:
        """Return the nanoseconds of a clock that never goes back; ``buffer`` is scratch space, int64[2]."""
        _counter(buffer.ctypes)
        return buffer[0] * _NS_PER_TICK

else:
    _gettime = types.ExternalFunction("clock_gettime", types.intc(types.intc, types.voidptr))
    _MONOTONIC = time.CLOCK_MONOTONIC

    @kernel
    def nanoseconds(buffer: np.ndarray) -> int:
        """Return the nanoseconds of a clock that never goes back; ``buffer`` is scratch space, int64[2]."""
        _gettime(_MONOTONIC, buffer.ctypes)
        return buffer[0] * 1_000_000_000 + buffer[1]


if JIT:
    _host = types.ExternalFunction("andante_clock", types.int64(types.voidptr))

    @kernel
    def host_nanoseconds(buffer: np.ndarray) -> int:
        """Return the time of ``andante_clock``, which a program without Python defines; for `entry_of`."""
        return _host(buffer.ctypes)

else:
    host_nanoseconds = nanoseconds
