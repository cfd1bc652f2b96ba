"""Errors for authors of kernels: one sentence with their own line, what is wrong there, and what is allowed."""

import inspect
from typing import NamedTuple

import numpy as np
import pytest

import andante
from andante.agent import Algorithm, Card, Move
from andante.errors import AlgorithmError
from andante.kernel import instantiate, kernel
from andante.search.learning import Learned, value
from andante.world.grid import Grid
from andante.world.layout import price, target

GRAPH = Grid(np.ones((2, 2), bool)).graph.arrays


class Answer(NamedTuple):
    to: int
    cost: float


def think(graph, state) -> Answer:
    """Return an answer; it is replaced by one of the kernels below."""
    raise NotImplementedError


def loop(graph, state):
    return think(graph, state).to


@kernel
def allocates(graph, state):
    seen = np.zeros(8)
    return Answer(state, seen[0])


@kernel
def lists(graph, state):
    todo = [state]
    return Answer(todo[0], 0.0)


@kernel
def _helper(state):
    return np.arange(state)[0]


@kernel
def calls_what_allocates(graph, state):
    return Answer(_helper(state), 0.0)


@kernel
def misspells(graph, state):
    return Answer(state, infinity)  # noqa: F821


@kernel
def writes(graph, state):
    graph.mask[state] = 0
    return Answer(state, 0.0)


@kernel
def asks_too_little(graph, state):
    return Answer(state, price(graph, state))


@kernel
def asks_for_the_root_of_a_graph(graph, state):
    return Answer(state, np.sqrt(graph))


@kernel
def asks_for_too_little(graph, state):
    return Answer(state, _helper())


@kernel
def has_no_such_field(graph, state):
    return Answer(state, graph.costs[state])


@kernel
def returns_two_things(graph, state):
    if state > 3:
        return Answer(state, 0.0)
    return state


@kernel
def returns_a_number(graph, state):
    return target(graph, state, 0)


@kernel  # noqa: RET503
def forgets_to_return(graph, state):
    if state > 3:
        return Answer(state, 0.0)


@kernel
def returns_nothing_sometimes(graph, state):
    if state > 3:
        return None
    return Answer(state, 0.0)


@kernel
def returns_the_wrong_numbers(graph, state):
    return Answer(1.0 * state, 0.0)


@kernel
def returns_too_little(graph, state):
    return Answer(state)


def _plain(state):
    return state


@kernel
def calls_plain_python(graph, state):
    return Answer(_plain(state), 0.0)


@kernel
def reads_a_file(graph, state):
    with open("map") as stream:  # noqa: F841
        return Answer(state, 0.0)


@kernel
def imports(graph, state):
    import math

    return Answer(state, math.pi)


@kernel
def defines_a_class(graph, state):
    class Pair:
        pass

    return Answer(state, 0.0)


@kernel
def calls_itself(graph, state):
    return calls_itself(graph, state)


@kernel
def hands_over_nonsense(graph, state):
    return Answer(state, value(graph, graph, state, state))


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("step", "line", "meaning"),
    [
        (allocates, "seen = np.zeros(8)", "it makes a new array, list, dict or string, but kernels cannot allocate"),
        (lists, "todo = [state]", "it makes a new array, list, dict or string, but kernels cannot allocate"),
        (misspells, "return Answer(state, infinity)  # noqa: F821", "name 'infinity' is not defined"),
        (writes, "graph.mask[state] = 0", "it writes into a graph or database, which all agents share"),
        (
            asks_too_little,
            "return Answer(state, price(graph, state))",
            "a function is called with the wrong number",
        ),
        (asks_for_the_root_of_a_graph, "return Answer(state, np.sqrt(graph))", "kernels cannot call sqrt(Moves);"),
        (asks_for_too_little, "return Answer(state, _helper())", "a function is called with the wrong number"),
        (has_no_such_field, "return Answer(state, graph.costs[state])", "Moves has no field or method 'costs'"),
        (returns_two_things, "return state", "its returns have different types: Answer(int64, float64), int64"),
        (
            returns_a_number,
            "return target(graph, state, 0)",
            "it returns int64; returns_a_number must always return Answer with to: int, cost: float",
        ),
        (
            returns_too_little,
            "return Answer(state)",
            "a function is called with the wrong number or names of arguments",
        ),
        (
            calls_plain_python,
            "return Answer(_plain(state), 0.0)",
            "'_plain' is plain Python, and kernels can only call",
        ),
        (reads_a_file, 'with open("map") as stream:  # noqa: F841', "The 'with (context manager)"),
        (imports, "import math", "it imports something; do that at the top of the file"),
        (defines_a_class, "class Pair:", "Use of unsupported opcode (LOAD_BUILD_CLASS) found; kernels can use plain"),
        (calls_itself, None, "it calls itself, which a kernel that others call cannot do"),
        (forgets_to_return, None, "it may end without returning anything; forgets_to_return must always return Answer"),
        (
            returns_nothing_sometimes,
            "return None",
            "it may end without returning anything; returns_nothing_sometimes must always return Answer",
        ),
        (
            returns_the_wrong_numbers,
            "return Answer(1.0 * state, 0.0)",
            "the to it returns is float64 where int is needed; returns_the_wrong_numbers must always return Answer",
        ),
    ],
)
def test_an_error_in_a_kernel_is_one_sentence_with_its_line(step, line, meaning):
    made = instantiate(loop, f"loop_{step.__name__}", think=step)
    lines, first = inspect.getsourcelines(step.py_func)
    for _ in range(2):  # Numba caches its failures
        with pytest.raises(AlgorithmError) as caught:
            made(GRAPH, 1)
        said = str(caught.value)
        if line is not None:
            number = first + [text.strip() for text in lines].index(line)
            assert said.startswith(
                f"{__file__}, line {number}, in {step.__name__}: '{line}' does not compile: {meaning}"
            )
        assert said.startswith(f"{__file__}, line ")
        assert meaning in said
        assert "debug=True" not in said  # plain Python would do what is not allowed
        assert "\n" not in said
        assert len(said) < 800
        assert caught.value.__suppress_context__


@pytest.mark.compiled
def test_the_line_is_the_innermost_in_the_authors_file():
    made = instantiate(loop, "loop_innermost", think=calls_what_allocates)
    lines, first = inspect.getsourcelines(_helper.py_func)
    number = first + [text.strip() for text in lines].index("return np.arange(state)[0]")
    with pytest.raises(AlgorithmError, match="cannot allocate") as caught:
        made(GRAPH, 1)
    assert str(caught.value).startswith(f"{__file__}, line {number}, in _helper: 'return np.arange(state)[0]'")


@pytest.mark.compiled
def test_what_a_shared_kernel_cannot_do_is_reported_with_the_call():
    made = instantiate(loop, "loop_nonsense", think=hands_over_nonsense)
    with pytest.raises(AlgorithmError) as caught:
        made(GRAPH, 1)
    said = str(caught.value)
    assert said.startswith(f"{__file__}, line ")
    assert (
        "in hands_over_nonsense: 'return Answer(state, value(graph, graph, state, state))' does not compile: in "
        in said
    )
    assert "learning.py, line " in said


@kernel
def _refuses(state):
    if state >= 0:
        raise ValueError("not here")
    return state


@kernel
def raises_below(graph, memory, params, state, goal):
    return Move(_refuses(state), price(graph, state, 0), 1, 1, 0.0, 0)


def test_an_exception_that_a_kernel_raises_is_one_sentence_with_its_line():
    problem = Grid(np.ones((4, 4), bool)).problem((0, 0), (3, 3))
    lines, first = inspect.getsourcelines(getattr(_refuses, "py_func", _refuses))
    number = first + [text.strip() for text in lines].index('raise ValueError("not here")')
    with pytest.raises(AlgorithmError) as caught:
        andante.run(entry(raises_below), problem)
    said = str(caught.value)
    assert said.startswith(f"{__file__}, line {number}, in _refuses: ")
    assert said.endswith(" fails: ValueError: not here")


# --- as plain Python ------------------------------------------------------------------------------------------------


class Params(NamedTuple):
    """None."""


class Memory(NamedTuple):
    h: Learned


@kernel
def leaves_its_array(graph, memory, params, state, goal):
    memory.h.value[state + 1_000_000] = 1.0
    return Move(target(graph, state, 0), price(graph, state, 0), 1, 1, 0.0, 0)


@kernel
def sends_others_out_of_theirs(graph, memory, params, state, goal):
    f = value(memory.h, graph, state + 1_000_000, goal)
    return Move(target(graph, state, 0), price(graph, state, 0), 1, 1, f, 0)


@kernel
def prints(graph, memory, params, state, goal):
    print(f"at {state}, degree {len(memory.h.value[:2].tolist())}")  # noqa: T201
    return Move(target(graph, state, 0), price(graph, state, 0), 1, 1, 0.0, 0)


def entry(step):
    return Algorithm(Card("mine", "Mine", paper="none"), Params(), Params(), Memory, step)


@pytest.mark.parametrize(
    ("step", "line", "rest"),
    [
        (leaves_its_array, "memory.h.value[state + 1_000_000] = 1.0", "IndexError: index 100"),
        (sends_others_out_of_theirs, "f = value(memory.h, graph, state + 1_000_000, goal)", "in "),
    ],
)
def test_in_debug_an_index_out_of_bounds_is_an_error_with_the_authors_line(step, line, rest):
    lines, first = inspect.getsourcelines(getattr(step, "py_func", step))
    number = first + [text.strip() for text in lines].index(line)
    with pytest.raises(AlgorithmError) as caught:
        andante.check_algorithm(entry(step), debug=True)
    said = str(caught.value)
    assert said.startswith(f"{__file__}, line {number}, in {step.__name__}: '{line}' fails: {rest}")
    assert "IndexError: index 100" in said
    assert "is out of bounds for axis 0 with size 1600" in said


def test_in_debug_a_kernel_may_print_anything(capsys):
    passed = andante.check_algorithm(entry(prints), debug=True)
    assert passed[0] == "runs as plain Python, inside its arrays"
    assert "degree 2\n" in capsys.readouterr().out


def test_in_debug_a_wrong_move_is_found_too():
    @kernel
    def leap(graph, memory, params, state, goal):
        return Move(goal, 1.0, 1, 1, 0.0, 0)

    with pytest.raises(
        AlgorithmError, match=r"^mine went from \(\d+, \d+\) to \(\d+, \d+\), which is not a move; its step"
    ):
        andante.check_algorithm(entry(leap), debug=True)


@pytest.mark.parametrize("name", ["lrta(depth=2)", "tba(budget=4)"])
def test_in_debug_sound_algorithms_pass(name):
    assert "walks only along edges, at their cost" in andante.check_algorithm(name, debug=True)
