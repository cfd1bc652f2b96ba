"""Unit tests of the page: walks, links, columns, the notation."""

import subprocess

import pytest

from tests.playground.tools import NODE, PLAYGROUND, needs_node_modules


@pytest.mark.full
@needs_node_modules
def test_the_units_of_the_page():
    command = [NODE, "node_modules/vitest/vitest.mjs", "run"]
    done = subprocess.run(command, cwd=PLAYGROUND, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
