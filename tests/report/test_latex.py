"""Tables for a paper: LaTeX that is consistent for any contents."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andante.errors import ParameterError
from andante.measures import measure_and_statistic, summarise
from andante.report.latex import for_latex, latex
from andante.report.typeset import width
from tests.worlds import examples

BRACES = re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def parsed(text):
    """Return the column formats, the head and the body of each table in a float; the cells are split at `&`."""
    assert text.count("\\begin{") == text.count("\\end{")
    plain = re.sub(r"\\.", "", re.sub("(?m)^%.*$", "", text))  # without escaped signs and comments
    assert plain.count("{") == plain.count("}")

    def lines(part):
        return [
            re.split(r"(?<!\\) ?& ?", line.removesuffix(" \\\\")) for line in part.splitlines() if line[:4] != "\\top"
        ]

    found = []
    for table in text.split("\\begin{tabular}{\n")[1:]:
        formats, _, rest = table.partition("\n}\n")
        head, _, rest = rest.partition("\\midrule\n")
        body, _, _ = rest.partition("\n\\bottomrule")
        found.append(([line.strip() for line in formats.split("\n")], lines(head), lines(body)))
    return found


def check(text):
    """Compare every cell with what its column declares; return the tables side by side, as if they were one."""
    tables = parsed(text)
    for formats, head, body in tables:
        check_table(formats, head, body)
    first = tables[0]
    return tuple(
        [
            line + [cell for _, *more in tables[1:] for cell in more[side][k][1:]]
            for k, line in enumerate(first[side + 1])
        ]
        for side in (0, 1)
    )


def check_table(formats, head, body):
    assert formats[0] == "l"
    for line in [*head, *body]:
        assert len(line) == len(formats)
    for line in head:
        assert all(not cell or BRACES.fullmatch(cell) for cell in line[1:])  # siunitx reads what is not in braces
    for column, form in enumerate(formats[1:], 1):
        size = r"table-format = (\\geq )?(-?)(\d+)(\.?)(\d*)"
        bound, sign, whole, _, decimals = re.search(size, form).groups()
        for line in body:
            cell = line[column].removeprefix("\\bfseries ")
            texts = BRACES.findall(cell)
            rest = BRACES.sub("", cell).strip()
            assert bound or "\\geq" not in rest
            number = rest.removeprefix("\\geq ")
            assert not number or NUMBER.fullmatch(number)
            if number:
                front, _, back = number.lstrip("-").partition(".")
                assert len(front) <= int(whole)
                assert len(back) <= int(decimals or 0)
                assert sign or not number.startswith("-")
                assert len(texts) < 2
                if texts:
                    assert cell.index(texts[0]) > cell.index(number)
                    assert width(re.search("table-space-text-post = ({.*})]", form)[1]) >= width(texts[0])


NUMBERS = st.one_of(st.floats(-9.0, 1e7), st.just(math.nan), st.just(math.inf))


@examples(64)
@given(
    st.lists(
        st.tuples(st.sampled_from(["lrta(depth=2)", "a_b%&#", "x\\y^~<z>"]), st.booleans(), NUMBERS, NUMBERS),
        min_size=1,
    )
)
def test_a_table_is_consistent_for_any_contents(trials):
    rows = [
        {"algorithm": name, "solved": solved, "outcome": "GOAL" if solved else "MOVE_CAP", "cost": cost}
        | {"memory_bytes": abs(more), "build_seconds": abs(more), "suboptimality_ratio": more}
        for name, solved, cost, more in trials
    ]
    summaries = summarise(rows)
    check(latex(summaries, ["cost:mean", "suboptimality_ratio"]))
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
    head, (lrta, astar) = check(text)
    assert head == [
        ["Agent", "{$n$}", "{Arrived}", "{Suboptimality}", "{Cost}", "{Expanded per move}"],
        ["", "", "{(\\%)}", "{(times optimal)}", "{(cost)}", "{(states)}"],
    ]
    assert lrta[:5] == ["LRTA* (depth=2)", "4", "75.0", "\\geq 1.500", "\\geq 1500"]
    assert lrta[5] == f"3.00 {{$\\,\\pm\\,{math.sqrt(5 / 12):.2f}$}}"
    assert astar == ["A*", "2", "100.0", "1.000 {$\\,(n=1)$}", "12345 {$\\,\\pm\\,0$}", "2.00 {$\\,\\pm\\,0.00$}"]
    assert "\\caption[{One.}]{One. Two.}\n\\label{tab:one}\n" in text
    assert "\n% A note.\n" in text


def test_sizes_of_a_column_are_in_one_unit():
    rows = [
        {"algorithm": name, "solved": True, "memory_bytes": size} for name, size in (("a", 2_500_000), ("b", 40_000))
    ]
    head, (first, second) = check(latex(summarise(rows), ["memory_bytes:max"]))
    assert head[1][-1] == "{(MB)}"
    assert (first[-1], second[-1]) == ("2.500", "0.040")


def test_signs_of_latex_are_escaped():
    assert for_latex("a_b\\c") == "a\\_b\\textbackslash{}c"
    assert for_latex("two\n\nlines of 50 %") == "two lines of 50\\,\\%"


def one_row(name, **numbers):
    return {"algorithm": name, "solved": True, "outcome": "GOAL", **numbers}


def test_long_names_are_broken_into_lines():
    name = "family(w=8.65, wc=7.41, b=0.2, operator=median, da=true, expendable=true)"
    body = check(latex(summarise([one_row(name, cost=5.0), one_row("[odd]", cost=6.0)]), ["cost:max"]))[1]
    assert [line[0] for line in body] == [
        "Bulitko's family (w=8.65,",
        "\\quad wc=7.41, b=0.2,",
        "\\quad operator=median, da=true,",
        "\\quad expendable=true)",
        "{}[odd]",
    ]
    assert all(cell == "" for line in body[1:4] for cell in line[1:])


def test_a_table_that_is_too_wide_is_divided():
    row = one_row("lrta", cost=5.0, memory_bytes=10.0, moves=9, states_expanded=5, values_stored=3)
    narrow, wide = (
        latex(summarise([row]), [f"{name}:{one}" for name in names for one in ("mean", "median", "p95", "max")])
        for names in (["cost"], ["cost", "moves", "states_expanded"])
    )
    assert narrow.count("\\begin{tabular}") < wide.count("\\begin{tabular}")
    assert len(check(wide)[0][0]) == 3 + 12
    assert "\\begin{table}" in latex(summarise([row]), ["cost:mean"])
    assert "\\begin{table*}" in wide


def test_without_columns_there_are_those_of_a_paper():
    row = one_row("lrta", suboptimality_ratio=1.5, cost=5.0, memory_bytes=10.0, moves=9, values_stored=3)
    head = check(latex(summarise([row])))[0]
    assert head[0][1:] == ["{$n$}", "{Arrived}", "{Suboptimality}", "{Median}", "{Agent memory, maximum}"]


def test_a_column_is_a_measure_and_a_statistic():
    assert measure_and_statistic(" cost : p95 ") == ("cost", "p95")
    with pytest.raises(ParameterError, match="there is no measure 'coast'; did you mean 'cost'"):
        measure_and_statistic("coast:mean")
