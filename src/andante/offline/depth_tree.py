"""Training of depth trees on walks of LRTA*: how deep should the agent have looked at each move?

Bulitko et al. (2008), section 5.1, Appendix A. Before each move of a walk the eleven features are recorded, together
with the least depth that makes the move of the deepest lookahead. A decision tree is trained on these with scikit-learn
instead of the paper's WEKA, with the cost-complexity pruning that is best for walks that it was not trained on.

Where the paper is silent: walks use the depths that were found best, as an oracle would. A tree makes errors, reaches
states where an oracle would not be, and has learned nothing about them. So in further rounds, if requested, the current
tree walks, and the next one learns from all walks (Ross, Gordon and Bagnell 2011). Pruning is chosen by leaving out
whole walks, because the states of one walk are similar.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from andante.agent import Range
from andante.control.depth import ball_for, least_depth
from andante.control.features import History, keep, observe
from andante.databases.depth_tree import DEEPEST, FEATURES, LEAF, LONGEST_HISTORY, DepthTree, answer
from andante.errors import AndanteError, ProblemError
from andante.kernel import kernel
from andante.offline.builder import Crew, builder, finished
from andante.search.learning import Learned, raise_to
from andante.search.lookahead import Ball, look
from andante.search.memory import Space, begin_problem, new_space
from andante.world.graph import Graph
from andante.world.layout import Layout, target

PART = 4  # walks that a thread makes at a time
MOST_PRUNINGS = 12  # the most that are compared

#: A start and a goal per row.
Pairs = npt.NDArray[np.int64]


class MissingLearnError(AndanteError):
    """Raised when scikit-learn, which trains the trees, is not installed."""


class Params(NamedTuple):
    """The walks that the tree is trained on, and its pruning."""

    deepest: Annotated[int, Range(1, DEEPEST), "the greatest depth that the tree may choose"] = 10
    history: Annotated[int, Range(1, LONGEST_HISTORY), "number of moves that features look back over"] = 60
    problems: Annotated[int, Range(1, 1_000_000), "walks on each map, in each round"] = 50
    moves: Annotated[int, Range(1, 1_000_000), "moves after which a walk ends"] = 1000
    rounds: Annotated[int, Range(1, 100), "1: only walks of an oracle; more: then also walks of the tree so far"] = 1
    samples: Annotated[int, Range(1, 100_000_000), "moves to learn from; of more, this many are drawn"] = 50_000
    leaf: Annotated[int, Range(1, 1_000_000), "the fewest training moves per leaf"] = 100
    folds: Annotated[int, Range(2, 1000), "parts of the walks, left out in turn to choose the pruning"] = 10
    seed: Annotated[int, Range(0, 2**63 - 1), "the same seed gives the same tree"] = 0


class Samples(NamedTuple):
    """Training samples from walks: a row for each move."""

    features: npt.NDArray[np.float32]  # [moves, FEATURES]
    depth: npt.NDArray[np.int32]  # [moves], the least depth that is sufficient
    walk: npt.NDArray[np.int64]  # [moves], the number of the walk


@builder("depth-tree", Params, any_map=True)
def make(graphs: Sequence[Graph], params: Params, crew: Crew) -> DepthTree:
    """Return a tree trained on random problems of these graphs, which also serves other graphs."""
    _classifier()  # raises before any work is done
    samples: list[Samples] = []
    tree = _without_questions(params)
    for number in range(params.rounds):
        problems = [_draw(graph, params.problems, (params.seed, number, k)) for k, graph in enumerate(graphs)]
        samples.append(collect(graphs, problems, params, crew, tree if number else None))
        tree = train(_together(samples), params, crew)
    return tree


def _draw(graph: Graph, count: int, seed: tuple[int, ...]) -> Pairs:
    """Return random pairs of different states in the same component."""
    rng, label = np.random.default_rng(seed), graph.components
    order = np.argsort(label, kind="stable")  # grouped by component
    size = np.bincount(label, minlength=1)
    begin = np.cumsum(size) - size
    places = np.flatnonzero(size[label[order]] > 1)
    if len(places) == 0:
        return np.zeros((0, 2), np.int64)
    start = places[rng.integers(len(places), size=count)]
    of = label[order[start]]
    ahead = rng.integers(1, size[of])
    goal = begin[of] + (start - begin[of] + ahead) % size[of]
    return np.stack([order[start], order[goal]], 1)


# --- walking --------------------------------------------------------------------------------------------------------


class Room(NamedTuple):
    """The buffers of one thread for walking on one graph."""

    h: Learned
    ball: Ball
    history: History
    features: npt.NDArray[np.float32]  # [most moves, FEATURES]
    depth: npt.NDArray[np.int32]  # [most moves]


class _Desk:
    """The buffers of one thread for the graph that it is working on."""

    def __init__(self, params: Params) -> None:
        self._params = params
        self._graph: Graph | None = None
        self._room: Room | None = None

    def room(self, graph: Graph) -> Room:
        if self._room is None or self._graph is not graph:
            self._graph, self._room = graph, _room(new_space(graph, None), self._params)
        return self._room


def _room(space: Space, params: Params) -> Room:
    return Room(
        Learned.allocate(space),
        ball_for(space, params.deepest),
        History.over(space, params.history),
        np.zeros((params.moves, FEATURES), np.float32),
        np.zeros(params.moves, np.int32),
    )


@dataclass(frozen=True)
class _Part:
    """Walks that a thread makes one after another."""

    graph: Graph
    pairs: Pairs

    def __len__(self) -> int:
        return len(self.pairs)


def collect(
    graphs: Sequence[Graph],
    problems: Sequence[Pairs],
    params: Params,
    crew: Crew,
    tree: DepthTree | None = None,
) -> Samples:
    """Return the moves of a walk for each problem; ``problems`` is int64[any, 2] for each graph, starts and goals.

    The agent looks as deep as ``tree`` predicts or, without a tree, as deep as is best.
    """
    guide, guided = tree or _without_questions(params), tree is not None

    def work(desk: _Desk, part: _Part) -> list[tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]]:
        return list(_walked(desk.room(part.graph), part, guide, guided, params.deepest))

    parts = [
        _Part(graph, pairs[i : i + PART])
        for graph, pairs in zip(graphs, problems, strict=True)
        for i in range(0, len(pairs), PART)
    ]
    desks = [_Desk(params) for _ in range(crew.threads)]
    what = "walks of the tree so far" if guided else "walks of an oracle"
    walks = [walk for some in finished(crew.each(work, parts, desks, what)) for walk in some]
    return Samples(
        np.concatenate([np.zeros((0, FEATURES), np.float32), *(features for features, _ in walks)]),
        np.concatenate([np.zeros(0, np.int32), *(depth for _, depth in walks)]),
        np.repeat(np.arange(len(walks)), [len(depth) for _, depth in walks]),
    )


def _walked(
    room: Room, part: _Part, tree: DepthTree, guided: bool, deepest: int
) -> Iterator[tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]]:
    for start, goal in part.pairs.tolist():
        moves = _walk(room, part.graph.arrays, tree, guided, deepest, start, goal)
        yield room.features[:moves].copy(), room.depth[:moves].copy()


@kernel
def _walk(room: Room, graph: Layout, tree: DepthTree, guided: bool, deepest: int, start: int, goal: int) -> int:
    """Walk as LRTA* from start to goal, record each move's features and best depth, and return the number of moves."""
    h, ball, history, state = room.h, room.ball, room.history, start
    begin_problem(h.clock[0], 0)
    h.clock[0]["trial"] += 1
    for move in range(len(room.depth)):
        if state == goal:
            return move
        seen = observe(history, ball, graph, h, state, goal)
        if seen.slot < 0:
            return move
        for k in range(FEATURES):
            room.features[move, k] = history.row[k]
        room.depth[move] = least_depth(ball, graph, h, state, goal, deepest)
        depth = answer(tree, history.row) if guided else room.depth[move]
        best = look(ball, graph, h, state, goal, depth, 1.0)
        learned, _ = raise_to(h, graph, state, goal, best.f)
        keep(history, graph, state, best.first, learned)
        state = target(graph, state, best.first)
    return len(room.depth)


def _together(samples: Sequence[Samples]) -> Samples:
    """Return the samples of several rounds together, with a different number for each walk."""
    before = np.cumsum([0, *(int(some.walk.max(initial=-1)) + 1 for some in samples)])
    return Samples(
        np.concatenate([some.features for some in samples]),
        np.concatenate([some.depth for some in samples]),
        np.concatenate([some.walk + first for some, first in zip(samples, before, strict=False)]),
    )


# --- training -------------------------------------------------------------------------------------------------------


def train(samples: Samples, params: Params, crew: Crew) -> DepthTree:
    """Return the tree that best predicts the depths of these samples."""
    if len(samples.depth) == 0:
        raise ProblemError("a depth tree cannot be trained on these maps, because none of their states has a move")
    some = _drawn(samples, params)
    alpha = _best_pruning(some, params, crew)
    return compiled(_fitted(some.features, some.depth, params, alpha), params)


def _drawn(samples: Samples, params: Params) -> Samples:
    """Return the samples, or as many random ones as the parameters allow."""
    count = len(samples.depth)
    if count <= params.samples:
        return samples
    chosen = np.sort(np.random.default_rng(params.seed).choice(count, params.samples, replace=False))
    return Samples(samples.features[chosen], samples.depth[chosen], samples.walk[chosen])


def _best_pruning(samples: Samples, params: Params, crew: Crew) -> float:
    """Return the strongest pruning whose share of correct depths in left-out walks is close to the best.

    Close means within one standard error (Breiman, Friedman, Olshen and Stone 1984).
    """
    folds = _folds(samples, params)
    alphas = _prunings(samples, params)
    if len(folds) < 2 or len(alphas) < 2:
        return 0.0

    def share_right(desk: None, part: tuple[tuple[npt.NDArray[np.bool_], float]]) -> float:
        ((left_out, alpha),) = part
        tree = _fitted(samples.features[~left_out], samples.depth[~left_out], params, alpha)
        return float((tree.predict(samples.features[left_out]) == samples.depth[left_out]).mean())

    parts = [((fold, alpha),) for alpha in alphas for fold in folds]
    shares = finished(crew.each(share_right, parts, [None] * crew.threads, "choosing the pruning"))
    score = np.array(shares).reshape(len(alphas), len(folds))
    best = score[score.mean(1).argmax()]
    enough = best.mean() - best.std(ddof=1) / np.sqrt(len(folds))
    return float(alphas[np.flatnonzero(score.mean(1) >= enough)[-1]])


def _folds(samples: Samples, params: Params) -> list[npt.NDArray[np.bool_]]:
    """Return the samples that are left out in each fold: with k folds, those of every k-th walk."""
    _, walk = np.unique(samples.walk, return_inverse=True)
    folds = min(params.folds, int(walk.max()) + 1)
    return [walk % folds == fold for fold in range(folds)]


def _prunings(samples: Samples, params: Params) -> npt.NDArray[np.float64]:
    """Return weights of a tree's size against its errors, from 0 to the one that leaves only the root."""
    path = _classifier()(min_samples_leaf=params.leaf, random_state=0).cost_complexity_pruning_path(
        samples.features, samples.depth
    )
    steps = np.unique(np.maximum(path.ccp_alphas, 0.0))  # for a tree without errors some are negative by rounding
    if len(steps) <= MOST_PRUNINGS:
        return steps
    return steps[np.linspace(0, len(steps) - 1, MOST_PRUNINGS).round().astype(np.int64)]


def _fitted(features: npt.NDArray[np.float32], depth: npt.NDArray[np.int32], params: Params, alpha: float) -> Any:
    """Return a scikit-learn tree trained on these samples."""
    return _classifier()(min_samples_leaf=params.leaf, random_state=0, ccp_alpha=alpha).fit(features, depth)


def _classifier() -> Any:
    """Import and return scikit-learn's class of decision trees, which only training needs."""
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError as error:
        raise MissingLearnError(
            "training a depth tree needs scikit-learn, which is not installed; pip install 'andante[learn]'"
        ) from error
    return DecisionTreeClassifier


def compiled(classifier: Any, params: Params) -> DepthTree:
    """Return a scikit-learn tree as flat arrays that give the same answers."""
    tree = classifier.tree_
    inner = tree.children_left >= 0
    return DepthTree(
        np.where(inner, tree.feature, LEAF).astype(np.int32),
        np.where(inner, tree.threshold, 0.0),
        np.where(inner, tree.children_left, 0).astype(np.int32),
        np.where(inner, tree.children_right, 0).astype(np.int32),
        classifier.classes_[tree.value[:, 0].argmax(1)].astype(np.int32),
        np.array([params.deepest]),
        np.array([params.history]),
    )


def _without_questions(params: Params) -> DepthTree:
    """Return a tree that always answers with the greatest depth."""
    node, none = np.array([LEAF], np.int32), np.zeros(1, np.int32)
    depth = np.array([params.deepest], np.int32)
    return DepthTree(node, np.zeros(1), none, none, depth, np.array([params.deepest]), np.array([params.history]))
