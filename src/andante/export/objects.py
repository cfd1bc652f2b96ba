"""Machine code for other machines: object files, made by the LLVM that comes with Numba.

The code of an entry (`andante.kernel.entry_of`) is for no particular processor until it is optimised here, so all
targets are handled alike, including this machine. It refers to nothing outside except ``memset``, ``memcpy`` and
``memmove``.
"""

from __future__ import annotations

import functools
import hashlib
import platform
import re
import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path

import llvmlite.binding as llvm
import numba

from andante.errors import AlgorithmError, OutputError, ParameterError
from andante.files import cache_folder, make_folder, write_whole
from andante.kernel import Entry
from andante.recent import Recent


@dataclass(frozen=True)
class Target:
    """A kind of machine that libraries are made for."""

    name: str
    triple: str  # LLVM's name
    zig: str  # Zig's name
    static: str  # the file name of a static library
    shared: str  # the file name of a shared library
    imports: str = ""  # the file name of what programs for Windows are linked to instead of it

    @property
    def processor(self) -> str:
        """The oldest processor that libraries run on; every x86 since 2009 rounds numbers without a library's help."""
        return "x86-64-v2" if self.triple.startswith("x86_64") else ""

    @property
    def is_wasm(self) -> bool:
        """Whether this is WebAssembly, where addresses have 32 bits."""
        return self.triple.startswith("wasm32")


def _unix(name: str, triple: str, zig: str, shared: str) -> Target:
    return Target(name, triple, zig, "libandante.a", shared)


def _windows(name: str, triple: str, zig: str) -> Target:
    return Target(name, triple, zig, "andante-static.lib", "andante.dll", "andante.lib")


#: All targets by name.
TARGETS = {
    target.name: target
    for target in (
        _unix("linux-x86_64", "x86_64-unknown-linux-gnu", "x86_64-linux-gnu", "libandante.so"),
        _unix("linux-arm64", "aarch64-unknown-linux-gnu", "aarch64-linux-gnu", "libandante.so"),
        _windows("windows-x86_64", "x86_64-pc-windows-gnu", "x86_64-windows-gnu"),
        _windows("windows-arm64", "aarch64-pc-windows-gnu", "aarch64-windows-gnu"),
        _unix("macos-x86_64", "x86_64-apple-macosx11.0", "x86_64-macos", "libandante.dylib"),
        _unix("macos-arm64", "arm64-apple-macosx11.0", "aarch64-macos", "libandante.dylib"),
        Target("wasm", "wasm32-unknown-unknown", "wasm32-freestanding", "libandante.a", "andante.wasm"),
    )
}

#: Names of several targets, or of the usual one of a system.
_ALSO = {
    "linux": ("linux-x86_64", "linux-arm64"),
    "windows": ("windows-x86_64",),
    "macos": ("macos-x86_64", "macos-arm64"),
}


def targets_named(name: str) -> list[Target]:
    """Return the targets that a name stands for; raise `ParameterError` if there are none.

    >>> [target.name for target in targets_named("macos")]
    ['macos-x86_64', 'macos-arm64']
    """
    if name == "this":
        return [this_machine()]
    if name in _ALSO:
        return [TARGETS[one] for one in _ALSO[name]]
    if name in TARGETS:
        return [TARGETS[name]]
    known = ", ".join(["this", *_ALSO, *TARGETS])
    raise ParameterError(f"there is no target {name!r}; the targets are {known}")


def this_machine() -> Target:
    """Return the target that this program runs on; raise `ParameterError` if it is not among them."""
    systems = {"linux": "linux", "win32": "windows", "darwin": "macos"}
    processors = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}
    name = f"{systems.get(sys.platform)}-{processors.get(platform.machine().lower())}"
    if name not in TARGETS:
        raise ParameterError(f"this machine is not among the targets; name one of {', '.join(TARGETS)} with --target")
    return TARGETS[name]


# The loop reads the clock of the machine it was compiled on. Exported agents count work, not time, so this clock stops.
_NO_CLOCK = """
define i32 @clock_gettime(i32 %clock, ptr %buffer) { ret i32 0 }
define i32 @QueryPerformanceCounter(ptr %buffer) { ret i32 1 }
"""


@functools.cache
def _all_targets() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


_made: Recent[Hashable, bytes] = Recent(64)


def object_of(entries: dict[str, Entry], target: Target) -> bytes:
    """Return an object file with these entries under these names; it is cached, because optimising takes seconds."""
    key = target, tuple((name, entry.identity) for name, entry in entries.items())
    return _made.get(key, lambda: _kept(key, lambda: _object_of(entries, target)))


def _kept(key: Hashable, make: Callable[[], bytes]) -> bytes:
    """Return what this source and these versions have cached for this key, or make it."""
    source = Path(__file__).read_bytes()
    said = repr((key, source, numba.__version__, llvm.llvm_version_info)).encode()
    file = cache_folder() / "objects" / f"{hashlib.sha256(said).hexdigest()[:32]}.o"
    if file.exists():
        return file.read_bytes()
    made = make()
    try:
        make_folder(file.parent)
        write_whole(file, made)
    except OutputError:
        pass  # it is made again next time
    return made


def _object_of(entries: dict[str, Entry], target: Target) -> bytes:
    _all_targets()
    known = llvm.Target.from_triple(target.triple)
    machine = known.create_target_machine(cpu=target.processor, opt=3, reloc="pic", codemodel="default")
    whole = llvm.parse_assembly(_NO_CLOCK)
    for name, entry in entries.items():
        whole.link_in(_private(llvm.parse_bitcode(entry.bitcode), entry, name))
    for one in _defined(whole):
        if one.name not in entries:
            one.linkage = "internal"
    if target.is_wasm:
        _forget_pointers(whole)
    whole.triple, whole.data_layout = target.triple, str(machine.target_data)
    _optimise(whole, machine)
    for number, one in enumerate(_defined(whole)):  # Numba's names are longer than the code
        if one.name not in entries:
            one.name = f"andante_{number}"
    code: bytes = machine.emit_object(whole)
    return code


#: LLVM does not inline functions larger than this. Kernels of any size are inlined, but subroutines should stay calls:
#: with LLVM's default of 225 the library of `oracle-lrta` is 16 KB larger, and a move takes 5 % more instructions.
_INLINED = 100


def _optimise(module: llvm.ModuleRef, machine: llvm.TargetMachine, level: int = 3) -> None:
    tuning = llvm.create_pipeline_tuning_options(level)
    tuning.inlining_threshold = _INLINED
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)


def _forget_pointers(module: llvm.ModuleRef) -> None:
    """Split up all bundles in a module's memory, while pointers have the size that Numba assumes.

    Numba simplifies each function as soon as it is made, and places in a bundle become distances in bytes, for pointers
    of 64 bits. With everything inlined no bundle is left in memory, and pointers may have any size.
    """
    _optimise(module, llvm.Target.from_default_triple().create_target_machine(), 2)
    for line in str(module).splitlines():
        if re.search(r" = alloca [{\[].*\bptr\b.*, align", line):
            raise AlgorithmError("this algorithm keeps addresses in memory, so it cannot be exported to WebAssembly")


def _private(module: llvm.ModuleRef, entry: Entry, name: str) -> llvm.ModuleRef:
    """Return the module with everything but its entry hidden; WebAssembly has no common symbols either."""
    for one in _defined(module):
        one.linkage = "internal"
    function = module.get_function(entry.name)
    function.linkage, function.name, function.visibility = "external", name, "hidden"
    return module


def _defined(module: llvm.ModuleRef) -> list[llvm.ValueRef]:
    """Return the functions and constants that a module defines itself."""
    return [one for one in [*module.functions, *module.global_variables] if not one.is_declaration]
