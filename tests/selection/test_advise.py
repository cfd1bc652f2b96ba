"""`advise` itself: limits are kept, answers hold on fresh problems, and killed runs are resumed."""

import json
import math
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import andante
from andante.databases.header import load
from andante.episode.run import Outfit
from andante.errors import MapError, OutputError, ParameterError
from andante.measures import measure, summarise
from andante.selection import AdviceError, Requirements, advise, ladder
from andante.selection.finals import distinct, ranking
from andante.selection.journal import Journal, _checksum, digest
from andante.selection.library import Library, Refused
from andante.selection.race import Place
from andante.selection.session import Session
from andante.selection.trials import REPEATS, SCORE, run_rows, worst_move_microseconds

pytestmark = pytest.mark.compiled

NO_DATABASES = {"memory_bytes": 0}


@pytest.fixture(scope="module")
def grids():
    return [andante.generate(kind, 40, 40, seed=seed) for seed, kind in enumerate(("rooms", "caves", "random"))]


@pytest.fixture(scope="module")
def little():
    """Return a map on which databases of all kinds are built quickly."""
    return [andante.generate("rooms", 24, 24, seed=0)]


def ask(grids, requirements, **how):
    return advise(grids, requirements, **{"problems": 30, "candidates": 30, "threads": 1, "seed": 1, **how})


@pytest.fixture(scope="module")
def small_advice(grids):
    """Return an answer that is found quickly, for tests of its sentences."""
    return ask(grids[:1], Requirements(expansions=1, **NO_DATABASES), problems=10, candidates=5)


@pytest.fixture(scope="module")
def wide_advice(grids):
    """Return an answer from many candidates."""
    return ask(grids, Requirements(expansions=100, **NO_DATABASES))


def test_the_answer_keeps_to_its_limit_and_holds_on_fresh_problems(grids):
    advice = ask(grids, Requirements(expansions=30, **NO_DATABASES), problems=60)
    best = advice.winner
    assert [one.suboptimality.mean for one in advice.ranking] == sorted(
        one.suboptimality.mean for one in advice.ranking
    )
    fresh = [p for k, grid in enumerate(grids) for p in andante.random_problems(grid, 60, seed=100 + k)]
    trials = andante.run_many(best.candidate.algorithm, fresh, paths=False)
    assert max(trial.max_states_expanded for trial in trials) <= 30
    ratios = np.array([trial.suboptimality_ratio for trial in trials])
    low, high = best.interval
    error = ratios.std(ddof=1) / math.sqrt(len(ratios))
    assert low - 2 * error <= ratios.mean() <= high + 2 * error
    assert all(row["max_states_expanded"] <= 30 for row in advice.rows)
    assert any(one.breach and one.breach.limit == "expansions" for one in advice.dropped)


def test_the_same_seed_gives_the_same_advice_on_any_number_of_threads(grids):
    def answer(threads):
        advice = ask(grids, Requirements(expansions=5, changing=True), threads=threads, candidates=40)
        return [(one.candidate.name, one.suboptimality) for one in advice.ranking]

    assert answer(1) == answer(2)


def test_with_memory_there_are_databases_and_the_code_runs(little, tmp_path):
    advice = ask(little, Requirements(expansions=0), folder=tmp_path, problems=10, candidates=20)
    assert str(advice.winner.candidate.algorithm) == "cpd"
    assert advice.winner.suboptimality.mean == 1
    grid = little[0]
    assert load(tmp_path / "databases" / f"{grid.name}.moves", map=grid).kind == "moves"
    agent = eval(advice.code, {"andante": andante, "load": load, "grid": grid})  # noqa: S307 (what a user would paste)
    assert agent.run(andante.random_problems(grid, 1, seed=9)[0]).solved
    assert f"{grid!r} with <Database moves, " in repr(agent)
    assert repr(advice) == repr(advice.winner).replace("Standing", "Advice")
    assert repr(advice).startswith(f"<Advice: {advice.winner.candidate.name}, 1.000 ")


def test_a_limit_on_memory_drops_databases(little):
    advice = ask(little, Requirements(expansions=9, memory_bytes=2000), problems=10, candidates=20)
    assert all(one.built.nbytes <= 2000 for one in advice.ranking)
    assert any(one.breach and one.breach.limit == "memory_bytes" for one in advice.dropped)


class Clock:
    """A clock that shows the same time until it is set."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_a_limit_on_time_is_for_the_slowest_move(grids, monkeypatch):
    """On the simulated machine every expansion takes 10 µs."""
    home = sys.modules["andante.selection.session"]
    whole = home.run_rows

    def counted(*how):
        return [{**row, "seconds": 1e-5 * row["states_expanded"]} for row in whole(*how)]

    def slowest(outfit, problems, limits):
        return 10.0 * max(row["max_states_expanded"] for row in whole(outfit, "any", problems, limits, 1))

    monkeypatch.setattr(home, "run_rows", counted)
    monkeypatch.setattr(home, "worst_move_microseconds", slowest)
    advice = ask(grids, Requirements(microseconds=500, **NO_DATABASES), candidates=40, problems=20)
    assert all(0 < one.worst_microseconds <= 500 for one in advice.ranking)
    assert any(one.breach and one.breach.limit == "microseconds" for one in advice.dropped)
    assert f"took {advice.winner.worst_microseconds:,.1f} µs" in advice.sentences[0]


def test_the_slowest_move_is_that_of_the_best_repeat(grids, monkeypatch):
    """An interruption makes one move of one repeat slow, while a slow move is slow in all repeats."""
    problems, asked = andante.random_problems(grids[0], 3, seed=5), []

    def times(agent, problem, limits):
        asked.append(problem)
        walk = np.array([1_000, 4_000 + 1_000 * problems.index(problem), 2_000])
        walk[len(asked) % 3] += 100_000
        return walk

    monkeypatch.setattr(andante.Agent, "move_nanoseconds", times)
    assert worst_move_microseconds(Outfit.of("lrta"), problems, andante.Limits()) == 6.0
    assert [asked.count(problem) for problem in problems] == [REPEATS] * 3


def test_impossible_limits_are_reported_with_the_nearest_candidate(grids):
    with pytest.raises(
        AdviceError, match=r"no agent keeps to at most 0 states .* the nearest is .* it takes at least 1 state "
    ):
        ask(grids, Requirements(expansions=0, **NO_DATABASES))


def test_a_stopped_run_is_resumed(grids, tmp_path):
    class KilledError(Exception):
        pass

    def kill(what, done, total):
        if what.startswith("round 2"):
            raise KilledError

    wanted = Requirements(expansions=20, **NO_DATABASES)
    with pytest.raises(KilledError):
        ask(grids, wanted, folder=tmp_path, progress=kill)
    kept = set((tmp_path / "state").iterdir())
    assert len(kept) > 30
    before = {file: file.stat().st_mtime_ns for file in kept}
    advice = ask(grids, wanted, folder=tmp_path)
    assert {file: file.stat().st_mtime_ns for file in kept} == before
    plain = ask(grids, wanted)
    assert [one.candidate.name for one in advice.ranking] == [one.candidate.name for one in plain.ranking]


def test_time_spent_before_a_kill_counts(tmp_path):
    clock = Clock()

    def work():
        clock.now += 7.0
        return 5

    journal = Journal(tmp_path, clock)
    journal.once({"piece": 1}, work)
    again = Journal(tmp_path, clock)
    assert again.once({"piece": 1}, lambda: 6) == 5
    assert (journal.seconds, again.seconds, again.seconds_of({"piece": 1})) == (7.0, 7.0, 7.0)


def test_a_damaged_piece_is_made_again(tmp_path):
    Journal(tmp_path).once({"piece": 1}, lambda: 5)
    (file,) = tmp_path.iterdir()
    file.write_text(json.dumps({"piece": 5})[:6])
    assert Journal(tmp_path).once({"piece": 1}, lambda: 6) == 6


@pytest.mark.parametrize("seconds", [None, "0.1", [0.1], True, -1.0, float("nan")])
def test_a_piece_with_an_invalid_time_is_made_again(tmp_path, seconds):
    kept = {"piece": 5, "seconds": seconds}
    key = digest({"piece": 1})
    (tmp_path / f"{key}.json").write_text(json.dumps({**kept, "checksum": _checksum(key, kept)}))
    assert Journal(tmp_path).once({"piece": 1}, lambda: 6) == 6


def test_every_flipped_bit_of_a_piece_is_detected_and_the_piece_made_again(tmp_path):
    piece = {"rows": [{"max_states_expanded": 3, "solved": True, "cost": 1.5}]}
    Journal(tmp_path).once({"piece": 1}, lambda: piece)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for place in range(len(whole)):
        for bit in range(8):
            file.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
            if Journal(tmp_path).holds({"piece": 1}):  # e or E, or a last digit that rounding removes: no change
                assert json.loads(file.read_bytes()) == json.loads(whole)
                assert Journal(tmp_path).once({"piece": 1}, lambda: None) == piece
    file.write_bytes(whole)
    assert Journal(tmp_path).once({"piece": 1}, lambda: None) == piece
    file.rename(tmp_path / f"{digest({'piece': 2})}.json")  # under the name of another piece
    assert Journal(tmp_path).once({"piece": 2}, lambda: 5) == 5


def test_minutes_are_kept(grids, monkeypatch):
    """On the simulated machine every trial takes 50 ms, and nothing else takes any time."""
    clock, home, pieces = Clock(), sys.modules["andante.selection.session"], []
    whole = home.run_rows

    def counted(one, name, problems, *rest):
        pieces.append(0.05 * len(problems))
        clock.now += pieces[-1]
        return whole(one, name, problems, *rest)

    monkeypatch.setattr(home, "run_rows", counted)
    wanted, journal = Requirements(expansions=20, **NO_DATABASES), Journal(clock=clock)
    advice = ask(grids, wanted, minutes=2, problems=400, candidates=300, journal=journal)
    assert 60 < journal.seconds <= 120 + max(pieces)
    assert sum(pieces) == pytest.approx(journal.seconds)
    assert advice.untried > 0
    assert advice.ranking


def library(grids, most, requirements=Requirements(), journal=None, reported=None):  # noqa: B008 (frozen)
    report = (lambda what, *_: reported.append(what)) if reported is not None else (lambda *_: None)
    return Library(grids, requirements, journal or Journal(), 1, report, most)


def test_databases_are_built_until_their_time_is_up_and_those_in_the_journal_take_no_time(grids, monkeypatch):
    clock, whole = Clock(), sys.modules["andante.campaign.shelf"].build

    def build(*what, **how):
        clock.now += 5.0
        return whole(*what, **how)

    monkeypatch.setattr("andante.campaign.shelf.build", build)
    journal = Journal(clock=clock)
    refused = library(grids, 0.0, journal=journal).databases(["moves"])
    assert refused == Refused(None, "there was no time left to build it", late=True)
    first = library(grids, 1e6, journal=journal)
    built = first.databases(["moves"])
    assert len(built.databases) == len(grids)
    assert first.spent == 5.0 * len(grids)
    again = library(grids, 1e6, journal=journal)
    assert again.databases(["moves"]).nbytes == built.nbytes
    assert again.spent == 0


@pytest.mark.parametrize("damage", [lambda data: data[:100], lambda data: data[:-1] + b"?", lambda data: None])
def test_a_database_that_is_damaged_or_lost_is_built_again(grids, tmp_path, damage):
    first = library(grids[:1], math.inf, journal=Journal(tmp_path)).databases(["regions"])
    (file,) = tmp_path.glob("*.db")
    left = damage(file.read_bytes())
    file.unlink() if left is None else file.write_bytes(left)
    again = library(grids[:1], math.inf, journal=Journal(tmp_path)).databases(["regions"])
    assert (again.nbytes, again.build_seconds) == (first.nbytes, first.build_seconds)
    assert load(max(tmp_path.glob("*.db"), key=lambda one: one.stat().st_mtime_ns), map=grids[0]).kind == "regions"


def test_the_cheapest_databases_are_built_first(grids, monkeypatch):
    seconds = {"moves": 30.0, "regions": 1.0, "subgoals": 5.0}
    monkeypatch.setattr(
        "andante.selection.library.estimate",
        lambda text, maps, **how: andante.offline.builder.Estimate(seconds[text.partition("(")[0]], "", 0, 0),
    )
    reported = []
    shelf = library(grids, 100.0, reported=reported)
    shelf.prepare(["moves", "subgoals(records=20)", "regions"])
    built = [what.split()[1] for what in dict.fromkeys(reported) if what.startswith("building")]
    assert list(dict.fromkeys(built)) == ["regions", "subgoals", "moves"]
    hurried = library(grids, 5.0)  # for all three maps, the largest of which would take 30 s
    hurried.prepare(["moves", "regions"])
    assert "would take about" in hurried.databases(["moves"]).reason
    assert hurried.databases(["regions"]).databases


def test_a_build_that_takes_longer_than_forecast_waits_for_the_others(grids, monkeypatch):
    grids, whole, order = grids[:1], sys.modules["andante.campaign.shelf"].build, []
    monkeypatch.setattr(
        "andante.selection.library.estimate", lambda *_, **how: andante.offline.builder.Estimate(0, "", 0, 0)
    )
    monkeypatch.setattr("andante.selection.library._FEWEST", 0.01)

    def slow(text, *what, progress, **how):
        order.append(text.partition("(")[0])
        if order == ["moves"]:
            time.sleep(0.05)
            progress("taking long", 1, 2)
        return whole(text, *what, **how)

    monkeypatch.setattr("andante.campaign.shelf.build", slow)
    shelf = library(grids, 100.0)
    shelf.prepare(["moves", "subgoals(records=20)"])
    assert order == ["moves", "subgoals", "moves"]
    assert shelf.databases(["moves"]).databases


def test_a_limit_that_the_first_map_breaks_stops_the_build_there(grids, monkeypatch):
    built = []
    whole = sys.modules["andante.campaign.shelf"].build
    monkeypatch.setattr("andante.campaign.shelf.build", lambda *what, **how: built.append(what) or whole(*what, **how))
    found = library(grids, math.inf, Requirements(memory_bytes=1))
    assert found.databases(["moves"]).breach.limit == "memory_bytes"
    assert len(built) == 1


def test_with_a_clock_agents_have_their_databases_too(little):
    advice = ask(little, Requirements(expansions=1, memory_bytes=1e6), minutes=2, problems=20, candidates=30)
    assert advice.winner.candidate.databases
    assert advice.winner.suboptimality.mean < 1.1
    assert "took at most" in advice.sentences[1]


def test_candidates_not_compiled_in_time_are_left_out_and_counted(grids, monkeypatch):
    monkeypatch.setattr("andante.selection.compiling.PATIENCE", 0.0)
    monkeypatch.setattr("andante.selection.compiling.SHARE", 1e-9)
    monkeypatch.setattr("andante.selection.session.FEWEST", 1)
    asked = {"problems": 10, "candidates": 30, "requirements": Requirements(expansions=20, **NO_DATABASES)}
    advice = ask(grids[:1], minutes=0.2, **asked)
    assert advice.uncompiled > 20  # one algorithm has entered, and at most one other was compiled and broke the limit
    sentence = (
        f"{advice.uncompiled} candidates were left out because compiling had taken {advice.compile_seconds:.0f} s"
    )
    assert any(one.startswith(sentence) for one in advice.sentences)
    whole = ask(grids[:1], **asked)  # without a clock there is time for all
    assert whole.uncompiled == 0
    assert not any("left out" in one for one in whole.sentences)


def test_a_question_without_an_answer_does_not_occupy_its_folder(grids, tmp_path):
    with pytest.raises(AdviceError):
        ask(grids[:1], Requirements(expansions=0, **NO_DATABASES), folder=tmp_path, candidates=5, problems=10)
    ask(grids[:1], Requirements(expansions=1, **NO_DATABASES), folder=tmp_path, candidates=5, problems=10)
    with pytest.raises(ParameterError, match="another question"):
        ask(grids[:1], Requirements(expansions=2, **NO_DATABASES), folder=tmp_path, candidates=5, problems=10)
    home = tmp_path / "ladder"
    ask(grids[:1], Requirements(expansions=2, **NO_DATABASES), folder=home / "at-most-5", candidates=5, problems=10)
    with pytest.raises(ParameterError, match="another question"):
        ladder(grids[:1], [1, 5], Requirements(**NO_DATABASES), folder=home, progress=pytest.fail)


def test_a_lack_of_time_is_reported(grids):
    with pytest.raises(AdviceError, match="there was no time to try any of"):
        ask(grids, Requirements(expansions=20, **NO_DATABASES), minutes=1e-6)


def test_a_repeated_question_in_the_same_folder_with_the_same_seed_gives_the_same_advice(grids, tmp_path):
    def answer(**how):
        advice = ask(grids[:1], Requirements(expansions=30, **NO_DATABASES), folder=tmp_path, problems=20, **how)
        return [(one.candidate.name, one.suboptimality) for one in advice.ranking], advice.tried

    first = answer(seed=1)
    assert answer(seed=1) == first
    answer(seed=2)  # the agent that does well here
    assert answer(seed=1) == first


def test_finalists_are_not_all_of_one_algorithm(wide_advice):
    names = [one.candidate.algorithm.card.name for one in wide_advice.ranking]
    assert len(names) >= 5
    assert len(set(names)) > 1


def test_turns_waited_count_and_are_reported(grids, small_advice):
    problems = andante.random_problems(grids[0], 5, seed=3)
    waiting = Outfit.of("late-astar(budget=20, wait=true)")
    rows = run_rows(Outfit(waiting.algorithm), "late", problems, andante.Limits(suboptimality=100), 1)
    assert any(row["turns_waited"] > 0 for row in rows)
    for row in rows:
        assert row[SCORE] == pytest.approx((row["cost"] + row["turns_waited"]) / row["optimal_cost"])
        assert "capped_suboptimality_ratio" not in row
    advice, best = small_advice, small_advice.winner
    assert not any("waits" in one for one in advice.sentences)
    late = replace(best, candidate=waiting, rows=rows, summary=summarise(rows)[0])
    sentences = replace(advice, ranking=(late,)).sentences
    mean = np.mean([row["turns_waited"] for row in rows])
    assert sentences[1].startswith("In these numbers a turn in which an agent waits counts as a move of cost 1")
    assert f"waited for {measure('turns_waited').show(mean)} turns per problem" in sentences[1]


def test_uncertainty_is_reported(small_advice):
    advice = small_advice

    def sentences(text, untried):
        best = replace(advice.winner, candidate=replace(advice.winner.candidate, algorithm=andante.find(text)))
        return " ".join(replace(advice, ranking=(best,), untried=untried).sentences)

    assert "There was no time to try 7 more" in sentences("lrta", 7)
    assert "There was no time" not in sentences("lrta", 0)
    assert "not proven to solve" in sentences("family", 0)
    assert "not proven to solve" not in sentences("lrta", 0)


def test_a_candidate_that_breaks_a_limit_only_on_fresh_problems_is_not_recommended(grids, monkeypatch):
    home, session = sys.modules["andante.selection.advise"], sys.modules["andante.selection.session"]
    whole, fresh = session.run_rows, set()
    draw = home.draw

    def drawn(*how):
        race, later = draw(*how)
        fresh.update((p.start, p.goal) for p in later)
        return race, later

    def broken(one, name, problems, *rest):
        rows = whole(one, name, problems, *rest)
        late = one.algorithm.card.name == best and (problems[0].start, problems[0].goal) in fresh
        return [{**row, "max_states_expanded": 99} for row in rows] if late else rows

    monkeypatch.setattr(home, "draw", drawn)
    before = ask(grids, Requirements(expansions=50, **NO_DATABASES), candidates=40)
    best = before.winner.candidate.algorithm.card.name
    monkeypatch.setattr(session, "run_rows", broken)
    after = ask(grids, Requirements(expansions=50, **NO_DATABASES), candidates=40)
    assert best not in {one.candidate.algorithm.card.name for one in after.ranking}
    assert before.winner.candidate.name in {one.name for one in after.dropped}


def test_among_settings_that_change_nothing_the_simplest_is_shown(grids):
    session = Session(tuple(grids), Requirements(**NO_DATABASES), Journal(), None, 0, 1, lambda *_: None)
    problems = andante.random_problems(grids[0], 6, seed=3)
    texts = [
        "family(seed=3)",
        "lrta",
        "family",
        "tba(budget=9)",
        "tba(budget=10)",
        "lrta(depth=2)",
    ]  # no ties by chance
    places = []
    for text in texts:
        one = Outfit.of(text)
        rows = session.rows(one, problems if text != "family" else problems[:4])  # one of them was cut earlier
        places.append(Place(one, np.array([row[SCORE] for row in rows]), 1.0))
    assert [place.candidate.name for place in distinct(session, places)] == ["family", "lrta", *texts[3:]]


def test_defaults_have_more_time_to_be_built_than_variants(grids, monkeypatch):
    asked = []
    session = Session(tuple(grids), Requirements(), Journal(), 1.0, 0, 1, lambda *_: None)
    monkeypatch.setattr(session.library, "prepare", lambda texts: asked.append((session.library.most, set(texts))))
    session.enter(10, [], lambda *_: None)
    session.build()
    (usual, defaults), (rest, variants) = asked
    assert usual > rest > 0
    assert set(andante.offline.builders()) >= {text.partition("(")[0] for text in defaults} >= {"moves", "regions"}
    assert any("(" in text for text in variants)


def test_intervals_hold_for_all_finalists_together(grids, small_advice):
    rng = np.random.default_rng(1)
    one = small_advice.winner
    row = one.rows[0]
    asked = Session(tuple(grids), Requirements(), Journal(), None, 0, 1, lambda *_: None)

    def missed():
        ratios = 5 + rng.standard_normal((4, 12))  # four finalists on twelve problems, of mean 5 each
        walked = [[{**row, "start": k, SCORE: ratio} for k, ratio in enumerate(some)] for some in ratios]
        found = [(one.candidate, rows, None, 0, 0.0) for rows in walked]
        return any(not s.interval[0] <= 5 <= s.interval[1] for s in ranking(asked, found))

    assert 0.01 < np.mean([missed() for _ in range(200)]) < 0.09  # 0.05 is expected


def test_maps_must_have_different_names(grids):
    other = andante.Grid(grids[1].passable, name=grids[0].name)
    with pytest.raises(MapError, match="two different maps are called"):
        ask([grids[0], other], Requirements())


def test_on_maps_that_change_the_conditions_of_the_numbers_are_stated(grids):
    def mentions_changes(**wanted):
        found = ask(grids[:1], Requirements(expansions=1, changing=True, **wanted), problems=10, candidates=5)
        return any("maps that do not change" in sentence for sentence in found.sentences)

    assert mentions_changes()
    assert not mentions_changes(sight=5)


def test_maps_must_have_problems():
    with pytest.raises(MapError, match="too small to advise on: it has 6 pairs"):
        ask([andante.generate("empty", 3, 1)], Requirements())
    with pytest.raises(MapError, match="at least one map"):
        ask([], Requirements())


def test_senseless_arguments_are_refused(grids, tmp_path):
    with pytest.raises(ParameterError, match="minutes must be above 0"):
        ask(grids, Requirements(), minutes=0)
    for wrong, reason in (
        ({"problems": 3}, "advise takes from 10 to 1,000,000 problems, got 3"),
        ({"problems": 10**20}, "advise takes from 10 to 1,000,000 problems"),
        ({"candidates": 10**20}, "advise takes from 1 to 1,000,000 candidates"),
        ({"threads": 0}, "threads must be a whole number of at least 1, got 0"),
        ({"optimal_cost": (5, 1)}, "optimal_cost must be a band"),
    ):
        with pytest.raises(ParameterError, match=reason):
            advise(grids, Requirements(), **wrong)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        ask(grids, Requirements(), folder=tmp_path / "file")


def test_results_for_one_limit_are_reused_for_the_others(grids, monkeypatch):
    asked, home = [], sys.modules["andante.selection.session"]
    whole = home.run_rows

    def counting(one, name, problems, *rest):
        asked.extend((name, p.graph.fingerprint, p.start, p.goal, str(rest[0])) for p in problems)
        return whole(one, name, problems, *rest)

    monkeypatch.setattr(home, "run_rows", counting)
    rungs = ladder(grids, [5, 50], Requirements(**NO_DATABASES), problems=20, candidates=30)
    assert [rung.advice.winner.summary["max_states_expanded"].max <= rung.limit for rung in rungs] == [True, True]
    assert len(asked) == len(set(asked))


def test_a_ladder_has_its_own_limits(grids):
    with pytest.raises(ParameterError, match="leave expansions out"):
        ladder(grids, [5], Requirements(expansions=3))
    with pytest.raises(ParameterError, match="at least one limit"):
        ladder(grids, [])


def test_among_equally_good_agents_the_simpler_one_is_named(wide_advice):
    advice, best = wide_advice, wide_advice.winner

    def standing(text):
        return replace(best, candidate=replace(best.candidate, algorithm=andante.find(text)))

    ornate, plain = standing("tba(budget=43, weight=2.41)"), standing("tba(budget=43)")
    sentences = replace(advice, ranking=(ornate, plain)).sentences
    assert "tba(budget=43) is simpler and not clearly worse (0.000 ± 0.000 more)." in sentences
    assert not any("is simpler" in one for one in replace(advice, ranking=(plain, ornate)).sentences)
