"""Costs of agents: starting a problem allocates nothing that grows with the map, and memory stays within bounds."""

import tracemalloc

import numpy as np
import pytest

import andante
from andante.episode.single import Agent
from andante.world.grid import Grid

ENTRIES = [entry for entry in andante.algorithms() if not entry.needs]
# Agents that plan over regions share the levels of their map, which count here too.
ON_THE_GROUND = [entry for entry in ENTRIES if not entry.card.regions]
OVER_REGIONS = [entry for entry in ENTRIES if entry.card.regions]
SIDE = 512


@pytest.fixture(scope="module")
def large():
    return Grid(np.ones((SIDE, SIDE), bool), name="large")


@pytest.mark.compiled
@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_starting_a_problem_allocates_nothing_that_grows_with_the_map(large, entry):
    near, nearer = large.problem((250, 250), (253, 251)), large.problem((100, 100), (101, 101))
    agent = Agent(entry, large)
    limits = andante.Limits(moves=100)
    agent.run(near, limits, path=False)
    tracemalloc.start()
    for problem in (nearer, near):
        agent.run(problem, limits, path=False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000 < SIDE * SIDE


def arrays_of(bundle):
    """Yield every array of a memory, including nested bundles."""
    for part in bundle:
        if isinstance(part, np.ndarray):
            yield part
        elif isinstance(part, tuple):
            yield from arrays_of(part)


@pytest.mark.compiled
@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_starting_a_problem_clears_nothing_of_earlier_ones(entry):
    """After a long walk through a cave, a short one in another place changes only the entries that it needs."""
    grid = andante.generate("caves", 128, 128, seed=3)
    free = np.flatnonzero(grid.graph.components == np.bincount(grid.graph.components).argmax()).tolist()
    long, short = (grid.problem(grid.cell(free[0]), grid.cell(goal)) for goal in (free[-1], free[1]))
    agent = Agent(entry, grid)
    clean = [np.array(array) for array in arrays_of(agent._memory)]
    agent.run(long, andante.Limits(moves=20_000), path=False)
    used = [np.array(array) for array in arrays_of(agent._memory)]
    agent.run(short, andante.Limits(moves=10), path=False)
    written = sum(int((a != b).sum()) for a, b in zip(clean, used, strict=True))
    rewritten = sum(int((a != b).sum()) for a, b in zip(used, arrays_of(agent._memory), strict=True))
    assert rewritten < 2000
    assert rewritten < written


@pytest.mark.parametrize("entry", ON_THE_GROUND, ids=str)
def test_an_agent_on_a_large_map_needs_less_than_20_mb(large, entry):
    assert 0 < Agent(entry, large).memory_bytes < 20e6


@pytest.mark.parametrize("entry", OVER_REGIONS, ids=str)
def test_an_agent_that_plans_over_regions_needs_less_than_35_mb(large, entry):
    assert 0 < Agent(entry, large).memory_bytes < 35e6


@pytest.mark.parametrize("quota", [10.0, np.inf])
def test_an_agent_that_also_discovers_its_map_needs_less_than_60_mb(large, quota):
    """Its memory contains the levels as they were built, and its own, which it repairs."""
    assert 30e6 < Agent("prlrts", large, sight=10, quota=quota).memory_bytes < 60e6


@pytest.mark.parametrize("entry", ON_THE_GROUND, ids=str)
def test_the_reported_memory_of_an_agent_is_what_is_allocated(entry):
    grid = Grid(np.ones((128, 128), bool))
    Agent(entry, grid)
    tracemalloc.start()
    agent = Agent(entry, grid)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert agent.memory_bytes <= peak < 2 * agent.memory_bytes + 200_000
