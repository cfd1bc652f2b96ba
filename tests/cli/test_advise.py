"""Output, files and errors of `andante advise`."""

import json

import pytest

import andante
from andante.cli import FAILED, INTERRUPTED, OK

pytestmark = pytest.mark.compiled

QUICK = ("--problems", 20, "--candidates", 40, "--threads", 2, "--memory", 0)


@pytest.fixture
def folder(tmp_path):
    maps = tmp_path / "maps"
    maps.mkdir()
    for seed in (1, 2):
        andante.write_map(andante.generate("rooms", 24, 24, seed=seed), maps / f"rooms{seed}.map")
    return maps


def test_a_folder_of_maps_gets_a_table_an_answer_and_a_page(cli, folder, tmp_path):
    pytest.importorskip("matplotlib")
    code, out, err = cli("advise", folder, "--expansions", 10, *QUICK, "--out", tmp_path / "out")
    assert code == OK
    assert "Wanted: at most 10 states expanded before any move, at most 0 MB" in out
    assert "Use " in out
    assert "andante.Agent(" in out
    page = (tmp_path / "out" / "advice.html").read_text("utf-8")
    answer = page.partition("Which agent to use</h2>")[2]
    assert answer.index("Wanted: at most 10 states") < answer.index("Use ") < answer.index("<pre><code>andante.Agent(")
    assert "<svg" in page
    assert "advice.html" in err
    assert json.loads((tmp_path / "out" / "question.json").read_text())["maps"].keys() == {"rooms1", "rooms2"}
    code, _, err = cli("advise", folder, "--expansions", 20, *QUICK, "--out", tmp_path / "out")
    assert (code, "has the advice on another question" in err) == (FAILED, True)
    assert (tmp_path / "out" / "advice.html").read_text("utf-8") == page


def test_json(cli, folder):
    code, out, _ = cli("advise", folder / "rooms1.map", "rooms:24x24:7", "--expansions", 10, *QUICK, "--json")
    printed = json.loads(out)
    assert code == OK
    assert printed["maps"] == ["rooms1", "rooms-24x24-seed7"]
    assert printed["ranking"][0]["measures"]["max_states_expanded"]["max"] <= 10
    assert printed["ranking"][0]["interval"][0] >= 1
    assert "andante.Agent(" in printed["python"]


def test_bad_input_is_refused_in_one_sentence(cli, folder, tmp_path):
    def refused(*arguments):
        code, _, err = cli("advise", *arguments)
        assert code == FAILED
        assert "Traceback" not in err
        return err

    (tmp_path / "empty").mkdir()
    assert "no .map file in the folder" in refused(tmp_path / "empty")
    assert "is too small to advise on" in refused("empty:2x2:1", *QUICK)
    assert "no agent keeps to" in refused(folder, "--expansions", 0, *QUICK)
    assert "cannot write" in refused(folder, *QUICK, "--out", folder / "rooms1.map")
    (tmp_path / "other").mkdir()
    andante.write_map(andante.generate("caves", 24, 24), tmp_path / "other" / "rooms1.map")
    assert "two different maps are called rooms1" in refused(folder, tmp_path / "other", *QUICK)


def test_units_of_a_crowd_get_an_answer_and_a_page(cli, folder, few_algorithms, tmp_path):
    pytest.importorskip("matplotlib")
    crowd = ("--units", 15, "--tick-ms", 5, "--total-memory", 90)
    code, out, _ = cli("advise", folder / "rooms1.map", *crowd, *QUICK, "--out", tmp_path / "out")
    assert code == OK
    assert "Wanted: 15 units of a crowd, at most 0 MB for the databases of a map, at most 5 milliseconds" in out
    assert "in crowds of 15, " in out
    assert "andante.Crowd(" in out
    page = (tmp_path / "out" / "advice.html").read_text("utf-8")
    for words in ("<pre><code>andante.Crowd(", "Time to arrive", "Crowd memory", "<svg"):
        assert words in page
    code, _, err = cli("advise", folder, *crowd, "--expansions", 10, *QUICK)
    assert (code, "expansions for each move cannot be combined with units" in err) == (FAILED, True)
    code, _, err = cli("advise", folder, *crowd, "--expansions", 10, "--expansions", 20, *QUICK)
    assert (code, "expansions for each move cannot be combined with units" in err) == (FAILED, True)


def test_an_interrupted_run_says_what_is_kept(cli, folder, tmp_path, monkeypatch):
    def stopped(self, *how):
        raise KeyboardInterrupt

    monkeypatch.setattr("andante.selection.race.Race.places", stopped)
    code, _, err = cli("advise", folder, "--expansions", 10, *QUICK, "--out", tmp_path / "out")
    assert code == INTERRUPTED
    assert f"stopped; the results so far are in {tmp_path / 'out'}" in err
    assert "nothing was saved" in cli("advise", folder, "--expansions", 10, *QUICK)[2]


def test_several_limits_give_the_best_agent_for_each(cli, folder, tmp_path):
    pytest.importorskip("matplotlib")
    limits = ("--expansions", 0, "--expansions", 1, "--expansions", 50)
    code, out, err = cli("advise", folder, *limits, *QUICK, "--out", tmp_path / "out")
    assert code == OK
    assert "agent keeps" in out  # no agent, for at most 0 states
    assert "ladder.md" in err
    lines = (tmp_path / "out" / "ladder.md").read_text().splitlines()[2:]
    assert "no agent keeps to at most 0 states" in lines[0]
    worst = [line.split(" | ")[4] for line in lines]
    assert worst[:2] == ["-", "1"]
    assert int(worst[2]) <= 50
    assert (tmp_path / "out" / "at-most-50" / "advice.html").exists()


def test_problems_of_a_given_length(cli, folder):
    code, out, _ = cli("advise", folder, "--expansions", 10, "--optimal-cost", 20, 30, *QUICK, "--json")
    assert code == OK
    assert 20 <= json.loads(out)["ranking"][0]["measures"]["optimal_cost"]["median"] < 30
