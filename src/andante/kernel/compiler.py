"""Compilation of kernels with Numba: its options, and parts, which are kernels that only other kernels call."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, SimpleNamespace
from typing import Any

import llvmlite.binding
import numba
from llvmlite import ir
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.datamodel import default_manager
from numba.core.datamodel.models import DataModel
from numba.core.errors import new_error_context
from numba.core.imputils import user_function
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.core.types.functions import BaseFunction
from numba.np.numpy_support import as_dtype

JIT = not numba.config.DISABLE_JIT

# Inlining a kernel passes its bundles at no cost; a real call would copy every array's header.
# Kernels are never called through a pointer, so they have no wrapper for C.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False, "forceinline": True, "no_cfunc_wrapper": True}


PART = "part"  # marks such code in the cache, as opposed to machine code


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """Code that is cleaned up before it is linked to the kernels it calls, and optimised when it is complete.

    Numba runs most of LLVM's optimiser on each function before it is inlined into the next one, and again afterwards.
    Once is enough. Only the code that Numba generates for every variable must be removed before.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        builder, passes = self._codegen._pass_builder(), llvmlite.binding.create_new_function_pass_manager()
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.add_dead_code_elimination_pass()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)


class Part(_Library):
    """Code that only other kernels call. It is kept as LLVM bitcode, and optimised and compiled with its caller.

    Numba would do both for every kernel, from the innermost one up. All of them are inlined into their callers, so deep
    nesting would be optimised once per level, although only the outermost kernel is ever run.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, because there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """The object to which Numba passes the addresses of a kernel's constants, which are not in memory yet."""
        return _NoMemory

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """Return the state that the cache stores."""
        self._ensure_finalized()
        return self.name, PART, self._get_module_for_linking().as_bitcode()

    @classmethod
    def kept(cls, codegen: Any, state: tuple[str, str, bytes]) -> Part:
        """Return a library made from the state that the cache stored."""
        part = cls(codegen, state[0])
        part._final_module = part._shared_module = llvmlite.binding.parse_bitcode(state[2])
        part._finalize_final_module()
        return part


class _NoMemory:
    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Do nothing."""


class _Slim(types.Type):  # type: ignore[misc]
    """The type of a part's argument that contains arrays: the same value, passed as fewer numbers.

    Numba passes seven numbers or more for every array. For a contiguous array four of them follow from its type and
    shape, or serve reference counting, which kernels do not use. A bundle may contain a hundred arrays, and every call
    of a part takes it apart and rebuilds it until all is inlined, which used to take a quarter of the compile time.
    """

    def __init__(self, whole: types.Type) -> None:
        self.whole = whole
        super().__init__(f"slim({whole})")

    @property
    def key(self) -> types.Type:
        """The whole type, because bundles of the same name and shape may be of different classes."""
        return self.whole

    @classmethod
    def of(cls, one: types.Type) -> types.Type:
        """Return the type that a part uses for an argument of this type."""
        return cls(one) if _holds_arrays(one) else one


def _holds_arrays(one: types.Type) -> bool:
    """Return whether this is a contiguous array or a tuple that contains one."""
    if isinstance(one, types.BaseTuple):
        return any(map(_holds_arrays, one))
    return type(one) is types.Array and one.layout == "C"


class _SlimTuple(DataModel):  # type: ignore[misc]
    """Numba's model of how a tuple is passed to a part."""

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
    """Numba's model of how an array is passed to a part: as its owner, its address and its shape."""

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
        offer(state.targetctx, state.cr.cfunc, state.cr.fndesc, state.library)
        return True


def offer(context: Any, entry: Any, description: Any, part: Part) -> None:
    """Register a part so that other kernels can call it with their own argument types, as Numba does by default."""
    given = tuple(one.whole if isinstance(one, _Slim) else one for one in description.argtypes)
    context.insert_func_defn([(user_function(description, [part]), entry, given)])


class _Flags(Flags):  # type: ignore[misc]
    """Numba's options of one compilation, with a fast comparison.

    They are part of the key under which Numba looks up every operator and function that a kernel uses, and comparing
    all forty options each time used to take a twentieth of the compile time.
    """

    __slots__ = ()

    _HASH = hash(Flags())  # Numba's own hash is the same for all values too

    def __hash__(self) -> int:
        return self._HASH

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, Flags):
            return NotImplemented
        ours, theirs = self._values, other._values
        if ours == theirs:
            return True
        return all(getattr(self, name) == getattr(other, name) for name in ours.keys() | theirs.keys())


# Passes that have no work in a kernel, or record data that is never used; each copies the code and analyses it again.
_NOT_FOR_KERNELS = {
    "AnnotateTypes",  # for printing
    "DumpParforDiagnostics",
    "InlineInlinables",  # functions that ask Numba to inline them, which LLVM does here
    "InlineOverloads",
    "NopythonRewrites",  # expressions of whole arrays, which would allocate
}

# Passes that are needed only for functions within a function.
_FOR_CLOSURES = {"InlineClosureLikes", "MakeFunctionToJitFunction"}


class _Passes(PassManager):  # type: ignore[misc]
    """The passes of Numba's compiler that a kernel needs.

    Numba also records the time of each pass and reports it to listeners, which took more time than many passes.
    """

    def _runPass(self, index: int, one: Any, state: Any) -> None:  # noqa: N802 (Numba's name)
        one.analysis = self._analysis
        with new_error_context("Pass {name}", name=one.name()):
            one.run_initialization(state)
            one.run_pass(state)
            one.run_finalizer(state)


_numba_call_type = BaseFunction.get_call_type
_call_types: dict[tuple[Any, ...], Any] = {}  # of operators and built-in functions, by the types of their arguments


def _remembered_call_type(function: Any, context: Any, args: tuple[types.Type, ...], kws: Any) -> Any:
    if kws or getattr(function.typing_key, "__module__", None) not in ("_operator", "builtins"):
        return _numba_call_type(function, context, args, kws)
    key = (function, args)
    if key not in _call_types:
        _call_types[key] = _numba_call_type(function, context, args, kws)
    return _call_types[key]


@contextmanager
def remembering_operators() -> Iterator[None]:
    """Make Numba look up the meaning of ``a + b`` only once for each pair of types, within this block.

    Numba tries everything that was ever registered for an operator, a dozen candidates each time. Other users of Numba
    are not affected, because the block is active only while Andante compiles, under the compiler's lock.
    """
    before = BaseFunction.get_call_type
    BaseFunction.get_call_type = _remembered_call_type
    try:
        yield
    finally:
        BaseFunction.get_call_type = before


class _KernelCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler without the steps that kernels do not need."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.flags = _Flags(self.state.flags)

    _library: type[_Library] = _Library

    def _compile_core(self) -> Any:
        if self.state.library is None:
            self.state.library = self._library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
            self.state.library.enable_object_caching()
        return super()._compile_core()

    def define_pipelines(self) -> list[Any]:
        closures = any(isinstance(one, CodeType) for one in self.state.func_id.code.co_consts)
        return [self._passes(closures)]

    @classmethod
    @functools.cache
    def _passes(cls, closures: bool) -> _Passes:
        left_out = _NOT_FOR_KERNELS if closures else _NOT_FOR_KERNELS | _FOR_CLOSURES
        blank = SimpleNamespace(func_ir=None, flags=Flags())
        passes = _Passes("nopython")
        for one, why in DefaultPassBuilder.define_nopython_pipeline(blank).passes:
            if one.__name__ not in left_out:
                passes.add_pass(cls._instead(one), why)
        passes.finalize()
        return passes

    @staticmethod
    def _instead(one: Any) -> Any:
        """Return the pass to run in place of one of Numba's."""
        return one


class _PartCompiler(_KernelCompiler):
    _library = Part

    @staticmethod
    def _instead(one: Any) -> Any:
        return _PartLowering if one is NativeLowering else one


OPTIONS["pipeline_class"] = _KernelCompiler

# Kernels that only kernels call have no CPython wrapper; with bundles of many arrays it dominates compile time.
INNER = OPTIONS | {"no_cpython_wrapper": True, "pipeline_class": _PartCompiler}
