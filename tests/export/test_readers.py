"""The page of file formats has a reader in C for each kind of file; they read the same as Python."""

import re
from pathlib import Path

import numpy as np
import pytest

import andante
from andante.agent import UNREACHABLE
from andante.control.features import FEATURES
from andante.databases import pattern, regions
from andante.databases.depth_tree import answer
from andante.export.images import MapImage, Plan
from andante.kernel import JIT
from tests.export.compiling import SANITIZED, STRICT, needs_gcc, run

pytestmark = [
    pytest.mark.full,
    pytest.mark.compiled,
    pytest.mark.skipif(not JIT, reason="needs compiled kernels"),
    needs_gcc,
]

PAGE = Path("docs/explanation/database-files.md")


@pytest.fixture(scope="module")
def grid():
    return andante.generate("rooms", 30, 24, seed=3)


@pytest.fixture(scope="module")
def image(grid):
    return MapImage.of(grid)


@pytest.fixture(scope="module")
def reader(grid, image, tmp_path_factory):
    """A function that passes a kind, a file's contents and questions to the readers and returns the answers."""
    folder = tmp_path_factory.mktemp("readers")
    parts = re.findall(r"```c\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert all(len(part.splitlines()) <= 35 for part in parts)
    own = Path("tests/export/readers.c").read_text()
    (folder / "readers.c").write_text("\n".join([*parts, own]))
    run("gcc", "-std=c99", *STRICT, *SANITIZED, folder / "readers.c", "-lm", "-o", folder / "readers")
    (folder / "map.image").write_bytes(image.data)

    def ask(kind, data, questions=(), *, with_map=True):
        (folder / "file").write_bytes(data)
        text = "\n".join(" ".join(map(str, one)) for one in questions)
        also = [folder / "map.image"] if with_map else []
        said = run(folder / "readers", kind, folder / "file", *also, input=text)
        return [list(map(int, line.split())) for line in said.splitlines()]

    return ask


@pytest.fixture(scope="module")
def pairs(grid):
    free = np.flatnonzero(grid.passable.ravel())
    return np.random.default_rng(1).choice(free, (300, 2)).tolist()


def test_map(grid, image, reader):
    asked = [(state, move) for state in range(len(grid.graph)) for move in range(9)]
    near = [[to for to, _ in grid.graph.neighbours(state)] for state in range(len(grid.graph))]
    expected = [[near[state][move] if move < len(near[state]) else -1] for state, move in asked]
    assert reader("map", image.data, asked, with_map=False) == expected


def test_moves_are_those_of_an_agent(grid, pairs, reader):
    database = andante.build("moves", grid)
    agent = andante.Agent("cpd", grid, databases=[database])
    pairs = [pair for pair in pairs if pair[0] != pair[1]]
    expected = [agent.move(*pair).to for pair in pairs]
    found = reader("moves", database.to_bytes(), pairs)
    assert found == [[-1 if to == UNREACHABLE else to] for to in expected]


def test_pattern(grid, pairs, reader):
    database = andante.build("pattern", grid)
    expected = [[pattern.subgoal(database.arrays, *pair)] for pair in pairs]
    assert reader("pattern", database.to_bytes(), pairs) == expected
    assert any(one != [goal] for one, (_, goal) in zip(expected, pairs, strict=True))


def test_regions(grid, pairs, reader):
    database = andante.build("regions", grid)
    arrays, expected = database.arrays, []
    for pair in pairs:
        here, there = (regions.region_of(arrays, state) for state in pair)
        arc = regions.next_arc(arrays, here, there) if here != there else -1
        expected.append([here, there, here if here == there else int(arrays.to[arc]) if arc >= 0 else -1])
    assert reader("regions", database.to_bytes(), pairs) == expected
    assert any(here != there for here, there, _ in expected)


def test_subgoals(grid, pairs, reader):
    database = andante.build("subgoals(records=200)", grid)
    arrays = database.arrays
    records = list(zip(arrays.start.tolist(), arrays.goal.tolist(), strict=True))
    asked = records + [tuple(pair) for pair in pairs]
    found = [one for (one,) in reader("subgoals", database.to_bytes(), asked)]
    assert [records[one] for one in found[: len(records)]] == records
    assert [one >= 0 for one in found] == [pair in set(records) for pair in asked]


def test_depth_tree(grid, reader):
    database = andante.build("depth-tree", grid)
    rng = np.random.default_rng(2)
    seen = rng.choice(database.arrays.threshold, (200, FEATURES)) + rng.choice([-0.5, 0.0, 0.5], (200, FEATURES))
    asked = seen.astype(np.float32)
    expected = [[answer(database.arrays, one)] for one in asked]
    assert reader("depth-tree", database.to_bytes(), asked.tolist(), with_map=False) == expected


def test_plan(grid, image, reader):
    plan = Plan.of(andante.find("lrta"), image)
    found = reader("plan", plan.data, with_map=False)
    assert len(found) == len(plan.entry.words)
    pointed = {word for word, array in plan.entry.arrays if array.size}
    assert {word for word, (segment, _) in enumerate(found) if segment != 0} == pointed
    numbers = [value for word, (_, value) in enumerate(found) if word not in pointed]
    assert numbers == [
        0 if any(word == place for place, _ in plan.entry.arrays) else value
        for word, value in enumerate(plan.entry.words)
        if word not in pointed
    ]
