"""Builders of databases: computations done once for a map, so that agents need not do them.

One module per kind. Importing this package imports them all, and each registers itself.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from andante.offline.builder import Builder, build, builders

__all__ = ["Builder", "build", "builders"]

for _module in sorted(pkgutil.iter_modules(__path__), key=lambda found: found.name):
    import_module(f"{__name__}.{_module.name}")
