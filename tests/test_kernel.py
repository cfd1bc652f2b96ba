"""The interface to Numba: compiled code is found again, edited kernels never run stale code, and errors are caught."""

import ast
import json
import math
import multiprocessing
import os
import subprocess
import sys
import textwrap
from importlib import import_module
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import NamedTuple

import numba
import numpy as np
import pytest
from filelock import FileLock
from numba.core import types
from numba.core.compiler import Flags

from andante.errors import AlgorithmError
from andante.files import cache_folder
from andante.kernel import (
    JIT,
    cache,
    generic,
    instantiate,
    interpreted,
    kernel,
    lowest_bit,
    nanoseconds,
    on_compile,
    prefetch,
    source_state,
    subroutine,
)
from andante.kernel.essence import essence
from andante.search import heap
from andante.search.heap import Heap
from andante.world.graph import Graph
from andante.world.grid import Grid
from andante.world.layout import degree, target

# --- kernels that call kernels --------------------------------------------------------------------------------------


@kernel
def times(a, b):
    return a * b


@kernel
def many_times(a):
    return times(a, 2) + times(a, 3) + times(4, a) + times(5, 6)


@subroutine
def halved(values, first, last):
    for i in range(first, last):
        values[i] /= 2
    return last - first


@kernel
def quartered(values):
    return halved(values, 0, len(values)) + halved(values, 1, len(values))


@kernel
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


@kernel
def chosen(n, k):
    return factorial(n) // (factorial(k) * factorial(n - k))


def test_numbers_written_out_in_calls_are_of_one_type(monkeypatch, tmp_path):
    monkeypatch.setenv("ANDANTE_CACHE", str(tmp_path))  # code that is loaded from a cache has no parts to count
    assert many_times(10) == 120
    if JIT:
        assert len(times.get_call_template.__closure__[-1].cell_contents.overloads) == 1


@kernel
def sum_asking_ahead(array):
    total = 0
    for i in range(len(array)):
        prefetch(array, i + 64)
        prefetch(array, -i)
        total += array[i]
    return total


@pytest.mark.parametrize("writable", [True, False])
def test_prefetching_changes_nothing_even_beyond_the_array(writable):
    array = np.arange(1000)
    array.flags.writeable = writable
    assert sum_asking_ahead(array) == 499_500
    assert interpreted(sum_asking_ahead, {})(array) == 499_500


@kernel
def lowest_bits(numbers, places):
    for i in range(len(numbers)):
        places[i] = lowest_bit(numbers[i])


def test_the_lowest_bit_of_a_number():
    places = np.arange(63)
    found = np.zeros(63, np.int64)
    lowest_bits(1 << places | 1 << 62, found)
    assert found.tolist() == places.tolist()
    assert [lowest_bit(number) for number in (1, 6, 96)] == [0, 1, 5]


def test_a_subroutine_works_on_the_arrays_it_is_given():
    values = np.full(4, 8.0)
    assert quartered(values) == 7
    assert values.tolist() == [4.0, 2.0, 2.0, 2.0]


@kernel
def with_a_function_of_its_own(values):
    def capped(value, most):
        return min(value, most)

    total = 0
    for value in values:
        total += capped(value, 3)
    return total


@kernel
def around_it(values):
    return with_a_function_of_its_own(values) + 1


def test_functions_within_a_kernel_can_be_called():
    """They need compiler passes that other kernels do without."""
    assert around_it(np.arange(6)) == 0 + 1 + 2 + 3 + 3 + 3 + 1


@pytest.mark.compiled
def test_options_of_the_compiler_are_compared_as_numba_does():
    from andante.kernel.compiler import _Flags

    one, other = _Flags(), Flags()
    assert one == other
    assert hash(one) == hash(other)
    one.nrt = other.nrt  # set, but to the default
    assert one == other
    assert one == one.copy()
    assert hash(one) == hash(other)
    one.nrt = not other.nrt
    assert one != other
    assert one != _Flags()


@pytest.mark.compiled
def test_a_kernel_that_calls_itself_cannot_be_called_by_others():
    """The attempt fails immediately."""
    with pytest.raises(AlgorithmError, match="it calls itself"):
        chosen(6, 2)
    assert factorial(6) == 720


# --- a small package of kernels in three files ----------------------------------------------------------------------

CONSTANTS = """
import numpy as np

FACTOR = 2
PAIR = (5, 7)
SMALL = np.int64(3)
TABLE = np.array([1, 10, 100])
"""

INNER = """
from typing import NamedTuple
from andante.kernel import generic, kernel
from mill.constants import FACTOR, PAIR, SMALL, TABLE

class Bag(NamedTuple):
    first: int
    second: int

@generic
def weigh(bag):
    raise TypeError(bag)

@weigh.of(Bag)
def _weigh(bag):
    return bag.first

@kernel
def inner(x):
    return x * FACTOR + 0
"""

OUTER = """
from andante.kernel import kernel
from mill.inner import FACTOR, PAIR, SMALL, TABLE, Bag, inner, weigh

@kernel
def outer(x):
    return inner(x) + 1

@kernel
def from_pair(x):
    return x + PAIR[1]

@kernel
def from_scalar(x):
    return x + SMALL

@kernel
def from_table(x):
    return x + TABLE[2]

@kernel
def from_bag(x):
    return x + weigh(Bag(1, 2))
"""

ASK = """
import json, sys
from andante.kernel import on_compile
heard = []
with on_compile(lambda name: heard.append(name.rpartition(".")[2])):
    import mill.outer
    answers = [int(getattr(mill.outer, name)(10)) for name in sys.argv[1:]]
print(json.dumps([answers, heard]))
"""


class Mill:
    """A package of a user that is edited and called again, each time in a new process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        (folder / "mill").mkdir()
        for name, text in (
            ("__init__", ""),
            ("constants", CONSTANTS),
            ("inner", INNER),
            ("outer", OUTER),
            ("apart", "X = 1\n"),
        ):
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        (self.folder / "mill" / f"{name}.py").write_text(text)

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.folder / "mill" / f"{name}.py"
        before = path.read_text()
        assert old in before
        path.write_text(before.replace(old, new))

    def environment(self, **others: object) -> dict[str, str]:
        path = os.pathsep.join([str(self.folder), os.environ.get("PYTHONPATH", "")])
        # No bytecode is written: Python would run stale bytecode if two edits within a second share a time stamp.
        ours = {"PYTHONPATH": path, "ANDANTE_CACHE": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1"}
        return {**os.environ, **ours, **{name: str(value) for name, value in others.items()}}

    def python(self, code: str, *arguments: str, **environment: object) -> subprocess.CompletedProcess[str]:
        command, env = [sys.executable, "-c", code, *arguments], self.environment(**environment)
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)

    def ask(self, *names: str) -> tuple[list[int], list[str]]:
        done = self.python(ASK, *names)
        assert done.returncode == 0, done.stderr
        answers, heard = json.loads(done.stdout)
        return answers, heard


@pytest.fixture
def mill(tmp_path):
    return Mill(tmp_path)


@pytest.mark.compiled
def test_a_second_process_compiles_nothing_and_an_edited_kernel_in_another_file_is_never_run_stale(mill):
    assert mill.ask("outer") == ([21], ["outer", "inner"])
    assert mill.ask("outer") == ([21], [])
    mill.edit("inner", "+ 0", "+ 5")
    assert mill.ask("outer") == ([26], ["outer", "inner"])
    mill.edit("inner", "+ 5", "+ 0")  # the old code is still there
    assert mill.ask("outer") == ([21], [])
    mill.edit("apart", "X = 1", "X = 2")  # no kernel depends on it
    assert mill.ask("outer") == ([21], [])


@pytest.mark.compiled
def test_comments_and_docstrings_compile_nothing_again(mill):
    assert mill.ask("outer", "from_pair")[0] == [21, 17]
    mill.edit(
        "outer", "from andante.kernel import kernel\n", '"""About this file."""\n\nfrom andante.kernel import kernel\n'
    )
    mill.edit("outer", "def outer(x):\n", 'def outer(x):\n    """Return more."""\n\n')
    mill.edit("outer", "    return x + PAIR[1]", "    # why\n    return x + PAIR[1]  # how")
    assert mill.ask("outer", "from_pair") == ([21, 17], [])


SOURCE = '''"""About."""
import a  # x


class B:
    "B # b"

    text = "# none"  # some
    more = [
        "no docstring",  # \u00e9
    ]


def f(x: int) -> str:
    # why
    """Return \u00e9.

    # none
    """; return "\u00e9"  # last
'''

ESSENCE = '''import a
class B:
    text = "# none"
    more = [
        "no docstring",
    ]
def f(x: int) -> str:
    ; return "\u00e9"'''


def test_the_parts_of_a_source_that_count():
    assert essence(SOURCE.encode()).decode() == ESSENCE
    assert essence(SOURCE.replace("\n", "\r\n").encode()).decode() == ESSENCE
    assert essence(b"no python (") == b"no python ("
    for one, other in (("a\n\nb", "a\nb"), ("a \nb", "a\nb")):
        assert essence(f'x = """{one}"""'.encode()) != essence(f'x = """{other}"""'.encode())


def test_all_sources_of_andante_mean_the_same_without_comments():
    class Undocumented(ast.NodeTransformer):
        def visit(self, node):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()] * (not isinstance(node, ast.Module))
            return self.generic_visit(node)

    for path in Path(cache.__file__).parents[1].rglob("*.py"):
        text = path.read_bytes()
        kept = essence(text).decode()
        expected = ast.unparse(Undocumented().visit(ast.parse(text)))
        assert ast.unparse(ast.parse(filled(kept))) == expected, path


def filled(text):
    """Return a source in which every body that has become empty has ``pass``."""
    lines = text.split("\n")
    made = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        made.append(line)
        deep = len(line) - len(line.lstrip())
        if line.rstrip().endswith(":") and len(following) - len(following.lstrip()) <= deep:
            made.append(" " * (deep + 4) + "pass")
    return "\n".join(made)


@pytest.mark.compiled
def test_constants_and_bodies_from_other_files_count(mill):
    names = ["outer", "from_pair", "from_scalar", "from_table", "from_bag"]
    assert mill.ask(*names)[0] == [21, 17, 13, 110, 11]
    mill.edit("constants", "(5, 7)", "(5, 8)")
    assert mill.ask(*names)[0] == [21, 18, 13, 110, 11]
    mill.edit("inner", "return bag.first", "return bag.second")
    assert mill.ask(*names) == ([21, 18, 13, 110, 12], [*names[:1], "inner", *names[1:]])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 2),
        (1, 1.0),
        (1, True),
        (0.5, math.nextafter(0.5, 1)),
        ("a", "b"),
        ((5, 7), (5, 8)),
        ((1, (2, 3)), (1, (2, 4))),
        (np.int64(3), np.int64(4)),
        (np.uint8(3), np.int64(3)),
        (np.array([1, 2]), np.array([1, 3])),
        (np.zeros(2, np.int64), np.zeros(4, np.int32)),
        (np.zeros((2, 3)), np.zeros((3, 2))),
    ],
)
def test_every_kind_of_constant_counts(one, other):
    def state(value):
        return source_state(FunctionType(template.__code__, {"__name__": "nowhere", "constant": value}))

    assert state(one) == state(one)
    assert state(one) != state(other)


def test_how_kernels_are_made_counts():
    found = {}
    cache._reach(heap.__dict__, found)
    assert {f"andante.kernel.{name}" for name in ("cache", "compiler", "making")} <= found.keys()


@pytest.mark.compiled
def test_a_file_edited_while_a_process_runs_does_not_spoil_the_cache(mill):
    """The process continues with what it has loaded; the code it caches must not count as that of the new text."""
    meddle = """
import mill.outer, pathlib
path = pathlib.Path(mill.inner.__file__)
path.write_text(path.read_text().replace("+ 0", "+ 7"))
print(mill.outer.outer(10))
"""
    done = mill.python(meddle)
    assert done.stdout == "21\n", done.stderr
    assert mill.ask("outer")[0] == [28]


@pytest.mark.compiled
def test_a_cache_that_cannot_be_written_is_only_reported(mill):
    mill.cache.write_text("a file where the folder should be")  # even root cannot write below it
    done = mill.python(ASK, "outer", "from_pair")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0] == [21, 17]
    (line,) = done.stderr.splitlines()
    assert line == (
        f"andante: kernels are compiled again at every start, because {mill.cache} cannot be written to "
        "(Not a directory); set ANDANTE_CACHE to a writable folder"
    )


@pytest.mark.compiled
def test_a_damaged_cache_is_repaired(mill):
    assert mill.ask("outer") == ([21], ["outer", "inner"])
    damaged = list(mill.cache.rglob("*.code"))
    for path, length in zip(damaged, (0, 100), strict=True):
        path.write_bytes(path.read_bytes()[:length])
    assert mill.ask("outer") == ([21], ["outer", "inner"])
    assert mill.ask("outer") == ([21], [])


@pytest.mark.compiled
def test_two_processes_at_once_compile_each_kernel_once(mill):
    command, env = [sys.executable, "-c", ASK, "outer", "from_bag"], mill.environment()
    both = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers, heard = zip(*(json.loads(one.communicate(timeout=120)[0]) for one in both), strict=True)
    assert answers == ([21, 11], [21, 11])
    assert sorted(heard[0] + heard[1]) == ["from_bag", "inner", "outer"]
    assert not list(mill.cache.rglob("*.lock"))


@pytest.mark.compiled
def test_kernels_that_a_killed_process_was_compiling_are_compiled(mill):
    mill.ask("outer")
    for code in list(mill.cache.rglob("*.code")):
        code.rename(code.with_suffix(".lock"))
    assert mill.ask("outer") == ([21], ["outer", "inner"])
    assert not list(mill.cache.rglob("*.lock"))


@pytest.mark.compiled
def test_kernels_that_call_a_cached_one_find_it(mill):
    """A kernel that only kernels call is cached as a part of their code, and used in others that are compiled later."""
    assert mill.ask("outer") == ([21], ["outer", "inner"])
    mill.edit("outer", "inner(x) + 1", "inner(x) + 2")
    assert mill.ask("outer") == ([22], ["outer"])


@pytest.mark.compiled
def test_kernels_within_kernels_can_print(mill):
    """They print just compiled, loaded, and loaded into a new kernel, where a lack of constants would block them."""
    mill.edit("inner", "    return x * FACTOR", "    print('x is', x, 1.5 * x)\n    return x * FACTOR")
    code = "import mill.outer; print(mill.outer.outer(10))"
    assert mill.python(code).stdout == "x is 10 15.0\n21\n"
    assert mill.python(code).stdout == "x is 10 15.0\n21\n"
    mill.edit("outer", "inner(x) + 1", "inner(x) + 2")
    assert mill.python(code).stdout == "x is 10 15.0\n22\n"


def files_of_code(folder):
    return cache._CacheFiles(str(folder), "step-7.py311")


def test_two_that_compile_at_once_never_get_the_code_of_the_other(tmp_path, monkeypatch):
    """One writer is interrupted at each of its steps, and the other saves all its code meanwhile."""
    replace, meanwhile = os.replace, [("float64",), ("int64",)]

    def interrupted(*paths):
        if meanwhile:
            other = meanwhile.pop()
            files_of_code(tmp_path).save(other, f"code for {other}")
        replace(*paths)

    monkeypatch.setattr(os, "replace", interrupted)
    files_of_code(tmp_path).save(("int32",), "code for ('int32',)")
    files_of_code(tmp_path).save(("int64",), "code for ('int64',)")
    for key in (("int32",), ("int64",), ("float64",)):
        assert files_of_code(tmp_path).load(key) == f"code for {key}"
    assert files_of_code(tmp_path).load(("uint8",)) is None


def ask_tiny(numbers, barrier, answers):
    """Put the results of the kernel in ``tiny.py``, and which kernels were compiled, into ``answers``."""
    save, heard = cache._CacheFiles.save, []

    def save_at_once(*what):
        barrier.wait(60)
        save(*what)

    cache._CacheFiles.save = save_at_once
    with on_compile(heard.append):
        double = import_module("tiny").double
        answers.put(([double(number) for number in numbers], heard))


@pytest.mark.compiled
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that begin where this one is")
def test_two_processes_that_compile_for_the_first_time_at_once(tmp_path, monkeypatch):
    """With different arguments, Numba's own cache would give both one number, and a third process the wrong code."""
    monkeypatch.setenv("ANDANTE_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "tiny.py").write_text(
        "from andante.kernel import kernel\n\n@kernel\ndef double(number):\n    return number + number\n"
    )
    fork = multiprocessing.get_context("fork")

    def answers_of(*each):
        answers, barrier = fork.Queue(), fork.Barrier(len(each))
        processes = [fork.Process(target=ask_tiny, args=(numbers, barrier, answers)) for numbers in each]
        for process in processes:
            process.start()
        found = [answers.get(timeout=60) for _ in each]
        for process in processes:
            process.join()
        return sorted(found)

    assert answers_of([3], [2.5]) == [([5.0], ["tiny.double"]), ([6], ["tiny.double"])]
    assert answers_of([3, 2.5]) == [([6, 5.0], [])]


def test_code_of_another_signature_or_with_a_flipped_bit_is_never_run(tmp_path):
    files = files_of_code(tmp_path)
    files.save(("int64",), b"code")
    whole = files.file(("int64",)).read_bytes()
    files.file(("float64",)).write_bytes(whole)  # as if Numba's own index and files were mixed up
    assert files.load(("float64",)) is None
    for place in range(len(whole)):
        files.file(("int64",)).write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        assert files.load(("int64",)) is None
    files.save(("int64",), b"code")
    assert files.load(("int64",)) == b"code"


@pytest.mark.compiled
@pytest.mark.parametrize(("setting", "value"), [("BOUNDSCHECK", 1), ("DEBUGINFO_DEFAULT", 1), ("OPT", 0)])
def test_settings_of_the_compiler_are_part_of_the_key(monkeypatch, setting, value):
    def key():
        return doubled._cache._files._index_key((types.int64,), SimpleNamespace(magic_tuple=lambda: ("a machine",)))

    before = key()
    assert key() == before
    monkeypatch.setattr(numba.config, setting, value)
    assert key() != before


@pytest.mark.compiled
def test_options_of_a_kernel_are_part_of_the_key():
    def key(**options):
        kept = cache.KernelCache(doubled.py_func, {**doubled.targetoptions, **options})
        return kept._files._index_key((types.int64,), SimpleNamespace(magic_tuple=lambda: ("a machine",)))

    assert len({key(), key(boundscheck=True), key(debug=True), key(no_cpython_wrapper=True)}) == 4


@pytest.mark.compiled
def test_without_the_compiler_kernels_are_plain_functions_with_the_same_results(mill):
    names = ["outer", "from_pair", "from_scalar", "from_table", "from_bag"]
    done = mill.python(ASK, *names, NUMBA_DISABLE_JIT=1)
    assert json.loads(done.stdout) == [[21, 17, 13, 110, 11], []], done.stderr
    assert not mill.cache.exists()


@pytest.mark.compiled
def test_agents_do_the_same_with_and_without_the_compiler(tmp_path):
    code = textwrap.dedent("""
        import andante, json
        grid = andante.generate("rooms", 13, 13, size=5, seed=5)
        free = grid.passable.ravel().nonzero()[0].tolist()
        trials = []
        for name in ("lrta", "lrta(depth=3)", "rta", "astar", "wastar"):
            for graph in (grid.graph, grid.graph.csr()):
                for k in range(1, 8):
                    trial = andante.run(name, andante.Problem(graph, free[k], free[-k * k]))
                    trials.append([name, trial.path.tolist(), trial.states_expanded, trial.states_touched, trial.learned])
        print(json.dumps(trials))
        """)
    answers = []
    for switch in ("0", "1"):
        env = {**os.environ, "NUMBA_DISABLE_JIT": switch}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        answers.append(json.loads(done.stdout))
    assert answers[0] == answers[1]
    assert all(len(path) > 1 for _, path, *_ in answers[0])


# --- what kernels cannot do -----------------------------------------------------------------------------------------


@kernel
def allocating(n):
    return np.zeros(n).sum()


@kernel
def writing_into_moves(graph):
    graph.mask[0] = 0


@kernel
def writing_into_rows(graph):
    graph.cost[0] = 0.0


@pytest.mark.compiled
def test_a_kernel_cannot_allocate():
    with pytest.raises(AlgorithmError, match="in allocating: .* does not compile: .* kernels cannot allocate"):
        allocating(3)


@pytest.mark.compiled
def test_a_kernel_cannot_write_into_a_graph():
    graph = Grid(np.ones((2, 2), bool)).graph
    with pytest.raises(AlgorithmError, match="in writing_into_moves: .* it writes into a graph"):
        writing_into_moves(graph.arrays)
    with pytest.raises(AlgorithmError, match="in writing_into_rows: .* it writes into a graph"):
        writing_into_rows(graph.csr().arrays)


def test_python_cannot_write_into_a_graph_either():
    for graph in (Grid(np.ones((2, 2), bool)).graph, Graph.from_edges([(0, 1, 1.0)])):
        for array in graph.arrays:
            if isinstance(array, np.ndarray) and array.size:
                with pytest.raises(ValueError, match="read-only"):
                    array[0] = 0


# --- the pieces -----------------------------------------------------------------------------------------------------


class Circle(NamedTuple):
    radius: float


class Square(NamedTuple):
    side: float


@generic
def width(shape, times):
    """Return the width of this many shapes, side by side."""
    raise TypeError(shape)


@width.of(Circle)
def _circle_width(shape, times):
    return 2 * shape.radius * times


@width.of(Square)
def _square_width(shape, times):
    return shape.side * times


@generic
def corners(shape):
    """Return the number of corners of a shape."""
    raise TypeError(shape)


@corners.of(tuple)
def _four_corners(shape):
    return 4


@corners.of(Circle)
def _no_corners(shape):
    return 0


@kernel
def corners_of_two(shape):
    return 2 * corners(shape)


@kernel
def twice_as_wide(shape):
    return 2 * width(shape, 1)


@kernel
def doubled(x):
    return 2 * x


@kernel
def tripled(x):
    return 3 * x


def template(x):
    return change(x) + 1  # noqa: F821 (put in by `instantiate`)


def test_the_body_of_a_generic_kernel_depends_on_the_class_of_its_first_argument():
    assert twice_as_wide(Circle(3.0)) == 12.0
    assert twice_as_wide(Square(3.0)) == 6.0
    assert width(Circle(1.0), 3) == 6.0
    assert width.__doc__ == "Return the width of this many shapes, side by side."


def test_a_generic_kernel_may_have_a_body_for_all_other_classes():
    assert (corners_of_two(Circle(3.0)), corners_of_two(Square(3.0))) == (0, 8)
    assert (corners(Circle(3.0)), corners(Square(3.0))) == (0, 4)
    assert interpreted(corners_of_two, {})(Square(3.0)) == 8


def test_a_generic_kernel_without_a_body_for_a_class_refuses_it():
    with pytest.raises(TypeError):
        width((1.0,), 2)
    with pytest.raises(TypeError):
        interpreted(width, {})((1.0,), 2)


@pytest.mark.compiled
def test_a_generic_kernel_without_a_body_for_a_class_does_not_compile():
    with pytest.raises(AlgorithmError, match="kernels cannot call width"):
        twice_as_wide((1.0,))


def test_a_template_makes_one_kernel_per_name_put_in():
    two, three = instantiate(template, "two", change=doubled), instantiate(template, "three", change=tripled)
    assert (two(5), three(5)) == (11, 16)
    assert two.__name__ == "two"
    with pytest.raises(NameError):
        template(5)


def test_listeners_are_called_only_within_their_block():
    heard = []
    with on_compile(heard.append):
        pass
    doubled(1.5)
    assert heard == []


def test_waiting_for_another_process_is_reported(tmp_path):
    heard, code = [], tmp_path / "double.code"
    with FileLock(code.with_suffix(".lock")) as other:

        def waiting(name):
            heard.append(name)
            other.release()

        with on_compile(heard.append, waiting):
            cache._Turn.wait(code, "double").end()
        cache._Turn.wait(code, "double").end()
    assert heard == ["double"]


@kernel
def shapes_of(bundle, k):
    """Return the shapes of arrays that another kernel passes in a bundle."""
    flat, table, cube, rows = bundle.flat, bundle.inner.table, bundle.inner.cube, bundle.rows
    table[0, 1] += 1.0
    seen = flat.size + 10 * table.shape[0] + 100 * table.strides[0] + 1000 * cube.strides[0] + cube.strides[1]
    seen += cube.itemsize * cube.nbytes + flat[k:].size * flat[1:][k] + cube[k, 0, 1]
    return seen + rows[k]["cost"] + table[k].sum()


@kernel
def shapes_passed_on(bundle, k):
    return shapes_of(bundle, k)


class Inner(NamedTuple):
    table: np.ndarray
    cube: np.ndarray


class Arrays(NamedTuple):
    flat: np.ndarray
    inner: Inner
    rows: np.ndarray
    number: float


@pytest.mark.parametrize("columns", [slice(None), slice(None, None, 2)])
def test_arrays_that_kernels_pass_on_are_whole(columns):
    """Less is passed of an array than with Numba, as long as it has no gaps."""

    def made():
        rows = np.zeros(5, [("state", np.int16), ("cost", np.float64)])
        rows["cost"] = np.arange(5)
        table = np.arange(24.0).reshape(4, 6)[:, columns]
        return Arrays(np.arange(7, dtype=np.int32), Inner(table, np.arange(60).reshape(5, 3, 4)), rows, 2.5)

    plain = getattr(shapes_of, "py_func", shapes_of)
    one, other = made(), made()
    for k in range(4):
        assert shapes_passed_on(one, k) == plain(other, k)
    assert (one.inner.table == other.inner.table).all()


@pytest.mark.compiled
def test_the_state_of_the_sources_depends_on_what_a_kernel_calls():
    states = {source_state(function.py_func) for function in (doubled, tripled)}
    assert len(states) == 1  # one file, one state
    from andante.search.astar import search
    from andante.world.heuristics import distance

    assert len({source_state(search.py_func), source_state(distance.py_func)} | states) == 3


def test_the_cache_folder_can_be_chosen(monkeypatch, tmp_path):
    monkeypatch.setenv("ANDANTE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("ANDANTE_CACHE")
    assert cache_folder().name == "andante"


def test_the_clock_only_moves_forward():
    buffer = np.zeros(2, np.int64)
    times = [nanoseconds(buffer) for _ in range(1000)]
    assert times == sorted(times)
    assert 0 < times[-1] - times[0] < 60e9


def test_this_run_is_compiled_unless_numba_is_disabled():
    assert (os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")) == JIT


@pytest.mark.compiled
def test_a_kernel_without_a_file_never_leaves_stale_code_behind(tmp_path):
    """Two sessions, as in a notebook, define different steps, and both use the same template."""
    code = """
        from andante.kernel import instantiate, kernel
        from mill.loop import loop
        scope = {"kernel": kernel, "__name__": "__main__"}
        exec(compile("@kernel\\ndef step(x):\\n    return x + %d\\n", "<cell>", "exec"), scope)
        print(instantiate(loop, "loop_of_cell", step=scope["step"])(1))
    """
    package = tmp_path / "mill"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "loop.py").write_text("def step(x):\n    return 0\n\ndef loop(x):\n    return step(x)\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "ANDANTE_CACHE": str(tmp_path / "cache")}
    told = [
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code) % amount],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for amount in (10, 20)
    ]
    assert told == ["11\n", "21\n"]


# --- kernels as plain Python ----------------------------------------------------------------------------------------


@kernel
def reach(graph, state, moves, by=1):
    """Return how many states can be reached within this many moves, counted once per path."""
    if moves == 0:
        return 1
    found = 0
    for k in range(0, degree(graph, state), by):
        found += reach(graph, target(graph, state, k), moves - 1, by)
    return found


@kernel
def least(queue, keys):
    """Return the item with the least key, with functions of a module."""
    for item in range(len(keys)):
        heap.push(queue, item, keys[item], 0.0)
    return heap.pop(queue)


def test_a_kernel_as_plain_python_does_the_same_and_can_be_inspected():
    graph = Grid(np.ones((4, 4), bool)).graph.arrays
    asked = []

    def noted(graph, state, k):
        asked.append((state, k))
        return target(graph, state, k)

    plain = interpreted(reach, {target: noted})
    assert isinstance(plain, FunctionType)
    assert plain(graph, 5, 2) == sum(degree(graph, target(graph, 5, k)) for k in range(8)) == 47
    assert asked[0] == (5, 0)
    assert len(asked) == 8 + 47
    assert plain(graph, 0, 1, 2) == 2  # with a default that was given
    assert target(graph, 5, 0) == 1  # the original is unchanged
    assert len(asked) == 8 + 47 + 2


def test_a_kernel_as_plain_python_reaches_others_through_modules():
    pushed = []

    def noted(queue, item, key, tie):
        pushed.append(item)
        heap.push(queue, item, key, tie)

    plain = interpreted(least, {heap.push: noted})
    keys = np.array([4.0, 1.0, 9.0])
    assert plain(Heap.over(3, 3), keys) == least(Heap.over(3, 3), keys) == 1
    assert pushed == [0, 1, 2]


def test_functions_of_other_packages_are_not_copied():
    assert interpreted(np.sort, {}) is np.sort
    assert interpreted(textwrap.dedent, {}) is textwrap.dedent


@pytest.mark.compiled
def test_bundles_of_the_same_name_and_shape_are_not_mixed_up():
    """Numba distinguishes types by name by default, and every agent has a bundle called Memory."""

    def first_of(kind):
        class Bundle(NamedTuple):
            values: np.ndarray

        @kernel
        def first(bundle):
            return bundle.values[0]

        @kernel
        def doubled(bundle):
            return 2 * first(bundle)

        return doubled(Bundle(np.array([kind, 0.0])))

    assert [first_of(kind) for kind in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]
