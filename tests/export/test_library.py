"""The C library compiles without warnings, works in C programs and refuses bad arguments."""

import importlib.util
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

import andante
from andante.export import export
from andante.export.images import MapImage, Plan
from andante.export.library import filled, names_for
from andante.export.linking import LinkError, _call, _zig
from andante.export.texts import problem_for
from andante.files import cache_folder
from andante.kernel import JIT
from tests.export.compiling import SANITIZED, STRICT, compiled, needs_gcc, run, static_library

pytestmark = [pytest.mark.compiled, pytest.mark.skipif(not JIT, reason="needs compiled kernels")]

HAS_ZIG = importlib.util.find_spec("ziglang") is not None or shutil.which("zig") is not None


@pytest.fixture(scope="module")
def grid():
    return andante.generate("rooms", 30, 24, seed=3)


@pytest.fixture(scope="module")
def folder(grid, tmp_path_factory):
    out = tmp_path_factory.mktemp("library") / "engine"
    export(["cpd", "lrta"], grid, out, databases=andante.build("moves", grid))
    return out


def cost_in_python(folder, grid, name, databases):
    start, goal = map(int, re.search(r"start = (\d+), goal = (\d+)", (folder / "example.c").read_text()).groups())
    agent = andante.Agent(name, grid, databases=databases)
    trial = agent.run(andante.world.problem.Problem(grid.graph, start, goal, grid=grid))
    walked = f"{trial.moves} moves, cost {trial.cost:.4f}"
    return [f"{walked}, arrived", f"{trial.moves} moves after loading", f"{walked} in one go"]


@needs_gcc
@pytest.mark.parametrize(
    "flags",
    [
        ("-std=c99", "-O0", "-x", "c"),
        ("-std=c99", "-O3", "-x", "c"),
        ("-std=c++17", "-x", "c++"),
        ("-std=c99", *SANITIZED, "-x", "c"),
    ],
)
def test_the_example_compiles_without_changes(flags, folder, grid, tmp_path):
    example = folder / "example.c"
    program = compiled(folder, tmp_path / "example", *flags, source=example)
    said = run(program, folder / "data").splitlines()
    assert said == cost_in_python(folder, grid, "cpd", [andante.build("moves", grid)])


@needs_gcc
def test_sources_compile_without_warnings_under_sanitizers(folder, tmp_path):
    also = ["-x", "c", folder / "andante.c"]  # instead of the one in the library
    program = compiled(
        folder, tmp_path / "whole", "-std=c99", *SANITIZED, "-x", "c", source=folder / "example.c", also=also
    )
    assert "arrived" in run(program, folder / "data")


@needs_gcc
@pytest.mark.full
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
def test_the_example_has_no_errors_or_leaks_under_valgrind(folder, tmp_path):
    """Sanitizers cannot check the machine code of agents; valgrind can."""
    program = compiled(folder, tmp_path / "example", "-std=c99", "-O1", "-g", "-x", "c", source=folder / "example.c")
    check = ["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full"]
    assert "arrived" in run(*check, program, folder / "data")


@needs_gcc
def test_bad_calls_are_refused(folder, grid, tmp_path):
    other = andante.generate("rooms", 30, 24, seed=4)
    (tmp_path / "other.image").write_bytes(MapImage.of(other).data)
    plan = Plan.of(andante.find("cpd"), MapImage.of(grid), [andante.build("moves", grid)])
    start, goal = problem_for(plan)
    text = Path("tests/export/fuzz.c").read_text()
    (tmp_path / "fuzz.c").write_text(filled(text, {"NAME": "cpd", "START": start, "GOAL": goal}))
    program = compiled(
        folder, tmp_path / "fuzz", "-std=c99", *SANITIZED, "-x", "c", source=tmp_path / "fuzz.c",
        also=[folder / "andante.c"],
    )  # fmt: skip
    data, place = folder / "data", grid.name
    files = [f"{place}.cpd.plan", f"{place}.image", f"{place}.moves", f"{place}.lrta.plan"]
    assert run(program, *(data / file for file in files), tmp_path / "other.image") == "0 not refused\n"


@pytest.fixture(scope="module")
def crowds(grid, tmp_path_factory):
    out = tmp_path_factory.mktemp("crowds") / "engine"
    export("lrta", grid, out, living=True, crowd=40, memory=1e6)
    return out


@needs_gcc
@pytest.mark.full
@pytest.mark.parametrize("dialect", ["c99", "c++17"])
def test_sources_of_crowds_on_living_maps_compile_without_warnings(dialect, crowds, tmp_path):
    language = "c++" if "++" in dialect else "c"
    run("gcc", *STRICT, "-O2", f"-std={dialect}", "-x", language, "-c", crowds / "andante.c", "-o", tmp_path / "a.o")


@needs_gcc
def test_a_library_needs_nothing_but_memory_functions(folder):
    listed = run("nm", static_library(folder))
    wanted, there = set(re.findall(r"\bU (\w+)", listed)), set(re.findall(r"\b[TR] (\w+)", listed))
    assert wanted - there - {"_GLOBAL_OFFSET_TABLE_"} <= {"memset", "memcpy", "memmove"}
    assert not re.findall(r"\b[BDCbdc] (\w+)", listed)  # no variables outside the caller's memory


@needs_gcc
def test_libraries_are_small(folder):
    for name in ("cpd", "lrta", "maps"):
        run("ar", "x", static_library(folder), f"{name}.o", "--output", folder)
        assert (folder / f"{name}.o").stat().st_size < 100_000
        (folder / f"{name}.o").unlink()


@pytest.mark.full
def test_the_same_export_is_the_same_bytes(tmp_path):
    """Two processes, in which nothing has the same address, write the same files and can exchange minds."""
    program = (
        "import sys, andante\n"
        "from andante.export import export\n"
        "kept = [bytearray(1000 + 9000 * i) for i in range(int(sys.argv[2]))]\n"
        "grid = andante.generate('rooms', 30, 24, seed=3)\n"
        "export(['cpd', 'lrta', 'tba'], grid, sys.argv[1], databases=andante.build('moves', grid))\n"
    )
    for number in (1, 2):
        run(sys.executable, "-c", program, tmp_path / str(number), 40 * number)
    one, other = tmp_path / "1", tmp_path / "2"
    files = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(other) for path in other.rglob("*") if path.is_file())
    assert [name for name in files if (one / name).read_bytes() != (other / name).read_bytes()] == []


def test_the_licence_is_that_of_andante():
    assert Path("src/andante/export/templates/LICENSE.txt").read_text() == Path("LICENSE").read_text()


def test_names_in_c():
    assert names_for(["lrta", "lrta(depth=3)", "lrta-x", "lrta(depth=4)"]) == ["lrta", "lrta_2", "lrta_x", "lrta_3"]


# --- the folder -----------------------------------------------------------------------------------------------------


def test_the_folder_lists_its_files(folder):
    listed = json.loads((folder / "export.json").read_text())
    assert set(listed["files"]) == {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    } - {"export.json"}
    assert listed["agents"] == {"cpd": "cpd", "lrta": "lrta"}


@pytest.mark.skipif(shutil.which("node") is None or not HAS_ZIG, reason="needs node and ziglang")
def test_the_example_in_javascript_runs(grid, tmp_path):
    out = tmp_path / "engine"
    export("cpd", grid, out, databases=andante.build("moves", grid), targets="wasm")
    program = re.search(r"```js\n(.*?)```", (out / "README.md").read_text(), re.DOTALL)[1]
    start, goal = map(int, re.search(r"let state = (\d+); state !== (\d+);", program).groups())
    (out / "example.mjs").write_text(program.replace("state = to;", "state = to; console.log(state);"))
    walked = run("node", "example.mjs", cwd=out).split()
    trial = andante.run(
        "cpd", andante.Problem(grid.graph, start, goal, grid=grid), databases=[andante.build("moves", grid)]
    )
    assert list(map(int, walked)) == trial.path.tolist()[1:]


TSC = Path("playground/node_modules/.bin/tsc").absolute()


@pytest.mark.full
@pytest.mark.skipif(not TSC.exists() or not HAS_ZIG, reason="needs TypeScript, from make playground, and ziglang")
def test_the_declarations_for_typescript_fit(grid, tmp_path):
    export("cpd", grid, tmp_path / "engine", databases=andante.build("moves", grid), targets="wasm")
    (tmp_path / "use.mts").write_text("""
import { load, STUCK, type Move } from "./engine/wasm/andante.mjs";
const andante = await load(new Uint8Array());
const map = andante.map(new Uint8Array());
const agent = andante.agent("cpd", { plan: new Uint8Array(), map, databases: [new Uint8Array()] });
const move: Move = agent.move(0, 1);
if (move.to === STUCK) agent.forget();
const { path } = agent.run(0, 1, { moves: 3 });
agent.restore(agent.save());
map.close(path.length);
// @ts-expect-error there is no such agent
andante.agent("tba", { plan: new Uint8Array(), map });
""")
    options = [
        "--noEmit",
        "--strict",
        "--target",
        "es2022",
        "--lib",
        "es2022,dom",
        "--module",
        "nodenext",
        "--moduleResolution",
        "nodenext",
    ]
    run(TSC, *options, "--types", "", "use.mts", cwd=tmp_path)


@needs_gcc
@pytest.mark.full
@pytest.mark.skipif(shutil.which("mcs") is None or shutil.which("mono") is None, reason="needs mono")
@pytest.mark.parametrize("kind", ["folder", "crowds"])
def test_the_example_in_c_sharp_runs(kind, grid, tmp_path, request):
    out = request.getfixturevalue(kind)  # with a database, and on a map that changes
    name, databases = ("cpd", [andante.build("moves", grid)]) if kind == "folder" else ("lrta", [])
    program = re.search(r"```csharp\n(.*?)```", (out / "README.md").read_text(), re.DOTALL)[1]
    start, goal = map(int, re.search(r"int state = (\d+), goal = (\d+);", program).groups())
    (tmp_path / "example.cs").write_text(program)
    run("mcs", "-warnaserror", f"-out:{tmp_path / 'example.exe'}", tmp_path / "example.cs")
    place = {**os.environ, "LD_LIBRARY_PATH": str(static_library(out).parent)}
    walked = run("mono", tmp_path / "example.exe", cwd=out, env=place).split()
    trial = andante.run(name, andante.Problem(grid.graph, start, goal, grid=grid), databases=databases)
    assert list(map(int, walked)) == trial.path.tolist()[1:]


@pytest.mark.full
@pytest.mark.skipif(shutil.which("rustc") is None, reason="needs rustc")
@pytest.mark.parametrize("kind", ["folder", "crowds"])
def test_the_example_in_rust_runs(kind, grid, tmp_path, request):
    out = request.getfixturevalue(kind)  # with a database, and on a map that changes
    name, databases = ("cpd", [andante.build("moves", grid)]) if kind == "folder" else ("lrta", [])
    command, program = re.search(
        r"console\n(rustc [^&\n]*).*?```rust\n(.*?)```", (out / "README.md").read_text(), re.DOTALL
    ).groups()
    start, goal = map(int, re.search(r"\(mut state, goal\) = \((\d+), (\d+)\);", program).groups())
    (tmp_path / "example.rs").write_text(program)
    flags = [*command.split()[1:-3], "-D", "warnings"]
    run("rustc", *flags, "--edition=2021", tmp_path / "example.rs", "-o", tmp_path / "example", cwd=out)
    walked = run(tmp_path / "example", cwd=out).split()
    trial = andante.run(name, andante.Problem(grid.graph, start, goal, grid=grid), databases=databases)
    assert list(map(int, walked)) == trial.path.tolist()[1:]


@pytest.mark.deep  # Zig compiles a C library first
@pytest.mark.skipif(shutil.which("qemu-aarch64") is None or not HAS_ZIG, reason="needs qemu-user and ziglang")
def test_the_example_runs_on_arm(grid, tmp_path):
    """Another processor makes the same moves."""
    out, program = tmp_path / "engine", tmp_path / "example"
    export("lrta", grid, out, targets="linux-arm64")
    zig = [*_zig(), "cc", "-target", "aarch64-linux-musl", "-std=c99", f"-I{out}", "-o", program]
    caches = dict.fromkeys(("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"), str(cache_folder() / "zig"))
    run(*zig, out / "example.c", out / "linux-arm64" / "libandante.a", env={**os.environ, **caches})
    assert run("qemu-aarch64", program, out / "data").splitlines() == cost_in_python(out, grid, "lrta", [])


def test_an_export_replaces_an_export_and_nothing_else(grid, tmp_path):
    out = tmp_path / "engine"
    export("lrta", grid, out)
    export("lrta(depth=2)", grid, out)
    assert "lrta(depth=2)" in (out / "andante.h").read_text()
    (out / "main.c").write_text("int main(void) { return 0; }")
    with pytest.raises(andante.AndanteError, match="'main.c', which no export wrote"):
        export("lrta", grid, out)
    assert (out / "main.c").exists()
    assert "lrta(depth=2)" in (out / "andante.h").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["engine"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"algorithms": "cpd"}, "needs a database of kind 'moves'"),
        ({"algorithms": []}, "at least one algorithm"),
        ({"targets": "amiga"}, "no target 'amiga'; the targets are this, linux"),
        ({"out": "/dev/null/engine"}, "cannot write to"),
        ({"out": "/dev/null"}, "not a folder"),
        ({"algorithms": "prlrts(level=20)", "living": True}, "level must be at most"),
    ],
)
def test_what_is_refused_leaves_nothing_behind(change, said, grid, tmp_path):
    given = {"algorithms": "lrta", "maps": grid, "out": tmp_path / "engine", **change}
    with pytest.raises(andante.AndanteError, match=re.escape(said)):
        export(**given)
    assert not list(tmp_path.iterdir())


def test_two_maps_of_one_name_are_refused(grid, tmp_path):
    with pytest.raises(andante.AndanteError, match="same name"):
        export("lrta", [grid, grid], tmp_path / "engine")


@pytest.mark.parametrize("name", ['a"b', "a\\b", "../a", "a|b", "a\nb", "a`b", "a{b}"])
def test_names_of_maps_cannot_become_code(name, tmp_path):
    with pytest.raises(andante.AndanteError, match="may have a meaning in programs or paths"):
        export("lrta", andante.Grid(["...", "..."], name=name), tmp_path / "engine")
    assert not list(tmp_path.iterdir())


def test_a_map_too_large_for_webassembly_is_refused(grid, tmp_path, monkeypatch):
    monkeypatch.setattr("andante.export.folder._WASM_BYTES", 10_000)
    with pytest.raises(andante.AndanteError, match="WebAssembly can address 10,000"):
        export("lrta", grid, tmp_path / "engine", targets="wasm")
    assert not list(tmp_path.iterdir())


@pytest.mark.full
def test_a_crowd_too_large_for_webassembly_is_refused(grid, tmp_path, monkeypatch):
    monkeypatch.setattr("andante.export.folder._WASM_BYTES", 3_000_000)
    with pytest.raises(andante.AndanteError, match="a crowd of lrta on .* WebAssembly can address 3,000,000"):
        export("lrta", grid, tmp_path / "engine", targets="wasm", crowd=40, memory=1e6, grow=4)
    assert not list(tmp_path.iterdir())


def test_without_a_linker_there_are_objects(grid, tmp_path, monkeypatch):
    monkeypatch.setattr("andante.export.linking._system_compiler", lambda: None)
    monkeypatch.setattr("andante.export.linking._zig", lambda: None)
    package = export("lrta", grid, tmp_path / "engine", targets=["linux-x86_64", "windows", "macos", "wasm"])
    assert package.unlinked == ["linux-x86_64", "windows-x86_64", "macos-x86_64", "macos-arm64", "wasm"]
    starts = {
        "linux-x86_64": b"\x7fELF",
        "windows-x86_64": b"\x64\x86",
        "macos-arm64": b"\xcf\xfa\xed\xfe",
        "wasm": b"\0asm",
    }
    for target, magic in starts.items():
        assert (tmp_path / "engine" / target / "lrta.o").read_bytes().startswith(magic)
    assert "zig cc -target wasm32-freestanding" in (tmp_path / "engine" / "README.md").read_text()


@pytest.mark.skipif(not HAS_ZIG, reason="needs ziglang")
@pytest.mark.parametrize(
    ("target", "file", "magic"),
    [
        ("windows-x86_64", "andante.dll", b"MZ"),
        ("linux-arm64", "libandante.so", b"\x7fELF"),
        ("wasm", "andante.wasm", b"\0asm"),
        pytest.param("windows-arm64", "andante.dll", b"MZ", marks=pytest.mark.deep),
        pytest.param("linux-x86_64", "libandante.so", b"\x7fELF", marks=pytest.mark.deep),
        # Zig compiles a small library of its own for these, the first time.
        pytest.param("macos-x86_64", "libandante.dylib", b"\xcf\xfa\xed\xfe", marks=pytest.mark.deep),
        pytest.param("macos-arm64", "libandante.dylib", b"\xcf\xfa\xed\xfe", marks=pytest.mark.deep),
    ],
)
def test_zig_links_for_other_machines(target, file, magic, grid, tmp_path):
    package = export("lrta", grid, tmp_path / "engine", targets=target)
    assert not package.unlinked
    assert (tmp_path / "engine" / target / file).read_bytes().startswith(magic)


@pytest.mark.full
@pytest.mark.skipif(not HAS_ZIG, reason="needs ziglang")
def test_crowds_are_linked_for_other_machines(grid, tmp_path):
    """On Windows a function with more than a page of local variables would need a library of the compiler."""
    targets = ["windows-x86_64", "windows-arm64", "linux-arm64"]
    assert not export("lrta", grid, tmp_path / "engine", targets=targets, crowd=40, memory=1e6, grow=2).unlinked


def test_a_folder_is_made_only_for_what_can_be_exported(grid, tmp_path):
    with pytest.raises(andante.AndanteError, match="needs a database"):
        export("cpd", grid, tmp_path / "a" / "engine")
    assert list(tmp_path.iterdir()) == []


def test_a_linker_that_fails_is_one_sentence(tmp_path):
    with pytest.raises(LinkError, match="failed while linking"):
        _call(["ls", "nowhere"], tmp_path)
