"""Reproduced numbers: the rule and the counting, on made-up numbers with known answers."""

import math
from textwrap import dedent

import numpy as np
import pytest

from andante.campaign.orders import full_database
from andante.errors import CampaignError
from andante.report.published import (
    OVER_MAPS,
    UNEXPLAINED,
    Mark,
    Ours,
    Printed,
    Published,
    counted_in_words,
    few_problems,
    judged,
    loosely_reproduced,
    printed,
    reasons,
    tally,
)
from andante.report.results import Results
from andante.report.studyfile import read_study
from andante.report.studynumbers import published

pl = pytest.importorskip("polars")

STUDY = """
    paper_count = 400

    [[table]]
    title = "Table 1"
    rows = [
        { algorithm = "rta", label = "near", paper = 2.0 },
        { algorithm = "rta", label = "far", paper = 3.0, why = "other maps" },
        { algorithm = "rta", label = "far, and exact", paper = 3.00 },
        { algorithm = "rta", label = "again", paper = 3.0, again = true },
        { algorithm = "lrta", label = "absent", paper = 3.0 },
        { algorithm = "rta", label = "words", paper = "about the same" },
    ]

    [[elsewhere]]
    title = "In the text"
    rows = [{ label = "slices", paper = "700", ours = "793", why = "needs walks" }]
"""


def read(tmp_path, text):
    path = tmp_path / "study.toml"
    path.write_text(dedent(text))
    return read_study(path, "full", full_database)


def results(maps=1):
    """Return results on a hundred problems with a mean of 2 and a standard deviation of 1."""
    values = 2 + np.tile([1.0, -1.0], 50) * math.sqrt(99 / 100)
    names = ["rta"] * 100
    return Results(
        pl.DataFrame(
            {
                "algorithm": names,
                "settings": names,
                "solved": [True] * 100,
                "set": ["s"] * 100,
                "map": [f"m{k * maps // 100}" for k in range(100)],
                "fingerprint": [f"m{k * maps // 100}" for k in range(100)],
                "start": list(range(100)),
                "goal": [999] * 100,
                "repeat": [0] * 100,
                "suboptimality_ratio": values.tolist(),
            }
        ),
        "t",
    )


def test_numbers_are_read_with_their_digits(tmp_path):
    study = read(tmp_path, STUDY.replace("paper = 2.0 ", "paper = 2.100 "))
    assert study.parts[0].claims[0].paper[0].text == "2.100"
    assert printed("2.100").rounding == pytest.approx(0.0005)
    assert printed("8.6e5") == Printed(860000.0, 5000.0, printed("8.6e5").error)
    assert printed("146,661 ± 6,508").error == 6508.0
    assert printed("1 ± 0.00") == Printed(1.0, 0.005, 0.0)
    assert printed("1.061 ± 0.0027").rounding == pytest.approx(0.0005)
    assert [printed(words) for words in ("13 hours", "A*", "-", "insignificant")] == [None] * 4


@pytest.mark.parametrize(
    ("paper", "ours", "problems", "mark"),
    [
        (Printed(1.0, 0.0), Ours(1.28, 0.1, 100), 100, Mark.WITHIN),  # 2 * sqrt(2) * 0.1 = 0.283
        (Printed(1.0, 0.0), Ours(1.29, 0.1, 100), 100, Mark.OUTSIDE),
        (Printed(1.0, 0.01), Ours(1.29, 0.1, 100), 100, Mark.WITHIN),  # the rounding
        (Printed(1.0, 0.0, 0.0), Ours(1.21, 0.1, 100), 100, Mark.OUTSIDE),  # the paper's own error
        (Printed(1.0, 0.0), Ours(1.21, 0.1, 100), 10**9, Mark.OUTSIDE),  # a paper with this many problems has no error
        (Printed(1.0, 0.0), Ours(1.4, 0.1, 100), 25, Mark.WITHIN),  # and one with few has a large error
        (Printed(1.05, 0.005), Ours(1.054), 0, Mark.WITHIN),  # without an error: the digits
        (Printed(1.05, 0.005), Ours(1.056), 0, Mark.OUTSIDE),
        (Printed(math.inf, 0.0), Ours(math.inf), 0, Mark.WITHIN),
        (Printed(5.0, 0.0), Ours(math.inf), 0, Mark.OUTSIDE),
        (Printed(5.0, 0.0), Ours(math.nan), 0, Mark.OPEN),
        (Printed(5.0, 0.0), Ours(3.0, bound=True), 0, Mark.OPEN),  # it may have been 5
        (Printed(5.0, 0.0), Ours(7.0, bound=True), 0, Mark.OUTSIDE),  # it can only have been more
    ],
)
def test_the_rule(paper, ours, problems, mark):
    assert judged(paper, ours, problems)[0] is mark


def test_the_true_number_is_reproduced_nearly_always():
    rng = np.random.default_rng(1)
    marks = []
    for _ in range(2000):
        mine, theirs = rng.normal(5, 2, 50), rng.normal(5, 2, 50)
        ours = Ours(mine.mean(), mine.std(ddof=1) / math.sqrt(50), 50)
        marks.append(judged(Printed(theirs.mean(), 0.0), ours, 50)[0] is Mark.WITHIN)
    assert 0.93 < np.mean(marks) < 0.97


def test_a_study_is_counted_once(tmp_path):
    numbers = published(read(tmp_path, STUDY), results())
    assert [(one.label, one.mark.value) for one in numbers] == [
        ("near", "✓"),
        ("far", "✗"),
        ("far, and exact", "✗"),
        ("again", "✗"),
        ("absent", "-"),
        ("slices", "-"),
    ]
    assert tally(numbers) == {Mark.WITHIN: 1, Mark.OUTSIDE: 2, Mark.OPEN: 2}
    assert counted_in_words(numbers) == (
        "1 of 3 published numbers are reproduced within their error; 2 more are not judged."
    )
    assert "(100 instead of 400)" in few_problems(numbers)
    assert reasons(numbers) == (
        f"far: other maps. far, and exact: {UNEXPLAINED}. Not judged: not run. Not judged: needs walks"
    )


def test_numbers_that_agree_only_within_a_wide_error_are_counted():
    def one(paper, room, mark=Mark.WITHIN, again=False):
        return Published("T", "row", paper, "1", room, mark, again=again)

    tight = [one("4.00", "0.99"), one("-2 %", "0.4"), one("inf", "0"), one("0.95", "")]
    assert loosely_reproduced(tight) == ""
    assert loosely_reproduced([one("1.5", "9", Mark.OUTSIDE), one("1.5", "9", again=True)]) == ""
    found = loosely_reproduced([*tight, one("4.00", "1"), one("about -2 %", "1.88"), one("1,000 ± 3", "300")])
    assert found.startswith("For 3 of the reproduced numbers ")


def test_notes_lose_their_escapes(tmp_path):
    text = STUDY.replace('label = "near"', r'label = "near", note = "as RTA\\*"')
    assert published(read(tmp_path, text), results())[0].label == "near (as RTA*)"


def test_numbers_that_only_other_maps_would_explain_are_reported(tmp_path):
    rows = results(maps=2).rows
    spread = pl.when(pl.col("map") == "m0").then(1.5).otherwise(-1.5)
    apart = Results(rows.with_columns(pl.col("suboptimality_ratio") + spread).drop("agent"), "t")
    exact = published(read(tmp_path, STUDY), apart)[2]
    assert (exact.mark, exact.why) == (Mark.OUTSIDE, OVER_MAPS)


def test_a_reason_for_each_measure(tmp_path):
    text = STUDY.replace('why = "other maps"', 'why = ["one", "two"]')
    with pytest.raises(CampaignError, match="'why' must have 1 text here, one for each measure, not 2"):
        read(tmp_path, text)


def test_reasons_name_three_rows_at_most():
    numbers = [Published("T", f"row {k}", "1", "2", "0", Mark.OUTSIDE, "a" if k < 5 else "b") for k in range(6)]
    assert reasons(numbers) == "row 0; row 1; row 2 and 2 more: a. row 5: b"
