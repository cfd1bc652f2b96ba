"""Offline knowledge, passive: what a database holds, how to look things up in it, and the one format of its file.

One file per kind. Importing this package imports them all, and each enrols itself. Builders are in `andante.offline`.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

for _module in sorted(pkgutil.iter_modules(__path__), key=lambda found: found.name):
    import_module(f"{__name__}.{_module.name}")
