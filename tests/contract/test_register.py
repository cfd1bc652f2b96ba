"""Every card of the register is held to what it claims, and so are the settings it recommends."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

import andante
from andante.agent import Algorithm, Card, Move
from andante.episode import contract
from andante.kernel import int64, kernel
from andante.search.learning import Learned
from andante.world.graph import degree, price, target

CARDS = list(andante.algorithms())
SETTINGS = [entry for card in CARDS for entry in (card, *map(andante.find, card.card.examples))]


@pytest.mark.compiled
@pytest.mark.parametrize("entry", SETTINGS, ids=str)
def test_keeps_its_promises(entry):
    checks = andante.check_algorithm(entry)
    assert ("is complete" in checks) == entry.card.complete
    assert ("plans no more per move on a larger map" in checks) == entry.card.real_time


@pytest.mark.parametrize("entry", CARDS, ids=str)
def test_is_found_by_the_name_it_prints(entry):
    assert andante.find(str(entry)) == entry
    assert entry.card.summary.endswith(".")
    assert entry.card.paper


# --- agents that break their promises -------------------------------------------------------------------------------


@pytest.fixture
def impatient(monkeypatch):
    """Agents that never arrive are given up sooner: it is enough to see that they are caught."""
    monkeypatch.setattr(contract, "LIMITS", andante.Limits(moves=2000))
    monkeypatch.setattr(contract, "PATIENT", andante.Limits(moves=10_000))


class Params(NamedTuple):
    """None."""


class Memory(NamedTuple):
    """Something to hold on to."""

    h: Learned


@kernel
def teleport(graph, memory, params, state, goal):
    """Straight to the goal, through everything."""
    return Move(goal, 1.0, 1, 1, 0.0, 0)


@kernel
def undercharge(graph, memory, params, state, goal):
    """Along an edge, at half its price."""
    return Move(target(graph, state, 0), price(graph, state, 0) / 2, 1, 1, 0.0, 0)


@kernel
def stroll(graph, memory, params, state, goal):
    """To the first neighbour, for ever."""
    return Move(target(graph, state, 0), price(graph, state, 0), 1, 1, 0.0, 0)


@kernel
def brood(graph, memory, params, state, goal):
    """Think about every state of the map before each move."""
    k = degree(graph, state) - 1
    return Move(target(graph, state, k), price(graph, state, k), len(memory.h.value), 1, 0.0, 0)


@kernel
def remember(graph, memory, params, state, goal):
    """Take the next neighbour at each visit, and count visits over all problems: nothing is ever forgotten."""
    k = int64(memory.h.value[state]) % degree(graph, state)
    memory.h.value[state] += 1
    return Move(target(graph, state, k), price(graph, state, k), 1, 1, 0.0, 0)


@kernel
def show_off(graph, memory, params, state, goal):
    """Go to the last neighbour if anybody watches, else to the first."""
    k = degree(graph, state) - 1 if len(memory.h.log.kind) > 0 else 0
    return Move(target(graph, state, k), price(graph, state, k), 1, 1, 0.0, 0)


@pytest.mark.compiled
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("step", "claims", "fault"),
    [
        (teleport, {}, "which is no move"),
        (undercharge, {}, "its path costs"),
        (stroll, {"complete": True}, "is complete"),
        (brood, {"real_time": True}, "plans no more per move"),
        (remember, {}, "does the same every time"),
        (show_off, {}, "does the same when watched"),
    ],
)
def test_a_broken_promise_is_caught(step, claims, fault):
    entry = Algorithm(Card("broken", "Broken", paper="none", **claims), Params(), Params(), Memory, step)
    with pytest.raises(andante.AndanteError, match=fault):
        andante.check_algorithm(entry)


@pytest.mark.compiled
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("name", "claims", "fault"),
    [
        ("rta", {"optimal": True}, "rta fails the check 'is optimal': on <Problem .*> it walks .* where .* is enough"),
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


def test_the_shared_map_cannot_be_written():
    grid = andante.Grid(np.ones((3, 3), bool))
    with pytest.raises(ValueError, match="read-only"):
        grid.graph.arrays.mask[0] = 0
