"""Measures, rows and summaries, compared with numbers computed by hand."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.episode.rows import rows
from andante.episode.trial import Limits
from andante.errors import ParameterError
from andante.measures import (
    MEASURES,
    Better,
    Headline,
    Outcome,
    Statistics,
    capped_suboptimality_ratio,
    capped_suboptimality_with_waits,
    measure,
    summarise,
)
from andante.world.graph import Graph
from andante.world.grid import Grid

# --- measures ---


def test_every_measure_has_a_description():
    for name, known in MEASURES.items():
        assert known.name == name
        assert known.title
        assert known.about.endswith(".")
        assert known.unit
    assert len({known.title for known in MEASURES.values()}) == len(MEASURES)


def test_names_that_a_row_has_are_measures():
    row = rows([andante.run("lrta", Grid([list("....")]).problem((0, 0), (3, 0)))])[0]
    not_measured = {"algorithm", "map", "problem", "start", "goal", "outcome", "solved"}
    assert set(row) - not_measured <= set(MEASURES)


def test_an_unknown_measure_is_refused_with_the_nearest():
    with pytest.raises(ParameterError, match="did you mean 'suboptimality_ratio'"):
        measure("suboptimality")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("suboptimality_ratio", 1.0, "1.000"),
        ("suboptimality_ratio", 12.3456, "12.35"),
        ("suboptimality_ratio", 123456.7, "123,457"),
        ("max_states_expanded", 56091.0, "56,091"),
        ("memory_bytes", 999.0, "999 B"),
        ("memory_bytes", 5_200_000.0, "5.2 MB"),
        ("memory_bytes", 3e9, "3.0 GB"),
        ("build_seconds", 0.0123, "12.3 ms"),
        ("build_seconds", 2.34, "2.3 s"),
        ("values_stored", math.nan, "-"),
        ("cost", math.inf, "inf"),
    ],
)
def test_numbers_are_shown_with_useful_digits(name, value, text):
    assert measure(name).show(value) == text


def test_an_error_has_the_digits_of_its_mean():
    known = measure("suboptimality_ratio")
    assert known.show(6.2149, 0.4011) == "6.215 ± 0.401"
    assert known.show(154.6, 41.459) == "154.6 ± 41.5"
    assert known.show(2.0, math.nan) == "2.000"


def test_better_and_headline():
    assert measure("suboptimality_ratio").better is Better.LESS
    assert measure("max_states_expanded").headline is Headline.MAX
    assert measure("optimal_cost").better is Better.NEITHER


# --- rows ---


@pytest.fixture(scope="module")
def corridor():
    return Grid([list(".....")], name="corridor")


def test_a_row_contains_the_trial(corridor):
    trial = andante.run("lrta(depth=2)", corridor.problem((0, 0), (4, 0)))
    row = rows([trial], memory_bytes=12, build_seconds=0.5)[0]
    assert row["algorithm"] == "lrta(depth=2)"
    assert row["map"] == "corridor"
    assert (row["start"], row["goal"], row["outcome"], row["solved"]) == (0, 4, "GOAL", True)
    assert (row["cost"], row["optimal_cost"], row["suboptimality_ratio"], row["moves"]) == (4.0, 4.0, 1.0, 4)
    assert row["states_expanded"] == trial.states_expanded
    assert row["states_expanded_per_move"] == trial.states_expanded / 4
    assert row["max_states_expanded"] == trial.max_states_expanded
    assert row["first_move_states_expanded"] == trial.first_move_states_expanded
    assert row["first_move_states_touched"] == trial.first_move_states_touched
    assert row["first_move_microseconds"] == pytest.approx(trial.first_move_seconds * 1e6)
    assert row["microseconds_per_move"] == pytest.approx(trial.seconds * 1e6 / 4)
    assert (row["memory_bytes"], row["build_seconds"]) == (12, 0.5)


def test_rows_are_flat_and_plain(corridor):
    for value in rows([andante.run("lrta", corridor.problem((0, 0), (4, 0)))])[0].values():
        assert type(value) in (str, int, float, bool)


def test_problems_are_numbered_in_order_of_appearance(corridor):
    problems = [corridor.problem((0, 0), (x, 0)) for x in (4, 3, 4)]
    made = rows([*andante.run_many("lrta", problems), *andante.run_many("astar", problems)])
    assert [row["problem"] for row in made] == [0, 1, 0, 0, 1, 0]


def test_optimal_costs_are_found_where_they_are_not_known(corridor):
    problems = [corridor.problem((0, 0), (4, 0)), corridor.problem((0, 0), (2, 0)).with_optimal_cost(2.0)]
    assert [row["optimal_cost"] for row in rows(andante.run_many("lrta", problems))] == [4.0, 2.0]


def test_the_ratio_of_a_trial_cut_short_is_at_least_one(corridor):
    far = corridor.problem((0, 0), (4, 0))
    early, late = andante.run("lrta", far, limits=Limits(moves=2)), andante.run("lrta", far, limits=Limits(moves=3))
    assert rows([early])[0]["suboptimality_ratio"] == 1.0
    beyond = rows([andante.run("lrta", far, limits=Limits(moves=3))], map="x")[0]
    assert beyond["outcome"] == "MOVE_CAP"
    assert late.outcome is Outcome.MOVE_CAP
    object.__setattr__(late, "cost", 9.0)
    assert rows([late])[0]["suboptimality_ratio"] == 2.25


def test_trials_that_did_not_arrive_are_not_averaged_away(corridor):
    far, near = corridor.problem((0, 0), (4, 0)), corridor.problem((0, 0), (1, 0))
    trials = [andante.run("lrta", problem, limits=Limits(moves=2)) for problem in (far, far, near)]
    summary = summarise(rows(trials))[0]
    assert (summary.solved, summary["suboptimality_ratio"].count, summary["suboptimality_ratio"].bounds) == (1, 3, 2)
    assert summary.show("suboptimality_ratio") == "≥ 1.000"  # an error would make it look exact
    assert summary.show("moves") == "≥ 2"
    assert not summary.show("states_expanded_per_move").startswith("≥")


@pytest.mark.parametrize("outcome", ["STUCK", "UNREACHABLE", "MOVE_CAP", "TICK_CAP"])
def test_measures_that_add_up_are_lower_bounds_for_every_failed_trial(outcome):
    trial = {"algorithm": "a", "solved": True, "outcome": "GOAL", "cost": 9.0, "states_expanded_per_move": 1.0}
    (found,) = summarise([trial, trial | {"solved": False, "outcome": outcome, "cost": 3.0}])
    assert found["cost"].bounds == 1
    assert found.show("cost") == "≥ 6.00"
    assert found["states_expanded_per_move"].bounds == 0  # does not grow with the trial


def test_without_a_path_there_is_no_ratio():
    apart = Grid([list("..@..")])
    row = rows([andante.run("lrta", apart.problem((0, 0), (4, 0)))])[0]
    assert (row["outcome"], row["solved"], row["optimal_cost"]) == ("UNREACHABLE", False, math.inf)
    assert math.isnan(row["suboptimality_ratio"])


def test_problems_of_graphs_have_rows_too():
    graph = Graph.from_edges([(0, 1, 3.0), (1, 2, 4.0)])
    assert rows([andante.run("lrta", graph.problem(0, 2))])[0]["map"] == "graph"


def test_extra_columns_cannot_hide_measured_ones(corridor):
    trial = andante.run("lrta", corridor.problem((0, 0), (4, 0)))
    assert rows([trial], map="other")[0]["map"] == "other"
    with pytest.raises(ParameterError, match="'cost'"):
        rows([trial], cost=1.0)


def test_without_trials_there_are_no_rows():
    assert rows([]) == []
    assert summarise([]) == []


# --- suboptimality ---


@given(st.integers(0, 500), st.integers(0, 50), st.sampled_from([o.name for o in Outcome]))
def test_turns_waited_count_as_moves_of_cost_1_in_one_measure_only(cost, waited, outcome):
    capped = capped_suboptimality_ratio([cost], 10.0, [outcome], 20.0)
    with_waits = capped_suboptimality_with_waits([cost], [waited], 10.0, [outcome], 20.0)
    assert with_waits == capped_suboptimality_ratio([cost + waited], 10.0, [outcome], 20.0)
    assert with_waits == pytest.approx(min(capped + waited / 10, 20.0) if outcome == "GOAL" else capped)


# --- summaries ---


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=50))
def test_statistics_are_those_of_textbooks(values):
    found = Statistics.of(values)
    assert found.count == len(values)
    assert found.mean == pytest.approx(statistics.fmean(values), abs=1e-9)
    assert found.standard_error == pytest.approx(statistics.stdev(values) / math.sqrt(len(values)), abs=1e-6)
    assert found.median == pytest.approx(statistics.median(values))
    assert found.max == max(values)
    assert found.median <= found.p95 + 1e-9
    assert found.p95 <= found.max + 1e-9


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=30))
def test_a_statistic_is_a_bound_if_lower_bounds_could_raise_it(pairs):
    values, short = [float(value) for value, _ in pairs], [cut for _, cut in pairs]
    found = Statistics.of(values, short)
    raised = Statistics.of([value + 1000 * cut for value, cut in pairs])
    for name in ("mean", "median", "p95"):
        assert found.is_bound(name) == (getattr(found, name) < getattr(raised, name))
    assert found.is_bound("max") == any(short)


def test_quantiles_below_all_bounds_are_not_marked():
    """One trial of twenty was cut short far above the median, so the mean is a lower bound but the median is exact."""
    trial = {"algorithm": "a", "solved": True, "outcome": "GOAL", "suboptimality_ratio": 1.5}
    cut_short = trial | {"solved": False, "outcome": "COST_CAP", "suboptimality_ratio": 1000.0}
    summary = summarise([trial] * 19 + [cut_short])[0]
    assert summary.show("suboptimality_ratio", "median") == "1.500 (1.500 to 1.500)"
    assert summary.show("suboptimality_ratio", with_error=False) == "≥ 51.42"
    assert summary.show("suboptimality_ratio", "p95").startswith("≥ ")
    assert summary.show("suboptimality_ratio", "max") == "≥ 1,000"


def test_unknown_numbers_do_not_count():
    assert Statistics.of([math.nan, 4.0]).count == 1
    assert math.isnan(Statistics.of([4.0]).standard_error)
    assert math.isnan(Statistics.of([math.nan]).mean)
    assert Statistics.of([1.0, math.inf]).mean == math.inf


def row(algorithm, solved=True, **numbers):
    return {"algorithm": algorithm, "solved": solved, **numbers}


def test_summaries_are_in_the_order_of_the_rows():
    table = [row("b", cost=1.0), row("a", cost=5.0), row("b", False, cost=3.0)]
    first, second = summarise(table)
    assert (first.name, first.trials, first.solved, first.share_solved) == ("b", 2, 1, 0.5)
    assert (second.name, second.trials, second.share_solved) == ("a", 1, 1.0)
    assert first["cost"].mean == 2.0
    assert set(first.measures) == {"cost"}


def test_summaries_by_any_column():
    table = [{**row("a", cost=1.0), "map": "m"}, {**row("b", cost=3.0), "map": "m"}]
    assert [(s.name, s["cost"].mean) for s in summarise(table, by="map")] == [("m", 2.0)]
    with pytest.raises(ParameterError, match="row 1 has no column 'mapp'; did you mean 'map'"):
        summarise(table, by="mapp")


def test_the_headline_is_chosen_by_the_measure():
    summary = summarise([row("a", max_states_expanded=3, cost=1.0), row("a", max_states_expanded=9, cost=2.0)])[0]
    assert summary.headline("max_states_expanded") == 9
    assert summary.headline("cost") == 1.5
    with pytest.raises(ParameterError, match="has no measure 'moves'"):
        summary["moves"]


def test_a_column_that_some_rows_lack_counts_for_the_others():
    summary = summarise([row("a", cost=1.0), row("a")])[0]
    assert summary["cost"].count == 1
