"""A paper's numbers about choosing beside ours, on made-up scores with known answers."""

import math
from textwrap import dedent
from typing import NamedTuple

import numpy as np
import pytest

from andante.errors import CampaignError
from andante.measures import Statistics
from andante.report.choosingpaper import Scores, missing_for, paper_section, published, read_choices
from andante.report.published import Mark

PAPER = """
    title = "A paper"

    [[part]]
    title = "All"
    algorithms = 1000
    rows = [
        { label = "the mean", of = "random", paper = "5.0" },
        { of = "single best", paper = "2.00", fewer = "fewer algorithms" },
    ]

    [[part]]
    title = "Per map"
    by = "map"
    algorithms = 1000
    why = "other maps"
    rows = [
        { label = "2 %", of = "sample", run = 20, paper = "4.0 ± 0.1" },
        { label = "3 %", of = "sample", run = 30, paper = "4.0 ± 0.1" },
        { of = "prior", paper = "9.0 ± 0.1" },
    ]
"""


class Line(NamedTuple):
    """One line of a sweep."""

    present: float
    exhaustive: Statistics
    prior: Statistics
    sample: Statistics


def read(tmp_path, text=PAPER):
    file = tmp_path / "paper.toml"
    file.write_text(dedent(text), encoding="utf-8")
    return read_choices(file)


def around(mean, error, count=100):
    """Return numbers with this mean and this standard error."""
    return Statistics.of(mean + error * math.sqrt(count - 1) * np.tile([1.0, -1.0], count // 2))


def scores(algorithms):
    """Return scores: samples of 20 algorithms have 4.1, all others 3.0; the prior has 6."""
    shares = (100, 40, 20, 10)
    lines = [
        Line(share, around(3, 0.1), around(6, 0.1), around(4.1 if share * algorithms == 2000 else 3.0, 0.1))
        for share in shares
    ]
    whole = {"random": around(5.5, 0.3), "single best": around(2.1, 0.3), "virtual best": around(1, 0.1)}
    return Scores(algorithms, whole, {"map": lines})


def test_a_sample_is_judged_with_as_many_algorithms_as_in_the_paper(tmp_path):
    title, choices = read(tmp_path)
    for algorithms in (100, 200):
        found = published(choices, scores(algorithms))
        assert [one.mark for one in found] == [Mark.WITHIN, Mark.OUTSIDE, Mark.WITHIN, Mark.OPEN, Mark.OUTSIDE]
        assert [one.ours for one in found] == ["5.50 ± 0.30", "2.10", "4.10 ± 0.10", "not run", "6.00 ± 0.10"]
    assert title == "A paper"
    assert missing_for(choices, 100) == [80.0, 70.0]
    assert missing_for(choices, 25) == [20.0]  # there are no thirty


def test_fewer_algorithms_explain_a_number_only_if_there_are_fewer(tmp_path):
    _, choices = read(tmp_path)
    few, all_of_them = (published(choices, scores(count)) for count in (100, 1000))
    assert [one.why for one in few if one.mark is Mark.OUTSIDE] == ["fewer algorithms", "other maps"]
    assert [one.why for one in all_of_them if one.mark is Mark.OUTSIDE] == ["", "other maps"]


def test_the_section_counts_and_has_a_table_of_each_part(tmp_path):
    _, choices = read(tmp_path)
    text = "\n".join(paper_section(published(choices, scores(100))))
    assert text.startswith("**2 of 4 published numbers ")
    assert "(100 instead of 1,000)" in text
    assert text.index("### All") < text.index("| the mean | 5.0 | 5.50 ± 0.30 | ✓ |") < text.index("### Per map")
    assert "| prior | 9.0 ± 0.1 | 6.00 ± 0.10 | ✗ | other maps |" in text


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('of = "random"', 'of = "prior"', r"line 8: there is no score of 'prior' here"),
        ('by = "map"', 'by = "maps"', r"choices are made by map or problem, not by 'maps'"),
        ('paper = "5.0"', 'paper = "five"', r"'paper' must be a number, .*, not 'five'"),
        ('"A paper"', "5", "title must be text in quotes, not 5"),
        ("run = 20", "ran = 20", "does not accept 'ran'"),
        ('{ of = "prior", paper = "9.0 ± 0.1" },', "7,", "each of rows must be a table, not 7"),
        ("[[part]]", "[[parts]]", "has no 'part'"),
    ],
)
def test_mistakes_are_reported(tmp_path, old, new, sentence):
    with pytest.raises(CampaignError, match=sentence):
        read(tmp_path, PAPER.replace(old, new))


def test_the_paper_of_the_study_is_read():
    _, choices = read_choices("studies/choosing/paper.toml")
    assert len(choices) == 19
    assert sum(one.of == "sample" for one in choices) == 12
