"""The report of a run: ``latest.md``."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from andante.files import write_whole
from benchmarks.comparison import version
from benchmarks.tables import Table

PACKAGES = ("andante", "numba", "numpy", "scipy")


def write(path: Path, maps: Sequence[str], count: int, tables: Sequence[Table]) -> None:
    """Write the tables, with the date and the machine."""
    text = [
        "# The last `make bench`",
        "",
        "Written by `python -m benchmarks`. Times are CPU times of one thread, the best of several passes;",
        "compare them only within this file.",
        "",
        f"- {datetime.now(UTC):%Y-%m-%d}, {machine()}{load()}",
        f"- Python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in PACKAGES),
        f"- {count} problems on each of {', '.join(maps)}",
        "",
        *(f"{table.markdown()}\n" for table in tables),
    ]
    write_whole(path, "\n".join(text).encode())


def load() -> str:
    """Return the load of the machine, if it is known; wall-clock times are less reliable on a busy machine."""
    return f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""


def machine() -> str:
    """Return the processor and the system, in a few words."""
    return f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.is_file():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"
