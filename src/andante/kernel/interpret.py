"""Kernels as plain Python, to inspect what they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, cast

from numba.core.dispatcher import Dispatcher

from andante.kernel.cache import home_of, is_source
from andante.kernel.making import body_for


def interpreted(
    function: Callable[..., Any], instead: Mapping[Callable[..., Any], Callable[..., Any]]
) -> Callable[..., Any]:
    """Return a plain Python copy of a kernel and all kernels it calls, with some of them replaced by other functions.

    This is for inspecting kernels. The copy runs slowly on the same arrays, and its calls can be counted. Nothing is
    compiled, and the kernel itself is unchanged.
    """
    return cast(Callable[..., Any], _Interpreter(instead).copy(function, frozenset()))


class _Interpreter:
    """A copier of kernels. Each copy has its own globals, in which the kernels it names are copies too."""

    def __init__(self, instead: Mapping[Callable[..., Any], Callable[..., Any]]) -> None:
        self._copies: dict[int, Any] = {id(original): other for original, other in instead.items()}

    def copy(self, value: Any, names: frozenset[str]) -> Any:
        """Return a copy of a value that a kernel names; a module is copied with only the members in ``names``."""
        if id(value) in self._copies:
            return self._copies[id(value)]
        if isinstance(value, ModuleType):
            if not is_source(value):
                return value
            return SimpleNamespace(**{n: self.copy(part, names) for n, part in vars(value).items() if n in names})
        if hasattr(value, "bodies"):
            return self._generic(value)
        source = getattr(value, "py_func", value)
        own = isinstance(value, Dispatcher) or (isinstance(value, FunctionType) and home_of(value) is not None)
        return self._function(value, source) if own else value

    def _generic(self, value: Any) -> Callable[..., Any]:
        def dispatch(*args: Any) -> Any:
            body = body_for(value.bodies, type(args[0]))
            return self.copy(body or value.__wrapped__, frozenset())(*args)

        self._copies[id(value)] = dispatch
        return dispatch

    def _function(self, value: Any, source: FunctionType) -> FunctionType:
        scope = dict(source.__globals__)
        copy = FunctionType(source.__code__, scope, source.__name__, source.__defaults__, source.__closure__)
        copy.__kwdefaults__ = source.__kwdefaults__
        self._copies[id(value)] = copy  # before its globals, because a kernel may call itself
        names = frozenset(_names(source.__code__))
        scope.update({name: self.copy(scope[name], names) for name in names if name in scope})
        return copy


def _names(code: CodeType) -> Iterator[str]:
    """Yield the global names and attributes that a function's code mentions."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
