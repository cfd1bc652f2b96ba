"""Fingerprints of benchmark sets: short hashes that identify files from any archive or mirror.

Only contents count. Line endings and blank lines at the end have no meaning in these formats and are ignored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from andante.errors import DatasetError

_DIGITS = 16
_NONE = "-"


class Pair(NamedTuple):
    """The fingerprints of a map and its scenario; ``-`` stands for a missing scenario."""

    map: str
    scenario: str


#: The maps of one set, by name.
Fingerprints = Mapping[str, Pair]


def fingerprint(data: bytes) -> str:
    r"""Return the fingerprint of one file's contents.

    >>> fingerprint(b"version 1\r\n") == fingerprint(b"version 1\n\n") != fingerprint(b"version 2\n")
    True
    """
    return hashlib.sha256(data.replace(b"\r\n", b"\n").rstrip(b"\n")).hexdigest()[:_DIGITS]


def of_folder(folder: Path) -> Fingerprints:
    """Return the fingerprints of the maps in a folder, each with that of the scenario beside it."""
    found = {}
    for file in sorted(folder.glob("*.map")):
        scenario = file.with_name(file.name + ".scen")
        second = fingerprint(scenario.read_bytes()) if scenario.exists() else _NONE
        found[file.stem] = Pair(fingerprint(file.read_bytes()), second)
    return found


def to_text(sets: Mapping[str, Fingerprints]) -> str:
    """Return sets of fingerprints as the text that `from_text` reads."""
    lines: list[str] = []
    for name, maps in sets.items():
        lines.append(f"set {name} {len(maps)}")
        lines += [f"{pair.map} {pair.scenario} {title}" for title, pair in sorted(maps.items())]
    return "\n".join(lines) + "\n"


def from_text(text: str, where: str) -> dict[str, Fingerprints]:
    """Return the sets in a file of fingerprints: a line ``set NAME COUNT`` for each, then a line per map."""
    sets: dict[str, dict[str, Pair]] = {}
    counts: dict[str, str] = {}
    name = ""
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.split(" ", 2)
        if len(fields) != 3 or (fields[0] != "set" and not name):
            raise DatasetError(f"{where}, line {number}: not a line of a fingerprint file; delete the file")
        if fields[0] == "set":
            name = fields[1]
            counts[name] = fields[2]
            sets[name] = {}
        else:
            sets[name][fields[2]] = Pair(fields[0], fields[1])
    for name, maps in sets.items():
        if counts[name] != str(len(maps)):
            raise DatasetError(f"{where} lists {len(maps)} of the {counts[name]} maps of {name}; delete the file")
    return dict(sets)


def differences(found: Fingerprints, known: Fingerprints) -> list[str]:
    """Return the differences between a set and its known fingerprints, in a few words per map."""
    wrong = [f"{title} is missing" for title in known if title not in found]
    wrong += [f"{title} does not belong to the set" for title in found if title not in known]
    for title in sorted(set(found) & set(known)):
        what = zip(("the map", "the scenario of"), found[title], known[title], strict=True)
        wrong += [f"{which} {title} differs" for which, a, b in what if a != b]
    return wrong
