"""The program that calls an exported crowd with bad arguments, then at random, under sanitizers."""

from __future__ import annotations

from pathlib import Path

import andante
from andante.export import export
from andante.export.crowds import CrowdPlan, CrowdSize
from andante.export.images import MapImage, Plan
from andante.export.library import filled
from andante.export.texts import problem_for
from tests.export.compiling import SANITIZED, compiled

#: Crowds that differ in their loop, with how each is exported.
KINDS = {
    "lrta": {"living": True},
    "lss": {"bodies": True},
    "lrta(depth=2)": {"share": "goal"},
    "tba": {"living": True, "bodies": True},
}


def fuzzer(algorithm: str, folder: Path) -> tuple[Path, list[object]]:
    """Export a crowd and compile the program; return it and its arguments after the number of calls and the seed."""
    grid, name = andante.generate("rooms", 20, 16, seed=3), algorithm.partition("(")[0]
    out, living = folder / "engine", "living" in KINDS[algorithm]
    export(algorithm, grid, out, crowd=40, memory=1e6, grow=2, **KINDS[algorithm])
    images = [
        MapImage.of(andante.World(one) if living else one) for one in (grid, andante.generate("rooms", 20, 16, seed=4))
    ]
    other = CrowdPlan.of(andante.find("rta"), images[0], (), CrowdSize(60, 1_000_000))
    (folder / "other.image").write_bytes(images[1].data)
    (folder / "other.crowd").write_bytes(other.data)
    start, goal = problem_for(Plan.of(andante.find(algorithm), MapImage.of(grid)))
    text = Path("tests/export/fuzz_crowds.c").read_text()
    (folder / "fuzz.c").write_text(filled(text, {"NAME": name, "START": start, "GOAL": goal}))
    program = compiled(
        out, folder / "fuzz", "-std=c99", "-O1", *SANITIZED, "-x", "c", source=folder / "fuzz.c",
        also=[out / "andante.c"],
    )  # fmt: skip
    data, place = out / "data", grid.name
    files = [data / f"{place}.{name}.crowd", data / f"{place}.{name}.crowd2", data / f"{place}.image"]
    return program, [int(living), *files, folder / "other.crowd", folder / "other.image"]
