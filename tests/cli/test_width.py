"""Every table fits into 80 columns: names and texts wrap inside their cells, and nothing is cut off."""

from types import SimpleNamespace

import pytest

from andante.cli.reporting import print_comparison
from andante.cli.shared import out, print_items
from andante.measures import summarise
from andante.report import verdicts
from andante.report.table import ComparisonTable, cells

WIDTH = 80
LONG = "family(wc=7.0, operator=median, expendable=true, ties=random, share=0.25)"


@pytest.fixture(autouse=True)
def narrow_terminal(monkeypatch):
    monkeypatch.setattr(out, "_width", WIDTH)
    monkeypatch.setattr(out, "_force_terminal", True)  # what goes into a pipe is not wrapped


def too_wide(text):
    return [line for line in text.splitlines() if len(line.rstrip()) > WIDTH]


@pytest.mark.parametrize(
    "command",
    ["algorithms prlrts", "algorithms lrta", "databases list", "maps list", "study", "maps show rooms:32x32:1"],
)
def test_lists_fit(cli, command):
    code, shown, _ = cli(*command.split())
    assert code == 0
    assert too_wide(shown) == []
    assert "…" not in shown


def test_the_table_of_algorithms_fits_and_names_every_parameter(cli):
    import andante

    _, shown, _ = cli("algorithms")
    table = shown.partition("\n\nClaims")[0]
    assert too_wide(table) == []
    assert "…" not in table
    for entry in andante.algorithms():
        for parameter in entry.parameters:
            assert parameter.name in table


def test_names_and_texts_stay_apart(capsys):
    print_items([("countryside", "scale=16"), ("maze", "word " * 40)])
    shown = capsys.readouterr().out
    assert too_wide(shown) == []
    assert "  countryside  scale=16" in shown
    assert shown.count("word") == 40
    assert all(line.startswith(" " * 15 + "word") for line in shown.splitlines()[2:])


def rows(agent, ratio):
    trial = {"algorithm": agent, "solved": True, "map": "m", "max_states_expanded": 5, "states_expanded_per_move": 2.5}
    return [{**trial, "problem": k, "suboptimality_ratio": ratio + k / 7, "memory_bytes": 10_000} for k in range(30)]


def test_long_names_wrap_in_the_table_of_agents_and_leave_space_for_numbers(capsys):
    summaries = summarise([*rows(LONG, 1.5), *rows("lrta", 2.5), *rows("dalss(lookahead=100)", 3.5)])
    out.print(ComparisonTable(summaries))
    shown = capsys.readouterr().out
    assert too_wide(shown) == []
    assert "…" not in shown
    for word in LONG.split():
        assert word in shown
    for line in cells(summaries):
        assert all(cell in shown for cell in line[1:])
    first = shown.partition("Agent")[2].partition("Agent")[0]
    assert "Median" in first  # the name takes so little that three columns fit beside it


def test_comparing_fits(cli):
    code, shown, _ = cli("compare", "rooms:16x16:1", "--problems", "5", "-a", "lrta, rta, lrta(depth=3)")
    assert code == 0
    assert too_wide(shown.partition("± is")[0]) == []
    verdicts = shown.partition("Verdict")[2].partition("Compared on")[0]
    assert too_wide(verdicts) == []
    assert "…" not in shown


@pytest.mark.parametrize("name", ["inert(reluctance=2.0)", "lrta", LONG, "x" * 70])
def test_verdicts_are_not_cut_off(capsys, monkeypatch, name):
    head = ["Agent", "Suboptimality (n = 60)", "More than tba(budget=40) (95 % interval)", "Verdict"]
    line = [name, "1.066", "0.036 (0.004 to 0.093)", "not clearly worse"]
    monkeypatch.setattr(verdicts, "head", lambda _: head)
    monkeypatch.setattr(verdicts, "lines", lambda _: [["tba(budget=40)", "1.030", "-", "best"], line])
    monkeypatch.setattr(verdicts, "sentences", lambda _: [])
    print_comparison(SimpleNamespace(solved={"a": 60, "b": 60}, problems=60, agents=["a", "b"]))
    shown = capsys.readouterr().out
    assert too_wide(shown) == []
    assert "…" not in shown
    if name != "x" * 70:
        assert all(word in shown for word in [*name.split(), "best", "clearly", "worse", "Verdict", "interval)"])
