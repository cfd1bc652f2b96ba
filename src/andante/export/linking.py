"""Static and shared libraries from objects: by the system's compiler for this machine, by Zig for all others.

Zig is the package ``ziglang`` (``pip install 'andante[export]'``). Only its compiler and its linkers are used, no C
library of any system. Shared libraries contain their own ``memset`` and ``memcpy``, which the code needs.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from andante.errors import AndanteError, shortened
from andante.export.objects import Target, this_machine
from andante.files import cache_folder


class LinkError(AndanteError):
    """The failure of a compiler or a linker."""


#: The C code takes little of a move's time and never throws, so it is compiled for size.
_FLAGS = [
    "-std=c99",
    "-Os",
    "-fno-asynchronous-unwind-tables",
    "-fPIC",
    "-fvisibility=hidden",
    "-DANDANTE_BUILD_SHARED",
]
_ALONE = ["-ffreestanding", "-fno-builtin", "-fno-sanitize=all", "-g0"]


def link(folder: Path, sources: Path, target: Target) -> list[str] | None:
    """Make libraries from the objects in a folder and the C sources; return their names, or None without a linker.

    The objects are deleted once the libraries exist.
    """
    given = sorted(folder.glob("*.o"))
    if target == _this() and (compiler := _system_compiler()):
        made = _with_system(folder, sources, target, compiler, given)
    elif zig := _zig():
        made = _with_zig(folder, sources, target, zig, given)
    else:
        return None
    for one in folder.glob("*.o"):
        one.unlink()
    return made


def _this() -> Target | None:
    try:
        return this_machine()
    except AndanteError:
        return None


def _system_compiler() -> tuple[str, str] | None:
    """Return the system's C compiler and archiver, if both are installed."""
    compilers = [os.environ.get("CC") or "cc", "gcc", "clang"]
    found = next(filter(None, map(shutil.which, compilers)), None)
    archiver = shutil.which("ar")
    return (found, archiver) if found and archiver else None


def _zig() -> list[str] | None:
    """Return the command that runs Zig, if it is installed."""
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang"]
    found = shutil.which("zig")
    return [found] if found else None


def _with_system(
    folder: Path, sources: Path, target: Target, compiler: tuple[str, str], objects: Sequence[Path]
) -> list[str]:
    cc, ar = compiler
    glue = folder / "andante.o"
    _call([cc, *_FLAGS, "-c", str(sources / "andante.c"), "-o", str(glue)], folder)
    parts = [one.name for one in (glue, *objects)]
    _call([ar, "rcs", target.static, *parts], folder)
    strip = ["-s"] if target.name.startswith("linux") else []  # other linkers do it themselves, or warn
    _call([cc, "-shared", *strip, "-o", target.shared, *parts], folder)
    return [target.static, target.shared]


def _with_zig(folder: Path, sources: Path, target: Target, zig: list[str], objects: Sequence[Path]) -> list[str]:
    for name in ("andante", "runtime"):
        given, made = str(sources / f"{name}.c"), str(folder / f"{name}.o")
        _call([*zig, "cc", "-target", target.zig, *_FLAGS, *_ALONE, "-c", given, "-o", made], folder)
    parts = ["andante.o", *(one.name for one in objects)]
    _call([*zig, "ar", "rcs", target.static, *parts], folder)
    _call([*zig, *_shared(target), *parts, "runtime.o"], folder)
    return [target.static, target.shared, *([target.imports] if target.imports else [])]


def _shared(target: Target) -> list[str]:
    """Return the linker command that makes a shared library, without the objects."""
    if target.is_wasm:
        return ["wasm-ld", "--no-entry", "--export-dynamic", "--export=__heap_base", "-s", "-o", target.shared]
    if target.name.startswith("windows"):
        return ["lld-link", "/NOLOGO", "/DLL", "/NOENTRY", f"/OUT:{target.shared}", f"/IMPLIB:{target.imports}"]
    if target.name.startswith("macos"):
        return ["cc", "-target", target.zig, "-nostdlib", "-shared", "-s", "-o", target.shared]
    return ["ld.lld", "-shared", "-s", "-o", target.shared]


def _call(command: Sequence[str], folder: Path) -> None:
    """Run a command in a folder; if it fails, raise `LinkError` with its output."""
    cache = str(cache_folder() / "zig")
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split())
        name = "zig" if "ziglang" in command else Path(command[0]).name
        raise LinkError(shortened(f"{name} failed while linking: {said or done.returncode}"))
