"""`advise` for crowds: units are measured together, small crowds represent large ones, and lost units count."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import andante
from andante.episode.run import Outfit
from andante.errors import ParameterError
from andante.measures import Outcome
from andante.measures.comparison import clearly_less, difference
from andante.selection import Requirements, advise
from andante.selection.crowds import TICK_CAP, Crowds, crowd_code, moves_of_optimal_paths, shortest_moves
from andante.selection.journal import Journal
from andante.selection.session import Session
from andante.selection.trials import SCORE
from tests.worlds import FEW

CAP = 100.0


@pytest.fixture(scope="module")
def grid():
    return andante.generate("rooms", 24, 24, seed=1)


@pytest.fixture(scope="module")
def problems(grid):
    return andante.random_problems(grid, 20, seed=3)


class Slow(andante.Crowd):
    """A crowd on a machine where every expansion takes 10 µs, and nothing else takes any time."""

    def tick(self, *, microseconds=None):
        done = super().tick(expansions=None if microseconds is None else microseconds / 10)
        return done._replace(microseconds=10.0 * done.expansions)


@pytest.fixture
def slow(monkeypatch):
    monkeypatch.setattr("andante.selection.crowds.Crowd", Slow)


def rows(text, problems, units=20, **limits):
    return Crowds(Requirements(units=units, **limits)).rows(Outfit.of(text), text, problems, CAP)


@pytest.mark.parametrize("rule", ["octile", "sixteen"])
def test_moves_that_do_not_follow_from_costs_are_those_of_a_cheapest_path(rule):
    grid = andante.generate("rooms" if rule == "sixteen" else "countryside", 24, 24, seed=1, rule=rule)
    some = andante.random_problems(grid, 6, seed=2)
    for problem, moves in zip(some, moves_of_optimal_paths(some).tolist(), strict=True):
        path = andante.run("astar", problem).path
        costs = [dict(grid.graph.neighbours(int(a)))[int(b)] for a, b in itertools.pairwise(path)]
        assert (len(costs), sum(costs)) == (moves, problem.optimal_cost)


def test_the_moves_of_a_cheapest_path_follow_from_its_cost(grid, problems):
    trials = andante.run_many("astar", problems)
    assert shortest_moves([p.optimal_cost for p in problems]).tolist() == [trial.moves for trial in trials]


def test_without_a_budget_units_walk_as_agents_do_and_never_wait(problems):
    found, trials = rows("rta", problems), andante.run_many("rta", problems)
    arrived = [(row, trial) for row, trial in zip(found, trials, strict=True) if row["solved"]]
    assert len(arrived) > 10
    for row, trial in arrived:
        assert (row["cost"], row["moves"], row["states_expanded"]) == (trial.cost, trial.moves, trial.states_expanded)
        assert (row["turns_waited"], row["waiting_share"], row["ticks"]) == (0, 0.0, trial.moves)
        assert row["suboptimality_ratio"] == row[SCORE] == pytest.approx(trial.suboptimality_ratio)


def test_a_smaller_budget_gives_the_same_walks_and_longer_waits(slow, problems):
    free, tight = rows("rta", problems), rows("rta", problems, tick_ms=0.1)  # ten expansions for twenty units
    shortest = shortest_moves([p.optimal_cost for p in problems])
    assert [row["cost"] for row in tight if row["solved"]] == [
        one["cost"] for one, row in zip(free, tight, strict=True) if row["solved"]
    ]
    assert sum(row["turns_waited"] for row in tight) > 0
    for row, moves in zip(tight, shortest, strict=True):
        assert row["ticks"] == row["moves"] + row["turns_waited"]
        assert row["waiting_share"] == row["turns_waited"] / row["ticks"]
        assert row["arrival_ratio"] == row["ticks"] / moves
        assert not row["solved"] or row[SCORE] == pytest.approx(
            min(CAP, (row["cost"] + row["turns_waited"]) / row["optimal_cost"])
        )


def test_a_small_crowd_has_its_share_of_the_time(slow, problems):
    """Two crowds with the same time for each unit wait about as long."""
    whole = rows("rta", problems, tick_ms=0.1)
    part = rows("rta", problems[:10], tick_ms=0.1)
    assert {row["crowd_units"] for row in part} == {10}
    assert max(row["tick_microseconds"] for row in part) <= 60  # half of the time, and one move
    waits = [np.mean([row["waiting_share"] for row in some]) for some in (whole, part)]
    assert waits[0] == pytest.approx(waits[1], abs=0.2)


def test_there_are_as_many_crowds_as_maps_and_units_require(grid, problems):
    other = andante.generate("rooms", 24, 24, seed=2)
    mixed = [p for pair in zip(problems, andante.random_problems(other, 20, seed=1), strict=True) for p in pair]
    found = rows("rta", mixed, units=8)
    assert [(row["start"], row["goal"]) for row in found] == [(p.start, p.goal) for p in mixed]
    sizes = [row["crowd_units"] for row in found if row["map"] == grid.name]
    assert sizes == [8] * 16 + [4] * 4


def test_units_that_do_not_arrive_are_kept_and_count_as_the_cap(slow, problems):
    found = rows("rta", problems, tick_ms=0.01)  # one expansion for twenty units
    lost = [row for row in found if not row["solved"]]
    assert lost
    longest = int(shortest_moves([p.optimal_cost for p in problems]).max())
    for row in lost:
        assert (row["outcome"], row["ticks"], row[SCORE]) == (Outcome.TICK_CAP.name, TICK_CAP * longest, CAP)


def test_memory_counts_units_desks_and_databases(grid, problems):
    moves = andante.build("moves", grid)
    crowds = Crowds(Requirements(units=20, total_memory=50e6))
    found = crowds.rows(Outfit.of("cpd", [moves]), "cpd", problems, CAP)
    bare = andante.Crowd("cpd", grid, databases=[moves])
    bare.add([grid.cell(p.start) for p in problems], [grid.cell(p.goal) for p in problems])
    taken = bare.memory_bytes + moves.nbytes
    assert {row["mind_bytes"] for row in found} == {50e6 - (taken - bare.unit_bytes)}
    assert taken <= found[0]["crowd_bytes"] <= 50e6
    assert Requirements(units=20, total_memory=taken - 1.0).check_rows(found).limit == "total_memory"


def test_half_of_the_ticks_must_keep_the_budget():
    wanted = Requirements(units=5, tick_ms=2)
    assert wanted.check_rows([{"tick_microseconds": 2_190.0}]) is None  # the budget and one move
    breach = wanted.check_rows([{"tick_microseconds": 1_000.0}, {"tick_microseconds": 2_500.0}])
    assert breach.sentence == "it takes at least 2.5 milliseconds for a tick of all units"


@pytest.fixture(scope="module")
def advice(grid):
    wanted = Requirements(units=20, tick_ms=0.5, memory_bytes=0, total_memory=90e6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("andante.selection.crowds.Crowd", Slow)
        patch.setattr("andante.selection.space.algorithms", lambda: [andante.find(name) for name in FEW])
        return advise([grid], wanted, problems=20, candidates=1, seed=1)


@pytest.mark.compiled
def test_the_answer_is_a_crowd_that_can_be_pasted(advice, grid):
    best = advice.winner
    assert best.candidate.algorithm.crowd
    assert best.candidate.algorithm.real_time
    assert best.summary["crowd_bytes"].max <= 90e6
    assert {row["crowd_units"] for row in best.rows} == {20}
    crowd = eval(advice.code, {"andante": andante, "grid": grid})  # noqa: S307 (what a user would paste)
    assert isinstance(crowd, andante.Crowd)
    assert str(best.candidate.algorithm) in repr(crowd)
    assert "memory=" in advice.code
    answer = " ".join(advice.sentences)
    assert f"Use {best.candidate.name}: of 20 units with fresh problems, in crowds of 20, " in answer
    for words in ("times as many ticks as a cheapest path has moves", "of their ticks", "Units and databases took"):
        assert words in answer
    lost = replace(best, summary=replace(best.summary, solved=best.summary.solved - 2))
    late = f"{20 - lost.summary.solved} did not arrive: when their crowd was stopped, after 10 times"
    assert late in " ".join(replace(advice, ranking=(lost,)).sentences)


def test_without_a_limit_on_memory_the_line_names_none(problems):
    (row, *_) = rows("rta", problems)
    assert crowd_code([], "rta", row["mind_bytes"]) == "andante.Crowd('rta', grid)"


@pytest.mark.compiled
def test_crowds_that_were_made_smaller_for_lack_of_time_are_named(advice):
    asked = replace(advice.requirements, units=5000)
    assert "There was no time for crowds of 5,000 units: those of 20 had" in " ".join(
        replace(advice, requirements=asked).sentences
    )


def test_two_runs_of_a_crowd_are_two_pieces_of_work(grid, problems, slow):
    session = Session((grid,), Requirements(units=20), Journal(), None, 0, 1, lambda *_: None)
    one = Outfit.of("rta")
    first, again = session.rows(one, problems), session.rows(one, problems, again=True)
    assert first is not again
    assert session.rows(one, problems) is first
    assert len(session.walks["rta"]) == 2 * len(problems)


def test_an_error_common_to_all_units_is_not_a_clear_difference():
    """One interrupted tick makes every unit wait once, which looks like a certain difference problem by problem."""
    rng = np.random.default_rng(1)
    scores = 1 + rng.random(200)
    late = scores + 0.01
    assert clearly_less([scores, late]) == {(0, 1)}
    assert clearly_less([scores, late], noise=[0.0, 0.01 / math.sqrt(2)]) == set()
    assert difference(late, scores, 0.3) == pytest.approx((0.01, 0.3))


def test_only_agents_for_crowds_may_enter():
    wanted = Requirements(units=10)
    assert not wanted.admits(andante.find("astar"), 10)
    assert not wanted.admits(andante.find("tba(ties=larger_g)"), 10)
    assert wanted.admits(andante.find("lrta"), 10)


def test_limits_on_crowds_and_on_single_moves_cannot_be_mixed():
    for wrong, reason in (
        ({"units": 5, "expansions": 3}, "expansions for each move cannot be combined with units"),
        ({"units": 5, "microseconds": 3}, "microseconds for each move cannot be combined with units"),
        ({"units": 5, "sight": 3}, "cannot be combined with sight"),
        ({"units": 5, "changing": True}, "crowds are measured on maps that do not change"),
        ({"units": 0}, "units must be a whole number of at least 1"),
        ({"units": 10**7}, "units must be at most 1,000,000"),
        ({"units": 5, "tick_ms": 0}, "tick_ms must be more than 0"),
        ({"tick_ms": 2}, "tick_ms is a limit on all units of a crowd; give their number with units"),
        ({"total_memory": 2}, "total_memory is a limit on all units"),
    ):
        with pytest.raises(ParameterError, match=reason):
            Requirements(**wrong)
    assert Requirements(units=1, tick_ms=1, total_memory=1e6).sentence == (
        "1 unit of a crowd, at most 1 millisecond for a tick of all units, at most 1 MB for all units and the databases "
        "of a map"
    )
