"""Waits are bounded by demand over budget, for all algorithms, priorities and units of the budget."""

from functools import partial

import numpy as np
import pytest

import andante
from andante.episode import crowd as crowd_room
from andante.episode import squad as squad_room
from andante.episode.march import UNUSUAL, marcher
from andante.kernel import kernel

pytestmark = pytest.mark.compiled  # thousands of ticks

GRID = andante.generate("rooms", 40, 40, seed=2)
PROBLEMS = andante.random_problems(GRID, 30, seed=1)
STARTS, GOALS = ([GRID.cell(getattr(p, end)) for p in PROBLEMS] for end in ("start", "goal"))

ALIKE = ["lss(lookahead=10, walk=one_move)"]
SEVERAL = ["lrta", "lss(lookahead=10)", "tba(budget=20)"]
EQUAL = np.ones(len(PROBLEMS))
UNEQUAL = np.resize([0.5, 1.0, 4.0], len(PROBLEMS))


def bounds(most, algorithm, priority, budget):
    """Return the bound on each unit's wait from march.py and the how-to, for arrays with one number per unit."""
    squads, squad = np.unique(algorithm, return_inverse=True)
    demand = np.bincount(squad, most)[squad]
    return 2 * most * priority.sum() / (priority * budget) + len(squads) * (demand / budget + 1) + 1


def waits(crowd, **budget):
    """Return the longest wait of each unit, in ticks, until all have arrived."""
    wait, longest, reported = np.zeros(len(crowd), int), np.zeros(len(crowd), int), 0
    for _ in range(200_000):
        walking, before = crowd.outcomes == andante.Outcome.WALKING, crowd.moves.copy()
        if not walking.any():
            assert reported == longest.max()
            return longest
        tick = crowd.tick(**budget)
        wait = np.where(walking & (crowd.moves == before), wait + 1, 0)
        longest, reported = np.maximum(longest, wait), max(reported, tick.longest_wait)
    raise AssertionError("they walk for ever")


def made(algorithms, priority, **how):
    """Return a crowd, and the algorithm and the priority of each unit."""
    crowd = andante.Crowd(GRID, **how)
    for algorithm in algorithms:
        crowd.add(STARTS, GOALS, algorithm=algorithm, priority=priority)
    return crowd, np.repeat(algorithms, len(STARTS)), np.tile(priority, len(algorithms))


@pytest.mark.parametrize("algorithms", [ALIKE, SEVERAL], ids=["alike", "several"])
@pytest.mark.parametrize("priority", [EQUAL, UNEQUAL], ids=["equal", "unequal"])
@pytest.mark.parametrize("budget", [40, 200])
def test_in_expansions(algorithms, priority, budget):
    crowd, algorithm, priority = made(algorithms, priority)
    alone = [trial for name in algorithms for trial in andante.run_many(name, PROBLEMS)]
    most = np.array([trial.max_states_expanded for trial in alone], float)
    longest = waits(crowd, expansions=budget)
    assert longest.max() > 1
    assert (longest <= bounds(most, algorithm, priority, budget)).all()


# --- by a clock -----------------------------------------------------------------------------------------------------

# The loop of a crowd is compiled for each clock and step, so these are small.
ALIKE_BY_CLOCK, SEVERAL_BY_CLOCK = ["rta"], ["lrta", "lrta(depth=2)", "rta"]
USUAL, SLOW = 900, 200_000  # the most nanoseconds of a usual move, and those of one in a few hundred


@kernel
def even_clock(scratch):
    """Make every move take from 100 to 900 ns at random; the second number is the state of the random numbers."""
    scratch[1] = (scratch[1] * 1103515245 + 12345) % 2147483648
    scratch[0] += 100 + scratch[1] // 65536 % 801
    return scratch[0]


@kernel
def uneven_clock(scratch):
    """Make one in a few hundred moves take very long, as if the machine did something else."""
    scratch[1] = (scratch[1] * 1103515245 + 12345) % 2147483648
    scratch[0] += 200_000 if scratch[1] // 65536 % 300 == 0 else 100 + scratch[1] // 65536 % 801
    return scratch[0]


def use(monkeypatch, clock):
    """Make crowds use this clock; time spent in Python does not count."""
    monkeypatch.setattr(squad_room, "marcher", partial(marcher, clock=clock))
    monkeypatch.setattr(crowd_room, "perf_counter_ns", lambda: 0)


@pytest.mark.parametrize("algorithms", [ALIKE_BY_CLOCK, SEVERAL_BY_CLOCK], ids=["alike", "several"])
@pytest.mark.parametrize(
    ("priority", "lanes"), [(EQUAL, 1), (UNEQUAL, 1), (EQUAL, 2)], ids=["equal", "unequal", "two lanes"]
)
def test_in_microseconds(monkeypatch, algorithms, priority, lanes):
    use(monkeypatch, even_clock)
    crowd, algorithm, priority = made(algorithms, priority, lanes=lanes)
    longest = waits(crowd, microseconds=4)
    assert longest.max() > 1
    for lane in range(lanes):
        mine = np.arange(len(crowd)) % lanes == lane
        share = 4000 * priority[mine].sum() / priority.sum()
        most = np.full(mine.sum(), float(USUAL))
        assert (longest[mine] <= bounds(most, algorithm[mine], priority[mine], share)).all()


@kernel
def late_clock(scratch):
    """Make the very first move take a millisecond."""
    scratch[1] += 1
    scratch[0] += 1_000_000 if scratch[1] == 2 else 500
    return scratch[0]


def test_the_first_move_may_take_very_long(monkeypatch):
    use(monkeypatch, late_clock)
    crowd, algorithm, priority = made(ALIKE_BY_CLOCK, EQUAL)
    longest = waits(crowd, microseconds=4)
    assert (longest <= bounds(np.full(len(crowd), 500.0), algorithm, priority, 4000)).all()


def test_budgets_of_both_kinds_by_turns():
    """A move of a few hundred nanoseconds is not taken for one of a few hundred expansions."""
    crowd, *_ = made(ALIKE, EQUAL)
    for _ in range(10):
        for _ in range(3):
            crowd.tick(microseconds=1)
        for _ in range(3):
            crowd.tick()
        before = crowd.moves.copy()
        for _ in range(60):
            crowd.tick(expansions=100)
        walking = crowd.outcomes == andante.Outcome.WALKING
        assert (crowd.moves > before)[walking].all()


def test_a_move_that_takes_very_long_does_not_make_its_unit_wait_as_long(monkeypatch):
    use(monkeypatch, uneven_clock)
    crowd, algorithm, priority = made(ALIKE_BY_CLOCK, EQUAL)
    longest = waits(crowd, microseconds=4)
    charged = np.full(len(crowd), UNUSUAL * (USUAL + SLOW / 300))
    assert (longest <= bounds(charged, algorithm, priority, 4000)).all()
    unlimited = bounds(np.full(len(crowd), float(SLOW)), algorithm, priority, 4000)
    assert (longest < unlimited / 5).all()
