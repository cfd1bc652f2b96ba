"""The only interface to Numba: every compiled function of Andante is made here.

Numba's own ``cache=True`` looks only at the file that defines a function, so it keeps running old code when a kernel
*called from there* changes. Here, a kernel is cached under a hash of all sources it can reach: its own module; every
module that the kernels, bundles and constants in that module's namespace come from; and, because a generic's body comes
with its bundle, the modules of the bundles it is called with. Editing one agent recompiles that agent, editing a shared
search kernel recompiles everything that uses it, editing the command line recompiles nothing.

Kernels run without the GIL and without Numba's runtime, so they cannot allocate. With ``NUMBA_DISABLE_JIT=1`` they are
plain Python functions.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import IntEnum
from pathlib import Path
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Protocol, TypeVar, cast, get_type_hints

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache, _CacheLocator
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder, compile_result
from numba.core.compiler_machinery import register_pass
from numba.core.datamodel import default_manager
from numba.core.datamodel.models import DataModel
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numba.core.imputils import user_function
from numba.core.lowering import Lower
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.core.typed_passes import NativeLowering
from numba.extending import intrinsic, overload
from numba.np.numpy_support import as_dtype

from andante import faults
from andante.errors import AndanteError, OutputError
from andante.files import cache_folder, write_whole

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

JIT = not numba.config.DISABLE_JIT

if TYPE_CHECKING:
    int64 = uint64 = int
else:
    int64 = np.int64  # the type of states and counts in a kernel; narrower types come from arrays
    uint64 = np.uint64  # an index in the innermost loops: Numba lets a negative signed one count from the end

# Inlining a kernel passes its bundles for free; a real call would copy every array's header.
# Nothing calls a kernel through a pointer, so none has a wrapper for C.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False, "forceinline": True, "no_cfunc_wrapper": True}


_PART = "part"  # marks such code in the cache, as opposed to machine code


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """Code that only other kernels call: kept as LLVM bitcode, optimised and compiled to machine code with its caller.

    Numba would do both for every kernel, from the innermost one up. All are inlined into their callers, so a deep nest
    would be optimised once per level, although only the outermost kernel is ever run.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """The object to which Numba passes the addresses of a kernel's constants, which are not in memory yet."""
        return _NoMemory

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """Return what the cache stores."""
        self._ensure_finalized()
        return self.name, _PART, self._get_module_for_linking().as_bitcode()

    @classmethod
    def kept(cls, codegen: Any, state: tuple[str, str, bytes]) -> _Part:
        """Return a library made from what the cache stored."""
        part = cls(codegen, state[0])
        part._final_module = part._shared_module = llvmlite.binding.parse_bitcode(state[2])
        part._finalize_final_module()
        return part


class _NoMemory:
    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Do nothing."""


class _Slim(types.Type):  # type: ignore[misc]
    """The type of a part's argument that holds arrays: the same value, passed as fewer numbers.

    Numba passes seven numbers or more for every array. Of one without gaps, four follow from its type and its shape,
    or serve reference counting, which kernels do without. A bundle may hold a hundred arrays, and every call of a part
    takes it apart and puts it together again, until all is inlined: that used to take a quarter of the compile time.
    """

    def __init__(self, whole: types.Type) -> None:
        self.whole = whole
        super().__init__(f"slim({whole})")

    @classmethod
    def of(cls, one: types.Type) -> types.Type:
        """Return the type as which a part takes an argument of this type."""
        return cls(one) if _holds_arrays(one) else one


def _holds_arrays(one: types.Type) -> bool:
    """Return whether this is an array without gaps or a tuple with some."""
    if isinstance(one, types.BaseTuple):
        return any(map(_holds_arrays, one))
    return type(one) is types.Array and one.layout == "C"


class _SlimTuple(DataModel):  # type: ignore[misc]
    """Tells Numba how a tuple is passed to a part."""

    def __init__(self, manager: Any, slim: _Slim) -> None:
        super().__init__(manager, slim)
        self._whole = manager[slim.whole]
        self._elements = [manager[_Slim.of(one)] for one in slim.whole]

    def get_value_type(self) -> Any:
        return self._whole.get_value_type()

    def get_argument_type(self) -> Any:
        return tuple(element.get_argument_type() for element in self._elements)

    def as_argument(self, builder: Any, value: Any) -> Any:
        return tuple(
            element.as_argument(builder, builder.extract_value(value, i)) for i, element in enumerate(self._elements)
        )

    def from_argument(self, builder: Any, value: Any) -> Any:
        whole = ir.Constant(self.get_value_type(), ir.Undefined)
        for i, (element, passed) in enumerate(zip(self._elements, value, strict=True)):
            whole = builder.insert_value(whole, element.from_argument(builder, passed), i)
        return whole


class _SlimArray(DataModel):  # type: ignore[misc]
    """Tells Numba how an array is passed to a part: as its owner, its address and its shape."""

    _PASSED = ("parent", "data", "shape")

    def __init__(self, manager: Any, slim: _Slim) -> None:
        super().__init__(manager, slim)
        self._whole = manager[slim.whole]
        self._fields = {name: manager[self._whole.get_member_fe_type(name)] for name in self._whole._fields}
        self._passed = [(name, self._fields[name]) for name in self._PASSED]
        self._bytes = as_dtype(slim.whole.dtype).itemsize

    def get_value_type(self) -> Any:
        return self._whole.get_value_type()

    def get_argument_type(self) -> Any:
        return tuple(field.get_argument_type() for _, field in self._passed)

    def as_argument(self, builder: Any, value: Any) -> Any:
        return tuple(field.as_argument(builder, self._whole.get(builder, value, name)) for name, field in self._passed)

    def from_argument(self, builder: Any, value: Any) -> Any:
        known = {
            name: field.from_argument(builder, one) for (name, field), one in zip(self._passed, value, strict=True)
        }
        number = self._fields["itemsize"].get_value_type()
        size = number(self._bytes)
        strides = ir.Constant(self._fields["strides"].get_value_type(), ir.Undefined)
        items, step = None, size
        for axis in reversed(range(self._whole.fe_type.ndim)):
            strides = builder.insert_value(strides, step, axis)
            length = builder.extract_value(known["shape"], axis)
            items = length if items is None else builder.mul(items, length)
            step = builder.mul(items, size) if axis else step
        no_counter = ir.Constant(self._fields["meminfo"].get_value_type(), None)
        known |= {"nitems": items or number(1), "itemsize": size, "strides": strides, "meminfo": no_counter}
        whole = ir.Constant(self.get_value_type(), ir.Undefined)
        for name, one in known.items():
            whole = self._whole.set(builder, whole, one, name)
        return whole


def _slim_model(manager: Any, slim: _Slim) -> DataModel:
    return (_SlimTuple if isinstance(slim.whole, types.BaseTuple) else _SlimArray)(manager, slim)


default_manager.register(_Slim, _slim_model)


class _PartLower(Lower):  # type: ignore[misc]
    def __init__(self, context: Any, library: Any, description: Any, *rest: Any, **more: Any) -> None:
        description.argtypes = tuple(map(_Slim.of, description.argtypes))
        super().__init__(context, library, description, *rest, **more)


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(NativeLowering):  # type: ignore[misc]
    _name = "andante_part_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        return _PartLower

    def run_pass(self, state: Any) -> bool:
        super().run_pass(state)
        _offer(state.targetctx, state.cr.cfunc, state.cr.fndesc, state.library)
        return True


def _offer(context: Any, entry: Any, description: Any, part: _Part) -> None:
    """Let other kernels call a part with arguments as they have them; Numba does so for those that it is passed."""
    given = tuple(one.whole if isinstance(one, _Slim) else one for one in description.argtypes)
    context.insert_func_defn([(user_function(description, [part]), entry, given)])


class _PartCompiler(Compiler):  # type: ignore[misc]
    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(_PartLowering if one is NativeLowering else one, why) for one, why in passes.passes]
        passes.finalize()
        return [passes]

    def _compile_core(self) -> Any:
        if self.state.library is None:
            self.state.library = _Part(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super()._compile_core()


# Skip the CPython wrapper for kernels that only kernels call: with bundles of many arrays it dominates compile time.
_INNER = _OPTIONS | {"no_cpython_wrapper": True, "pipeline_class": _PartCompiler}


# --- making kernels -------------------------------------------------------------------------------------------------


def kernel(function: F) -> F:
    """Compile ``function`` on first use and cache the machine code on disk."""
    _keep_text(function)
    return _compiled(function)


def subroutine(function: F) -> F:
    """Make a kernel that its callers call instead of inlining: for large ones that run longer than a call takes.

    Inlining a large kernel everywhere makes its callers slow to compile and no faster.
    """
    _keep_text(function)
    return _compiled(function, inlined=False)


def _compiled(function: F, cached: bool = True, inlined: bool = True) -> F:
    if not JIT:
        return function
    compiled = numba.njit(nogil=True, **_OPTIONS)(function)
    inner = numba.njit(**_INNER | {"forceinline": inlined})(function)
    if cached and _source_file(function) is not None:
        compiled._cache = _KernelCache(function, compiled.targetoptions)
        inner._cache = _KernelCache(function, inner.targetoptions)
    # Kernels that call this one get the inner one. Keeping a reference to the first must keep the second alive.
    compiled.get_call_template, compiled.get_overload = _called_by_kernels(compiled, inner), inner.get_overload
    compiled._compile_for_args = _called_by_python(compiled)
    compiled.compile, inner.compile = _in_turn(compiled), _in_turn(inner)
    compiled.promised = None  # the bundle that callers expect it to return
    return cast(F, compiled)


def _called_by_kernels(compiled: Any, inner: Any) -> Callable[..., Any]:
    """Return what Numba calls for the type of a call; if that fails, it records which kernel was the reason.

    A literal number in a call has a type of its own, and Numba would compile the kernel for each such number. Here all
    integers are one type; inlined code sees the number all the same.
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
    """Return what Numba calls for arguments of new types; an error in a kernel becomes one sentence for its author."""
    compile_for_args = compiled._compile_for_args

    def explaining(*args: Any, **kws: Any) -> Any:
        faults.begin()
        try:
            return compile_for_args(*args, **kws)
        except (AndanteError, OSError, MemoryError):
            raise
        except Exception as error:  # also those that Numba lets pass, such as a TypeError for Move(1, 2)
            raise faults.explained(compiled.py_func, error) from None

    return explaining


def _in_turn(dispatcher: Any) -> Callable[[Any], Any]:
    """Return what Numba calls to compile or load a kernel; it releases the turns its cache took, however that ends."""
    compile_or_load = dispatcher.compile

    def compile_in_turn(sig: Any) -> Any:
        turns = getattr(dispatcher._cache, "turns", [])
        before = len(turns)
        try:
            with _no_collecting():
                entry = compile_or_load(sig)
            _give_constants(dispatcher.overloads[normalize_signature(sig)[0]])
            return entry
        finally:
            while len(turns) > before:
                turns.pop().end()

    return compile_in_turn


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Collect no garbage in this block: a compiler makes millions of objects and drops few of them before it is done.

    Looking for those again and again used to take a sixth of the compile time, or more in a large program.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _give_constants(compiled: Any) -> None:
    """Tell machine code where the Python objects are that its kernels use, such as what ``print`` shows.

    Numba does so kernel by kernel, which is too early for a `_Part`. Without them, code that prints never returns: it
    fails while it holds Python's lock.
    """
    if isinstance(compiled.library, _Part):
        return
    for environment in compiled._find_referenced_environments():
        compiled.library.codegen.set_env(environment.env_name, environment)


def instantiate(template: Callable[..., Any], name: str, **names: Any) -> Callable[..., Any]:
    """Return a kernel made from ``template``, with the given global names bound to the given kernels.

    This is how one loop drives many step kernels: a kernel passed as an argument or captured in a closure would never
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
    # A kernel without a file, say from a notebook, has no source to hash: what is made with it is not cached.
    kept = all(not isinstance(part, Dispatcher) or isinstance(part._cache, _KernelCache) for part in names.values())
    return _compiled(copy, kept)


def _promised(stub: Any) -> type[tuple[Any, ...]] | None:
    """Return the bundle that a function is annotated to return, if any."""
    said = get_type_hints(stub).get("return") if isinstance(stub, FunctionType) else None
    return said if isinstance(said, type) and issubclass(said, tuple) else None


class Generic(Protocol[P, R_co]):
    """A kernel with one body per class of its first argument."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Run the body that fits the first argument."""
        ...

    def of(self, bundle: type) -> Callable[[F], F]:
        """Register the decorated function as the body for ``bundle``, a NamedTuple class."""
        ...


def generic(stub: Callable[P, R_co]) -> Generic[P, R_co]:
    """Make a function whose body depends on the class of its first argument, chosen when the caller is compiled."""
    _keep_text(stub)
    bodies: dict[type, Callable[..., Any]] = {}

    @functools.wraps(stub)
    def dispatch(*args: Any) -> Any:
        return bodies[type(args[0])](*args)

    def of(bundle: type) -> Callable[[F], F]:
        def register(body: F) -> F:
            bodies[bundle] = body
            return body

        return register

    overload(dispatch, jit_options=_INNER, strict=False)(_chooser(bodies, stub))
    dispatch.of = of  # type: ignore[attr-defined]
    dispatch.bodies = bodies  # type: ignore[attr-defined]
    return cast(Generic[P, R_co], dispatch)


def _chooser(bodies: dict[type, Callable[..., Any]], stub: Callable[..., Any]) -> Callable[..., Any]:
    """Return what Numba calls, with types instead of values, to find out which body to compile."""

    def choose(first: Any, *rest: Any) -> Callable[..., Any] | None:
        return bodies.get(getattr(first, "instance_class", type(None)))

    arguments = ", ".join(stub.__code__.co_varnames[: stub.__code__.co_argcount])
    # An overload must have the stub's own argument names.
    scope: dict[str, Any] = {"choose": choose}
    exec(f"def chooser({arguments}):\n    return choose({arguments})", scope)
    return cast(Callable[..., Any], scope["chooser"])


# --- memory ---------------------------------------------------------------------------------------------------------


def prefetch(array: Any, index: int) -> None:
    """Prefetch an element of a flat array that will be read soon; the index may lie outside the array.

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


@overload(prefetch, jit_options=_INNER, strict=False)  # type: ignore[untyped-decorator]
def _choose_prefetch(array: Any, index: Any) -> Callable[..., Any]:
    def ask(array: Any, index: Any) -> None:
        _prefetch(array, index)

    return ask


# --- kernels as plain Python ----------------------------------------------------------------------------------------


def interpreted(
    function: Callable[..., Any], instead: Mapping[Callable[..., Any], Callable[..., Any]]
) -> Callable[..., Any]:
    """Return a plain Python copy of a kernel and all kernels it calls, with some of them replaced by other functions.

    For inspecting kernels: the copy runs on the same arrays, slowly, and its calls can be counted. Nothing is compiled,
    and the kernel itself is unchanged.
    """
    return cast(Callable[..., Any], _Interpreter(instead).copy(function, frozenset()))


class _Interpreter:
    """Copies kernels; each copy has its own globals, in which the kernels it names are copies too."""

    def __init__(self, instead: Mapping[Callable[..., Any], Callable[..., Any]]) -> None:
        self._copies: dict[int, Any] = {id(original): other for original, other in instead.items()}

    def copy(self, value: Any, names: frozenset[str]) -> Any:
        """Return a copy of whatever a kernel names; a module is copied with only the members in ``names``."""
        if id(value) in self._copies:
            return self._copies[id(value)]
        if isinstance(value, ModuleType):
            if not _is_source(value):
                return value
            return SimpleNamespace(**{n: self.copy(part, names) for n, part in vars(value).items() if n in names})
        if hasattr(value, "bodies"):
            return self._generic(value)
        source = getattr(value, "py_func", value)
        own = isinstance(value, Dispatcher) or (isinstance(value, FunctionType) and _home(value) is not None)
        return self._function(value, source) if own else value

    def _generic(self, value: Any) -> Callable[..., Any]:
        def dispatch(*args: Any) -> Any:
            return self.copy(value.bodies[type(args[0])], frozenset())(*args)

        self._copies[id(value)] = dispatch
        return dispatch

    def _function(self, value: Any, source: FunctionType) -> FunctionType:
        scope = dict(source.__globals__)
        copy = FunctionType(source.__code__, scope, source.__name__, source.__defaults__, source.__closure__)
        copy.__kwdefaults__ = source.__kwdefaults__
        self._copies[id(value)] = copy  # before its globals: a kernel may call itself
        names = frozenset(_names(source.__code__))
        scope.update({name: self.copy(scope[name], names) for name in names if name in scope})
        return copy


def _names(code: CodeType) -> Iterator[str]:
    """Yield the global names and attributes that a function's code mentions."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


# --- reporting compilation ------------------------------------------------------------------------------------------

_listeners: list[tuple[Callable[[str], None], Callable[[str], None] | None]] = []


@contextmanager
def on_compile(listener: Callable[[str], None], waiting: Callable[[str], None] | None = None) -> Iterator[None]:
    """Within this block, call ``listener`` with the name of each kernel that was not in the cache.

    ``waiting`` is called with the name of each kernel that another process is compiling, before waiting for it.
    """
    one = (listener, waiting)
    _listeners.append(one)
    try:
        yield
    finally:
        _listeners.remove(one)


# --- the cache ------------------------------------------------------------------------------------------------------


class _Locator(_CacheLocator):  # type: ignore[misc]
    """Stores a kernel's machine code in a folder named after the hash of its sources."""

    def __init__(self, function: FunctionType) -> None:
        self._line = function.__code__.co_firstlineno
        self._path = str(cache_folder() / "kernels" / source_state(function))

    def get_cache_path(self) -> str:
        return self._path

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: FunctionType, py_file: str) -> _Locator:
        return cls(py_func)


class _Implementation(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)

    def rebuild(self, target_context: Any, payload: tuple[Any, ...]) -> Any:
        """Return the cached kernel; Numba's own method would compile a part to machine code."""
        library, description, environment, signature, *_ = payload
        if library[1] != _PART:
            return super().rebuild(target_context, payload)
        part = _Part.kept(target_context.codegen(), library)
        entry = target_context.get_executable(part, description, environment)
        _offer(target_context, entry, description, part)
        return compile_result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=part,
            environment=environment,
            entry_point=entry,
            fndesc=description,
            signature=signature,
            objectmode=False,
            lifted=(),
            reload_init=(),
            referenced_envs=(),
        )


class _CacheFiles:
    """Machine code on disk, one file per key: checksum, key and code together, so that two writers cannot mix them up.

    Numba itself keeps an index and numbered files of code. Two processes that compile at the same time may give one
    number to different signatures, and from then on code runs with arguments that it was not compiled for.
    """

    def __init__(self, folder: str, base: str) -> None:
        self._folder, self._base = Path(folder), base

    def file(self, key: tuple[Any, ...]) -> Path:
        """Return the file for the code of this key."""
        return self._folder / f"{self._base}.{hashlib.sha256(str(key).encode()).hexdigest()[:20]}.code"

    def save(self, key: tuple[Any, ...], data: Any) -> None:
        """Store the code of this key, replacing any that is there."""
        contents = dumps((key, data))
        write_whole(self.file(key), hashlib.sha256(contents).digest() + contents)

    def load(self, key: tuple[Any, ...]) -> Any:
        """Return the code of this key; None if it is missing, damaged or another key's."""
        try:
            found = self.file(key).read_bytes()
        except FileNotFoundError:
            return None
        digest, contents = found[:_DIGEST_BYTES], found[_DIGEST_BYTES:]
        if hashlib.sha256(contents).digest() != digest:
            return None
        kept, data = pickle.loads(contents)  # noqa: S301 (our own cache, as Numba keeps it)
        return data if kept == key else None


_DIGEST_BYTES = 32

# Settings of Numba, also from the environment, that change the machine code but are not among a kernel's options.
_SETTINGS = (
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
    "EXTEND_VARIABLE_LIFETIMES",
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "DISABLE_INTEL_SVML",
)


class _FileCache(FunctionCache):  # type: ignore[misc]
    _impl_class = _Implementation

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
        super().__init__(function)
        self._cache_file = _CacheFiles(self._cache_path, self._impl.filename_base)
        self._options = str(sorted(options.items()))

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        """Return the key of machine code, with compiler settings and the sources of its bundles, which bring bodies."""
        settings = [(name, str(getattr(numba.config, name, None))) for name in _SETTINGS]
        how = f"Numba {numba.__version__}, {self._options}, {settings}"
        return *super()._index_key(sig, codegen), how, _bundle_state(frozenset(_bundle_homes(sig)))

    def place(self, sig: Any, target_context: Any) -> Path:
        """Return the file for the machine code of this signature."""
        return self._cache_file.file(self._index_key(sig, target_context.codegen()))


class _Turn:
    """The right to compile one kernel for one signature: other processes wait, and then load the result.

    It is a file lock, which the system releases when the process ends, however it ends.
    """

    _ours: ClassVar[set[Path]] = set()  # files that this process is compiling now: a kernel and those it calls

    def __init__(self, file: Path) -> None:
        from filelock import FileLock  # takes time to import, and only who compiles needs it

        self._file = file
        self._lock = FileLock(file, thread_local=False, fallback_to_soft=False)
        self._ours.add(file)

    @classmethod
    def wait(cls, code: Path, name: str) -> _Turn | None:
        """Wait until no other process compiles this file, or for a long time; return None if this process already does.

        Raise an OSError if the system has no locks here. ``name`` is the kernel's, for those who want to know.
        """
        file = code.with_suffix(".lock")
        if file in cls._ours:  # a kernel that calls itself, which Numba will reject
            return None
        code.parent.mkdir(parents=True, exist_ok=True)
        turn = cls(file)
        try:
            try:
                turn._lock.acquire(blocking=False)
            except TimeoutError:
                for _, waiting in _listeners:
                    if waiting is not None:
                        waiting(name)
                with suppress(TimeoutError):
                    turn._lock.acquire(timeout=_PATIENCE, poll_interval=_PAUSE)
        except BaseException:
            turn.end()
            raise
        return turn

    def end(self) -> None:
        """Let the other processes continue."""
        self._ours.discard(self._file)
        if self._lock.is_locked:
            with suppress(OSError):  # Windows keeps files that other processes have open
                self._file.unlink()
        self._lock.release()


_PATIENCE, _PAUSE = 600.0, 0.02  # seconds


class _KernelCache(NullCache):  # type: ignore[misc]
    """Opens the file cache on first use: only then are all modules loaded, so that their sources can be hashed."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
        self._function = function
        self._options = options  # of compilation: for Python or for kernels only, with or without bounds checks
        self.turns: list[_Turn] = []  # taken to compile: compiling a kernel may compile it for other arguments too

    @functools.cached_property
    def _files(self) -> _FileCache:
        return _FileCache(self._function, self._options)

    @property
    def cache_path(self) -> str:
        return str(self._files.cache_path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._load(sig, target_context)
        if found is None:
            self._take_turn(sig, target_context)
            found = self._load(sig, target_context)  # another process may have compiled it by now
        if found is None:
            for listener, _ in _listeners:
                listener(self._function.__qualname__)
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            return self._files.load_overload(sig, target_context)
        except OSError:  # saving will fail as well, and report it
            return None
        except Exception:  # a file written by other versions of what it refers to: compiled again and replaced
            return None

    def _take_turn(self, sig: Any, target_context: Any) -> None:
        with suppress(Exception):  # no folder, or no locks on this system: then both processes compile
            turn = _Turn.wait(self._files.place(sig, target_context), self._function.__qualname__)
            if turn is not None:
                self.turns.append(turn)

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            self._files.save_overload(sig, data)
        except (OSError, OutputError) as error:
            reason = error.__cause__ if isinstance(error, OutputError) else error
            _warn_once(
                f"kernels are compiled again at every start, because {cache_folder()} cannot be written to "
                f"({getattr(reason, 'strerror', None) or error}); set ANDANTE_CACHE to a writable folder"
            )


@functools.cache
def _warn_once(sentence: str) -> None:
    sys.stderr.write(f"andante: {sentence}\n")


def source_state(function: Callable[..., Any]) -> str:
    """Return a short hash of every source that can affect what ``function`` computes."""
    namespaces: dict[str, dict[str, Any]] = {}
    _reach(function.__globals__, namespaces)
    return f"{function.__module__.rpartition('.')[2]}-{_state(namespaces)}"


def _state(namespaces: dict[str, dict[str, Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(namespaces):
        digest.update(f"\n{name}\n".encode())
        digest.update(_module_text(name))
        for key, value in sorted(namespaces[name].items()):
            digest.update(_constant(key, value))
    return digest.hexdigest()[:20]


def _bundle_homes(types_: Any) -> Iterator[str]:
    """Yield the modules that define the bundles among these types: a generic's body may be there."""
    for one in types_:
        if isinstance(one, types.BaseTuple):
            if isinstance(one, types.BaseNamedTuple):
                yield one.instance_class.__module__
            yield from _bundle_homes(one)


@functools.cache
def _bundle_state(homes: frozenset[str]) -> str:
    """Return a short hash of these modules and everything their kernels can reach."""
    namespaces: dict[str, dict[str, Any]] = {}
    for home in homes:
        _reach(vars(sys.modules[home]), namespaces)
    return _state(namespaces)


def _reach(namespace: dict[str, Any], found: dict[str, dict[str, Any]]) -> None:
    """Collect into ``found`` the namespaces that a kernel with these globals can reach."""
    name = namespace["__name__"]
    found.setdefault(name, namespace)
    for value in list(namespace.values()):
        home = _home(value)
        if home is not None and home.__name__ not in found:
            _reach(vars(home), found)


def _home(value: object) -> ModuleType | None:
    """Return the module whose text decides what ``value`` means in a kernel, if it is Andante's or the user's."""
    if isinstance(value, ModuleType):
        module: ModuleType | None = value
    elif isinstance(value, Dispatcher) and isinstance(value._cache, _KernelCache):
        return sys.modules.get(value.__module__)  # a kernel counts wherever it was installed
    elif isinstance(value, FunctionType) or (isinstance(value, type) and issubclass(value, tuple | IntEnum)):
        module = sys.modules.get(value.__module__)
    else:
        return None
    return module if module is not None and _is_source(module) else None


@functools.cache
def _foreign_roots() -> tuple[str, ...]:
    return tuple({os.path.dirname(os.__file__), os.path.dirname(os.path.dirname(numba.__file__))})


def _is_source(module: ModuleType) -> bool:
    """Return whether this module is Andante's or the user's, not the standard library's or another package's."""
    if module.__name__.split(".")[0] == __name__.split(".")[0]:
        return module.__name__ != __name__.split(".")[0]
    path = getattr(module, "__file__", None)
    return path is not None and not path.startswith(_foreign_roots())


# The text of modules at the time their kernels were made. Kernels that are compiled later are compiled from that text,
# even if the file has been edited since, and must not be cached as the new text's machine code.
_texts: dict[str, bytes] = {}


def _keep_text(function: Callable[..., Any]) -> None:
    path = _source_file(function) if JIT else None
    if path is not None:
        _texts[function.__module__] = Path(path).read_bytes()


def _module_text(name: str) -> bytes:
    if name in _texts:
        return _texts[name]
    path = getattr(sys.modules.get(name), "__file__", None)
    return Path(path).read_bytes() if path else b""


def _constant(key: str, value: object) -> bytes:
    """Return what a frozen global adds to the hash: it may come from a module without kernels."""
    if isinstance(value, np.ndarray):
        return f"{key}={value.dtype}{value.shape}".encode() + value.tobytes()
    if isinstance(value, bool | int | float | str | tuple | np.generic) and not key.startswith("__"):
        return f"{key}={value!r}".encode()
    return b""


def _source_file(function: Callable[..., Any]) -> str | None:
    path = function.__code__.co_filename
    return path if os.path.exists(path) else None


# --- a clock for compiled loops -------------------------------------------------------------------------------------

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
