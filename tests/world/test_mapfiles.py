"""Map and scenario files: what was written is read again, and errors name file, line and field."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from andante.errors import AndanteError, MapError, OutputError, ScenarioError
from andante.world.grid import Grid
from andante.world.mapfiles import (
    parse_map,
    parse_scenario,
    read_map,
    read_scenario,
    write_map,
    write_scenario,
)

TINY = "type octile\nheight 2\nwidth 3\nmap\n..@\n.TS\n"

terrains = npst.arrays(
    np.uint8,
    npst.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12),
    elements=st.sampled_from(list(b".GS@OTW")),
)


def text_of(terrain):
    rows = "\n".join(row.tobytes().decode() for row in terrain)
    return f"type octile\nheight {terrain.shape[0]}\nwidth {terrain.shape[1]}\nmap\n{rows}\n"


def result_or_error(function, *arguments):
    """Return a parser's result or Andante's error; any other exception ends the test."""
    try:
        return function(*arguments)
    except AndanteError as error:
        return error


def is_one_or_the_other(outcome, kind):
    """Return whether the outcome is a result of this kind, or an error of one sentence that names a place."""
    if isinstance(outcome, kind):
        return True
    sentence = str(outcome)
    return "\n" not in sentence and ("line" in sentence or "rows" in sentence)


# --- maps -----------------------------------------------------------------------------------------------------------


@given(terrains)
def test_a_written_map_reads_back(tmp_path_factory, terrain):
    path = tmp_path_factory.mktemp("maps") / "some.map"
    grid = Grid(terrain, name="some")
    write_map(grid, path)
    assert path.read_text() == text_of(terrain)
    again = read_map(path)
    assert again.name == "some"
    assert np.array_equal(again.terrain, terrain)
    assert again.fingerprint == grid.fingerprint


@pytest.mark.parametrize(
    "text",
    [
        TINY,
        TINY.rstrip("\n"),
        TINY + "\n\n",
        TINY + "  \n",
        TINY.replace("\n", "\r\n"),
        TINY.replace("\n", "\r\n").rstrip(),
        TINY.replace("height 2", "height  2 "),
        TINY.encode(),
        bytearray(TINY.encode()),
    ],
)
def test_line_ends_and_blank_lines_do_not_matter(text):
    assert [row.tobytes() for row in parse_map(text).terrain] == [b"..@", b".TS"]


def test_the_rule_of_moves_is_the_readers_choice(tmp_path):
    path = tmp_path / "tiny.map"
    path.write_text(TINY)
    assert read_map(path, rule="corners").rule == "corners"
    assert parse_map(TINY, rule="cardinal").rule == "cardinal"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "m, line 1: expected 'type octile', found ''"),
        ("<html>", "m, line 1: expected 'type octile', found '<html>'"),
        ("type octile", "m, line 1: expected 'type octile'"),
        ("type hexagon\nheight 1\nwidth 1\nmap\n.", "m, line 1: the type of map is 'hexagon'"),
        ("type octile\nwidth 3\nheight 2\nmap\n", "m, line 2: expected 'height and a number', found 'width 3'"),
        ("type octile\nheight two\nwidth 3\nmap\n", "m, line 2: height must be a whole number from 1 to 32000"),
        ("type octile\nheight -2\nwidth 3\nmap\n", "m, line 2: height must be"),
        ("type octile\nheight 2\nwidth 0\nmap\n", "m, line 3: width must be"),
        ("type octile\nheight 2\nwidth \u0663\nmap\n", "m, line 3: width must be"),
        ("type octile\nheight 2\nwidth\nmap\n", "m, line 3: width must be a whole number from 1 to 32000, not ''"),
        ("type octile\nheight 2\nwidth 3\nmapp\n", "m, line 4: expected 'map', found 'mapp'"),
        ("type octile\nheight 2\nwidth 3\nmap ...\n", "m, line 4: expected 'map', found 'map ...'"),
        ("type octile\nheight 99999999999999\nwidth 3\nmap\n", "m, line 2: height must be"),
        (
            "type octile\nheight 32000\nwidth 32000\nmap\n",
            "m announces 32000 x 32000 cells (lines 2 and 3); the limit is 1",
        ),
        ("type octile\nheight 2\nwidth 3\nmap\n", "m ends after 0 of the 2 rows"),
        ("type octile\nheight 2\nwidth 3\nmap\n...\n", "m ends after 1 of the 2 rows"),
        ("type octile\nheight 2\nwidth 3\nmap\n...\n..", "m, line 6: this row has 2 cells; the header (line 3) says 3"),
        ("type octile\nheight 2\nwidth 3\nmap\n....\n..", "m, line 5: this row has 4 cells"),
        ("type octile\nheight 2\nwidth 3\nmap\n...\n...\n...\n", "m, line 7: more rows than the 2"),
        ("type octile\nheight 2\nwidth 3\nmap\n...\n.x.\n", "m, line 6, column 2: found 'x'; a map is made of . G S"),
        ("type octile\nheight 2\nwidth 3\nmap\n.é.\n...\n", "m, line 5, column 2: found 'é'"),
        (b"type octile\nheight 2\nwidth 3\nmap\n..\xff\n...\n", "m, line 5, column 3: found the byte 0xff, which"),
        (b"\xff\xfe\x00t\x00y", "m, line 1: expected 'type octile'"),
        (b"type octile\nheight 1\nwidth 3\nmap\n.\x00.\n", "m, line 5, column 2: found '\\x00'"),
        ("type octile\nheight 2\nwidth 3\nmap\n. .\n...\n", "m, line 5, column 2: found ' '"),
        ("type octile\nheight 2\nwidth 5\nmap\n..\n..\n..\n..\n", "m, line 5: this row has 2 cells"),
    ],
)
def test_a_bad_map_is_refused_with_its_place(text, sentence):
    with pytest.raises(MapError) as refusal:
        parse_map(text, "m")
    assert str(refusal.value).startswith(sentence)
    assert "\n" not in str(refusal.value)


def test_messages_name_where_a_text_is_from():
    with pytest.raises(MapError, match=r"dao/arena\.map, line 1"):
        parse_map("", "arena", where="dao/arena.map")


def read_alike(tmp_path, data):
    """Return the map read both as a file and as a text, or the error, which must be the same."""
    path = tmp_path / "m.map"
    path.write_bytes(data)
    found = []
    for read in (lambda: read_map(path), lambda: parse_map(data, "m", where=str(path))):
        try:
            found.append((read().fingerprint, ""))
        except MapError as error:
            found.append(("", str(error)))
    assert found[0] == found[1]
    return found[0]


HEADER = b"type octile\nheight 2\nwidth 3\nmap\n"


@pytest.mark.parametrize(
    ("data", "refused"),
    [
        (HEADER + b"...\n...\n", False),
        (HEADER + b"...\r\n...\r\n\r\n", False),
        (HEADER + b"...\n...\n" + b"\n" * 100, False),
        (HEADER + b"...\n...\n" + b"\n" * 1000, True),
        (HEADER + b"...\n...\n" + b" " * 1000, True),
        (HEADER.replace(b"height", b" " * 150 + b"height") + b"...\n...\n", False),
        (
            HEADER.replace(b"height", b" " * 150 + b"height").replace(b"width", b" " * 150 + b"width") + b"...\n...\n",
            True,
        ),
        (HEADER.replace(b"\n", b" " * 100 + b"\n") + b"...\n...\n", True),
        (HEADER.replace(b"\n", b" " * 60 + b"\n") + b"...\n...\n", False),
        (HEADER[:-1], True),
        (b"", True),
    ],
)
def test_files_and_texts_are_read_alike(tmp_path, data, refused):
    assert bool(read_alike(tmp_path, data)[1]) == refused


def test_names_that_are_too_long_or_invalid_are_refused(tmp_path):
    for name in ("a" * 5000, "nul\0"):
        with pytest.raises(MapError, match="cannot read the map"):
            read_map(tmp_path / f"{name}.map")
        with pytest.raises(ScenarioError, match="cannot read the scenario"):
            read_scenario(tmp_path / f"{name}.scen", parse_map(TINY))


def test_a_file_is_not_read_further_than_its_header_announces(tmp_path):
    path = tmp_path / "endless.map"
    with path.open("wb") as stream:
        stream.write(TINY.encode())
        stream.truncate(2**36)  # a sparse file takes no space on the disk, but would in memory
    with pytest.raises(MapError, match=r"endless\.map continues after the 2 rows of 3 cells"):
        read_map(path)


def test_a_header_that_announces_too_many_cells_is_refused_early(tmp_path):
    path = tmp_path / "short.map"
    path.write_text("type octile\nheight 8000\nwidth 16000\nmap\n..\n")
    with pytest.raises(MapError, match=r"short\.map, line 5: this row has 2 cells"):
        read_map(path)


def test_files_that_cannot_be_opened_are_reported(tmp_path):
    with pytest.raises(MapError, match=r"cannot read the map .*absent\.map: No such file"):
        read_map(tmp_path / "absent.map")
    with pytest.raises(
        MapError, match=r"No such file or directory; to open a map of a benchmark set, use andante\.data"
    ):
        read_map("wc3native/darkforest")
    with pytest.raises(MapError, match=r"cannot read the map .*: (Is a directory|Permission denied)"):
        read_map(tmp_path)
    with pytest.raises(ScenarioError, match=r"cannot read the scenario .*absent\.scen: No such file"):
        read_scenario(tmp_path / "absent.scen", parse_map(TINY))


@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda tail: TINY.encode()[:-8] + tail))
def test_any_bytes_are_a_map_or_an_error(data):
    assert is_one_or_the_other(result_or_error(parse_map, data), Grid)


@given(st.text(max_size=100))
def test_any_text_is_a_map_or_an_error(text):
    assert is_one_or_the_other(result_or_error(parse_map, text), Grid)


@given(terrains, st.data())
def test_a_map_with_one_byte_changed_is_a_map_or_an_error(terrain, data):
    file = bytearray(text_of(terrain).encode())
    file[data.draw(st.integers(0, len(file) - 1))] = data.draw(st.integers(0, 255))
    assert is_one_or_the_other(result_or_error(parse_map, bytes(file)), Grid)


# --- scenarios ------------------------------------------------------------------------------------------------------

ROOM = parse_map("type octile\nheight 3\nwidth 5\nmap\n...@.\n.@.@.\n...@@\n", "room")


def scenario(*lines, version="version 1"):
    return "\n".join([version, *lines]) + "\n"


GOOD = "0\tmaps/set/room.map\t5\t3\t0\t0\t2\t2\t4.00000000"


@pytest.mark.parametrize(
    "text",
    [
        scenario(GOOD),
        scenario(GOOD, version="version 1.0"),
        scenario(GOOD.replace("\t", " ")),
        scenario(GOOD.replace("\t", "  ")),
        scenario(GOOD).replace("\n", "\r\n"),
        scenario(GOOD).rstrip(),
        scenario("", GOOD, "", "   "),
        scenario(GOOD.replace("maps/set/", "")),
        scenario(GOOD.replace("/", "\\")),
        scenario(GOOD.replace("maps/set/room.map", "room")),
        scenario(GOOD.replace("maps/set/", "other maps/of mine/")),
        scenario(GOOD).encode(),
    ],
)
def test_all_published_dialects_are_read(text):
    [problem] = parse_scenario(text, ROOM)
    assert (ROOM.cell(problem.start), ROOM.cell(problem.goal)) == ((0, 0), (2, 2))
    assert (problem.listed_cost, problem.optimal_cost, problem.grid) == (4.0, None, ROOM)


def test_a_map_whose_name_has_spaces_is_found():
    grid = Grid(ROOM.terrain, name="my room")
    assert len(parse_scenario(scenario(GOOD.replace("room", "my room")), grid)) == 1


def test_problems_without_solution_are_dropped_by_default():
    def line(start_x, start_y, goal_x, goal_y):
        return f"0 room.map 5 3 {start_x} {start_y} {goal_x} {goal_y} 0"

    blocked_start, blocked_goal = line(1, 1, 0, 0), line(0, 0, 3, 0)
    apart, equal, fine = line(0, 0, 4, 0), line(2, 2, 2, 2), line(0, 0, 2, 0)
    text = scenario(blocked_start, blocked_goal, apart, equal, fine)
    assert [(p.start, p.goal) for p in parse_scenario(text, ROOM)] == [(0, 2)]
    everything = parse_scenario(text, ROOM, keep_all=True)
    assert [(p.start, p.goal) for p in everything] == [(6, 0), (0, 3), (0, 4), (0, 2)]
    assert [p.reachable for p in everything] == [False, False, False, True]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "s, line 1: expected 'version 1', found ''"),
        ("version 2\n", "s, line 1: expected 'version 1', found 'version 2'"),
        (
            scenario("0 hall.map 5 3 0 0 2 2 4"),
            "s, line 2: this problem is for the map 'hall' (field 2), not for 'room'",
        ),
        (
            scenario(GOOD, "0 room.map 50 3 0 0 2 2 4"),
            "s, line 3: this problem is for a map of 50 x 3 cells (fields 3 and 4)",
        ),
        (scenario("0 room.map 5 3 5 0 2 2 4"), "s, line 2: the start (5, 0) (fields 5 and 6) lies outside room"),
        (scenario("0 room.map 5 3 0 0 2 3 4"), "s, line 2: the goal (2, 3) (fields 7 and 8) lies outside room"),
        (scenario("0 room.map 5 3 0 0 2 -1 4"), "s, line 2: goal y (field 8) must be a whole number, not '-1'"),
        (scenario("x room.map 5 3 0 0 2 2 4"), "s, line 2: bucket (field 1) must be a whole number, not 'x'"),
        (scenario("0 room.map 5 3 0 0 2 99999999999 4"), "s, line 2: goal y (field 8) must be a whole number"),
        (scenario("0 room.map 5 3 0 \u0661 2 2 4"), "s, line 2: start y (field 6) must be a whole number"),
        (
            scenario("0 room.map 5 3 0 0 2 2 far"),
            "s, line 2: optimal length (field 9) must be a number of at least 0, not",
        ),
        (scenario("0 room.map 5 3 0 0 2 2 nan"), "s, line 2: optimal length (field 9) must be"),
        (scenario("0 room.map 5 3 0 0 2 2 inf"), "s, line 2: optimal length (field 9) must be"),
        (scenario("0 room.map 5 3 0 0 2 2 -1"), "s, line 2: optimal length (field 9) must be"),
        (scenario("0 room.map 5 3 0 0 2"), "s, line 2: expected 9 fields (bucket, map, width, height, start x, "),
        (scenario("0"), "s, line 2: expected 9 fields"),
        (scenario(GOOD).encode() + b"0 ro\xffom", "s, line 3, column 5: the byte 0xff is not UTF-8 text"),
        (b"\x80", "s, line 1, column 1: the byte 0x80 is not UTF-8 text"),
    ],
)
def test_a_bad_scenario_is_refused_with_its_place(text, sentence):
    with pytest.raises(ScenarioError) as refusal:
        parse_scenario(text, ROOM, "s")
    assert str(refusal.value).startswith(sentence)
    assert "\n" not in str(refusal.value)


def test_an_endless_scenario_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("andante.world.mapfiles.MAX_SCENARIO_BYTES", 100)
    path = tmp_path / "room.map.scen"
    path.write_text(scenario(*[GOOD] * 4))
    with pytest.raises(ScenarioError, match="is larger than 100 bytes"):
        read_scenario(path, ROOM)


@given(st.data(), st.lists(st.floats(0, 1e6), min_size=1, max_size=8))
def test_a_written_scenario_reads_back(tmp_path_factory, data, costs):
    free = st.sampled_from([(x, y) for y, x in np.argwhere(ROOM.passable)])
    ends = st.tuples(free, free).filter(lambda pair: pair[0] != pair[1])
    problems = [ROOM.problem(*data.draw(ends)).with_optimal_cost(cost) for cost in costs]
    path = tmp_path_factory.mktemp("scenarios") / "room.map.scen"
    write_scenario(problems, path)
    again = read_scenario(path, ROOM, keep_all=True)
    assert [(p.start, p.goal) for p in again] == [(p.start, p.goal) for p in problems]
    assert [p.listed_cost for p in again] == pytest.approx(costs, abs=1e-8)
    buckets = [int(line.split()[0]) for line in path.read_text().splitlines()[1:]]
    assert buckets == [int(cost // 4) for cost in costs]


def test_only_problems_with_a_map_and_a_cost_can_be_written(tmp_path):
    path = tmp_path / "some.scen"
    problem = ROOM.problem((0, 0), (2, 2))
    with pytest.raises(ScenarioError, match=r"problem 0 \(<Problem .*\) has no cost to write"):
        write_scenario([problem], path)
    with pytest.raises(ScenarioError, match="has no cost to write"):
        write_scenario([problem.with_optimal_cost(float("inf"))], path)
    with pytest.raises(ScenarioError, match="is not on a grid"):
        write_scenario([ROOM.graph.problem(0, 12).with_optimal_cost(1.0)], path)
    for name in ("a/b", "a\tb", "a\nb", " a"):
        problem = Grid(ROOM.terrain, name=name).problem((0, 0), (2, 2)).with_optimal_cost(4.0)
        with pytest.raises(ScenarioError, match="a map whose name does not fit a scenario file"):
            write_scenario([problem], path)
    assert not path.exists()


@given(st.binary(max_size=120) | st.binary(max_size=60).map(lambda tail: f"version 1\n{GOOD}\n".encode() + tail))
def test_any_bytes_are_a_scenario_or_an_error(data):
    assert is_one_or_the_other(result_or_error(parse_scenario, data, ROOM), list)


@given(st.text(alphabet="0123456789.-eroom\t \n", max_size=80))
def test_any_likely_text_is_a_scenario_or_an_error(text):
    assert is_one_or_the_other(result_or_error(parse_scenario, "version 1\n" + text, ROOM), list)


# --- writing --------------------------------------------------------------------------------------------------------


def test_a_failing_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "room.map"
    path.write_text("old")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OutputError, match=r"cannot write .*room\.map: No space left on device"):
        write_map(ROOM, path)
    assert [file.name for file in tmp_path.iterdir()] == ["room.map"]
    assert path.read_text() == "old"


def test_a_path_that_cannot_be_written_is_reported(tmp_path):
    with pytest.raises(OutputError, match=r"cannot write .*: No such file or directory"):
        write_map(ROOM, tmp_path / "absent" / "room.map")
    with pytest.raises(OutputError, match="cannot write "):
        write_map(ROOM, tmp_path)
    with pytest.raises(OutputError, match="cannot write "):
        write_map(ROOM, "/")
    assert list(tmp_path.iterdir()) == []
