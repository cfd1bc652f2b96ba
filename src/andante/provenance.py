"""The provenance of results: processor, system, versions, and the commit of the source tree."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from andante.machine import cores

_SOURCE = Path(__file__).parent
_CPUINFO = Path("/proc/cpuinfo")


@cache
def provenance() -> dict[str, Any]:
    """Return the provenance of this process's results as plain data; it is determined only once.

    ``commit`` is empty and ``clean`` None if Andante is not run from a source tree.

    >>> sorted(provenance())
    ['andante', 'clean', 'commit', 'cores', 'numba', 'numpy', 'processor', 'python', 'system']
    """
    commit, clean = commit_of(_SOURCE)
    return {
        "processor": _processor(),
        "cores": cores(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numba": _version("numba"),
        "numpy": _version("numpy"),
        "andante": _andante_version(),
        "commit": commit,
        "clean": clean,
    }


def described(made: Mapping[str, Any]) -> str:
    """Return a provenance as a line of text.

    >>> described({"processor": "A CPU", "cores": 2, "system": "Linux", "python": "3.11.7", "numba": "0.61.0",
    ...            "numpy": "2.1.0", "andante": "0.1.0", "commit": "8f20b2b44a", "clean": False})
    'Andante 0.1.0 at commit 8f20b2b44a, with changes; Python 3.11.7, Numba 0.61.0, NumPy 2.1.0; A CPU, 2 cores, Linux'
    """
    at = f" at commit {code_state(made)}" if made.get("commit") else ""
    versions = f"Python {made['python']}, Numba {made['numba']}, NumPy {made['numpy']}"
    return f"Andante {made['andante']}{at}; {versions}; {made['processor']}, {made['cores']} cores, {made['system']}"


def code_state(made: Mapping[str, Any]) -> str:
    """Return the commit, and whether there were changes to it; empty if it is not known."""
    return f"{made['commit']}{'' if made['clean'] else ', with changes'}" if made.get("commit") else ""


def commit_of(source: Path) -> tuple[str, bool | None]:
    """Return the commit of the source tree that contains a folder, and whether the tree is unchanged.

    It is changed if a file of the tree was edited, or the folder has files that are not tracked.
    """
    git = shutil.which("git")
    if git is None or "site-packages" in source.parts:
        return "", None
    head = _output(git, source, "rev-parse", "--short=10", "HEAD")
    if not head:
        return "", None
    changed = _output(git, source, "status", "--porcelain", "--untracked-files=no")
    new = _output(git, source, "status", "--porcelain", "--untracked-files=normal", "--", ".")
    return head, not changed and not new


def _output(git: str, source: Path, *words: str) -> str:
    found = subprocess.run([git, "-C", str(source), *words], capture_output=True, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else ""


def _processor() -> str:
    """Return the name of the processor, as far as the system knows it."""
    if sys.platform == "linux" and _CPUINFO.is_file():
        for line in _CPUINFO.read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def _andante_version() -> str:
    """Return the version of the running code; the metadata of an editable installation may be older."""
    from andante import __version__

    return __version__


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # a source tree that was never installed
        return "unknown"
