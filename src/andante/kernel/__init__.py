"""The only interface to Numba: every compiled function of Andante is made here.

Kernels run without the GIL and without Numba's runtime, so they cannot allocate. With ``NUMBA_DISABLE_JIT=1`` they are
plain Python functions. Their machine code is cached (`andante.kernel.cache`).
"""

from andante.kernel.binding import Each, Entry, Table, bind, count_words, entry_of, nth, table_of
from andante.kernel.cache import on_compile, source_state
from andante.kernel.clock import host_nanoseconds, nanoseconds
from andante.kernel.compiler import JIT
from andante.kernel.interpret import interpreted
from andante.kernel.making import (
    Generic,
    generic,
    instantiate,
    int64,
    kernel,
    lowest_bit,
    placeholder,
    prefetch,
    subroutine,
    uint64,
)

__all__ = [
    "JIT",
    "Each",
    "Entry",
    "Generic",
    "Table",
    "bind",
    "count_words",
    "entry_of",
    "generic",
    "host_nanoseconds",
    "instantiate",
    "int64",
    "interpreted",
    "kernel",
    "lowest_bit",
    "nanoseconds",
    "nth",
    "on_compile",
    "placeholder",
    "prefetch",
    "source_state",
    "subroutine",
    "table_of",
    "uint64",
]
