"""Databases: what each kind holds, how to look things up in it, and the file format that all kinds share.

One file per kind. Importing this package imports them all, and each registers itself. Builders are in
`andante.offline`.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

for _module in sorted(pkgutil.iter_modules(__path__), key=lambda found: found.name):
    import_module(f"{__name__}.{_module.name}")
