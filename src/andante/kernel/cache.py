"""The cache of machine code, in which kernels are found by a hash of all sources that can affect their results.

Numba's own ``cache=True`` looks only at the file that defines a function, so it keeps running old code when a kernel
*called from there* changes. Here, a kernel is cached under a hash of all sources it can reach: its own module; every
module that the kernels, bundles and constants in that module's namespace come from; and, because a generic's body is
registered with its bundle, the modules of the bundles it is called with. Editing one agent recompiles that agent.
Editing a shared search kernel recompiles everything that uses it. Editing the command line, a comment or a docstring
recompiles nothing.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import IntEnum
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, ClassVar

import numba
import numpy as np
from numba.core import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache, _CacheLocator
from numba.core.compiler import compile_result
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps

from andante.errors import OutputError
from andante.files import cache_folder, write_whole
from andante.kernel.compiler import JIT, PART, Part, offer
from andante.kernel.essence import code_digest, essence_digest

_listeners: list[tuple[Callable[[str], None], Callable[[str], None] | None]] = []


@contextmanager
def on_compile(listener: Callable[[str], None], waiting: Callable[[str], None] | None = None) -> Iterator[None]:
    """Call ``listener`` within this block with the name of each kernel that was not in the cache, as FILE.KERNEL.

    ``waiting`` is called with the name of each kernel that another process is compiling, before waiting for it. The
    listeners of inner blocks are called first, so that they can report what a kernel is compiled for.
    """
    one = (listener, waiting)
    _listeners.append(one)
    try:
        yield
    finally:
        _listeners.remove(one)


class _Locator(_CacheLocator):  # type: ignore[misc]
    """The folder of a kernel's machine code, named after the hash of its sources."""

    def __init__(self, function: FunctionType) -> None:
        self._code = code_digest(function.__code__)
        self._path = str(cache_folder() / "kernels" / source_state(function))

    def get_cache_path(self) -> str:
        return self._path

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return self._code

    @classmethod
    def from_function(cls, py_func: FunctionType, py_file: str) -> _Locator:
        return cls(py_func)


class _Implementation(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)

    def rebuild(self, target_context: Any, payload: tuple[Any, ...]) -> Any:
        """Return the cached kernel, where Numba's own method would compile a part to machine code."""
        library, description, environment, signature, *_ = payload
        if library[1] != PART:
            return super().rebuild(target_context, payload)
        part = Part.kept(target_context.codegen(), library)
        entry = target_context.get_executable(part, description, environment)
        offer(target_context, entry, description, part)
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
    """Machine code on disk. Each file contains a checksum, a key and its code, so that two writers cannot mix them up.

    Numba itself keeps an index and numbered files of code. Two processes that compile at the same time may give the
    same number to different signatures, and after that code runs with arguments that it was not compiled for.
    """

    def __init__(self, folder: str, base: str) -> None:
        self._folder, self._base = Path(folder), base

    def file(self, key: tuple[Any, ...]) -> Path:
        """Return the file for the code of this key."""
        return self._folder / f"{self._base}.{hashlib.sha256(str(key).encode()).hexdigest()[:20]}.code"

    def save(self, key: tuple[Any, ...], data: Any) -> None:
        """Store the code of this key, replacing any earlier code."""
        contents = dumps((key, data))
        write_whole(self.file(key), hashlib.sha256(contents).digest() + contents)

    def load(self, key: tuple[Any, ...]) -> Any:
        """Return the code of this key, or None if it is missing, damaged or of another key."""
        try:
            found = self.file(key).read_bytes()
        except FileNotFoundError:
            return None
        digest, contents = found[:_DIGEST_BYTES], found[_DIGEST_BYTES:]
        if hashlib.sha256(contents).digest() != digest:
            return None
        kept, data = pickle.loads(contents)  # noqa: S301 (our own cache, in Numba's form)
        return data if kept == key else None


_DIGEST_BYTES = 32

# Settings of Numba, including environment variables, that change the machine code but are not options of a kernel.
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

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any], bound: tuple[types.Type, ...]) -> None:
        super().__init__(function)
        self._cache_file = _CacheFiles(self._cache_path, self._impl.filename_base)
        self._options = str(sorted(options.items()))
        self._bound = bound

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        """Return the key of machine code, with compiler settings and the sources of bundles, where bodies may be."""
        settings = [(name, str(getattr(numba.config, name, None))) for name in _SETTINGS]
        how = f"Numba {numba.__version__}, {self._options}, {settings}, {', '.join(map(full_name, self._bound))}"
        homes = frozenset(_bundle_homes([*sig, *self._bound]))
        return *super()._index_key(sig, codegen), how, _bundle_state(homes)

    def place(self, sig: Any, target_context: Any) -> Path:
        """Return the file for the machine code of this signature."""
        return self._cache_file.file(self._index_key(sig, target_context.codegen()))


class _Turn:
    """The right to compile one kernel for one signature, while other processes wait and then load the result.

    It is a file lock, which the system releases whenever and however the process ends.
    """

    _ours: ClassVar[set[Path]] = set()  # files that this process is compiling now, for a kernel and those it calls

    def __init__(self, file: Path) -> None:
        from filelock import FileLock  # takes time to import, and is needed only to compile

        self._file = file
        self._lock = FileLock(file, thread_local=False, fallback_to_soft=False)
        self._ours.add(file)

    @classmethod
    def wait(cls, code: Path, name: str) -> _Turn | None:
        """Wait until no other process compiles this file, but not for ever; return None if this process already does.

        Raise `OSError` if the system has no locks in this folder. ``name`` is the kernel's, for listeners.
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
                for _, waiting in reversed(_listeners):
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


class KernelCache(NullCache):  # type: ignore[misc]
    """A cache that opens its files on first use, when all modules are loaded and their sources can be hashed."""

    def __init__(
        self, function: Callable[..., Any], options: Mapping[str, Any], bound: tuple[types.Type, ...] = ()
    ) -> None:
        self._function = function
        self._options = options  # of compilation: for Python or for kernels only, with or without bounds checks
        self._bound = bound  # types that its code depends on besides those of its arguments
        self.turns: list[_Turn] = []  # several, because compiling a kernel may compile it for other arguments too

    @functools.cached_property
    def _files(self) -> _FileCache:
        return _FileCache(self._function, self._options, self._bound)

    @property
    def _name(self) -> str:
        return f"{self._function.__module__.rpartition('.')[2]}.{self._function.__qualname__}"

    @property
    def cache_path(self) -> str:
        """The folder of the kernel's machine code."""
        return str(self._files.cache_path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the machine code for this signature, or None if this process has to compile it."""
        found = self._load(sig, target_context)
        if found is None:
            self._take_turn(sig, target_context)
            found = self._load(sig, target_context)  # another process may have compiled it by now
        if found is None:
            for listener, _ in reversed(_listeners):
                listener(self._name)
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            return self._files.load_overload(sig, target_context)
        except OSError:  # saving will fail as well, and report it
            return None
        except Exception:  # a file written with other versions of its imports is compiled again and replaced
            return None

    def _take_turn(self, sig: Any, target_context: Any) -> None:
        with suppress(Exception):  # without a folder, or without locks on this system, both processes compile
            turn = _Turn.wait(self._files.place(sig, target_context), self._name)
            if turn is not None:
                self.turns.append(turn)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store machine code, or warn once that it cannot be stored."""
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
    """Return a short hash of every source that can affect the results of ``function``."""
    namespaces: dict[str, dict[str, Any]] = {}
    _reach(function.__globals__, namespaces)
    return f"{function.__module__.rpartition('.')[2]}-{_state(namespaces)}"


def _state(namespaces: dict[str, dict[str, Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(namespaces):
        digest.update(f"\n{name}\n".encode())
        digest.update(essence_digest(_module_text(name)))
        for key, value in sorted(namespaces[name].items()):
            digest.update(_constant(key, value))
    return digest.hexdigest()[:20]


def _bundle_homes(types_: Any) -> Iterator[str]:
    """Yield the modules that define the bundles among these types, because a generic's body may be there."""
    for one in types_:
        if hasattr(one, "bundle"):  # the type of many units' bundles
            yield from _bundle_homes([one.bundle])
        if isinstance(one, types.BaseTuple):
            if isinstance(one, types.BaseNamedTuple):
                yield one.instance_class.__module__
            yield from _bundle_homes(one)


def full_name(one: types.Type) -> str:
    """Return the name of a type with the modules of its bundles, because two modules may use the same name."""
    if hasattr(one, "bundle"):
        return f"Each({full_name(one.bundle)})"
    if not isinstance(one, types.BaseTuple):
        return str(one)
    home = getattr(one, "instance_class", tuple)
    return f"{home.__module__}.{home.__qualname__}({', '.join(map(full_name, one))})"


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
        home = home_of(value)
        if home is not None and home.__name__ not in found:
            _reach(vars(home), found)


def home_of(value: object) -> ModuleType | None:
    """Return the module whose text decides what ``value`` means in a kernel, if it is Andante's or the user's."""
    if isinstance(value, ModuleType):
        module: ModuleType | None = value
    elif isinstance(value, Dispatcher) and isinstance(value._cache, KernelCache):
        return sys.modules.get(value.__module__)  # a kernel counts in any package
    elif isinstance(value, FunctionType) or (isinstance(value, type) and issubclass(value, tuple | IntEnum)):
        module = sys.modules.get(value.__module__)
    else:
        return None
    return module if module is not None and is_source(module) else None


@functools.cache
def _foreign_roots() -> tuple[str, ...]:
    return tuple({os.path.dirname(os.__file__), os.path.dirname(os.path.dirname(numba.__file__))})


def is_source(module: ModuleType) -> bool:
    """Return whether this module is Andante's or the user's, not the standard library's or another package's."""
    if module.__name__.split(".")[0] == __name__.split(".")[0]:
        return module.__name__ != __name__.split(".")[0]
    path = getattr(module, "__file__", None)
    return path is not None and not path.startswith(_foreign_roots())


# The text of modules at the time their kernels were made. Kernels that are compiled later are compiled from that text,
# even if the file has been edited since, and must not be cached as machine code of the new text.
# This holds for this package too, because it decides how all kernels are compiled.
_texts = {f"{__package__}.{file.stem}": file.read_bytes() for file in Path(__file__).parent.glob("*.py")}


def keep_text(function: Callable[..., Any]) -> None:
    """Remember the text of the module that this function is made in."""
    path = source_file(function) if JIT else None
    if path is not None:
        _texts[function.__module__] = Path(path).read_bytes()


def _module_text(name: str) -> bytes:
    if name in _texts:
        return _texts[name]
    path = getattr(sys.modules.get(name), "__file__", None)
    return Path(path).read_bytes() if path else b""


def _constant(key: str, value: object) -> bytes:
    """Return the bytes that a frozen global adds to the hash, because it may come from a module without kernels."""
    if isinstance(value, np.ndarray):
        return f"{key}={value.dtype}{value.shape}".encode() + value.tobytes()
    if isinstance(value, bool | int | float | str | tuple | np.generic) and not key.startswith("__"):
        return f"{key}={value!r}".encode()
    return b""


def source_file(function: Callable[..., Any]) -> str | None:
    """Return the file that a function was read from, if there is one."""
    path = function.__code__.co_filename
    return path if os.path.exists(path) else None
