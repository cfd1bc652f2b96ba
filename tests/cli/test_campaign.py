"""`andante campaign`, `store` and `study` as a user meets them."""

import json
import sys
from textwrap import dedent

import pytest

from andante.cli import FAILED, OK, main

pytest.importorskip("polars")


@pytest.fixture
def cli(monkeypatch, capsys):
    """Calls the command line: its exit code, what it printed, and what it said on standard error."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["andante", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        shown = capsys.readouterr()
        return end.value.code or OK, shown.out, shown.err

    return call


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rooms.toml"
    path.write_text(
        dedent("""
            title = "Rooms"
            [problems.rooms]
            maps = ["rooms:24x24:[1, 2]"]
            count = { quick = 3, full = 10 }
            [[run]]
            algorithms = ["lrta(depth=[1, 2])", "rta"]
            [[table]]
            title = "Table 1"
            rows = [{ algorithm = "rta", paper = 2.0 }]
        """)
    )
    return path


def test_run_status_report(cli, file, tmp_path):
    code, out, err = cli("campaign", "run", file)
    assert code == OK
    assert "60 of 60 trials" in out
    assert "60 trials, " in err
    assert json.loads(cli("campaign", "status", file, "--json")[1])["trials_finished"] == 60
    reports = {end: tmp_path / f"report.{end}" for end in ("html", "md", "tex", "csv")}
    options = zip(("--html", "--markdown", "--latex", "--csv"), reports.values(), strict=True)
    code, out, _ = cli("campaign", "report", file, *(word for pair in options for word in pair))
    assert code == OK
    assert "60 trials: 3 algorithms on 20 problems of 2 maps." in out
    assert all(path.stat().st_size for path in reports.values())
    told = json.loads(cli("campaign", "report", file, "--json")[1])
    assert [summary["name"] for summary in told["summaries"]] == ["lrta", "lrta(depth=2)", "rta"]
    assert set(told["dominated_by"]) == {"lrta", "lrta(depth=2)", "rta"}


def test_the_file_says_which_measures_the_table_has(cli, file, tmp_path):
    file.write_text('measures = ["cost"]\n' + file.read_text())
    cli("campaign", "run", file)
    cli("campaign", "report", file, "--markdown", tmp_path / "table.md")
    head = (tmp_path / "table.md").read_text().splitlines()[0]
    assert (
        head
        == "| Agent | Arrived | Cost (cost) | Cost, median (cost) | Cost, 95th percentile (cost) | Cost, maximum (cost) |"
    )


def test_resume_needs_a_beginning(cli, file):
    code, _, err = cli("campaign", "resume", file)
    assert code == FAILED
    assert "rooms.store is no store" in err
    cli("campaign", "run", file)
    assert cli("campaign", "resume", file)[0] == OK


def test_an_estimate_says_how_long_the_rest_takes(cli, file, monkeypatch):
    monkeypatch.setattr("andante.cli.campaign.ESTIMATE_SECONDS", 0.0)
    monkeypatch.setattr("andante.campaign.plan.LEAST_TRIALS", 2)
    code, out, _ = cli("campaign", "run", file, "--estimate", "--threads", 1)
    assert code == OK
    assert "the rest will take about" in out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--engine", "dusk"], "there is no engine 'dusk'; did you mean 'dask'?"),
        (["--engine", "dask"], "--engine dask needs either --scheduler tcp://HOST:PORT or --workers N"),
        (["--workers", "2"], "--scheduler and --workers are for --engine dask"),
        (["--scale", "slow"], "there is no scale 'slow'"),
    ],
)
def test_bad_options_get_one_sentence(cli, file, options, sentence):
    code, _, err = cli("campaign", "run", file, *options)
    assert code == FAILED
    assert sentence in err


def test_stores_are_checked_merged_and_exported(cli, file, tmp_path):
    cli("campaign", "run", file)
    cli("campaign", "run", file, "--scale", "quick")
    full, quick = tmp_path / "rooms.store", tmp_path / "rooms-quick.store"
    assert "is sound: 60 rows" in cli("store", "check", full)[1]
    assert "has 18 rows" in cli("store", "export", quick, tmp_path / "rows.csv")[1]
    code, out, _ = cli("store", "merge", full, quick, "--into", tmp_path / "both.store")
    assert code == OK
    assert "has 60 rows" in out  # the quick draws are the beginnings of the full ones
    victim = next((full / "parts").iterdir())
    victim.write_bytes(b"")
    code, out, _ = cli("store", "check", full)
    assert code == FAILED
    assert "is damaged" in out


def test_a_study_writes_its_page(cli, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, _ = cli("study", file, "--out", tmp_path / "page")
    assert code == OK
    assert "| rta | 2 |" in (tmp_path / "page" / "results.md").read_text()
    assert (tmp_path / "out" / "studies" / "rooms-quick.store").is_dir()
    listed = cli("study")[1]
    assert "family" in listed
    assert "tba" in listed
