"""The export to Posthoc, compared with the format's published types (version 1.4.0) and the trace it came from."""

import json
import re

import numpy as np
import pytest

from andante.episode.posthoc import _walls
from andante.episode.trace import record
from andante.errors import OutputError
from andante.search.memory import EXPANDED
from andante.world.grid import Grid

POCKET = """\
............
.@@@@@@@@@..
.........@..
.@@@@@@@@@..
............"""

# What the built-in 2D renderer draws, with the properties that it needs.
PRIMITIVES = {
    "rect": {"x", "y", "width", "height", "fill", "alpha"},
    "circle": {"x", "y", "radius", "fill", "alpha"},
    "path": {"points", "fill", "alpha", "line-width"},
}
EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")
COLOURS = {"source", "destination", "expanding", "updating", "generating", "closing", "red", "blue", "amber", "green"}


@pytest.fixture(scope="module")
def problem():
    return Grid([list(row) for row in POCKET.splitlines()], name="pocket").problem((3, 2), (11, 2))


@pytest.fixture(scope="module", params=["rta", "lrta(depth=2)", "astar"])
def trace(request, problem):
    return record(request.param, problem)


@pytest.fixture(scope="module")
def document(trace):
    return json.loads(trace.to_posthoc())


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


def test_the_document_has_the_fields_of_the_format(document):
    assert document["version"] == "1.4.0"
    assert set(document) == {"version", "views", "pivot", "events"}
    assert "main" in document["views"]
    assert set(document["pivot"]) <= {"x", "y", "z", "scale"}


def test_views_are_made_of_primitives_and_other_views(document):
    for view in document["views"].values():
        for component in view:
            kind = component["$"]
            assert kind in PRIMITIVES or kind in document["views"]
            assert PRIMITIVES.get(kind, set()) <= set(component)
            assert isinstance(component.get("clear", False), bool | str)
            assert set(component.get("$for", {})) <= {"$let", "$from", "$to", "$step"}


def test_expressions_use_only_names_of_the_format(document):
    """In ``${{ }}`` the event is ``$``; the other names are theme, color, step, events and parent."""
    fields = {field for event in document["events"] for field in event} | {"i", "paint", "opacity"}
    found = [
        expression
        for text in strings([document["views"], document["pivot"]])
        for expression in EXPRESSION.findall(text)
    ]
    assert found
    for expression in found:
        bare = re.sub(r"'[^']*'", "''", expression)
        assert set(re.findall(r"(?<![\w.$])[A-Za-z]\w*", bare)) <= {"theme", "color", "parent"}
        assert set(re.findall(r"\$\.(\w+)", bare)) <= fields
        assert set(re.findall(r"color\.(\w+)", bare)) <= COLOURS


def test_every_event_has_an_id_and_a_place(document):
    for event in document["events"]:
        assert isinstance(event["type"], str)
        assert isinstance(event["id"], int | str)
        assert 0 <= event["x"] < 12
        assert 0 <= event["y"] < 5


def test_parents_come_before_their_children_and_are_never_themselves(document):
    """Posthoc goes from an event to its parent until there is none, so a cycle would never end."""
    seen = set()
    for event in document["events"]:
        if "pId" in event:
            assert event["pId"] in seen
            assert event["pId"] != event["id"]
        seen.add(event["id"])


def test_events_equal_the_trace(trace, document):
    events = document["events"]
    moving = [event for event in events if event["type"] == "moving"]
    assert [event["state"] for event in moving] == trace.moves["state"].tolist()
    assert [event["y"] * 12 + event["x"] for event in moving] == trace.moves["state"].tolist()
    assert moving[-1]["g"] == pytest.approx(trace.cost)
    thoughts = [event for event in events if event["type"] in ("expanding", "updating")]
    assert [event["id"] for event in thoughts] == trace.thoughts["state"].tolist()
    kinds = ["expanding" if kind == EXPANDED else "updating" for kind in trace.thoughts["kind"]]
    assert [event["type"] for event in thoughts] == kinds
    assert [event["type"] for event in events[:3]] == ["map", "source", "destination"]
    assert (events[-1]["type"], events[-1]["outcome"]) == ("end", "goal")


def test_thoughts_are_before_the_move_they_led_to(trace, document):
    counts, pending = [], 0
    for event in document["events"]:
        if event["type"] == "moving":
            counts.append(pending)
            pending = 0
        elif event["type"] in ("expanding", "updating"):
            pending += 1
    assert counts == trace.moves["thoughts"].tolist()


def test_walls_cover_the_blocked_cells_once(document, trace):
    covered = np.zeros(trace.passable.shape, int)
    for x, y, width, height in document["events"][0]["walls"]:
        covered[y : y + height, x : x + width] += 1
    assert np.array_equal(covered, ~trace.passable)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 1.0])
def test_walls_cover_any_map_once(share):
    blocked = np.random.default_rng(1).random((20, 33)) < share
    covered = np.zeros(blocked.shape, int)
    for x, y, width, height in _walls(blocked):
        covered[y : y + height, x : x + width] += 1
    assert np.array_equal(covered, blocked)


def test_infinity_can_be_written(problem):
    trace = record("rta", problem)
    trace.thoughts["value"][0] = np.inf
    trace.thoughts["kind"][0] = 1
    first = next(event for event in json.loads(trace.to_posthoc())["events"] if event["type"] == "updating")
    assert first["h"] == "inf"


def test_an_end_without_a_move_is_reported():
    grid = Grid([list("..@..")], name="apart")
    events = json.loads(record("astar", grid.problem((0, 0), (4, 0))).to_posthoc())["events"]
    assert [event["type"] for event in events] == ["map", "source", "destination", "end"]
    assert events[-1]["outcome"] == "unreachable"


def test_thoughts_that_led_to_no_move_come_last(problem):
    trace = record("lrta", problem)
    trace.moves["thoughts"][-1] -= 1
    events = json.loads(trace.to_posthoc())["events"]
    assert [event["type"] for event in events[-3:-1]] in (["moving", "expanding"], ["moving", "updating"])
    assert events[-2]["pId"] == events[-3]["id"]


def test_the_file_has_a_name_that_posthoc_opens(problem, tmp_path):
    trace = record("astar", problem)
    trace.write_posthoc(tmp_path / "a.trace.json")
    assert json.loads((tmp_path / "a.trace.json").read_text()) == json.loads(trace.to_posthoc())
    with pytest.raises(OutputError, match=r"\.trace\.json"):
        trace.write_posthoc(tmp_path / "a.json")
    with pytest.raises(OutputError, match="cannot write"):
        trace.write_posthoc(tmp_path / "no folder" / "a.trace.json")
    assert [file.name for file in tmp_path.iterdir()] == ["a.trace.json"]
