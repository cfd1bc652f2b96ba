"""The instructions of the how-to and of README.md work as written."""

import re
import sys
from pathlib import Path

import pytest

import andante
from andante.databases.header import read_header
from andante.export import export
from andante.kernel import JIT
from tests.export.compiling import SANITIZED, needs_gcc, run, static_library

pytestmark = [
    pytest.mark.full,
    pytest.mark.compiled,
    pytest.mark.skipif(not JIT, reason="needs compiled kernels"),
    needs_gcc,
]

PAGE = Path("docs/how-to/export.md").read_text()
FRAGMENTS = re.findall(r"```c\n(.*?)```", PAGE, re.DOTALL)


def fragment(begins):
    """Return the only fragment in C that begins with this text."""
    (found,) = [one for one in FRAGMENTS if one.startswith(begins)]
    return found


def run_andante(*command, cwd):
    return run(sys.executable, "-m", "andante", *command, cwd=cwd)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A new project, after the first commands of the page."""
    place = tmp_path_factory.mktemp("project")
    for line in re.search(r"```console\n(andante maps generate.*?)```", PAGE, re.DOTALL)[1].splitlines():
        run_andante(*line.partition("#")[0].split()[1:], cwd=place)
    return place


@pytest.mark.parametrize(("compiler", "dialect"), [("gcc", "c99"), ("g++", "c++17")])
def test_the_program_of_the_page_walks(compiler, dialect, project):
    """It prints the same path as Python, and its compiled files do not prevent a second export to the folder."""
    language = "c" if compiler == "gcc" else "c++"
    for name, text in (("main", fragment("#include <stdio.h>")), ("example", "")):
        source = project / f"{name}.c" if text else project / "engine" / "example.c"
        if text:
            source.write_text(text)
        flags = [f"-std={dialect}", *SANITIZED[:2], "-Wall", "-Iengine", "-x", language, source, "-x", "none"]
        run(compiler, *flags, static_library(project / "engine"), "-o", name, cwd=project)
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}  # the page's program leaves its memory to the system
    walked = run(project / "main", cwd=project, env=environment).splitlines()
    grid = andante.read_map(project / "arena.map")
    start, goal = (int(y) * grid.width + int(x) for y, x in re.findall(r"= (\d+) \* width \+ (\d+)", PAGE))
    path = andante.run("lrta", andante.Problem(grid.graph, start, goal, grid=grid)).path.tolist()
    assert walked == [*(f"{state % grid.width} {state // grid.width}" for state in path[1:]), "arrived"]
    assert "arrived" in run(project / "example", "engine/data", cwd=project)
    run_andante("export", "lrta", "--map", "arena.map", "--out", "engine", cwd=project)


def test_crowds_that_grow_on_maps_that_change(project, tmp_path):
    """The fragments of the page work in one program that adds what they omit."""
    grid = andante.read_map(project / "arena.map")
    export("lss", grid, tmp_path / "engine", living=True, crowd=1000, memory=1e6, grow=8)
    kinds = iter(("crowd2", "crowd4", "crowd8"))
    larger = ", ".join(f'"engine/data/arena.lss.{kind}"' for kind in kinds)
    world = fragment("size_t world_bytes").replace("y * width + x", "0")
    growing = fragment("budget.pause_when_full").replace(
        "files.plan = ...;  files.plan_bytes = ...;", "files.plan = whole(larger[grown++], &files.plan_bytes);"
    )
    whole = fragment("#include <stdio.h>").partition("int main")[0]
    crowd = fragment("andante_crowd crowd;").replace(
        "andante_lss_crowd_add(&crowd, start, goal, 1.0, &unit);",
        "for (int i = 0; i < 1000; i++) andante_lss_crowd_add(&crowd, free_cell(world, i), goal, 1.0, &unit);",
    )
    (tmp_path / "game.c").write_text(f"""{whole}
static int64_t my_clock(void *user) {{ (void)user; static int64_t now = 0; return now += 1000; }}
static int32_t free_cell(const void *map, int number) {{ /* one of the cells around the goal */
    (void)map;
    static const int32_t cells[] = {{{", ".join(map(str, near(grid)))}}};
    return cells[number];
}}
int main(void) {{
    static const char *larger[] = {{{larger}}};
    int grown = 0;
    andante_files files = {{0}};
    files.plan = whole("engine/data/arena.lss.crowd", &files.plan_bytes);
    files.map = whole("engine/data/arena.image", &files.map_bytes);
    int32_t goal = {near(grid)[-1]};
    {world}
    {crowd}
    for (int turn = 0; turn < 200 && grown < 3; turn++) {{
        {growing}
    }}
    printf("%d %d\\n", grown, (int)tick.restarted);
    return 0;
}}
""")
    library = static_library(tmp_path / "engine")
    flags = ["-std=c99", *SANITIZED[:2], "-Wall", "-Wno-unused", "-Iengine"]
    run("gcc", *flags, "game.c", library, "-o", "game", cwd=tmp_path)
    grown, restarted = run(tmp_path / "game", cwd=tmp_path, env={"ASAN_OPTIONS": "detect_leaks=0"}).split()
    assert int(grown) >= 1
    assert restarted == "0"


def near(grid):
    """Return a thousand cells that are connected, in the order of the map."""
    label = grid.graph.components
    free = grid.passable.ravel().nonzero()[0]
    most = max(set(label[free].tolist()), key=label[free].tolist().count)
    return [state for state in free.tolist() if label[state] == most][:1001]


def test_the_class_for_godot_compiles(project, tmp_path):
    (text,) = re.findall(r"```cpp\n(.*?)```", (project / "engine" / "README.md").read_text(), re.DOTALL)
    header = Path("tests/export/godot.hpp").resolve()
    (tmp_path / "walker.cpp").write_text(f'#include "{header}"\n#include "andante.h"\n{text}\nWalker one;\n')
    run("g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{project / 'engine'}", "-c", "walker.cpp", cwd=tmp_path)


def test_a_map_has_one_fingerprint(project):
    """All commands show the same one."""
    run_andante("build", "regions", "arena.map", cwd=project)
    grid = andante.read_map(project / "arena.map")
    data = project / "engine" / "data"
    files = [data / "arena.image", data / "arena.lrta.plan", project / "arena.regions"]
    assert [read_header(file).fingerprint for file in files] == [grid.fingerprint] * 3
    for file in files:
        assert grid.fingerprint in run_andante("databases", "show", file, cwd=project)
    assert grid.fingerprint in run_andante("maps", "show", "arena.map", cwd=project)
    assert grid.fingerprint in (project / "engine" / "README.md").read_text()
