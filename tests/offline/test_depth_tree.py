"""Training of depth trees: the samples, the tree, and its quality on other maps."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.cli import OK, main
from andante.databases.depth_tree import FEATURES, LEAF, answer
from andante.databases.header import Database, load
from andante.errors import ProblemError
from andante.offline import build
from andante.offline.builder import Crew
from andante.offline.depth_tree import MissingLearnError, Params, Samples, collect, train
from andante.world.graph import Graph
from andante.world.grid import Grid
from tests.worlds import drawn, examples, grids

SMALL = "depth-tree(deepest=5, problems=12, leaf=20, folds=3)"


def maps(side=40):
    return [andante.generate(kind, side, side, seed=k) for k, kind in enumerate(["rooms", "caves", "random"])]


@pytest.fixture(scope="module")
def database():
    return build(SMALL, maps())


def pairs(problems):
    return np.array([(problem.start, problem.goal) for problem in problems])


# --- walks ----------------------------------------------------------------------------------------------------------


@pytest.mark.compiled
@pytest.mark.parametrize("guided", [False, True])
def test_the_walks_are_those_of_the_agents(database, guided):
    params = Params(deepest=5, moves=200)
    problems = drawn(maps()[0], 10)
    tree = database.arrays if guided else None
    samples = collect([problems[0].graph], [pairs(problems)], params, Crew(2), tree)
    setting = "dtlrta" if guided else "oracle-lrta(depth=5)"
    trials = andante.run_many(setting, problems, limits=andante.Limits(moves=200), databases=[database])
    assert np.bincount(samples.walk).tolist() == [trial.moves for trial in trials]
    estimate = [float(row[0]) for row in samples.features]
    for number, trial in enumerate(trials):
        grid = trial.problem.grid
        x, y = grid.cell(trial.problem.goal)
        apart = [sorted((abs(a - x), abs(b - y))) for a, b in map(grid.cell, trial.path[:-1].tolist())]
        expected = [far - near + near * 2**0.5 for near, far in apart]
        mine = [e for e, walk in zip(estimate, samples.walk, strict=True) if walk == number]
        assert mine == pytest.approx(expected, rel=1e-5)


def test_the_oracle_looks_as_deep_as_in_the_samples():
    problem = drawn(maps()[1], 1, seed=3)[0]
    samples = collect([problem.graph], [pairs([problem])], Params(deepest=4), Crew(1))
    turns = list(andante.watch("oracle-lrta(depth=4)", problem))
    for depth, turn in zip(samples.depth.tolist(), turns, strict=True):
        assert turn.states_expanded <= (2 * depth - 1) ** 2
        assert (turn.states_expanded == 1) == (depth == 1)


def test_walks_on_several_maps_are_in_the_order_of_the_maps():
    worlds = [grid.graph for grid in maps()]
    each = [pairs(drawn(grid, 5)) for grid in maps()]
    together = collect(worlds, each, Params(deepest=3, moves=50), Crew(2))
    apart = [collect([g], [p], Params(deepest=3, moves=50), Crew(1)) for g, p in zip(worlds, each, strict=True)]
    assert np.array_equal(together.features, np.concatenate([one.features for one in apart]))
    assert np.array_equal(together.depth, np.concatenate([one.depth for one in apart]))
    assert together.walk.max() == 14


@given(grids(side=6), st.integers(0, 100))
@examples(40)
def test_problems_are_drawn_between_connected_states(grid, seed):
    from andante.offline.depth_tree import _draw

    label = grid.graph.components
    several = np.bincount(label)[label].max() > 1
    rows = _draw(grid.graph, 20, (seed,))
    assert len(rows) == (20 if several else 0)
    assert (rows[:, 0] != rows[:, 1]).all()
    assert (label[rows[:, 0]] == label[rows[:, 1]]).all()


# --- training -------------------------------------------------------------------------------------------------------


def random_samples(count, seed):
    """Return moves whose best depth depends on the features, but not completely."""
    chance = np.random.default_rng(seed)
    features = chance.normal(size=(count, FEATURES)).astype(np.float32)
    features[:, 6] = features[:, 6] > 0
    depth = 1 + (features[:, 0] > 0.3) * 2 + (features[:, 3] * features[:, 6] > 0) + chance.integers(0, 2, count)
    return Samples(features, depth.astype(np.int32), np.arange(count) // 20)


@pytest.mark.parametrize("leaf", [1, 5, 100])
def test_the_compiled_tree_gives_the_answers_of_scikit_learn(leaf):
    from sklearn.tree import DecisionTreeClassifier

    from andante.offline.depth_tree import compiled

    samples = random_samples(2000, leaf)
    grown = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0).fit(samples.features, samples.depth)
    tree = compiled(grown, Params())
    rows = np.concatenate([samples.features, random_samples(2000, 7).features])
    assert [answer(tree, row) for row in rows] == grown.predict(rows).tolist()


def test_leaves_have_the_requested_size_and_noise_is_pruned():
    samples = random_samples(1500, 1)
    tree = train(samples, Params(leaf=50), Crew(1))
    where = [answer_leaf(tree, row) for row in samples.features]
    assert min(np.unique(where, return_counts=True)[1]) >= 50
    noise = np.random.default_rng(2).choice([1, 2, 3], 1500, p=[0.6, 0.2, 0.2]).astype(np.int32)
    assert len(train(Samples(samples.features, noise, samples.walk), Params(leaf=5), Crew(1)).feature) == 1


def answer_leaf(tree, row, node=0):
    while tree.feature[node] != LEAF:
        node = (tree.low if row[tree.feature[node]] <= tree.threshold[node] else tree.high)[node]
    return node


def test_one_walk_is_enough():
    samples = random_samples(500, 4)
    tree = train(Samples(samples.features, samples.depth, np.zeros(500, np.int64)), Params(leaf=20), Crew(1))
    assert len(tree.feature) > 1


@pytest.mark.compiled
def test_if_all_depths_are_equal_so_is_the_answer():
    tree = build("depth-tree(deepest=4)", andante.generate("empty", 20, 20)).arrays
    assert tree.feature.tolist() == [LEAF]
    assert tree.depth.tolist() == [1]


@pytest.mark.compiled
def test_too_many_samples_are_thinned_out():
    tree = build("depth-tree(samples=300, leaf=10, deepest=5)", maps()).arrays
    assert np.sum(tree.feature == LEAF) <= 30


@pytest.mark.compiled
def test_the_same_seed_gives_the_same_tree_on_any_number_of_threads(database):
    again = build(SMALL, maps(), threads=1)
    other = build(SMALL, maps(), seed=1)
    assert all(np.array_equal(a, b) for a, b in zip(database.arrays, again.arrays, strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(database.arrays, other.arrays, strict=True))


@pytest.mark.compiled
def test_in_a_second_round_the_tree_so_far_walks(database):
    reported = []
    again = build(SMALL, maps(), rounds=2, progress=lambda what, done, total: reported.append((what, done, total)))
    assert {("walks of an oracle", 36, 36), ("walks of the tree so far", 36, 36)} <= set(reported)
    assert any(not np.array_equal(a, b) for a, b in zip(database.arrays, again.arrays, strict=True))


@pytest.mark.compiled
def test_graphs_can_be_trained_on():
    chance = np.random.default_rng(1)
    places = chance.random((80, 2))
    edges = [(a, b, float(np.hypot(*(places[a] - places[b])))) for a, b in chance.integers(80, size=(240, 2)) if a != b]
    graph = Graph.from_edges(edges, states=80, points=places)
    database = build("depth-tree(deepest=3, leaf=5)", graph)
    assert andante.run("dtlrta", graph.problem(0, 1), databases=[database]).solved


def test_a_map_without_moves_is_refused():
    with pytest.raises(ProblemError, match="cannot be trained on these maps"):
        build("depth-tree", Grid(np.zeros((4, 4), bool)))


def test_without_scikit_learn_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(MissingLearnError, match=r"needs scikit-learn, which is not installed; pip install 'andante\[l"):
        build("depth-tree", andante.generate("empty", 4, 4))


# --- quality -----------------------------------------------------------------------------------------------


@pytest.mark.compiled
def test_it_serves_new_maps(database):
    """Costs are near the oracle's, with fewer expansions than a lookahead of the oracle's greatest depth."""
    grid = andante.generate("caves", 80, 80, seed=11)
    problems = andante.random_problems(grid, 60, optimal_cost=(30, 120), seed=2)

    def walked(setting):
        trials = andante.run_many(setting, problems, databases=[database], paths=False)
        assert all(trial.solved for trial in trials)
        cost = sum(trial.cost for trial in trials)
        return cost, sum(trial.states_expanded for trial in trials) / sum(trial.moves for trial in trials)

    (guessed, work), (foreseen, _), (_, most) = map(walked, ["dtlrta", "oracle-lrta(depth=5)", "lrta(depth=5)"])
    shallow, _ = walked("lrta(depth=1)")
    assert guessed < 0.5 * foreseen + 0.5 * shallow
    assert work < 0.8 * most


@pytest.mark.compiled
def test_several_maps_make_one_file(tmp_path, monkeypatch, capsys):
    command = ["andante", "build", SMALL, "rooms:30x30:1", "caves:30x30:2", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as end:
        main()
    assert (end.value.code or OK) == OK
    assert "any.depth-tree" in capsys.readouterr().out
    grid = andante.generate("maze", 31, 31, seed=5)
    loaded = load(tmp_path / "any.depth-tree", map=grid)
    assert isinstance(loaded, Database)
    assert loaded.fingerprint is None
    assert andante.run("dtlrta", drawn(grid, 1)[0], databases=[loaded]).solved


def test_other_kinds_are_for_one_map():
    with pytest.raises(andante.AndanteError, match="a database of kind 'moves' is built for one map, got 2"):
        build("moves", maps()[:2])
