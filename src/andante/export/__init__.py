"""Agents outside Python, as a C library for any machine and as WebAssembly.

The compiled loop that `Agent.move` calls is the one that is exported: one entry, one context, the same moves.
"""

from andante.export.folder import Package, export
from andante.export.objects import TARGETS

__all__ = ["TARGETS", "Package", "export"]
