"""Traces: they contain what happened, and saved ones are read again or refused in one sentence."""

import base64
import hashlib
import json
import math
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.episode.columns import pack
from andante.episode.trace import Trace, record
from andante.episode.tracefile import MOVE, THOUGHT
from andante.episode.trial import Limits
from andante.errors import AlgorithmError, OutputError, ParameterError, TraceError
from andante.measures import Outcome
from andante.search.memory import EXPANDED, LEARNED
from andante.world.graph import Graph
from andante.world.grid import Grid
from tests.worlds import examples

ALGORITHMS = ["rta", "lrta", "lrta(depth=3)", "astar"]

# A dead end between start and goal: agents that learn have something to learn.
POCKET = """\
............
.@@@@@@@@@..
.........@..
.........@..
.@@@@@@@@@..
............"""


@pytest.fixture(scope="module")
def grid():
    return Grid([list(row) for row in POCKET.splitlines()], name="pocket")


@pytest.fixture(scope="module")
def problem(grid):
    return grid.problem((3, 2), (11, 3))


@pytest.fixture(scope="module", params=ALGORITHMS)
def algorithm(request):
    return request.param


def same(a: Trace, b: Trace) -> bool:
    arrays = all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in ("terrain", "moves", "thoughts", "discovered")
    )
    plain = ("algorithm", "title", "map_name", "diagonal", "start", "goal", "outcome", "optimal_cost")
    return arrays and all(getattr(a, name) == getattr(b, name) for name in (*plain, "thoughts_cut", "sight"))


# --- recording ---


def test_a_trace_contains_what_an_agent_discovers(problem, grid):
    trace = record("astar", problem, sight=2)
    trial = andante.run("astar", problem, sight=2)
    assert trace.sight == 2
    assert len(set(trace.discovered.tolist())) == len(trace.discovered) == trial.cells_discovered > 0
    assert not grid.passable.ravel()[trace.discovered].any()
    assert trace.moves["discovered"].sum() == len(trace.discovered)
    assert same(trace, Trace.from_json(trace.to_json()))
    assert record("astar", problem).discovered.tolist() == []


def test_a_trace_agrees_with_a_trial(problem, algorithm):
    trace, trial = record(algorithm, problem), andante.run(algorithm, problem)
    assert trace.path.tolist() == trial.path.tolist()
    assert trace.outcome is trial.outcome is Outcome.GOAL
    assert trace.cost == pytest.approx(trial.cost)
    assert trace.suboptimality_ratio == pytest.approx(trial.suboptimality_ratio)
    assert trace.moves["expanded"].sum() == trial.states_expanded
    assert trace.moves["learned"].sum() == pytest.approx(trial.learned)


def test_thoughts_are_those_of_watching(problem, algorithm):
    trace = record(algorithm, problem)
    seen = [thought for turn in andante.watch(algorithm, problem) for thought in turn.thoughts]
    assert trace.thoughts.tolist() == [tuple(thought) for thought in seen]
    assert trace.moves["thoughts"].sum() == len(seen)
    assert 0 < (trace.thoughts["kind"] == EXPANDED).sum() <= trace.moves["expanded"].sum()


def test_parameters_can_be_keywords(problem):
    assert same(record("lrta", problem, depth=3), record("lrta(depth=3)", problem))
    with pytest.raises(ParameterError, match="did you mean 'depth'"):
        record("lrta", problem, dept=3)
    with pytest.raises(AlgorithmError, match="there is no algorithm 'nobody'"):
        record("nobody", problem)


def test_learned_values_are_above_the_straight_line_heuristic(problem):
    trace = record("lrta", problem)
    learned = trace.thoughts[trace.thoughts["kind"] == LEARNED]
    rise = trace.learned_rise
    assert set(np.flatnonzero(~np.isnan(rise.ravel()))) == set(learned["state"].tolist())
    assert np.nanmin(rise) > 0
    last = learned[-1]
    x, y = last["state"] % 12, last["state"] // 12
    dx, dy = abs(11 - x), abs(3 - y)
    straight = max(dx, dy) - min(dx, dy) + math.sqrt(2) * min(dx, dy)
    assert rise[y, x] == pytest.approx(last["value"] - straight)


def test_the_cap_on_thoughts_keeps_the_first_and_is_recorded(problem):
    whole, cut = record("lrta(depth=3)", problem), record("lrta(depth=3)", problem, most_thoughts=50)
    assert not whole.thoughts_cut
    assert cut.thoughts_cut
    assert cut.thoughts.tolist() == whole.thoughts[:50].tolist()
    assert cut.moves["thoughts"].sum() == 50
    assert cut.path.tolist() == whole.path.tolist()
    exact = record("lrta(depth=3)", problem, most_thoughts=len(whole.thoughts))
    assert not exact.thoughts_cut
    assert record("astar", problem, most_thoughts=0).thoughts.size == 0


def test_limits_end_a_trace(problem):
    trace = record("lrta", problem, limits=Limits(moves=3))
    assert trace.outcome is Outcome.MOVE_CAP
    assert len(trace.moves) == 3


def test_an_unreachable_goal_gives_a_trace_without_moves():
    grid = Grid([list("..@..")], name="apart")
    trace = record("lrta", grid.problem((0, 0), (4, 0)))
    assert (trace.outcome, len(trace.moves), trace.optimal_cost) == (Outcome.UNREACHABLE, 0, math.inf)
    assert trace.path.tolist() == [0]
    assert same(trace, Trace.from_json(trace.to_json()))


def test_a_problem_without_a_map_is_refused(problem):
    edge = Graph.from_edges([(0, 1, 1.0)])
    with pytest.raises(ParameterError, match=r"grid\.problem"):
        record("lrta", edge.problem(0, 1))
    with pytest.raises(ParameterError, match="of at least 0"):
        record("lrta", problem, most_thoughts=-1)


# --- saving and loading ---


def test_a_saved_trace_is_loaded_again(problem, algorithm, tmp_path):
    trace = record(algorithm, problem)
    trace.save(tmp_path / "a.json")
    assert same(trace, Trace.load(tmp_path / "a.json"))
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]


def test_the_same_trace_makes_the_same_file(problem):
    assert record("lrta", problem).to_json() == record("lrta", problem).to_json()


def test_infinite_values_survive(problem):
    trace = record("rta", Grid([list(".....")]).problem((1, 0), (4, 0)))
    assert same(trace, Trace.from_json(trace.to_json()))
    dead_end = record("rta", problem)
    dead_end.thoughts["value"][-1] = math.inf
    assert same(dead_end, Trace.from_json(dead_end.to_json()))


@examples(40)
@given(
    moves=st.lists(st.tuples(st.integers(0, 11), st.floats(0, 1e9), st.integers(0, 2**31 - 1), st.floats(0, 1e9))),
    thoughts=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 11), st.floats(allow_nan=False)), max_size=50),
    terrain=st.lists(st.sampled_from(b".GS@OTW"), min_size=12, max_size=12),
)
def test_any_trace_round_trips(moves, thoughts, terrain):
    trace = Trace(
        algorithm="x(y=1)",
        title='</script> "X*" \u2028',
        map_name="m",
        terrain=np.array(terrain, np.uint8).reshape(3, 4),
        diagonal=2.0,
        start=0,
        goal=11,
        outcome=Outcome.STUCK,
        optimal_cost=3.5,
        moves=np.array([(*move, 0, k == 0, 2 * k + 1) for k, move in enumerate(moves)], MOVE),
        thoughts=np.array(thoughts, THOUGHT),
        thoughts_cut=True,
        sight=3,
        discovered=np.array([7] if moves else [], np.int32),
    )
    assert same(trace, Trace.from_json(trace.to_json()))


def test_the_column_format_is_the_documented_one(problem):
    """Read a column only by the description in the module's docstring."""
    trace = record("lrta", problem)
    column = json.loads(trace.to_json())["thoughts"]["state"]
    assert (column["type"], column["delta"]) == ("int32", True)
    planes, n = zlib.decompress(base64.b64decode(column["data"])), column["length"]
    state, states = 0, []
    for i in range(n):
        change = int.from_bytes(bytes(planes[plane * n + i] for plane in range(4)), "little", signed=True)
        state += change
        states.append(state)
    assert states == trace.thoughts["state"].tolist()


def reseal(document: dict) -> str:
    """Return the document with a correct checksum, as a forger would write it."""
    document.pop("checksum", None)
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return json.dumps({**document, "checksum": hashlib.sha256(canonical.encode()).hexdigest()})


@pytest.fixture
def document(problem):
    return json.loads(record("lrta", problem).to_json())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[1, 2]", "lacks"),
        (b"{}", "lacks"),
        (b'{"format": "posthoc"}', "lacks"),
        (b'{"format": "andante-trace", "version": 3}', "version 3; this Andante reads versions 1 to 2; update Andante"),
        (b'{"format": "andante-trace", "version": "2"}', "version '2'; .* to 2; record it again"),
        (b'{"format": "andante-trace", "version": 0}', "version 0; .* to 2; record it again"),
        (b'{"format": "andante-trace", "version": true}', "version True; .* to 2; record it again"),
        (b'{"format": "andante-trace", "version": 1}', "checksum"),
        (b'{"format": "andante-trace", "version": 2}', "checksum"),
        (b'{"format": "andante-trace", "version": 1, "checksum": 3}', "checksum"),
    ],
)
def test_foreign_files_are_refused(text, sentence, tmp_path):
    file = tmp_path / "foreign.json"
    file.write_bytes(text)
    with pytest.raises(TraceError, match=sentence) as caught:
        Trace.load(file)
    assert str(file) in str(caught.value)


def test_one_changed_character_is_detected(document, tmp_path):
    text = json.dumps(document)
    for at in range(0, len(text), 97):
        changed = text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :]
        with pytest.raises(TraceError):
            Trace.from_json(changed)


@pytest.mark.parametrize(
    "change",
    [
        {"width": 5},
        {"width": 0},
        {"width": "many"},
        {"width": 1e308},
        {"height": 10**9, "width": 10**9},
        {"start": 72},
        {"goal": -1},
        {"start": None},
        {"start": "here"},
        {"outcome": "VICTORY"},
        {"outcome": ["GOAL"]},
        {"optimal_cost": "little"},
        {"terrain": None},
        {"terrain": {"type": "uint8", "length": 72, "delta": False, "data": "not base64!"}},
        {"terrain": {"type": "uint8", "length": 72, "delta": False, "data": base64.b64encode(b"junk").decode()}},
        {
            "terrain": {
                "type": "uint8",
                "length": 72,
                "delta": False,
                "data": base64.b64encode(zlib.compress(bytes(10**7))).decode(),
            }
        },
        {"terrain": {"type": "int32", "length": 72, "delta": False, "data": ""}},
        {"moves": {}},
        {"moves": []},
        {"thoughts": {"kind": {"length": 2**40}}},
        {"start": 1.5},
        {"start": True},
        {"goal": 10**400},
        {"goal": [3]},
        {"width": 12.0},
        {"sight": 0},
        {"sight": 10**30},
        {"title": ["a"] * 1000},
        {"algorithm": None},
        {"diagonal": math.nan},
        {"diagonal": 10**400},
        {"diagonal": 1e308},
        {"optimal_cost": math.inf},
        {"optimal_cost": -1},
        {"optimal_cost": True},
        {"terrain": pack(np.full(72, ord("x"), np.uint8))},
        {"discovered": []},
        {"moves": 10**400},
    ],
)
def test_forged_files_are_refused_with_a_sentence(document, change):
    with pytest.raises(TraceError, match="not a complete trace"):
        Trace.from_json(reseal({**document, **change}))


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("moves", "cost", math.nan),
        ("moves", "cost", -1.0),
        ("moves", "cost", math.inf),
        ("moves", "cost", 1e308),
        ("moves", "expanded", -1),
        ("moves", "learned", math.nan),
        ("moves", "state", 72),
        ("moves", "thoughts", -1),
        ("thoughts", "kind", 2),
        ("thoughts", "state", -1),
        ("thoughts", "value", math.nan),
    ],
)
def test_rows_that_no_agent_can_produce_are_refused(problem, table, column, value):
    trace = record("lrta", problem)
    getattr(trace, table)[column][0] = value
    with pytest.raises(TraceError, match="not a complete trace"):
        Trace.from_json(trace.to_json())


@pytest.mark.filterwarnings("error")
def test_differences_that_overflow_are_refused_without_a_warning(document):
    costs = pack(np.resize([math.inf, -math.inf], document["moves"]["cost"]["length"]))
    with pytest.raises(TraceError, match="not a complete trace"):
        Trace.from_json(reseal({**document, "moves": {**document["moves"], "cost": {**costs, "delta": True}}}))


def test_documents_nested_too_deeply_are_refused(document):
    deep: list = []
    for _ in range(900):
        deep = [deep]
    text = json.dumps({**document, "title": 0}).replace('"title": 0', '"title": ' + "[" * 100_000 + "]" * 100_000)
    with pytest.raises(TraceError, match="not a trace"):
        Trace.from_json(text)
    with pytest.raises(TraceError):
        Trace.from_json(json.dumps({**document, "title": deep}))


def test_a_path_with_an_optimal_cost_of_zero_has_a_ratio(document):
    trace = Trace.from_json(reseal({**document, "optimal_cost": 0}))
    assert trace.suboptimality_ratio == math.inf


def test_a_trace_that_does_not_end_is_not_read(monkeypatch):
    if not Path("/dev/zero").exists():
        pytest.skip("needs a file without an end")
    monkeypatch.setattr("andante.episode.trace.MAX_FILE_BYTES", 1000)
    with pytest.raises(TraceError, match="bytes"):
        Trace.load("/dev/zero")


def test_moves_cannot_refer_to_missing_thoughts(document, problem):
    fewer = json.loads(record("lrta", problem, most_thoughts=3).to_json())
    with pytest.raises(TraceError, match="thoughts that it does not contain"):
        Trace.from_json(reseal({**document, "thoughts": fewer["thoughts"]}))


@pytest.mark.parametrize("counts", [[-1, 1, 0], [40, 40, 0]])
def test_no_more_walls_are_discovered_than_the_map_has_cells(problem, counts):
    trace = record("lrta", problem, sight=1, limits=Limits(moves=3))
    trace.moves["discovered"] = counts
    with pytest.raises(TraceError, match="a map of 72 cells does not have .* to be discovered"):
        Trace.from_json(trace.to_json())


def test_a_field_that_is_missing_is_named(document):
    del document["goal"]
    with pytest.raises(TraceError, match="goal"):
        Trace.from_json(reseal(document))


def test_files_that_cannot_be_reached(problem, tmp_path):
    with pytest.raises(TraceError, match="cannot read the trace"):
        Trace.load(tmp_path / "nowhere.json")
    with pytest.raises(TraceError, match="cannot read the trace"):
        Trace.load(tmp_path)
    with pytest.raises(OutputError, match="cannot write"):
        record("lrta", problem).save(tmp_path / "no folder" / "a.json")


def test_an_absurdly_large_file_is_not_read(tmp_path):
    file = Path(tmp_path / "large.json")
    with file.open("wb") as stream:
        stream.truncate(2**29)
    with pytest.raises(TraceError, match="bytes"):
        Trace.load(file)


def test_repr_names_the_algorithm_and_the_map(problem):
    assert repr(record("astar", problem)).startswith("<Trace astar on pocket: ")
