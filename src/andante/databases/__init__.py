"""Databases: the contents of each kind, lookups in it, and the file format that all kinds share.

One module per kind. Importing this package imports them all, and each registers itself. Builders are in
`andante.offline`.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

for _module in sorted(pkgutil.iter_modules(__path__), key=lambda found: found.name):
    import_module(f"{__name__}.{_module.name}")
