"""Tables for a paper: LaTeX that holds together, whatever is in the table."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andante.errors import ParameterError
from andante.measures import measure_and_statistic, summarise
from andante.report.latex import for_latex, latex
from tests.worlds import examples

BRACES = re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def parsed(text):
    """Return the column formats, the head and the body of a table; the cells are split at `&`."""
    assert text.count("\\begin{") == text.count("\\end{")
    plain = re.sub(r"\\.", "", re.sub("(?m)^%.*$", "", text))  # without escaped signs and comments
    assert plain.count("{") == plain.count("}")
    _, _, rest = text.partition("\\begin{tabular}{\n")
    formats, _, rest = rest.partition("\n}\n")
    head, _, rest = rest.partition("\\midrule\n")
    body, _, _ = rest.partition("\n\\bottomrule")

    def lines(part):
        return [
            re.split(r"(?<!\\) ?& ?", line.removesuffix(" \\\\")) for line in part.splitlines() if line[:4] != "\\top"
        ]

    return [line.strip() for line in formats.split("\n")], lines(head), lines(body)


def check(text):
    """Hold every cell against what its column says."""
    formats, head, body = parsed(text)
    assert formats[0] == "l"
    for line in [*head, *body]:
        assert len(line) == len(formats)
    for line in head:
        assert all(not cell or BRACES.fullmatch(cell) for cell in line[1:])  # siunitx reads what is not in braces
    for column, form in enumerate(formats[1:], 1):
        sign, whole, _, decimals = re.search(r"table-format = (-?)(\d+)(\.?)(\d*)", form).groups()
        for line in body:
            cell = re.sub(r"^\\bfseries ", "", line[column])
            texts = BRACES.findall(cell)
            rest = BRACES.sub("", cell).strip()
            assert not rest or NUMBER.fullmatch(rest)
            if rest:
                front, _, back = rest.lstrip("-").partition(".")
                assert len(front) <= int(whole)
                assert len(back) <= int(decimals or 0)
                assert sign or not rest.startswith("-")
                before, after = (
                    [one for one in texts if (cell.index(one) < cell.index(rest)) == side] for side in (1, 0)
                )
                assert all("table-space-text-pre" in form for _ in before)
                assert all("table-space-text-post" in form for _ in after)
                assert len(before) < 2
                assert len(after) < 2
    return formats, head, body


NUMBERS = st.one_of(st.floats(-9.0, 1e7), st.just(math.nan), st.just(math.inf))


@examples(64)
@given(
    st.lists(
        st.tuples(st.sampled_from(["lrta(depth=2)", "a_b%&#", "x\\y^~<z>"]), st.booleans(), NUMBERS, NUMBERS),
        min_size=1,
    )
)
def test_a_table_holds_together_whatever_is_in_it(trials):
    rows = [
        {"algorithm": name, "solved": solved, "outcome": "GOAL" if solved else "MOVE_CAP", "cost": cost}
        | {"memory_bytes": abs(more), "build_seconds": abs(more), "suboptimality_ratio": more}
        for name, solved, cost, more in trials
    ]
    summaries = summarise(rows)
    check(latex(summaries))
    check(latex(summaries, ["cost", "memory_bytes:max", "build_seconds:mean"], caption=["50 % & more_"]))


def test_numbers_bounds_errors_intervals_and_counts():
    rows = [
        {"algorithm": "lrta(depth=2)", "solved": k > 0, "outcome": "GOAL" if k else "MOVE_CAP", "map": "m"}
        | {"suboptimality_ratio": float(k), "cost": 1000.0 * k, "states_expanded_per_move": 1.5 + k}
        for k in range(4)
    ] + [
        {
            "algorithm": "astar",
            "solved": True,
            "outcome": "GOAL",
            "map": "m",
            "suboptimality_ratio": math.nan if k else 1,
        }
        | {"cost": 12345.0, "states_expanded_per_move": 2.0}
        for k in range(2)
    ]
    asked = ["suboptimality_ratio:mean", "cost:mean", "states_expanded_per_move:mean"]
    text = latex(summarise(rows), asked, caption=["One.", "Two."], label="tab:one", notes=["A note."])
    _, head, (lrta, astar) = check(text)
    assert head == [
        ["Agent", "{$n$}", "{Arrived}", "{Suboptimality}", "{Cost}", "{Expanded per move}"],
        ["", "", "{(\\%)}", "{(times optimal)}", "{(cost)}", "{(states)}"],
    ]
    assert lrta[:5] == ["LRTA* (depth=2)", "4", "75.0", "{$\\geq$} 1.500", "{$\\geq$} 1500"]
    assert lrta[5] == f"3.00 {{$\\pm\\,{math.sqrt(5 / 12):.2f}$}}"
    assert astar == ["A*", "2", "100.0", "1.000 {$(n=1)$}", "12345 {$\\pm\\,0$}", "2.00 {$\\pm\\,0.00$}"]
    assert "\\caption{One. Two.}\n\\label{tab:one}\n" in text
    assert "\n% A note.\n" in text


def test_sizes_of_a_column_are_in_one_unit():
    rows = [
        {"algorithm": name, "solved": True, "memory_bytes": size} for name, size in (("a", 2_500_000), ("b", 40_000))
    ]
    _, head, (first, second) = check(latex(summarise(rows), ["memory_bytes:max"]))
    assert head[1][-1] == "{(MB)}"
    assert (first[-1], second[-1]) == ("2.500", "0.040")


def test_signs_of_latex_are_escaped():
    assert for_latex("a_b\\c") == "a\\_b\\textbackslash{}c"


def test_a_column_is_a_measure_and_a_statistic():
    assert measure_and_statistic(" cost : p95 ") == ("cost", "p95")
    with pytest.raises(ParameterError, match="there is no measure 'coast'; did you mean 'cost'"):
        measure_and_statistic("coast:mean")
