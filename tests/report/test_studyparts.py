"""The parts of a study, each compared with a computation that is too simple to be wrong."""

import math
from itertools import product
from textwrap import dedent

import numpy as np
import pytest

from andante.campaign.orders import full_database
from andante.errors import ParameterError
from andante.measures import measure
from andante.report import charts
from andante.report.dominance import on_all_problems, on_problems
from andante.report.results import Results
from andante.report.studycontests import front, pairs
from andante.report.studyfigures import best_so_far
from andante.report.studyfile import read_study
from andante.report.studytables import correlation, influence

pl = pytest.importorskip("polars")

PROBLEMS = 40


@pytest.fixture(scope="module")
def rows():
    """Twelve settings of LRTS on the same problems, with random costs and work."""
    rng = np.random.default_rng(7)
    made = []
    for depth, gamma, quota in product((1, 3, 5), (0.4, 1.0), (100.0, math.inf)):
        level = 1 + depth * gamma + rng.random()
        for start in range(PROBLEMS):
            hard = rng.integers(1, 5)
            made.append(
                {
                    "algorithm": f"lrts(depth={depth}, gamma={gamma}, quota={quota})",
                    "settings": f"lrts(depth={depth}, gamma={gamma}, quota={quota})",
                    "solved": True,
                    "set": "s",
                    "fingerprint": "f",
                    "start": start,
                    "goal": 99,
                    "repeat": 0,
                    "cost": float(hard * level + rng.integers(0, 3)),
                    "states_expanded": int(hard * (9 - depth) + rng.integers(0, 5)),
                    "values_stored": int(hard + rng.integers(0, 2)),
                }
            )
    return pl.DataFrame(made)


def read(tmp_path, text):
    path = tmp_path / "study.toml"
    path.write_text(dedent(text))
    (spec,) = read_study(path, "full", full_database).parts
    return spec


def mean(rows, name, **conditions):
    """Return the mean of a measure over the rows of one setting, found by its text."""
    text = f"lrts(depth={conditions['depth']}, gamma={conditions['gamma']}, quota={conditions['quota']})"
    return float(np.mean(rows.filter(rows["algorithm"] == text)[name].to_list()))


def cells(table):
    """Return the cells of a table in Markdown, line by line, without its head."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


# --- all pairs ------------------------------------------------------------------------------------------------------


def naive_duels(rows, x, y):
    names = rows["algorithm"].unique(maintain_order=True).to_list()
    average = {name: [rows.filter(rows["algorithm"] == name)[m].mean() for m in (x, y)] for name in names}
    return [
        on_problems(rows, a, b, x, y)
        for a in names
        for b in names
        if all(p <= q for p, q in zip(average[a], average[b], strict=True)) and average[a] != average[b]
    ]


def test_duels_of_all_pairs_are_those_of_each_pair(rows):
    results = Results(rows, "t")
    names = [one.name for one in results.summaries()]
    found = on_all_problems(results.rows.sample(fraction=1.0, shuffle=True, seed=1), names, "cost", "states_expanded")
    assert found == naive_duels(rows, "cost", "states_expanded")
    assert len(found) > 5


def test_the_table_of_all_pairs(rows, tmp_path):
    spec = read(
        tmp_path,
        """
        [[pairs]]
        title = "All pairs"
        x = "cost"
        y = "states_expanded"
        paper = { least = 5.48, mean = "534.32 ± 123.47" }
    """,
    )
    ratios = [duel.dominance_ratio for duel in naive_duels(rows, "cost", "states_expanded")]
    finite = [ratio for ratio in ratios if ratio < math.inf]
    error = np.std(finite, ddof=1) / math.sqrt(len(finite))
    assert cells(pairs(spec, Results(rows, "t"))) == [
        ["least dominance ratio", "5.48 ✗", f"{min(ratios):.2f}"],
        ["greatest dominance ratio", "-", f"{max(ratios):.2f}"],
        ["mean of those that are finite", "534.32 ± 123.47 ✗", f"{np.mean(finite):.2f} ± {error:.2f}"],
        ["infinite", "-", f"{len(ratios) - len(finite)} of {len(ratios)}"],
    ]


def test_pairs_on_different_problems_are_not_compared(rows, tmp_path):
    less = rows.filter((pl.col("start") > 0) | (pl.col("algorithm") != rows["algorithm"][0]))
    spec = read(tmp_path, "[[pairs]]\ntitle = 'All pairs'\nx = 'cost'\ny = 'states_expanded'")
    assert pairs(spec, Results(less, "t")).startswith("Not compared: ")
    results = Results(less, "t")
    with pytest.raises(ParameterError, match="were run on different problems"):
        on_all_problems(results.rows, [one.name for one in results.summaries()], "cost", "states_expanded")


# --- fronts ---------------------------------------------------------------------------------------------------------


def test_a_front_consists_of_agents_that_no_other_dominates(rows, tmp_path):
    spec = read(
        tmp_path,
        """
        [[front]]
        title = "Table 2"
        rows = [{ x = "cost", y = "states_expanded", paper = "A*" }, { x = "cost", y = "values_stored" }]
    """,
    )
    for line, (x, y) in zip(
        cells(front(spec, Results(rows, "t"))), [("cost", "states_expanded"), ("cost", "values_stored")], strict=True
    ):
        beaten = {duel.second for duel in naive_duels(rows, x, y)}
        free = [name for name in rows["algorithm"].unique(maintain_order=True) if name not in beaten]
        assert line[3:] == [", ".join(free), f"{len(free)} of 12"]


# --- correlation ----------------------------------------------------------------------------------------------------


def test_correlation_is_pearsons(rows, tmp_path):
    name = rows["algorithm"][0]
    spec = read(
        tmp_path,
        f"""
        [[correlation]]
        title = "Memory and travel"
        x = "cost"
        y = "values_stored"
        rows = [{{ algorithm = "{name}", paper = 0.9544 }}, {{ algorithm = "rta" }}]
    """,
    )
    one = rows.filter(rows["algorithm"] == name)
    x, y = one["cost"].to_list(), one["values_stored"].to_list()
    apart = [[value - sum(values) / len(values) for value in values] for values in (x, y)]
    above = sum(a * b for a, b in zip(*apart, strict=True))
    plain = above / math.sqrt(sum(a * a for a in apart[0]) * sum(b * b for b in apart[1]))
    named = rows.with_columns(algorithm=pl.col("algorithm").replace({name: str(spec.claims[0].algorithm)}))
    first, absent = cells(correlation(spec, Results(named, "t")))
    assert first[1:3] == ["0.9544 ✗", f"{plain:.4f}"]
    low, high = map(float, first[3].split(" to "))
    assert low < plain < high
    assert first[4] == str(PROBLEMS)
    assert absent[2] == "not run"


def test_the_interval_of_a_correlation_for_a_known_case(tmp_path):
    """With r = 0.5 and n = 28, z = 0.5493. Each problem adds plus or minus 0.6495 to r, so the error of z is 1 / 6.

    With Student's 2.7707 for 27 degrees of freedom, the interval is from tanh(0.0875) to tanh(1.0111).
    """
    x = np.array([1.0, -1.0] * 14)
    y = 0.5 * x + math.sqrt(0.75) * np.array([1.0, 1.0, -1.0, -1.0] * 7)
    same = {"algorithm": "rta", "settings": "rta()", "solved": True, "set": "s", "map": "m"}
    rows = pl.DataFrame({**same, "cost": x, "moves": y})
    spec = read(tmp_path, "[[correlation]]\ntitle='C'\nx='cost'\ny='moves'\nrows=[{ algorithm = 'rta' }]")
    assert cells(correlation(spec, Results(rows, "t"))) == [["rta", "-", "0.5000", "0.0873 to 0.7662", "28"]]


# --- influence ------------------------------------------------------------------------------------------------------


def test_influence_is_counted_from_the_lowest_to_the_highest_value(rows, tmp_path):
    spec = read(
        tmp_path,
        """
        [[influence]]
        title = "Table 3"
        parameters = ["depth", "gamma"]
        rows = [{ label = "travel", measure = "cost", paper = ["rises", "A"] }]
    """,
    )
    (line,) = cells(influence(spec, Results(rows, "t")))
    ups = [
        (mean(rows, "cost", depth=1, gamma=g, quota=q), mean(rows, "cost", depth=5, gamma=g, quota=q))
        for g, q in product((0.4, 1.0), (100.0, math.inf))
    ]
    count = sum(high > low for low, high in ups)
    low, high = (measure("cost").show(np.mean(side)) for side in zip(*ups, strict=True))
    assert line[:3] == ["travel", "rises", f"rises in {count} of 4: {low} to {high}"]
    assert line[3] == "A"


def test_influence_on_the_effect_of_another_parameter(rows, tmp_path):
    spec = read(
        tmp_path,
        """
        [[influence]]
        title = "Table 6"
        of = "depth"
        parameters = ["gamma"]
        rows = [{ measure = "cost" }]
    """,
    )
    (line,) = cells(influence(spec, Results(rows, "t")))
    sizes = [
        [abs(mean(rows, "cost", depth=5, gamma=g, quota=q) - mean(rows, "cost", depth=1, gamma=g, quota=q))
         for g in (0.4, 1.0)]
        for q in (100.0, math.inf)
    ]  # fmt: skip
    count = sum(high > low for low, high in sizes)
    low, high = (measure("cost").show(np.mean(side)) for side in zip(*sizes, strict=True))
    assert line == ["Cost", "-", f"grows in {count} of 2: {low} to {high}"]


def test_influence_of_a_parameter_that_was_not_varied(rows, tmp_path):
    spec = read(tmp_path, "[[influence]]\ntitle='T'\nparameters=['level']\nrows=[{ measure = 'cost' }]")
    assert cells(influence(spec, Results(rows, "t"))) == [["Cost", "-", "not run"]]


# --- figures --------------------------------------------------------------------------------------------------------


def test_the_best_so_far_is_of_each_problem(rows):
    rng = np.random.default_rng(3)
    trials = [
        {
            "settings": "lrta(depth=1)",
            "max_trials": trial,
            "set": "s",
            "fingerprint": "f",
            "start": start,
            "goal": 99,
            "repeat": 0,
            "cost": float(10 * trial + start),
            "suboptimality_ratio": math.nan if (trial, start) == (2, 1) else 1 + rng.random(),
        }
        for trial in range(1, 7)
        for start in range(3)
    ]
    found = best_so_far(pl.DataFrame(trials).sample(fraction=1.0, shuffle=True), "max_trials", "cost", Y)
    (curve,) = found.values()
    for number, (x, numbers) in enumerate(curve, 1):
        assert x == pytest.approx(10 * number + 1)
        lowest = [np.nanmin([t[Y] for t in trials if t["max_trials"] <= number and t["start"] == s]) for s in range(3)]
        assert numbers.mean == pytest.approx(np.mean(lowest))
        assert numbers.count == 3
    with pytest.raises(ParameterError, match="no column 'max_trial' to follow; did you mean 'max_trials'"):
        best_so_far(pl.DataFrame(trials), "max_trial", "cost", Y)


Y = "suboptimality_ratio"


def test_differences_are_of_each_value_and_the_next(rows):
    settings = Results(rows.filter(rows["algorithm"].str.contains("100.0")), "t").settings()
    drawn = charts.heat_map(settings, "gamma", "quota", "cost", panels="depth", differences=True)
    titles = [axes.get_title() for axes in drawn.axes]
    assert titles == ["depth = 1", "depth = 3", "depth = 5", "depth = 1 minus 3", "depth = 3 minus 5"]
    for axes, (one, other) in zip(drawn.axes[3:], [(1, 3), (3, 5)], strict=True):
        printed = [float(text.get_text()) for text in axes.texts]
        plain = [
            mean(rows, "cost", depth=one, gamma=g, quota=100.0) - mean(rows, "cost", depth=other, gamma=g, quota=100.0)
            for g in (0.4, 1.0)
        ]
        assert printed == pytest.approx(plain, abs=0.06)
