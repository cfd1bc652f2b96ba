"""The programs of the tutorials run without changes."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import andante
from andante.cli import main
from andante.kernel import JIT

TUTORIALS = Path(__file__).resolve().parents[1] / "docs" / "tutorials"


def page(name):
    return (TUTORIALS / name).read_text(encoding="utf-8")


def program(name, language):
    """Return the only program on a page."""
    found = re.findall(rf"^```{language}\n(.*?)^```", page(name), re.MULTILINE | re.DOTALL)
    (whole,) = [one for one in found if ">>>" not in one]
    return whole


@pytest.mark.full
@pytest.mark.skipif(importlib.util.find_spec("pygame") is None, reason="needs pygame")
def test_the_game_runs_and_draws_its_units(tmp_path):
    (tmp_path / "game.py").write_text(program("game.md", "python"), encoding="utf-8")
    command = [sys.executable, "game.py", "--frames", "20", "--picture", "game.png"]
    silent = os.environ | {"SDL_VIDEODRIVER": "dummy"}
    done = subprocess.run(command, cwd=tmp_path, env=silent, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^20 frames; \d+ of 500 units have arrived$", done.stdout, re.MULTILINE)
    assert (tmp_path / "game.png").read_bytes().startswith(b"\x89PNG")


def test_the_game_is_a_program():
    compile(program("game.md", "python"), "game.py", "exec")


@pytest.mark.full
@pytest.mark.compiled
@pytest.mark.skipif(not JIT, reason="needs compiled kernels")
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_the_c_program_compiles_without_a_warning_and_makes_the_moves_of_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (line,) = re.findall(r"^andante (export .*)$", page("c-program.md"), re.MULTILINE)
    monkeypatch.setattr("sys.argv", ["andante", *line.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    Path("walk.c").write_text(program("c-program.md", "c"), encoding="utf-8")
    (library,) = Path("engine").glob("*/libandante.a")
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["gcc", *strict, "-Iengine", "walk.c", str(library), "-o", "walk"], check=True)
    said = subprocess.run(["./walk"], check=True, capture_output=True, text=True).stdout
    (shown,) = re.findall(r"^```text\n(.*?)^```", page("c-program.md"), re.MULTILINE | re.DOTALL)
    assert said == shown
    problem = andante.generate("rooms", 32, 32, seed=1).problem((1, 1), (30, 29))
    assert said.startswith(f"{andante.run('lrta', problem).moves} moves")


@pytest.mark.full
@pytest.mark.compiled
@pytest.mark.skipif(not JIT, reason="needs compiled kernels")
def test_the_example_of_a_database_is_built_saved_loaded_and_used_as_its_page_says(tmp_path):
    text = (TUTORIALS.parent / "how-to" / "add-database.md").read_text(encoding="utf-8")
    plug_in, program = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "beacons.py").write_text(plug_in, encoding="utf-8")
    known = os.environ | {"ANDANTE_AGENTS": str(tmp_path / "beacons.py")}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=known, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    ratio, *checks = done.stdout.splitlines()
    assert float(ratio.split()[0]) < 1
    assert "never beats the optimal cost" in checks
    assert (tmp_path / "caves.beacons").stat().st_size > 0
