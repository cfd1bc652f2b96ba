"""Tables have the same cells in the terminal, in Markdown and in CSV."""

import csv
import io
import math
from dataclasses import replace

import pytest
from rich.console import Console

from andante.errors import OutputError
from andante.measures import summarise
from andante.report.table import ComparisonTable, cells, columns, csv_text, lead, markdown, write_csv


def row(algorithm, ratio, solved=True, **more):
    return {
        "algorithm": algorithm,
        "solved": solved,
        "suboptimality_ratio": ratio,
        "states_expanded_per_move": 8.5,
        "max_states_expanded": 9,
        "microseconds_per_move": 0.5,
        **more,
    }


ROWS = [row("lrta(depth=2)", 4.0), row("lrta(depth=2)", 6.0), row("[bold]", 1.0), row("[bold]", math.nan, False)]


@pytest.fixture
def summaries():
    return summarise(ROWS)


def printed(table, width):
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(table)
    return console.file.getvalue()


def test_cells(summaries):
    assert cells(summaries) == [
        ["lrta(depth=2)", "100 % of 2", "5.000 ± 1.000", "5.000", "5.900", "8.50", "9", "0.50"],
        ["[bold]", "50.0 % of 2", "1.000 (n = 1)", "1.000 (n = 1)", "1.000 (n = 1)", "8.50", "≥ 9", "0.50"],
    ]


def test_columns_are_those_that_were_measured(summaries):
    titles = [column.title for column in columns(summaries)]
    assert titles == [
        "Agent",
        "Arrived",
        "Suboptimality",
        "Median",
        "95th percentile",
        "Expanded per move",
        "Worst move",
        "Time per move",
    ]
    assert all(column.about for column in columns(summaries))


def test_an_agent_that_lacks_a_measure_has_a_dash():
    table = cells(summarise([row("a", 1.0, memory_bytes=3), row("b", 1.0)]))
    assert [line[-1] for line in table] == ["3 B", "-"]


def test_preparation_that_no_agent_had_has_no_column():
    def titles(measures=(), **more):
        return [column.title for column in columns(summarise([row("a", 1.0), row("b", 1.0, **more)]), measures)]

    bare = titles()
    assert titles(database_bytes=0, build_seconds=math.nan) == bare
    *before, after = bare  # these columns are before the time of moves
    assert titles(database_bytes=7, build_seconds=0.0) == [*before, "Database, maximum", after]
    assert titles(build_seconds=0.5) == [*before, "Build time, maximum", after]
    assert "Build time" in titles(["build_seconds"], build_seconds=0.0)  # shown on request


def test_the_lead_has_counts_and_the_sight_of_agents():
    assert lead([]) == "No results yet."
    assert lead([row("a", 1.0, map="m"), row("b", 1.0, map="m")]) == "2 agents, 1 problem each on m."
    assert lead([row("a", 1.0, map=m, sight=3) for m in "mn"]) == "1 agent, 2 problems each on 2 maps, with sight 3."
    assert lead([row("a", 1.0, sight=3), row("a", 1.0)]) == "1 agent, 2 problems each."


def test_the_terminal_shows_every_cell_at_any_width(summaries):
    for width in (200, 80, 40):
        text = printed(ComparisonTable(summaries), width)
        for line in cells(summaries):
            for cell in line:
                assert cell in text
        assert max(map(len, text.splitlines())) <= width


def test_narrow_terminals_get_more_tables(summaries):
    assert printed(ComparisonTable(summaries), 200).count("Agent") == 1
    assert printed(ComparisonTable(summaries), 60).count("Agent") > 1


def test_markdown(summaries):
    lines = markdown(summaries).splitlines()
    assert lines[0].startswith("| Agent | Arrived | Suboptimality (times optimal) |")
    assert lines[1].startswith("| --- | --: |")
    assert lines[2].startswith("| lrta(depth=2) | 100 % of 2 | 5.000 ± 1.000 |")
    assert len({line.count("|") for line in lines}) == 1


def test_names_cannot_change_the_layout_of_markdown(summaries):
    named = [replace(summaries[0], name="a|b\n<script>*")]
    lines = markdown(named, caption=["A* on a|b"]).splitlines()
    assert lines[2].startswith("| a\\|b &lt;script>\\* | 100 %")
    assert len({line.replace("\\|", "").count("|") for line in lines[:3]}) == 1
    assert lines[-1] == "A\\* on a\\|b"


def test_csv_has_every_row_and_column():
    read = list(csv.DictReader(io.StringIO(csv_text([*ROWS, row("c", 2.0, build_seconds=1.5)]))))
    assert len(read) == 5
    assert [line["algorithm"] for line in read] == [*(r["algorithm"] for r in ROWS), "c"]
    assert float(read[0]["suboptimality_ratio"]) == 4.0
    assert (read[0]["build_seconds"], read[4]["build_seconds"]) == ("", "1.5")


def test_csv_is_written_completely_or_not_at_all(tmp_path):
    write_csv(ROWS, tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text() == csv_text(ROWS)
    with pytest.raises(OutputError, match="cannot write"):
        write_csv(ROWS, tmp_path / "no folder" / "rows.csv")
