"""Parameters, cards and the register: legal values are read, and others are refused with a helpful sentence."""

import math
import os
import subprocess
import sys
import textwrap
from enum import IntEnum
from typing import Annotated, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante import agent
from andante.agent import Card, Parameter, Range, algorithm, find, parameters_of, setting
from andante.errors import AlgorithmError, AndanteError, NotationError, ParameterError
from tests.worlds import examples

ENTRIES = andante.algorithms()
SETTABLE = [(entry, parameter) for entry in ENTRIES for parameter in entry.parameters]


class Mood(IntEnum):
    CALM = 0
    WILD = 1


class Params(NamedTuple):
    depth: Annotated[int, Range(1, 10), "how deep"] = 3
    weight: Annotated[float, Range(0, math.inf, open_low=True)] = 1.0
    share: Annotated[float, Range(0, 1, open_high=True)] = 0.5
    mood: Mood = Mood.CALM
    bold: bool = False
    quota: Annotated[int | None, Range(0)] = None


class Memory(NamedTuple):
    """Nothing."""


def step(graph, memory, params, state, goal):
    raise NotImplementedError


@pytest.fixture
def toy(monkeypatch):
    """An algorithm with a parameter of every kind, registered for one test."""
    andante.algorithms()
    monkeypatch.setattr(agent, "_register", dict(agent._register))

    @algorithm(Card("toy", "Toy", paper="none"))
    class Toy:
        Params, Memory, step = Params, Memory, step

    return find("toy")


# --- one parameter --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inside", "outside", "text"),
    [
        (Range(1, 10), [0, 11, -math.inf, math.inf, math.nan], "[1, 10]"),
        (Range(0, 1, open_low=True), [0, -1, 1.001], "(0, 1]"),
        (Range(0, 1, open_high=True), [1, 2, -0.001], "[0, 1)"),
        (Range(0), [-1, -0.001, -math.inf], "[0, inf]"),
        (Range(high=0), [1, math.inf], "[-inf, 0]"),
    ],
)
def test_a_range_knows_its_ends(inside, outside, text):
    assert str(inside) == text
    assert not any(value in inside for value in outside)
    assert all(
        end in inside
        for end, is_open in ((inside.low, inside.open_low), (inside.high, inside.open_high))
        if not is_open
    )


def test_fields_become_parameters():
    depth, weight, share, mood, bold, quota = parameters_of(Params)
    assert depth == Parameter("depth", int, 3, Range(1, 10), False, "how deep")
    assert depth.allowed == "a whole number in [1, 10]"
    assert weight.allowed == "a number in (0, inf]"
    assert share.allowed == "a number in [0, 1)"
    assert mood.allowed == "calm, wild"
    assert bold.allowed == "true or false"
    assert quota.allowed == "a whole number in [0, inf], or none"
    assert quota.optional
    assert not depth.optional


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("toy(depth=0)", "depth must be a whole number in [1, 10], got 0"),
        ("toy(depth=11)", "depth must be a whole number in [1, 10], got 11"),
        ("toy(depth=2.5)", "depth must be a whole number in [1, 10], got 2.5"),
        ("toy(depth=inf)", "depth must be a whole number in [1, 10], got inf"),
        ("toy(depth=true)", "depth must be a whole number in [1, 10], got true"),
        ("toy(depth=none)", "depth must be a whole number in [1, 10], got none"),
        ("toy(depth=deep)", "depth must be a whole number in [1, 10], got deep"),
        ("toy(depth=other(x=1))", "depth must be a whole number in [1, 10], got other(x=1)"),
        ("toy(weight=0)", "weight must be a number in (0, inf], got 0"),
        ("toy(weight=-1.5)", "weight must be a number in (0, inf], got -1.5"),
        ("toy(weight=nan)", "weight must be a number in (0, inf], got nan"),
        ("toy(share=1)", "share must be a number in [0, 1), got 1"),
        ("toy(mood=angry)", "mood must be calm, wild, got angry"),
        ("toy(mood=1)", "mood must be calm, wild, got 1"),
        ("toy(bold=1)", "bold must be true or false, got 1"),
        ("toy(quota=-1)", "quota must be a whole number in [0, inf], or none, got -1"),
        ("toy(dept=3)", "toy has no parameter 'dept'; did you mean 'depth'?"),
        ("toy(zebra=3)", "toy has no parameter 'zebra'; the known names are bold, depth, mood, quota, share, weight"),
    ],
)
def test_illegal_values_are_refused_in_one_sentence(toy, text, sentence):
    with pytest.raises(ParameterError) as caught:
        find(text)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("value", ["3", [3], 3j, b"3", object(), math.nan, np.bool_(True), 10**400, 2**63])
def test_keywords_of_any_other_kind_are_refused_too(toy, value):
    with pytest.raises(ParameterError, match="depth must be a whole number"):
        find("toy", depth=value)
    with pytest.raises(ParameterError, match=r"quota must be .*, or none"):
        find("toy", quota=value)


def test_numbers_too_large_for_a_kernel_are_refused(toy):
    with pytest.raises(ParameterError, match="weight must be a number"):
        find("toy", weight=10**400)
    with pytest.raises(ParameterError, match="depth must be a whole number"):
        find("toy(depth=1" + "0" * 400 + ")")


@pytest.mark.parametrize("value", [3, 3.0, np.int64(3), np.uint8(3), np.float32(3), np.float64(3)])
def test_numbers_of_any_library_are_accepted(toy, value):
    entry = find("toy", depth=value, weight=value)
    assert type(entry.params.depth) is int
    assert type(entry.params.weight) is float
    assert str(entry) == "toy(weight=3.0)"


def test_kernels_get_numbers_only(toy):
    wild = find("toy(mood=wild, bold=true, quota=none)")
    assert wild.codes == Params(3, 1.0, 0.5, 1, True, -1)
    assert type(wild.codes.mood) is int
    assert find("toy(quota=0)").codes.quota == 0  # none is not zero


def test_only_what_was_changed_is_written(toy):
    assert str(toy) == "toy"
    assert str(find("toy(depth=3, mood=calm)")) == "toy"
    assert str(find("toy(bold=true, mood=wild, depth=4)")) == "toy(depth=4, mood=wild, bold=true)"


class Rule(IntEnum):
    NONE = 0
    TRUE = 1
    INF = 2
    OTHER = 3


class Ruled(NamedTuple):
    rule: Rule = Rule.OTHER


class Unsure(NamedTuple):
    rule: Rule | None = None


def test_a_choice_may_be_called_none_or_true_or_inf(toy):
    @algorithm(Card("ruled", "Ruled", paper="none"))
    class Holder:
        Params, Memory, step = Ruled, Memory, step

    for rule in Rule:
        entry = find(f"ruled(rule={rule.name.lower()})")
        assert entry.params.rule is rule
        assert entry == find(str(entry)) == find("ruled", rule=rule) == find("ruled", rule=rule.name.lower())
    assert str(find("ruled(rule=none)")) == "ruled(rule=none)"
    with pytest.raises(ParameterError, match="rule must be none, true, inf, other, got false"):
        find("ruled(rule=false)")
    with pytest.raises(ParameterError, match="rule must be none, true, inf, other, got 0"):
        find("ruled", rule=0)


def test_a_choice_called_none_cannot_be_unset_too():
    with pytest.raises(ParameterError, match="^rule may be unset, and Rule has a member NONE; rename or drop one$"):
        parameters_of(Unsure)


# --- the register ---------------------------------------------------------------------------------------------------


def values(parameter):
    """Return a strategy for all values that a parameter may have."""
    if issubclass(parameter.kind, IntEnum):
        drawn = st.sampled_from([word.name.lower() for word in parameter.kind])
    elif parameter.kind is bool:
        drawn = st.booleans()
    else:
        low, high = (parameter.range.low, parameter.range.high) if parameter.range else (-math.inf, math.inf)
        whole = st.integers(int(max(low, -1000)), int(min(high, 1000)))
        drawn = whole if parameter.kind is int else whole | st.floats(max(low, -1e6), min(high, 1e6))
        drawn = drawn.filter(lambda value: parameter.range is None or value in parameter.range)
    return drawn | st.none() if parameter.optional else drawn


@given(st.data())
@examples(200)
def test_keywords_and_text_mean_the_same_and_round_trip(data):
    entry = data.draw(st.sampled_from(ENTRIES))
    chosen = data.draw(st.fixed_dictionaries({}, optional={p.name: values(p) for p in entry.parameters}))
    by_keyword = find(entry.card.name, **chosen)
    again = find(str(by_keyword))
    assert again == by_keyword
    assert again.params == by_keyword.params
    assert str(again) == str(by_keyword)
    assert find(by_keyword) == by_keyword
    half = dict(list(chosen.items())[:1])
    assert find(find(entry.card.name, **half), **chosen) == by_keyword


@pytest.mark.parametrize(("entry", "parameter"), SETTABLE, ids=[f"{e.card.name}-{p.name}" for e, p in SETTABLE])
def test_every_parameter_of_the_register_refuses_what_it_does_not_allow(entry, parameter):
    wrong = ["nonsense", "3", [], math.nan]
    if parameter.range is not None:
        wrong += [math.nextafter(parameter.range.low, -math.inf), math.nextafter(parameter.range.high, math.inf)]
        wrong = [value for value in wrong if value != math.inf or parameter.range.high < math.inf]
    for value in wrong:
        with pytest.raises(ParameterError) as caught:
            find(entry.card.name, **{parameter.name: value})
        assert str(caught.value).startswith(f"{parameter.name} must be {parameter.allowed}, got ")
    assert parameter.read(parameter.default) == parameter.default


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.card.name)
def test_every_card_is_filled_in(entry):
    card = entry.card
    assert find(card.name) == entry
    assert card.title
    assert card.paper
    assert card.summary.endswith((".", "!"))
    assert entry.params == entry.defaults
    for example in card.examples:
        assert find(example).card == card
        assert find(str(find(example))) == find(example) != entry


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("astarr", "there is no algorithm 'astarr'; did you mean 'astar'?"),
        ("LRTA", "there is no algorithm 'LRTA'; did you mean 'lrta'?"),
        ("zzzzzz(depth=3)", "there is no algorithm 'zzzzzz'; the known names are "),
    ],
)
def test_an_unknown_name_gets_a_suggestion(text, sentence):
    with pytest.raises(AlgorithmError) as caught:
        find(text)
    assert str(caught.value).startswith(sentence)
    if sentence.endswith("are: "):
        assert "astar" in str(caught.value)


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_names_as_papers_write_them_are_accepted(entry):
    assert find(entry.card.title) == find(f" {entry.card.title} ") == entry


def test_parameters_that_a_named_setting_has_fixed_cannot_be_set():
    with pytest.raises(ParameterError) as caught:
        find("astar(weight=2)")
    assert str(caught.value) == "astar has no parameter 'weight'; it has none"
    with pytest.raises(ParameterError):
        find(find("astar"), weight=2)
    assert find("astar").codes == find("wastar", weight=1).codes
    assert find("astar").step is find("wastar").step


def test_a_setting_of_a_setting_keeps_the_parameters_that_both_fixed(toy):
    setting("toy", Card("deep_toy", "Deep toy", paper="none"), depth=9)
    setting("deep_toy", Card("wild_toy", "Wild toy", paper="none"), mood="wild")
    entry = find("wild_toy(share=0.25)")
    assert (entry.params.depth, entry.params.mood, entry.params.share) == (9, Mood.WILD, 0.25)
    assert str(entry) == "wild_toy(share=0.25)"
    assert [p.name for p in entry.parameters] == ["weight", "share", "bold", "quota"]
    assert str(find("wild_toy")) == "wild_toy"


@given(st.text(max_size=30) | st.from_regex(r"(lrta|astar|wastar|rta)\((depth|weight|dpth)=[-a-z0-9.]{1,6}\)"))
@examples(300)
def test_find_returns_an_algorithm_or_raises(text):
    try:
        entry = find(text)
    except (NotationError, AlgorithmError, ParameterError) as error:
        assert "\n" not in str(error).replace(repr(text), "")
    else:
        assert find(str(entry)) == entry


def test_algorithms_are_sorted_by_name():
    names = [entry.card.name for entry in ENTRIES]
    assert names == sorted(set(names))
    assert {"astar", "wastar", "rta", "lrta"} <= set(names)


def test_two_algorithms_with_one_name_are_refused(toy):
    with pytest.raises(AlgorithmError, match="two algorithms are called 'lrta': in .*lrta and .*test_agent"):

        @algorithm(Card("lrta", "Another", paper="none"))
        class Another:
            Params, Memory, step = Params, Memory, step


# --- algorithms of other packages -----------------------------------------------------------------------------------

PLUG_IN = '''
"""Drift: go where the goal seems nearest, and remember how often each state was visited."""

from typing import Annotated, NamedTuple

import numpy as np

from andante.agent import IN_COST, STUCK, Card, Move, Range, algorithm, no_move
from andante.kernel import kernel
from andante.search.learning import Learned, raise_to, value
from andante.world.layout import degree, price, target


class Params(NamedTuple):
    patience: Annotated[float, Range(0, 10, open_low=True), IN_COST, "what a visit adds"] = 1.0


class Memory(NamedTuple):
    h: Learned


@kernel
def step(graph, memory, params, state, goal):
    best, least = -1, np.inf
    for k in range(degree(graph, state)):
        f = value(memory.h, graph, target(graph, state, k), goal)
        if f < least:
            best, least = k, f
    if best < 0:
        return no_move(STUCK, 1, 0)
    new = value(memory.h, graph, state, goal) + params.patience
    learned, stored = raise_to(memory.h, graph, state, goal, new)
    return Move(target(graph, state, best), price(graph, state, best), 1, degree(graph, state), learned, stored)


@algorithm(Card("drift", "Drift", paper="none", real_time=True, complete=True, examples=("drift(patience=0.5)",)))
class Drift:
    Params, Memory, step = Params, Memory, step
'''

# The same, but away from the goal: with the same memory and parameters, in the same file.
TWO_IN_ONE_FILE = (
    PLUG_IN
    + """

@kernel
def flee(graph, memory, params, state, goal):
    best, most = -1, -np.inf
    for k in range(degree(graph, state)):
        f = value(memory.h, graph, target(graph, state, k), goal)
        if f > most:
            best, most = k, f
    if best < 0:
        return no_move(STUCK, 1, 0)
    return Move(target(graph, state, best), price(graph, state, best), 1, degree(graph, state), 0.0, 0)


@algorithm(Card("flee", "Flee", paper="none", real_time=True))
class Flee:
    Params, Memory, step = Params, Memory, flee
"""
)


def python(code, **environment):
    """Run a program in a separate process."""
    env = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], env=env, capture_output=True, text=True, timeout=300
    )


@pytest.mark.compiled
def test_a_file_named_by_andante_agents_adds_an_algorithm(tmp_path):
    plug_in = tmp_path / "drift.py"
    plug_in.write_text(PLUG_IN)
    done = python(
        """
        import andante
        from andante.episode import contract
        contract.WIDTHS = (64, 192)
        assert "drift" in [entry.card.name for entry in andante.algorithms()]
        assert andante.find("drift").card.summary.startswith("Drift: go where")
        assert "is complete" in andante.check_algorithm("drift")
        for example in andante.find("drift").card.examples:
            andante.check_algorithm(example)
        grid = andante.generate("empty", 8, 8)
        print(andante.run("drift", grid.problem((0, 0), (7, 7)), patience=2).moves)
        """,
        ANDANTE_AGENTS=plug_in,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "7\n"


@pytest.mark.compiled
def test_two_algorithms_in_one_file_do_not_share_machine_code(tmp_path):
    plug_in = tmp_path / "two.py"
    plug_in.write_text(TWO_IN_ONE_FILE)
    code = """
        import andante
        grid = andante.generate("empty", 8, 8)
        problem = grid.problem((3, 3), (7, 3))
        for name in ("drift", "flee"):
            print(name, andante.run(name, problem, limits=andante.Limits(moves=2)).cells[1:])
        """
    expected = "drift [(4, 3), (5, 3)]\nflee [(2, 4), (1, 5)]\n"
    for _ in range(2):  # compiled here, and loaded from the cache
        done = python(code, ANDANTE_AGENTS=plug_in, ANDANTE_CACHE=tmp_path / "cache")
        assert done.returncode == 0, done.stderr
        assert done.stdout == expected


@pytest.mark.parametrize("name", ["missing.py", "folder", "notes.txt"])
def test_a_missing_plug_in_is_named(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("not Python")
    done = python(
        """
        import andante
        try:
            andante.algorithms()
        except andante.AndanteError as error:
            print(error)
        """,
        ANDANTE_AGENTS=tmp_path / name,
    )
    assert done.stdout == f"ANDANTE_AGENTS names {str(tmp_path / name)!r}, which is not a Python file\n", done.stderr


def test_a_plug_in_cannot_take_a_name_that_is_taken(tmp_path):
    plug_in = tmp_path / "thief.py"
    plug_in.write_text(PLUG_IN.replace('"drift"', '"lrta"').replace("drift(", "lrta("))
    done = python("import andante; andante.algorithms()", ANDANTE_AGENTS=plug_in)
    assert done.returncode != 0
    assert "two algorithms are called 'lrta': in andante.agents.lrta and andante_agent_thief" in done.stderr


KIND = '''
"""Tides: a kind of database of another package, with its builder."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andante.databases.kinds import kind
from andante.offline.builder import builder


@kind("tide", "how high the water stands", lambda tide, graph: None)
class Tide(NamedTuple):
    height: npt.NDArray[np.int64]

    records = entries = property(lambda tide: len(tide.height))


class Params(NamedTuple):
    """None."""


@builder("tide", Params)
def make(graph, params, crew):
    return Tide(np.arange(len(graph)))
'''


def test_external_kinds_of_databases_can_be_listed_built_and_loaded(tmp_path):
    plug_in, file = tmp_path / "tide.py", tmp_path / "empty.tide"
    plug_in.write_text(KIND)
    made = python(
        """
        import andante, os
        andante.build("tide", andante.generate("empty", 4, 4)).save(os.environ["FILE"])
        """,
        ANDANTE_AGENTS=plug_in,
        FILE=file,
    )
    assert made.returncode == 0, made.stderr
    read = python(
        """
        import andante, os, sys
        from andante.cli import main
        loaded = andante.load(os.environ["FILE"], map=andante.generate("empty", 4, 4))
        assert loaded.kind == "tide" and loaded.records == 16
        sys.argv = ["andante", "databases", "list"]
        main()
        """,
        ANDANTE_AGENTS=plug_in,
        FILE=file,
    )
    assert read.returncode == 0, read.stderr
    assert "tide: how high the water stands" in read.stdout


def test_algorithms_and_kinds_of_installed_packages_are_known_to_every_command(tmp_path):
    (tmp_path / "tides.py").write_text(KIND)
    (tmp_path / "drifts.py").write_text(PLUG_IN)
    about = tmp_path / "tides-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tides\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[andante.agents]\ntides = tides\ndrifts = drifts\n")

    def said(*arguments):
        done = python(
            f"import sys; from andante.cli import main; sys.argv = {['andante', *map(str, arguments)]!r}; main()",
            PYTHONPATH=os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "Drift" in said("algorithms", "drift")
    said("build", "tide", "empty:4x4", "--out", tmp_path)
    (file,) = tmp_path.glob("*.tide")
    assert "tide" in said("databases", "show", file)


def test_every_refusal_is_an_andante_error():
    assert issubclass(ParameterError, AndanteError)
    assert issubclass(AlgorithmError, AndanteError)
    assert issubclass(NotationError, AndanteError)
