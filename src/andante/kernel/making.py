"""Decorators that make kernels: functions that are compiled on first use, also with one body per bundle."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast, get_type_hints

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numba.core.sigutils import normalize_signature
from numba.extending import intrinsic, overload

from andante import faults
from andante.errors import AndanteError
from andante.kernel.cache import KernelCache, keep_text, source_file
from andante.kernel.compiler import INNER, JIT, OPTIONS, Part, remembering_operators

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")

if TYPE_CHECKING:
    int64 = uint64 = int
else:
    int64 = np.int64  # the type of states and counts in a kernel; narrower types come from arrays
    uint64 = np.uint64  # an index in the innermost loops: Numba lets a negative signed one count from the end


def kernel(function: F) -> F:
    """Compile ``function`` on first use and cache the machine code on disk."""
    keep_text(function)
    return compiled(function)


def subroutine(function: F) -> F:
    """Make a kernel that is not inlined into its callers, for large ones that take longer than a call.

    Inlining a large kernel everywhere makes its callers slow to compile and no faster.
    """
    keep_text(function)
    return compiled(function, inlined=False)


def compiled(function: F, cached: bool = True, inlined: bool = True, bound: tuple[types.Type, ...] = ()) -> F:
    """Return ``function`` as a kernel; ``bound`` are types that its code depends on besides those of its arguments."""
    if not JIT:
        return function
    outer = numba.njit(nogil=True, **OPTIONS)(function)
    inner = numba.njit(**INNER | {"forceinline": inlined})(function)
    if cached and source_file(function) is not None:
        outer._cache = KernelCache(function, outer.targetoptions, bound)
        inner._cache = KernelCache(function, inner.targetoptions, bound)
    # Kernels that call this one get the inner one. A reference to the outer one must keep the inner one alive.
    outer.get_call_template, outer.get_overload = _called_by_kernels(outer, inner), inner.get_overload
    outer._compile_for_args = _called_by_python(outer)
    outer.compile, inner.compile = _in_turn(outer), _in_turn(inner)
    outer.promised = None  # the bundle that callers expect it to return
    outer.inner = inner
    return cast(F, outer)


def _called_by_kernels(compiled: Any, inner: Any) -> Callable[..., Any]:
    """Return the function that Numba calls for the type of a call; if it fails, it records which kernel is the reason.

    A literal number in a call has its own type, and Numba would compile the kernel for each such number. Here all
    integers are one type, and inlined code still contains the number.
    """

    def get_call_template(args: Any, kws: Any) -> Any:
        args = tuple(types.unliteral(arg) for arg in args)
        kws = {name: types.unliteral(arg) for name, arg in kws.items()}
        try:
            found = inner.get_call_template(args, kws)
            if compiled.promised is not None:
                returned = inner.overloads[tuple(found[2])].signature.return_type
                faults.check_return(inner.py_func, compiled.promised, returned)
        except NumbaError as error:
            if str(error).startswith("Failed in ") or hasattr(error, "blame"):  # else the call itself is wrong
                faults.blame(inner.py_func, error)
            raise
        except Exception as error:
            faults.blame(inner.py_func, error)
            raise
        return found

    return get_call_template


def _called_by_python(compiled: Any) -> Callable[..., Any]:
    """Return the function that Numba calls for new argument types; it turns an error into a sentence for the author."""
    compile_for_args = compiled._compile_for_args

    def explaining(*args: Any, **kws: Any) -> Any:
        faults.begin()
        try:
            return compile_for_args(*args, **kws)
        except (AndanteError, OSError, MemoryError):
            raise
        except Exception as error:  # including those that Numba does not catch, such as a TypeError for Move(1, 2)
            raise faults.explained(compiled.py_func, error) from None

    return explaining


def _in_turn(dispatcher: Any) -> Callable[[Any], Any]:
    """Return the function with which Numba compiles or loads a kernel; it always releases the turns its cache took."""

    def compile_in_turn(sig: Any) -> Any:
        with global_compiler_lock:  # so that turns taken meanwhile are this thread's
            turns = getattr(dispatcher._cache, "turns", [])
            before = len(turns)
            try:
                with _no_collecting(), remembering_operators():
                    made = _compile_or_load(dispatcher, sig)
                _give_constants(made)
                return made.entry_point
            finally:
                while len(turns) > before:
                    turns.pop().end()

    return compile_in_turn


def _compile_or_load(dispatcher: Any, sig: Any) -> Any:
    """Return the machine code of a kernel for these types.

    Numba's own method also calls listeners that time every call to LLVM, for each kernel that is being compiled and
    those that call it.
    """
    args, return_type = normalize_signature(sig)
    known = dispatcher.overloads.get(args)
    if known is not None:
        return known
    with dispatcher._compiling_counter:
        made = dispatcher._cache.load_overload(sig, dispatcher.targetctx)
        if made is not None:
            dispatcher._cache_hits[sig] += 1
            dispatcher.targetctx.insert_user_function(made.entry_point, made.fndesc, [made.library])
            dispatcher.add_overload(made)
            return made
        dispatcher._cache_misses[sig] += 1
        made = dispatcher._compiler.compile(args, return_type)
        dispatcher.add_overload(made)
        dispatcher._cache.save_overload(sig, made)
    return made


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Disable garbage collection in this block, because a compiler makes millions of objects and drops few early.

    Looking for those repeatedly used to take a sixth of the compile time, or more in a large program.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _give_constants(compiled: Any) -> None:
    """Set the addresses of Python objects that machine code uses, such as texts to ``print``.

    Numba does this kernel by kernel, which is too early for a `Part`. Without the addresses, code that prints never
    returns, because it fails while it holds Python's lock.
    """
    if isinstance(compiled.library, Part):
        return
    for environment in compiled._find_referenced_environments():
        compiled.library.codegen.set_env(environment.env_name, environment)


def instantiate(template: Callable[..., Any], name: str, **names: Any) -> Callable[..., Any]:
    """Return a kernel made from ``template``, with the given global names bound to the given kernels.

    This is how one loop drives many step kernels. A kernel passed as an argument or captured in a closure would never
    be found in the cache again, but a global of its caller is. If the template's own module has a function of that name
    that is annotated to return a bundle, the kernel must return that bundle too.
    """
    source = cast(FunctionType, getattr(template, "py_func", template))
    for key, part in names.items():
        if isinstance(part, Dispatcher):
            part.promised = _promised(source.__globals__.get(key))
    copy = FunctionType(source.__code__, {**source.__globals__, **names}, name)
    copy.__qualname__ = name
    copy.__module__ = source.__module__
    copy.__doc__ = source.__doc__
    # A kernel without a file, such as one from a notebook, has no source to hash, so the result is not cached.
    kept = all(not isinstance(part, Dispatcher) or isinstance(part._cache, KernelCache) for part in names.values())
    return compiled(copy, kept)


def placeholder(returns: type[T], what: str) -> Callable[..., T]:
    """Return a stand-in for a kernel in a template, which `instantiate` replaces by a kernel with the same result type.

    ``what`` describes what the kernel does, and its arguments.

    >>> placeholder(float, "weighs (bundle)")(None)
    Traceback (most recent call last):
        ...
    TypeError: this stands for a kernel that weighs (bundle), which `instantiate` puts in its place
    """

    def stand(*_: Any) -> T:
        raise TypeError(f"this stands for a kernel that {what}, which `instantiate` puts in its place")

    stand.__annotations__["return"] = returns
    return stand


def _promised(stub: Any) -> type[tuple[Any, ...]] | None:
    """Return the bundle that a function is annotated to return, if any."""
    said = get_type_hints(stub).get("return") if isinstance(stub, FunctionType) else None
    return said if isinstance(said, type) and issubclass(said, tuple) else None


class Generic(Protocol[P, R_co]):
    """A kernel with one body per class of its first argument."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Call the body for the class of the first argument."""
        ...

    def of(self, *bundles: type) -> Callable[[F], F]:
        """Register the decorated function as the body for these NamedTuple classes; ``tuple`` means all others."""
        ...


def generic(stub: Callable[P, R_co]) -> Generic[P, R_co]:
    """Make a function whose body depends on the class of its first argument, chosen when the caller is compiled."""
    keep_text(stub)
    bodies: dict[type, Callable[..., Any]] = {}

    @functools.wraps(stub)
    def dispatch(*args: Any) -> Any:
        body: Callable[..., Any] = body_for(bodies, type(args[0])) or stub  # which raises an error
        return body(*args)

    def of(*bundles: type) -> Callable[[F], F]:
        def register(body: F) -> F:
            bodies.update(dict.fromkeys(bundles, body))
            return body

        return register

    overload(dispatch, jit_options=INNER, strict=False)(_chooser(bodies, stub))
    dispatch.of = of  # type: ignore[attr-defined]
    dispatch.bodies = bodies  # type: ignore[attr-defined]
    return cast(Generic[P, R_co], dispatch)


def body_for(bodies: Mapping[type, Callable[..., Any]], bundle: type) -> Callable[..., Any] | None:
    """Return the body of a generic kernel for a bundle, its own or the one for all others; None if it has neither."""
    return bodies.get(bundle, bodies.get(tuple))


def _chooser(bodies: dict[type, Callable[..., Any]], stub: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that Numba calls, with types instead of values, to choose the body to compile."""

    def choose(first: Any, *rest: Any) -> Callable[..., Any] | None:
        bundle = getattr(first, "instance_class", None)
        return None if bundle is None else body_for(bodies, bundle)

    arguments = ", ".join(stub.__code__.co_varnames[: stub.__code__.co_argcount])
    # An overload must have the stub's own argument names.
    scope: dict[str, Any] = {"choose": choose}
    exec(f"def chooser({arguments}):\n    return choose({arguments})", scope)
    return cast(Callable[..., Any], scope["chooser"])


def lowest_bit(bits: int) -> int:
    """Return the position of the lowest bit that is set; at least one must be set. This is one instruction."""
    return int(bits & -bits).bit_length() - 1


@intrinsic  # type: ignore[untyped-decorator]
def _lowest_bit(_: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(True))  # the result for 0 does not matter

    return types.int64(types.int64), generate


@overload(lowest_bit, jit_options=INNER, strict=False)  # type: ignore[untyped-decorator]
def _choose_lowest_bit(bits: Any) -> Callable[..., Any]:
    def ask(bits: Any) -> Any:
        return _lowest_bit(bits)

    return ask


def prefetch(array: Any, index: int) -> None:
    """Prefetch an element of a flat array that will be read soon; the index may be outside the array.

    A read from memory takes as long as a hundred instructions. This affects only the time, never the result.
    """


@intrinsic  # type: ignore[untyped-decorator]
def _prefetch(_: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        held = context.make_array(signature.args[0])(context, builder, args[0])
        element = cgutils.get_item_pointer(context, builder, signature.args[0], held, [args[1]], wraparound=False)
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        call = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        to_read, to_keep, data = number(0), number(3), number(1)
        builder.call(call, [builder.bitcast(element, byte), to_read, to_keep, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@overload(prefetch, jit_options=INNER, strict=False)  # type: ignore[untyped-decorator]
def _choose_prefetch(array: Any, index: Any) -> Callable[..., Any]:
    def ask(array: Any, index: Any) -> None:
        _prefetch(array, index)

    return ask
