"""The golden counts: reading, computing and confirming the rows of ``counts.txt``."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import andante
from andante.world.grid import Grid
from tests import naive

FILE = Path(__file__).with_name("counts.txt")


class Question(NamedTuple):
    """A run of an algorithm from a start to a goal on a generated map."""

    map: str  # kind:size:seed
    start: tuple[int, int]
    goal: tuple[int, int]
    algorithm: str


class Answer(NamedTuple):
    """The result; the map's fingerprint distinguishes a changed map from a changed algorithm."""

    fingerprint: str
    outcome: str
    moves: int
    cost: float
    expanded: int


def read() -> list[tuple[Question, Answer | None]]:
    """Return the rows of the file; those that are not filled in yet have no answer."""
    lines = [line.split() for line in FILE.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return [(question_of(words[:4]), _answer(words[4:]) if words[4:] else None) for words in lines]


def question_of(words: list[str]) -> Question:
    """Return the question in the first four columns of a row."""
    where, start, goal, algorithm = words
    (start_x, start_y), (goal_x, goal_y) = (map(int, cell.split(",")) for cell in (start, goal))
    return Question(where, (start_x, start_y), (goal_x, goal_y), algorithm)


def _answer(words: list[str]) -> Answer:
    fingerprint, outcome, moves, cost, expanded = words
    return Answer(fingerprint, outcome, int(moves), float(cost), int(expanded))


@cache
def grid_of(name: str) -> Grid:
    """Return the map that a row names."""
    kind, size, seed = name.split(":")
    width, height = map(int, size.split("x"))
    return andante.generate(kind, width, height, seed=int(seed))


def compute(question: Question) -> Answer:
    """Return the current answer of Andante."""
    grid = grid_of(question.map)
    trial = andante.run(question.algorithm, grid.problem(question.start, question.goal))
    return Answer(grid.fingerprint[:8], trial.outcome.name, trial.moves, trial.cost, trial.states_expanded)


def confirm(question: Question, answer: Answer) -> None:
    """Compare an answer with something too simple to be wrong.

    LRTA* and RTA* have twins in plain Python, which must agree in everything. The cost of A* must be Dijkstra's, and that
    of weighted A* must be within the weight. Their counts of states are only compared with earlier ones.
    """
    grid = grid_of(question.map)
    start, goal = grid.state(*question.start), grid.state(*question.goal)
    entry = andante.find(question.algorithm)
    h = naive.grid_heuristic(grid, goal)
    if entry.card.name == "lrta":
        _agrees(naive.lrta(grid.graph, h, start, goal, entry.params.depth), answer)
    elif entry.card.name == "rta":
        _agrees(naive.rta(grid.graph, h, start, goal), answer)
    elif entry.card.name in ("astar", "wastar"):
        least = naive.distances_from(grid.graph, start)[goal]
        assert least <= answer.cost <= entry.params.weight * least


def _agrees(walk: naive.Walk, answer: Answer) -> None:
    found = (walk.arrived, len(walk.path) - 1, walk.cost, sum(walk.expanded))
    assert found == (answer.outcome == "GOAL", answer.moves, answer.cost, answer.expanded)
