"""Programs in C that use an exported library."""

import json
import shutil
import subprocess
import sys

import pytest

STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
SANITIZED = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
#: Sanitizers, names of libraries and the output of `nm` are different on other systems.
needs_gcc = pytest.mark.skipif(sys.platform != "linux" or shutil.which("gcc") is None, reason="needs gcc on Linux")


def run(*command, **options):
    """Run a command that must succeed, and return what it prints."""
    done = subprocess.run([str(one) for one in command], capture_output=True, text=True, timeout=900, **options)
    assert done.returncode == 0, f"{done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def in_node(script, folder, task, tmp_path):
    """Return what a script of this folder prints for a task, as JSON."""
    (tmp_path / "task.json").write_text(json.dumps(task))
    return json.loads(run(shutil.which("node"), f"tests/export/{script}", folder, tmp_path / "task.json"))


def static_library(folder):
    """Return the library for this machine."""
    return next(folder.glob("*/libandante.a"))


def shared_library(folder):
    """Return the shared library for this machine."""
    return next(folder.glob("linux-*/libandante.so"))


def compiled(folder, program, *flags, source="example.c", also=()):
    """Compile a program, and return where it is."""
    run("gcc", *STRICT, *flags, f"-I{folder}", "-o", program, source, *also, "-x", "none", static_library(folder))
    return program
