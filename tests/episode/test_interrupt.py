"""Ctrl-C in the middle of a long run: all of it ends soon."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

# The signal is ignored in children of a shell's background jobs, as on some build machines, unless they ask for it.
PROGRAM = """
    import andante, signal
    signal.signal(signal.SIGINT, signal.default_int_handler)
    grid = andante.generate("maze", 201, 201, seed=1)
    problems = andante.random_problems(grid, 40, seed=2, optimal_cost=(300, 10_000)) * 1000
    andante.run_many("{name}", problems[:2], limits=andante.Limits(moves=1000))
    print("begun", flush=True)
    andante.run_many("{name}", problems, threads={threads}, paths={paths})
    print("done", flush=True)
"""


@pytest.mark.compiled
@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise on Windows")
@pytest.mark.parametrize(("name", "threads", "paths"), [("lrta", 2, True), ("lrta(depth=9)", 3, False)])
def test_an_interrupted_run_ends_soon(name, threads, paths):
    code = textwrap.dedent(PROGRAM.format(name=name, threads=threads, paths=paths))
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "begun\n"
        time.sleep(0.5)
        assert child.poll() is None
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)  # half a second on an idle machine
    finally:
        child.kill()
    assert child.returncode != 0
    assert out == ""
    assert err.strip().endswith("KeyboardInterrupt")
    assert err.count("Traceback") == 1
