"""One module per algorithm. Importing this package imports them all, and each registers itself.

External algorithms register in the same way: installed packages name their modules under the entry point group
``andante.agents``, and ``ANDANTE_AGENTS`` lists files to import, separated as in PATH. Such a file may define kinds of
databases and builders too, so code that lists those imports this package first.
"""

from __future__ import annotations

import os
import pkgutil
import sys
from hashlib import sha256
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from andante.errors import AlgorithmError


def _import(module: str, whose: str) -> None:
    """Import a module, and report any error in it as one sentence that begins with ``whose`` it is."""
    try:
        import_module(module)
    except AlgorithmError:
        raise
    except Exception as error:
        raise AlgorithmError(f"{whose}: {module} cannot be imported: {type(error).__name__}: {error}") from error


def _import_file(path: Path) -> None:
    name = f"andante_agent_{path.stem}_{sha256(str(path.resolve()).encode()).hexdigest()[:8]}"
    spec = spec_from_file_location(name, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise AlgorithmError(f"ANDANTE_AGENTS names {str(path)!r}, which is not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except AlgorithmError:
        raise
    except Exception as error:
        raise AlgorithmError(f"ANDANTE_AGENTS: {path} cannot be imported: {type(error).__name__}: {error}") from error


for _module in sorted(pkgutil.iter_modules(__path__), key=lambda found: found.name):
    _import(f"{__name__}.{_module.name}", "an algorithm of Andante")
for _entry in entry_points(group="andante.agents"):
    _import(_entry.module, f"the entry point {_entry.name!r} of andante.agents")
for _file in filter(None, os.environ.get("ANDANTE_AGENTS", "").split(os.pathsep)):
    _import_file(Path(_file))
