"""The C API of crowds refuses bad arguments, and survives random calls under sanitizers."""

import pytest

from andante.kernel import JIT
from tests.export.compiling import needs_gcc, run
from tests.export.fuzzing import KINDS, fuzzer
from tests.worlds import DEEP

pytestmark = [
    pytest.mark.full,  # exported crowds are another loop, with the host's clock
    pytest.mark.compiled,
    pytest.mark.skipif(not JIT, reason="needs compiled kernels"),
    needs_gcc,
]

CALLS, SEEDS = (20_000, 10) if DEEP else (4000, 1)


@pytest.mark.parametrize(
    "algorithm", ["lrta", *(pytest.param(name, marks=pytest.mark.deep) for name in KINDS if name != "lrta")]
)
def test_crowds_refuse_what_is_wrong_and_never_crash(algorithm, tmp_path):
    program, files = fuzzer(algorithm, tmp_path)
    for seed in range(1, SEEDS + 1):
        assert run(program, CALLS, seed, *files) == "0 not refused\n"
