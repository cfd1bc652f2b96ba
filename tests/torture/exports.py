"""Crowds outside Python, called at random in C under sanitizers: restored, damaged, grown, on maps that change.

Each case is one run of `tests/export/fuzz_crowds.c` with its own seed. It needs gcc.
"""

from __future__ import annotations

import atexit
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from tests.export.fuzzing import KINDS, fuzzer
from tests.torture.frame import Attempt, FoundError, say

UNIT = "runs"

CALLS = 20_000  # of the library, in each run
LONGEST_SECONDS = 600.0  # that a run may take


def _crowd(algorithm: str) -> Attempt:
    if shutil.which("gcc") is None:
        say("exports are not tested, because gcc is not installed")
        return lambda rng: {"skipped": 1}
    folder = Path(tempfile.mkdtemp(prefix="andante-torture-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    program, files = fuzzer(algorithm, folder)

    def attempt(rng: random.Random) -> Mapping[str, int]:
        words = [str(word) for word in (program, CALLS, rng.randrange(1, 2**31), *files)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LONGEST_SECONDS)
        if done.returncode != 0:
            raise FoundError(f"the program ends with {done.returncode}", f"{done.stdout}{done.stderr}")
        return {"calls": CALLS}

    return attempt


PARTS: dict[str, Callable[[], Attempt]] = {
    name.replace("(depth=2)", "-shared"): partial(_crowd, name) for name in KINDS
}
