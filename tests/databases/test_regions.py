"""Files of regions that are complete but make no sense are refused before a kernel reads them."""

import numpy as np
import pytest

import andante
from andante.databases.header import Database, load
from andante.errors import DatabaseError
from andante.offline import build


@pytest.fixture(scope="module")
def grid():
    return andante.generate("rooms", 24, 24, seed=1)


@pytest.fixture(scope="module")
def database(grid):
    return build("regions(m=3, borders=2)", grid)


def put(array, place, value):
    fresh = array.copy()
    fresh[place] = value
    return fresh


BROKEN = {
    "block": (lambda a: a.block[1:], "not those of a graph of 576 states"),
    "begin": (lambda a: a.begin[1:], "not those of a graph of 576 states"),
    "region": (lambda a: put(a.region, 3, 60000), "regions that do not exist"),
    "seed": (lambda a: put(a.seed, 0, 576), "beyond the 576"),
    "first": (lambda a: put(a.first, 1, -1), "do not match"),
    "to": (lambda a: put(a.to, 0, 60000), "regions that do not exist"),
    "link": (lambda a: put(a.link, 1, -1), "do not match"),
    "chain": (lambda a: put(a.chain, 1, 2**31 - 1), "do not match"),
    "subgoal": (lambda a: put(a.subgoal, 0, -1), "beyond the 576"),
    "row": (lambda a: put(a.row, -1, 0), "do not match"),
    "goal": (lambda a: put(a.goal, 0, 1), "arcs that do not exist"),
    "arc": (lambda a: put(a.arc, 0, 254), "arcs that do not exist"),
    "wide": (lambda a: np.zeros(1, np.uint8), "do not match"),
}


def save(database, path, **arrays):
    Database("regions", database.fingerprint, {}, database.arrays._replace(**arrays)).save(path)


@pytest.mark.parametrize("name", BROKEN)
def test_tables_that_make_no_sense_are_refused(name, grid, database, tmp_path):
    change, sentence = BROKEN[name]
    save(database, tmp_path / "broken", **{name: change(database.arrays)})
    with pytest.raises(DatabaseError, match=sentence):
        load(tmp_path / "broken", map=grid)


@pytest.mark.parametrize("name", BROKEN)
def test_tables_of_another_shape_are_refused(name, grid, database, tmp_path):
    array = getattr(database.arrays, name)
    for other in (array[None], array[:0]) if len(array) else (array[None],):
        save(database, tmp_path / "broken", **{name: other.copy()})
        with pytest.raises(DatabaseError, match="cannot be used"):
            load(tmp_path / "broken", map=grid)


def test_a_block_without_runs_is_refused(grid, database, tmp_path):
    block = database.arrays.block
    for broken in (put(block, 1, block[2]), put(block, 1, 0)):
        save(database, tmp_path / "broken", block=broken)
        with pytest.raises(DatabaseError, match="cannot be used"):
            load(tmp_path / "broken", map=grid)


def test_no_regions_at_all_are_refused_where_there_are_moves(grid, database, tmp_path):
    nothing = {name: np.zeros(0, array.dtype) for name, array in database.arrays._asdict().items()}
    ends = {name: np.zeros(1, np.int32) for name in ("first", "link", "chain", "row")}
    kept = {name: getattr(database.arrays, name) for name in ("block", "begin")}
    region = np.zeros_like(database.arrays.region)
    save(database, tmp_path / "broken", **(nothing | ends | kept | {"region": region}))
    with pytest.raises(DatabaseError, match="regions that do not exist"):
        load(tmp_path / "broken", map=grid)


def test_agents_can_walk_by_any_numbers_that_pass_the_check(grid, database, tmp_path):
    """Numbers that pass the check may lead astray, but never beyond an array; the agent gets stuck or is stopped."""
    chance, let_through = np.random.default_rng(3), 0
    problems = andante.random_problems(grid, 3, seed=1)
    for _ in range(150):
        name = chance.choice([name for name in BROKEN if name != "wide"])
        array = getattr(database.arrays, name)
        broken = put(array, chance.integers(len(array)), chance.integers(0, array.max() + 1))
        save(database, tmp_path / "odd", **{name: broken})
        try:
            odd = load(tmp_path / "odd", map=grid)
        except DatabaseError:
            continue
        let_through += 1
        for problem in problems:
            andante.run("hcdps", problem, databases=odd, limits=andante.Limits(moves=300))
    assert let_through > 10
