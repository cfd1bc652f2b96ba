"""The claims of every card are tested on maps whose cells have costs, and on maps with sixteen neighbours."""

import numpy as np
import pytest

import andante
from andante.episode import contract
from andante.world.grid import SIXTEEN, Grid
from tests.contract.test_register import databases  # noqa: F401 (a fixture)
from tests.worlds import CORE, FULL

SIDE = 32


def costly(kind, seed, rule, costs):
    """Return a map of this kind whose cells have random costs of these, in patches of four by four."""
    free = andante.generate(kind, SIDE, SIDE, seed=seed).passable
    drawn = np.random.default_rng(seed).choice(costs, (SIDE // 4, SIDE // 4))
    return Grid(free, name=f"costly {kind}", rule=rule, costs=drawn.repeat(4, 0).repeat(4, 1))


@pytest.fixture(scope="module")
def maps():
    return [
        andante.generate("countryside", SIDE, SIDE, seed=1),
        costly("random", 2, "octile", [1.0, 2.0, 5.0]),
        costly("rooms", 3, "corners", [1.5, 2.5, 6.0]),
        costly("rooms", 5, "cardinal", [1.0, 3.0, 0.5]),
        costly("caves", 4, "octile", [0.1, 0.7, 1.0]),
    ]


@pytest.fixture(scope="module")
def wide():
    """Maps whose cells have sixteen neighbours."""
    made = [andante.generate(kind, SIDE, SIDE, seed=4) for kind in ("random", "rooms", "caves")]
    return [Grid(grid.terrain, name=grid.name, rule=SIXTEEN) for grid in made]


@pytest.mark.full
@pytest.mark.parametrize("entry", andante.algorithms(), ids=str)
def test_moves_where_cells_have_costs(entry, maps, databases):  # noqa: F811
    andante.check_algorithm(entry, databases_for=databases(entry), maps=maps[:4], debug=True)


@pytest.mark.full
@pytest.mark.parametrize("entry", andante.algorithms(), ids=str)
def test_moves_where_cells_have_sixteen_neighbours(entry, wide, databases, monkeypatch):  # noqa: F811
    monkeypatch.setattr(contract, "SIGHTS", ())  # sight is refused
    andante.check_algorithm(entry, databases_for=databases(entry), maps=wide, debug=True)


def _only_on_known_maps(monkeypatch):
    """Leave all loops to full runs, except that of a single agent on a map that it knows."""
    monkeypatch.setattr(contract, "_real_time", lambda *_: ())  # it uses separate maps, as in test_register
    if not FULL:
        monkeypatch.setattr(contract, "_in_a_crowd", lambda *_: ())
        monkeypatch.setattr(contract, "_discovery", lambda *_: {})
        monkeypatch.setattr(contract, "follow_changes", lambda *_: ())


def _marks(entry):
    return [] if entry.card.name in CORE else [pytest.mark.deep]


@pytest.mark.compiled
@pytest.mark.parametrize("entry", [pytest.param(e, id=str(e), marks=_marks(e)) for e in andante.algorithms()])
def test_keeps_its_promises_where_cells_have_costs(entry, maps, databases, monkeypatch, quick_contract):  # noqa: F811
    _only_on_known_maps(monkeypatch)
    checks = andante.check_algorithm(entry, databases_for=databases(entry), maps=maps)
    assert ("is complete" in checks) == entry.complete


@pytest.mark.compiled
@pytest.mark.parametrize("entry", [pytest.param(e, id=str(e), marks=_marks(e)) for e in andante.algorithms()])
def test_keeps_its_promises_where_cells_have_sixteen_neighbours(entry, wide, databases, monkeypatch, quick_contract):  # noqa: F811
    _only_on_known_maps(monkeypatch)
    monkeypatch.setattr(contract, "_discovery", lambda *_: {})  # sight and worlds are refused
    monkeypatch.setattr(contract, "follow_changes", lambda *_: ())
    checks = andante.check_algorithm(entry, databases_for=databases(entry), maps=wide)
    assert ("is complete" in checks) == entry.complete


@pytest.mark.full
def test_databases_know_the_best_moves(maps, wide):
    """Sixteen moves need more bits than eight; without them, long walks would end in circles."""
    for grid in (maps[0], maps[1], wide[0], wide[1]):
        some = andante.random_problems(grid, 30, seed=3)
        given = andante.build("moves", grid)
        trials = andante.run_many("cpd", some, databases=given)
        assert [trial.cost for trial in trials] == [problem.optimal_cost for problem in some]
