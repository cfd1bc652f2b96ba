"""The C API of crowds is called with what it must refuse, and at random, under sanitizers."""

import shutil
from pathlib import Path

import pytest

import andante
from andante.export import export
from andante.export.crowds import CrowdPlan, CrowdSize
from andante.export.images import MapImage, Plan
from andante.export.library import filled
from andante.export.texts import problem_for
from andante.kernel import JIT
from tests.export.compiling import SANITIZED, compiled, run
from tests.worlds import DEEP

pytestmark = [
    pytest.mark.full,  # exported crowds are another loop, with the host's clock
    pytest.mark.compiled,
    pytest.mark.skipif(not JIT, reason="needs compiled kernels"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc"),
]

CALLS, SEEDS = (20_000, 10) if DEEP else (4000, 1)

KINDS = {
    "lrta": {"living": True},
    "lss": {"bodies": True},
    "lrta(depth=2)": {"share": "goal"},
    "tba": {"living": True, "bodies": True},
}


@pytest.mark.parametrize(
    "algorithm", ["lrta", *(pytest.param(name, marks=pytest.mark.deep) for name in KINDS if name != "lrta")]
)
def test_crowds_refuse_what_is_wrong_and_never_crash(algorithm, tmp_path):
    grid, name = andante.generate("rooms", 20, 16, seed=3), algorithm.partition("(")[0]
    out, living = tmp_path / "engine", "living" in KINDS[algorithm]
    export(algorithm, grid, out, crowd=40, memory=1e6, grow=2, **KINDS[algorithm])
    images = [
        MapImage.of(andante.World(one) if living else one) for one in (grid, andante.generate("rooms", 20, 16, seed=4))
    ]
    other = CrowdPlan.of(andante.find("rta"), images[0], (), CrowdSize(60, 1_000_000))
    (tmp_path / "other.image").write_bytes(images[1].data)
    (tmp_path / "other.crowd").write_bytes(other.data)
    start, goal = problem_for(Plan.of(andante.find(algorithm), MapImage.of(grid)))
    text = Path("tests/export/fuzz_crowds.c").read_text()
    (tmp_path / "fuzz.c").write_text(filled(text, {"NAME": name, "START": start, "GOAL": goal}))
    program = compiled(
        out, tmp_path / "fuzz", "-std=c99", "-O1", *SANITIZED, "-x", "c", source=tmp_path / "fuzz.c",
        also=[out / "andante.c"],
    )  # fmt: skip
    data, place = out / "data", grid.name
    files = [data / f"{place}.{name}.crowd", data / f"{place}.{name}.crowd2", data / f"{place}.image"]
    for seed in range(1, SEEDS + 1):
        said = run(program, CALLS, seed, int(living), *files, tmp_path / "other.crowd", tmp_path / "other.image")
        assert said == "0 not refused\n"
