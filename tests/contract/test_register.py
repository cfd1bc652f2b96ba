"""The claims of every registered card are tested, also for the settings it recommends."""

from dataclasses import replace
from typing import Annotated, NamedTuple

import numpy as np
import pytest

import andante
from andante.abstraction.hierarchy import hierarchy_of
from andante.agent import Algorithm, Card, Move, Range
from andante.episode import contract
from andante.kernel import int64, kernel
from andante.notation import parse
from andante.offline import build, builders
from andante.search.astar import Tree, search
from andante.search.learning import Learned, is_learned, store, value
from andante.search.path import Path, lay
from andante.world.layout import degree, estimate, price, target
from andante.world.problem import Problem
from tests.abstraction.worlds import coarse_level

CARDS = andante.algorithms()


def _of(card, entry):
    """Return a parameter for a card or a setting; settings share their card's code, and may take long with databases."""
    if entry is card:
        marks = [pytest.mark.full] if card.fixed else []  # published settings of another algorithm
    else:
        marks = [pytest.mark.deep] if entry.needs else [pytest.mark.full]
    return pytest.param(entry, id=str(entry), marks=marks)


SETTINGS = [_of(card, entry) for card in CARDS for entry in (card, *map(andante.find, card.card.examples))]


def pattern(entry, grid):
    """Return a pattern database for an agent that plans on the map itself, or on its own level."""
    top = hierarchy_of(grid.graph).top
    base = min(getattr(entry.params, "level", 0), top)
    return f"pattern(level={max(min(base + 2, top), coarse_level(grid))}, base={base}, cap=8, goal_depths=capped)"


def subgoals(entry, grid):
    """Return records with the same density on wide and narrow maps, on which the distance of climbing depends."""
    return f"subgoals(records={max(300, grid.width * grid.height // 64)})"


#: Tested in crowds too: every algorithm, and of the named settings the one with the largest mind.
IN_CROWDS = [entry for entry in CARDS if not entry.fixed or entry.card.name == "tbwalls"]

SMALL = {
    "moves": lambda entry, grid: "moves",
    "subgoals": subgoals,
    "pattern": pattern,
    "depth-tree": lambda entry, grid: "depth-tree(deepest=6, problems=10, leaf=20)",
    "regions": lambda entry, grid: "regions(m=12, borders=2)",
}


@pytest.fixture(scope="module")
def databases():
    """A function that builds databases for a setting, and caches them, because the same maps are used repeatedly."""
    made = {}
    grids = [andante.generate(kind, 40, 40, seed=1) for kind in ("rooms", "caves")]

    def built(text, grid):
        world = grids if builders()[parse(text).name].any_map else grid
        key = (text, None if world is grids else grid.graph.fingerprint)
        if key not in made:
            made[key] = build(text, world)
        return made[key]

    return lambda entry: lambda grid: [built(SMALL[kind](entry, grid), grid) for kind in entry.needs]


@pytest.mark.compiled
@pytest.mark.parametrize("entry", SETTINGS)
def test_keeps_its_claims(entry, databases, monkeypatch, request):
    request.getfixturevalue("quick_contract" if entry in IN_CROWDS else "contract_alone")
    if "moves" in entry.needs:  # for all pairs of states, so wider maps would take too long
        monkeypatch.setattr(contract, "WIDTHS", (24, 72))
    elif "regions" in entry.needs:  # for all pairs of regions; wide enough for the longest attempt at climbing
        monkeypatch.setattr(contract, "WIDTHS", (128, 256))
    elif "pattern" in entry.needs and getattr(entry.params, "level", 0) > 0:
        # agents that plan over regions with subgoals need more space: 8 moves between regions are many more on the map
        monkeypatch.setattr(contract, "WIDTHS", (256, 768))
    checks = andante.check_algorithm(entry, databases_for=databases(entry))
    assert ("is complete" in checks) == entry.complete
    assert ("plans no more per move on a larger map" in checks) == entry.real_time


@pytest.mark.parametrize("entry", CARDS, ids=str)
def test_only_agents_that_foresee_may_search_uncounted(entry):
    assert entry.foresees == (entry.card.name == "oracle-lrta") == entry.card.foresees


@pytest.mark.parametrize(
    "text",
    [
        "tba(budget=4, shortcut=true)",
        "late-astar(budget=4)",
        "sla",
        "family(expendable=true)",
        "pra(widen=true)",
        "lss",
    ],
)
def test_all_expansions_of_a_whole_run_are_counted(text, monkeypatch):
    """It is tested on grids and on rows of arcs, in plain Python on a small map."""
    monkeypatch.setattr(contract, "COUNTED", andante.Limits(moves=300))
    grid = andante.generate("rooms", 16, 16, seed=3)
    problem = andante.random_problems(grid, 1, optimal_cost=(16, 99), seed=1)[0]
    rows = Problem(grid.graph.csr(), problem.start, problem.goal)
    for each in (problem, rows):
        assert list(contract._counts(contract._Subject(andante.find(text), None), [Asked(each)])) == []


class Asked(NamedTuple):
    """The fields of a trial that counting needs."""

    problem: Problem


@pytest.mark.parametrize("entry", CARDS, ids=str)
def test_is_found_by_the_name_it_prints(entry):
    assert andante.find(str(entry)) == entry
    assert entry.card.summary.endswith(".")
    assert entry.card.paper


# --- agents that break their claims ---------------------------------------------------------------------------------


@pytest.fixture
def impatient(monkeypatch):
    """A low limit on moves for agents that never arrive, because they only have to be caught."""
    monkeypatch.setattr(contract, "LIMITS", andante.Limits(moves=2000))
    monkeypatch.setattr(contract, "PATIENT", andante.Limits(moves=10_000))
    monkeypatch.setattr(contract, "WATCHED", andante.Limits(moves=100))
    monkeypatch.setattr(contract, "WIDTHS", (64, 192))


class Params(NamedTuple):
    """None."""


class Memory(NamedTuple):
    """A memory with learned values."""

    h: Learned


@kernel
def teleport(graph, memory, params, state, goal):
    """Go straight to the goal, through walls."""
    return Move(goal, 1.0, 1, 1, 0.0, 0)


@kernel
def undercharge(graph, memory, params, state, goal):
    """Move along an edge, and report half its cost."""
    return Move(target(graph, state, 0), price(graph, state, 0) / 2, 1, 1, 0.0, 0)


@kernel
def stroll(graph, memory, params, state, goal):
    """Go to the first neighbour, forever."""
    return Move(target(graph, state, 0), price(graph, state, 0), 1, 1, 0.0, 0)


@kernel
def brood(graph, memory, params, state, goal):
    """Think about every state of the map before each move."""
    k = degree(graph, state) - 1
    return Move(target(graph, state, k), price(graph, state, k), len(memory.h.value), 1, 0.0, 0)


@kernel
def peep(graph, memory, params, state, goal):
    """Expand each neighbour, and do not count it."""
    for k in range(degree(graph, state)):
        near = target(graph, state, k)
        for m in range(degree(graph, near)):
            target(graph, near, m)
    return Move(target(graph, state, 0), price(graph, state, 0), 1, 1, 0.0, 0)


@kernel
def stare(graph, memory, params, state, goal):
    """Expand one neighbour repeatedly, and count it once."""
    near = target(graph, state, 0)
    for _ in range(4):
        for m in range(degree(graph, near)):
            target(graph, near, m)
    return Move(near, price(graph, state, 0), 1, 1, 0.0, 0)


@kernel
def remember(graph, memory, params, state, goal):
    """Take the next neighbour at each visit, and count visits over all problems without forgetting them."""
    k = int64(memory.h.value[state]) % degree(graph, state)
    memory.h.value[state] += 1
    return Move(target(graph, state, k), price(graph, state, k), 1, 1, 0.0, 0)


@kernel
def show_off(graph, memory, params, state, goal):
    """Go to the last neighbour if the agent is watched, otherwise to the first."""
    k = degree(graph, state) - 1 if len(memory.h.log.kind) > 0 else 0
    return Move(target(graph, state, k), price(graph, state, k), 1, 1, 0.0, 0)


@kernel
def sleepwalk(graph, memory, params, state, goal):
    """Continue as if the agent were still where its last move led."""
    here = int64(value(memory.h, graph, 0, goal)) if is_learned(memory.h, 0) else state
    to = target(graph, here, 0)
    store(memory.h, 0, float(to))
    return Move(to, price(graph, here, 0), 1, 1, 0.0, 0)


@kernel
def hesitate(graph, memory, params, state, goal):
    """Go to the first neighbour, but to the second from the goal of the last problem."""
    k = 1 % degree(graph, state) if memory.h.value[0] == state else 0
    memory.h.value[0] = float(goal)
    return Move(target(graph, state, k), price(graph, state, k), 1, 1, 0.0, 0)


FAULTS = (teleport, undercharge, stroll, brood, peep, stare, remember, show_off, sleepwalk, hesitate)


class Faulty(NamedTuple):
    """The number of a fault."""

    fault: Annotated[int, Range(0, len(FAULTS) - 1), "its number among FAULTS"] = 0


@kernel
def misbehave(graph, memory, params, state, goal):
    """Do what the parameter says, so that only one loop is compiled for all faults."""
    if params.fault == 0:
        return teleport(graph, memory, params, state, goal)
    if params.fault == 1:
        return undercharge(graph, memory, params, state, goal)
    if params.fault == 2:
        return stroll(graph, memory, params, state, goal)
    if params.fault == 3:
        return brood(graph, memory, params, state, goal)
    if params.fault == 4:
        return peep(graph, memory, params, state, goal)
    if params.fault == 5:
        return stare(graph, memory, params, state, goal)
    if params.fault == 6:
        return remember(graph, memory, params, state, goal)
    if params.fault == 7:
        return show_off(graph, memory, params, state, goal)
    if params.fault == 8:
        return sleepwalk(graph, memory, params, state, goal)
    return hesitate(graph, memory, params, state, goal)


class Notes(NamedTuple):
    """The moves made in this trial, stored in memory that all units of a crowd share."""

    made: np.ndarray  # [2], the trial, and its moves
    clock: np.ndarray

    @classmethod
    def allocate(cls, space):
        return cls(np.zeros(2, np.int64), space.clock)


class OneDesk(NamedTuple):
    notes: Notes


@kernel
def take_turns(graph, memory, params, state, goal):
    """Go to the first neighbour, then to the second, and so on."""
    made, now = memory.notes.made, memory.notes.clock[0]["trial"]
    made[1] = made[1] + 1 if made[0] == now else 0
    made[0] = now
    k = made[1] % degree(graph, state)
    return Move(target(graph, state, k), price(graph, state, k), 1, 1, 0.0, 0)


@pytest.mark.compiled
@pytest.mark.usefixtures("impatient")
def test_an_agent_whose_mind_is_on_its_desk_is_caught_in_a_crowd():
    card = Card("one-desk", "One desk", paper="none", real_time=True)
    entry = Algorithm(card, Params(), Params(), OneDesk, take_turns)
    assert andante.check_algorithm(entry)
    fault = "walks the same as one of a crowd': on <Problem .*> its move .* leads to state .*, and in a crowd to"
    with pytest.raises(andante.AndanteError, match=fault):
        andante.check_algorithm(replace(entry, card=replace(card, crowd=True)))


@pytest.mark.compiled
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("step", "claims", "fault"),
    [
        (teleport, {}, "which is not a move"),
        (undercharge, {}, r"and returned the cost [\d.]+, but it costs [\d.]+;"),
        (stroll, {"complete": True}, "is complete"),
        (brood, {"real_time": True}, "plans no more per move"),
        (
            peep,
            {},
            "counts every state that it expands': in move 1 on <Problem .*> it generates all .* states, but reports 1",
        ),
        (stare, {}, "counts every state that it expands': in move 1 on <Problem .*> it generates all .* reports 1"),
        (remember, {}, "does the same every time"),
        (show_off, {}, "does the same when watched"),
        (hesitate, {}, "keeps nothing from the last problem': after the same problem in the other direction it takes"),
        (stroll, {"crowd": True}, "is real-time if it can be one of a crowd': its card says crowd and not real_time"),
        (sleepwalk, {}, "continues from wherever it is pushed': pushed to another state on <Problem .*>, broken went"),
    ],
)
def test_a_broken_claim_is_caught(step, claims, fault):
    params = Faulty(FAULTS.index(step))
    entry = Algorithm(Card("broken", "Broken", paper="none", **claims), params, params, Memory, misbehave)
    with pytest.raises(andante.AndanteError, match=fault):
        andante.check_algorithm(entry)


@pytest.mark.compiled
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("name", "claims", "fault"),
    [
        (
            "rta",
            {"optimal": True},
            "rta fails the check 'is optimal': on <Problem .*> its path costs .*, where .* is enough",
        ),
        ("rta", {"converges": True}, "rta fails the check 'converges': on <Problem .*> it still learns after"),
        (
            "astar",
            {"real_time": True},
            "astar fails the check 'plans no more per move on a larger map': a move expands up to",
        ),
    ],
)
def test_a_good_algorithm_cannot_claim_too_much(name, claims, fault):
    entry = andante.find(name)
    with pytest.raises(andante.AndanteError, match=fault):
        andante.check_algorithm(replace(entry, card=replace(entry.card, **claims)))


class Almanac(NamedTuple):
    """The size of the map it was made for, to check that it is the right one."""

    cells: np.ndarray

    @classmethod
    def allocate(cls, space):
        (cells,) = space.databases
        assert cells == space.states
        return cls(np.full(1, cells))


class Reader(NamedTuple):
    almanac: Almanac
    h: Learned


@kernel
def read(graph, memory, params, state, goal):
    """Move, and report the number in the almanac as expansions."""
    k = degree(graph, state) - 1
    return Move(target(graph, state, k), price(graph, state, k), memory.almanac.cells[0], 1, 0.0, 0)


@pytest.mark.compiled
@pytest.mark.usefixtures("impatient")
def test_databases_are_made_for_every_map_that_an_algorithm_is_tested_on():
    card = Card("reader", "Reader", paper="none", needs=("almanac",))
    entry = Algorithm(card, Params(), Params(), Reader, read)
    made = []

    def databases_for(grid):
        made.append(grid)
        return [grid.width * grid.height]

    assert andante.check_algorithm(entry, databases_for=databases_for)
    assert len(made) == len(set(made)) >= 5
    with pytest.raises(andante.AndanteError, match="plans no more per move"):
        andante.check_algorithm(replace(entry, card=replace(card, real_time=True)), databases_for=databases_for)


class Route(NamedTuple):
    tree: Tree
    path: Path


@kernel
def plan_once(graph, memory, params, state, goal):
    """Run A* once and follow its path, without reacting to walls that come into sight."""
    expanded = 0
    if memory.path.scalars[0]["trial"] != memory.path.clock[0]["trial"]:
        expanded, _ = search(memory.tree, graph, state, goal, 1.0)
        lay(memory.path, memory.tree, goal)
    to = int64(memory.path.next[state])
    return Move(to, estimate(graph, state, to), expanded, 0, 0.0, 0)


@pytest.mark.compiled
@pytest.mark.usefixtures("impatient")
def test_an_agent_that_walks_through_walls_it_could_see_is_caught():
    card = Card("blind", "Blind", paper="none")
    entry = Algorithm(card, Params(), Params(), Route, plan_once)
    assert andante.check_algorithm(entry)
    with pytest.raises(andante.AndanteError, match="^blind went from .* to .*, which is not a move"):
        andante.check_algorithm(replace(entry, card=replace(card, senses=True)))


def test_the_shared_map_cannot_be_written():
    grid = andante.Grid(np.ones((3, 3), bool))
    with pytest.raises(ValueError, match="read-only"):
        grid.graph.arrays.mask[0] = 0
