"""``make new-agent`` writes the skeleton of a valid algorithm with a passing test."""

import os
import subprocess
import sys
import textwrap
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from tests.worlds import WIDTHS

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def tool():
    spec = spec_from_file_location("new_agent", ROOT / "tools" / "new_agent.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.compiled
def test_the_skeleton_passes_the_contract_and_its_own_test(tool, tmp_path):
    agent, test = tool.write_skeleton("first_try", tmp_path)
    surroundings = {**os.environ, "ANDANTE_AGENTS": str(agent)}
    code = f"""
        import sys
        import andante, pytest
        from andante.episode import contract
        contract.WIDTHS = {WIDTHS}
        print(len(andante.check_algorithm("first_try")), "checks")
        sys.exit(pytest.main(["-q", {str(test)!r}]))
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, env=surroundings, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "checks" in done.stdout
    assert "passed" in done.stdout


@pytest.mark.parametrize("name", ["", "Big", "9lives", "a-b", "../up", "class"])
def test_a_name_that_cannot_be_a_module_is_refused(tool, tmp_path, name):
    with pytest.raises(tool.SkeletonError, match="cannot name an algorithm"):
        tool.write_skeleton(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tool, tmp_path):
    agent, test = tool.write_skeleton("first_try", tmp_path)
    test.unlink()
    agent.write_text("mine")
    with pytest.raises(tool.SkeletonError, match="exists; choose another name"):
        tool.write_skeleton("first_try", tmp_path)
    assert agent.read_text() == "mine"
    assert not test.exists()
