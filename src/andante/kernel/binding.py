"""Bound kernels, which are bound to their bundles once and then called only with numbers.

Called from Python, a kernel unpacks every array of its bundles, which takes 6 to 30 us for an agent's memory, and the
code that does so dominates compile time. A bound kernel reads them from its *context*, one table of 64-bit words with
the addresses, shapes and numbers of all bundles. The compiled entry rebuilds the bundles from it, which costs nothing
after inlining.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Hashable, Sequence
from functools import cached_property, partial
from types import FunctionType
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from numba import typeof
from numba.core import cgutils, types
from numba.core.dispatcher import Dispatcher
from numba.extending import intrinsic, models, overload, register_model
from numba.np.arrayobj import populate_array

from andante.kernel.cache import KernelCache, full_name, source_state
from andante.kernel.compiler import INNER, JIT
from andante.kernel.making import compiled
from andante.recent import Recent

ENTRIES = 1024  # kept in memory; all are on disk

Parts = tuple[npt.NDArray[Any], npt.NDArray[Any]]  # the first part of a divided array, and all parts [units, elements]


def bind(function: Callable[..., Any], *parts: Any) -> Callable[..., Any]:
    """Return ``function`` with its first arguments bound to ``parts``, to be called with numbers for the others.

    ``function`` is a kernel or the result of `instantiate`. A part is a bundle (a NamedTuple of arrays, numbers and
    bundles), `Each` of many units' bundles, an array, a number, or a dtype. In place of a dtype, each call passes the
    address and the length of an array of that type, which the caller keeps alive. The result keeps arrays in bundles
    alive. Their contents may change, but to replace an array or a number, bind again. This is cheap, because code is
    compiled per type.

    >>> from andante.kernel import kernel
    >>> @kernel
    ... def dot(weights, values, scale):
    ...     total = 0.0
    ...     for i in range(len(values)):
    ...         total += weights[i] * values[i]
    ...     return scale * total
    >>> weighted = bind(dot, np.array([1.0, 2.0, 3.0]), np.dtype(np.float64))
    >>> values = np.array([4.0, 5.0])
    >>> weighted(values.ctypes.data, len(values), 10.0)
    140.0
    """
    if not JIT or not isinstance(function, Dispatcher):
        return partial(_call_plain, function, parts)
    context = _Context([], [])
    shape = tuple(_write(part, context) for part in parts)
    table = np.array(context.words, np.int64)
    bound = partial(_entry_for(function, shape, parts), table.ctypes.data)
    bound.keeps = (table, parts)  # type: ignore[attr-defined]
    return bound


class Entry(NamedTuple):
    """The code and the context that `bind` makes of a kernel and its bundles, for a program without Python."""

    name: str  # of the function in the bitcode; C: int32_t name(result *, void **exception, int64_t context, ...)
    numbers: int  # 64-bit arguments that each call passes after the context
    identity: str  # equal for entries of the same kernel, sources and types, which take the same context
    bitcode: bytes  # LLVM's, including all that the kernel calls, not optimised and for no particular processor
    words: tuple[int, ...]  # the context
    arrays: tuple[tuple[int, npt.NDArray[Any]], ...]  # the words of the context that are addresses, and their arrays


class Table(NamedTuple):
    """The context of an entry without its code, for which nothing is compiled."""

    identity: str  # of the entry
    words: tuple[int, ...]
    arrays: tuple[tuple[int, npt.NDArray[Any]], ...]


def entry_of(function: Callable[..., Any], *parts: Any, floats: Collection[int] = ()) -> Entry:
    """Return the code of the entry that `bind` calls, and its context, whose addresses must be replaced in a program.

    The numbers of each call are int64, or float64 for those whose positions are in ``floats``. The function returns 0,
    or another number if the kernel raised an exception.
    """
    dispatcher, table = _tabled(function, parts)
    numbers = dispatcher.py_func.__code__.co_argcount - 1
    signature = (types.int64, *(types.float64 if i in floats else types.int64 for i in range(numbers)))
    dispatcher.compile(signature)
    made = dispatcher.overloads[signature]
    bitcode = made.library._get_module_for_linking().as_bitcode()
    return Entry(made.fndesc.llvm_func_name, numbers, table.identity, bitcode, table.words, table.arrays)


def table_of(function: Callable[..., Any], *parts: Any) -> Table:
    """Return the context that `entry_of` returns, and the identity of the entry."""
    return _tabled(function, parts)[1]


def count_words(*parts: Any) -> int:
    """Return the number of words that these parts take in a context."""
    context = _Context([], [])
    for part in parts:
        _write(part, context)
    return len(context.words)


def _tabled(function: Callable[..., Any], parts: tuple[Any, ...]) -> tuple[Any, Table]:
    context = _Context([], [])
    shape = tuple(_write(part, context) for part in parts)
    dispatcher = cast(Any, _entry_for(function, shape, parts)).inner
    identity = _identities.get((function, shape), lambda: _identity(dispatcher, parts))
    return dispatcher, Table(identity, tuple(context.words), tuple(context.arrays))


def _identity(dispatcher: Any, parts: tuple[Any, ...]) -> str:
    return ", ".join([source_state(dispatcher.py_func), *(full_name(_kind(part)) for part in parts)])


def _entry_for(function: Callable[..., Any], shape: Hashable, parts: tuple[Any, ...]) -> Callable[..., Any]:
    return _entries.get((function, shape), lambda: _entry(function, tuple(map(_kind, parts))))


def _call_plain(function: Callable[..., Any], parts: tuple[Any, ...], *numbers: Any) -> Any:
    """Call the function with its parts in plain Python."""
    given = iter(numbers)
    taken = [_array_at(part, next(given), next(given)) if isinstance(part, np.dtype) else part for part in parts]
    return function(*taken, *given)


def _array_at(dtype: np.dtype[Any], address: int, length: int) -> npt.NDArray[Any]:
    if length == 0:
        return np.zeros(0, dtype)
    return np.ndarray(length, dtype, memoryview((ctypes.c_char * (length * dtype.itemsize)).from_address(address)))


# --- bundles of many units ------------------------------------------------------------------------------------------


class Each:
    """The bundles of many units, which share some arrays; of other arrays each unit or each team has its own part.

    A bound kernel gets the bundle of one unit from `nth`. The bundle contains the first part of each divided array.
    ``rows`` contains these first parts together with all parts, as an array [units, elements], for arrays that are
    divided among units; ``team_rows`` does so for those divided among teams. Parts may be any number of bytes apart.
    """

    def __init__(self, bundle: Any, rows: Sequence[Parts], team_rows: Sequence[Parts] = ()) -> None:
        self.bundle = bundle
        self._all = {id(first): parts for first, parts in (*rows, *team_rows)}
        self._of_teams = {id(first) for first, _ in team_rows}
        self._keeps = rows, team_rows

    @cached_property
    def written(self) -> tuple[_Context, Any]:
        """The words for all units' bundles and the key of their type, cached for all kernels bound to them."""
        context = _Context([], [])
        return context, _write(self.bundle, context, self)

    def whole(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return all parts of a divided array, which begin where the first one does, or the array if not divided."""
        return self._all.get(id(array), array)

    def steps(self, array: npt.NDArray[Any]) -> tuple[int, int]:
        """Return the bytes from one unit's part to the next, and from one team's part to the next."""
        parts = self._all.get(id(array))
        step = 0 if parts is None else parts.strides[0]
        return (0, step) if id(array) in self._of_teams else (step, 0)

    def of(self, unit: int, team: int) -> Any:
        """Return the bundle of one unit."""
        return self._part(self.bundle, unit, team)

    def _part(self, value: Any, unit: int, team: int) -> Any:
        if isinstance(value, tuple):
            parts = [self._part(part, unit, team) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if not isinstance(value, np.ndarray) or id(value) not in self._all:
            return value
        return self._all[id(value)][team if id(value) in self._of_teams else unit]


def nth(each: Each, unit: int, team: int) -> Any:
    """Return the bundle of a unit in this team; in a kernel this takes a few nanoseconds."""
    return each.of(unit, team)


class _EachType(types.Type):  # type: ignore[misc]
    """The type of `Each` in kernels, whose value is the address of its words in the context."""

    def __init__(self, bundle: types.Type) -> None:
        self.bundle = bundle
        super().__init__(name=f"Each({bundle})")


@register_model(_EachType)
class _EachModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, cgutils.intp_t)


@intrinsic  # type: ignore[untyped-decorator]
def _nth(_: Any, each: Any, unit: Any, team: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        numbers = [context.cast(builder, args[i], signature.args[i], types.intp) for i in (1, 2)]
        return _Reader(context, builder, args[0], numbers).value(each.bundle)

    return each.bundle(each, unit, team), generate


@overload(nth, jit_options=INNER, strict=False)  # type: ignore[untyped-decorator]
def _choose_nth(each: Any, unit: Any, team: Any) -> Callable[..., Any] | None:
    if not isinstance(each, _EachType):
        return None

    def ask(each: Any, unit: Any, team: Any) -> Any:
        return _nth(each, unit, team)

    return ask


def _kind(part: Any) -> types.Type:
    """Return the type that a part has in kernels."""
    return _EachType(typeof(part.bundle)) if isinstance(part, Each) else typeof(part)


# --- the context ----------------------------------------------------------------------------------------------------


class _Context(NamedTuple):
    """The words of a context, and the numbers of those that are addresses of arrays."""

    words: list[int]
    arrays: list[tuple[int, npt.NDArray[Any]]]


def _write(value: Any, context: _Context, each: Each | None = None) -> Any:
    """Add the words for a value to the context, and return a key of its type.

    An array within `Each` has two more words: the bytes from one unit's part to the next, and from one team's part.
    Numba's own `typeof` takes a millisecond for an agent's memory, so it is called only once per type.
    """
    words = context.words
    if isinstance(value, np.ndarray):
        flags = value.flags.num
        context.arrays.append((len(words), value if each is None else each.whole(value)))
        words += (value.ctypes.data, *value.shape)
        if not flags & _IN_C_ORDER:
            words += value.strides
        if each is not None:
            words += each.steps(value)
        return value.dtype, value.ndim, flags & _TYPE_FLAGS
    if isinstance(value, tuple):
        return type(value), *[_write(part, context, each) for part in value]
    if isinstance(value, Each):
        written, shape = value.written
        context.arrays.extend((len(words) + place, array) for place, array in written.arrays)
        words += written.words
        return Each, shape
    if isinstance(value, np.dtype):
        return value
    if isinstance(value, float | np.floating):
        words.append(int(np.float64(value).view(np.int64)))
    elif isinstance(value, int | np.integer | np.bool_):
        words.append(int(value))
    else:
        raise TypeError(f"a kernel cannot be bound to {value!r}; bundles hold arrays, numbers and other bundles")
    return type(value)


_IN_C_ORDER = 0x1  # NumPy's
_TYPE_FLAGS = _IN_C_ORDER | 0x2 | 0x100 | 0x400  # contiguous in C's or Fortran's order, aligned, writeable


class _Reader:
    """A generator of code that reads the words of the context in order; within `Each`, for a unit and its team."""

    def __init__(self, context: Any, builder: Any, address: Any, numbers: Sequence[Any] = ()) -> None:
        self._context, self._builder, self._numbers = context, builder, numbers
        self._start = builder.inttoptr(address, cgutils.intp_t.as_pointer())
        self._read = 0

    def word(self) -> Any:
        place = cgutils.gep(self._builder, self._start, self._read)
        self._read += 1
        return self._builder.load(place)

    def value(self, kind: types.Type) -> Any:
        """Generate the code for a value of this type."""
        builder = self._builder
        if isinstance(kind, types.BaseTuple):
            return self._context.make_tuple(builder, kind, [self.value(inner) for inner in kind])
        if isinstance(kind, types.Array):
            return self._array(kind)
        if isinstance(kind, _EachType):
            begin = builder.ptrtoint(cgutils.gep(builder, self._start, self._read), cgutils.intp_t)
            self._read += _words(kind.bundle)
            return begin
        if isinstance(kind, types.Float):
            number = builder.bitcast(self.word(), self._context.get_value_type(types.float64))
            return self._context.cast(builder, number, types.float64, kind)
        return self._context.cast(builder, self.word(), types.int64, kind)

    def _array(self, kind: types.Array) -> Any:
        address, shape = self.word(), [self.word() for _ in range(kind.ndim)]
        strides = None if kind.layout == "C" else [self.word() for _ in range(kind.ndim)]
        for number in self._numbers:
            address = self._builder.add(address, self._builder.mul(number, self.word()))
        return _array(self._context, self._builder, kind, address, shape, strides)


def _words(kind: types.Type) -> int:
    """Return the number of words of a value of this type within `Each`."""
    if isinstance(kind, types.BaseTuple):
        return sum(map(_words, kind))
    if isinstance(kind, types.Array):
        return 3 + kind.ndim * (1 if kind.layout == "C" else 2)
    return 1


def _array(context: Any, builder: Any, kind: types.Array, address: Any, shape: list[Any], strides: Any = None) -> Any:
    """Generate the code for an array at an address; without ``strides`` it is contiguous."""
    made = context.make_array(kind)(context, builder)
    size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    if strides is None:
        strides = [size]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], length))
    data = builder.inttoptr(address, made.data.type)
    populate_array(made, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return made._getvalue()


@intrinsic  # type: ignore[untyped-decorator]
def _arguments(_: Any, address: Any, numbers: Any, kinds: Any) -> Any:
    """Return all arguments of a bound kernel: its parts, rebuilt from the context, and the numbers."""
    parts, given = kinds.instance_type.types, iter(numbers)
    made = []
    for part in parts:
        made.append(types.Array(part.dtype, 1, "C") if isinstance(part, types.DType) else part)
        if isinstance(part, types.DType):
            next(given), next(given)
    whole = types.Tuple([*made, *given])

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        reader = _Reader(context, builder, args[0])
        given = iter(zip(numbers, cgutils.unpack_tuple(builder, args[1], len(numbers)), strict=True))
        values = []
        for part, kind in zip(parts, made, strict=True):
            if isinstance(part, types.DType):
                address, length = (
                    context.cast(builder, one, was, types.intp) for was, one in (next(given), next(given))
                )
                values.append(_array(context, builder, kind, address, [length]))
            else:
                values.append(reader.value(kind))
        return context.make_tuple(builder, whole, [*values, *(one for _, one in given)])

    return whole(address, numbers, kinds), generate


# --- the entry ------------------------------------------------------------------------------------------------------


_entries: Recent[Hashable, Callable[..., Any]] = Recent(ENTRIES)
_identities: Recent[Hashable, str] = Recent(ENTRIES)


def _entry(function: Any, kinds: tuple[types.Type, ...]) -> Callable[..., Any]:
    """Return the kernel that takes the address of a context and numbers, and calls ``function``."""
    source = cast(FunctionType, function.py_func)
    slots = sum(isinstance(kind, types.DType) for kind in kinds)
    names = [f"number_{i}" for i in range(source.__code__.co_argcount - len(kinds) + 2 * slots)]
    numbers = f"({', '.join(names)}{',' if names else ''})"
    text = f"def entry({', '.join(['context', *names])}):\n    return _call(*_arguments(context, {numbers}, _kinds))"
    # The entry is cached under a hash of its sources, which include the globals of the kernel and of this module.
    scope = {
        **source.__globals__,
        "_call": function,
        "_arguments": _arguments,
        "_kinds": types.Tuple(kinds),
        "_bind": bind,
    }
    made: dict[str, FunctionType] = {}
    exec(compile(text, source.__code__.co_filename, "exec"), scope, made)
    entry = made["entry"]
    entry.__name__ = entry.__qualname__ = source.__qualname__
    entry.__module__ = source.__module__
    return compiled(entry, cached=isinstance(function._cache, KernelCache), bound=kinds)
