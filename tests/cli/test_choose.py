"""Output and files of `andante choose`."""

import csv
import json

import pytest

from andante.campaign import read_campaign, run
from andante.campaign.engines.local import Local
from andante.cli import FAILED, OK
from andante.selection.matrix import from_store

pytestmark = pytest.mark.compiled
pytest.importorskip("polars")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("choosing")
    file = folder / "rooms.toml"
    file.write_text(
        '[problems.rooms]\nmaps = ["rooms:24x24:[1..6]"]\ncount = 8\n'
        '[[run]]\nsample = { of = "family", count = 12 }\nlimits = { suboptimality = 100 }\n'
    )
    run(read_campaign(file), folder / "rows", Local(1))
    return folder / "rows"


def test_tables_figures_and_export(cli, store, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("sklearn")
    written = ("--markdown", tmp_path / "page.md", "--figures", tmp_path / "figures", "--aslib", tmp_path / "aslib")
    code, out, _ = cli("choose", store, "--splits", 5, *written)
    assert code == OK
    assert "12 algorithms on 48 problems of 6 maps." in out
    assert "## Per map (Bulitko 2016, Table 1 and Figure 3)" in out
    assert "| 10 % | 1.2 |" in out
    assert "| 5 % |" not in out  # of 12 algorithms that would be none
    assert "on maps not trained on: learned from features" in out
    assert "| 3 |" in out.partition("## Choosing by problems nearby, on the same map")[2]
    assert (tmp_path / "page.md").read_text("utf-8").strip() == out.strip()
    assert {file.stem for file in (tmp_path / "figures").iterdir()} == {
        "figure3",
        "figure3-held-out",
        "figure4",
        "nearby",
    }
    assert (tmp_path / "aslib" / "description.txt").is_file()


def test_the_best_algorithms_are_named(cli, store, tmp_path):
    problems = from_store(store)
    code, out, _ = cli("choose", store, "--splits", 5, "--no-predict", "--csv", tmp_path / "best.csv")
    assert code == OK
    assert f"The single best algorithm is `{problems.algorithms[problems.best]}`." in out
    with (tmp_path / "best.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    maps = problems.by_map()
    assert [line["map"] for line in lines] == sorted(one.map for one in maps.instances)
    mean = sum(float(line["suboptimality"]) for line in lines) / len(lines)
    assert mean == pytest.approx(maps.virtual_best)  # all maps have as many problems


def test_a_papers_numbers_are_shown_beside_ours(cli, store, tmp_path):
    problems, paper = from_store(store), tmp_path / "paper.toml"
    mean = problems.means.mean()
    paper.write_text(
        f'title = "A paper"\n[[part]]\ntitle = "All"\nalgorithms = 12\n'
        f'rows = [{{ label = "the mean", of = "random", paper = "{mean:.1f}" }}]\n'
        f'[[part]]\ntitle = "Per problem"\nby = "problem"\nalgorithms = 12\n'
        f'rows = [{{ label = "five of twelve", of = "sample", run = 5, paper = "{10 * mean:.1f} ± 0.1" }}]\n'
    )
    written = tmp_path / "numbers.json"
    code, out, _ = cli("choose", store, "--splits", 5, "--no-predict", "--paper", paper, "--numbers", written)
    assert code == OK
    assert "1 of 2 published numbers" in out.partition("## The numbers of A paper")[2]
    data = json.loads(written.read_text("utf-8"))
    assert [(one["label"], one["mark"]) for one in data["numbers"]] == [("the mean", "✓"), ("five of twelve", "✗")]
    assert data["numbers"][0]["ours"].startswith(f"{mean:.2f} ± ")
    assert "12 algorithms on 48 problems of 6 maps" in data["run"]
    code, _, err = cli("choose", store, "--numbers", written)
    assert (code, "needs --paper" in err) == (FAILED, True)


def test_few_algorithms_on_one_map_get_the_sections_that_are_possible(cli, tmp_path):
    pytest.importorskip("sklearn")
    file = tmp_path / "few.toml"
    file.write_text(
        '[problems.rooms]\nmaps = ["rooms:24x24:1"]\ncount = 8\n'
        '[[run]]\nalgorithms = ["lrta(depth=[1, 2])", "rta"]\nlimits = { suboptimality = 100 }\n'
    )
    run(read_campaign(file), tmp_path / "few", Local(1))
    code, out, _ = cli("choose", tmp_path / "few", "--splits", 5)
    assert code == OK
    assert out.count("Not available: 1 instance cannot be split into old and new ones.") == 3
    code, out, _ = cli("choose", tmp_path / "few", "--splits", 5, "--no-predict", "--expansions", 1)
    assert "2 algorithms that expand at most 1 state before any move on 8 problems" in out


def test_errors_that_can_be_foreseen_come_before_any_work(cli, store, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("andante.selection.matrix.from_store", None)  # the error comes before any work
    for option in ("--figures", "--aslib"):
        code, out, err = cli("choose", store, "--no-predict", option, tmp_path / "file")
        assert (code, out, "cannot write" in err) == (FAILED, "", True)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    code, out, err = cli("choose", store)
    assert (code, out, "--no-predict" in err) == (FAILED, "", True)


def test_a_folder_that_is_not_a_store_is_refused(cli, tmp_path):
    code, _, err = cli("choose", tmp_path)
    assert code == FAILED
    assert "is not a store" in err
