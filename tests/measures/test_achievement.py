"""Goal achievement time: compared with a clock that is run turn by turn, on real walks and on made-up ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.episode.rows import rows
from andante.errors import ParameterError
from andante.measures import compare_rows, goal_achievement, summarise, with_achievement
from andante.measures.achievement import NEEDED


def clock(plans, turn):
    """Return the time when the agent arrives, and how long it stood; it plans while it walks the previous move."""
    now = stood = plans[0]
    for following in [*plans[1:], 0]:
        ready = now + following
        now += turn
        if ready > now:
            stood += ready - now
            now = ready
    return now, stood


def columns(plans):
    """Return the columns of a row for these plans."""
    return len(plans), sum(plans), plans[0], max(plans)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=12), st.integers(1, 30))
def test_the_time_equals_the_clock_or_is_a_lower_bound(plans, turn):
    arrived, stood = clock(plans, turn)
    found = goal_achievement({name: [number] for name, number in zip(NEEDED, columns(plans), strict=True)}, turn)
    if found.is_bound[0]:
        assert found.total[0] <= arrived
        assert max(plans[1:], default=0) > turn or sum(plans[1:]) > turn
    else:
        assert (found.total[0], found.standing[0], found.walking[0]) == (arrived, stood, len(plans) * turn)
    if max(plans) <= turn:
        assert not found.is_bound[0]


@pytest.mark.parametrize("name", ["lrta", "astar", "rta"])
@pytest.mark.parametrize("turn", [1, 7, 500])
def test_agents_that_keep_to_a_budget_have_exact_times(name, turn):
    grid = andante.generate("maze", 16, 16, seed=2)
    problem = andante.random_problems(grid, 1, seed=3)[0]
    plans = [one.states_expanded for one in andante.watch(name, problem)]
    trial = andante.run(name, problem)
    row = with_achievement(rows([trial]), turn)[0]
    assert tuple(row[key] for key in NEEDED) == columns(plans)
    assert (row["goal_achievement_time"], row["standing_time"]) == clock(plans, turn)
    assert row["walking_time"] == turn * trial.moves
    assert not row["standing_is_bound"]


def test_lower_bounds_are_marked_and_not_compared():
    """The second agent may have stood after its first move, but its totals do not show for how long."""
    trial = {"map": "m", "goal": 0, "solved": True, "outcome": "GOAL"}
    made = [
        {**trial, "algorithm": name, "start": k, **dict(zip(NEEDED, columns(plans), strict=True))}
        for name, plans in (("even", [5] * 8), ("uneven", [1, 20, 3, 9]))
        for k in range(10)
    ]
    even, uneven = summarise(with_achievement(made, 6))
    assert even.show("goal_achievement_time") == "53 ± 0"
    assert uneven.show("goal_achievement_time") == "≥ 39"  # at least 1 + 4 turns of 6 + 14; the true time is 3 more
    assert clock([1, 20, 3, 9], 6) == (42, 18)
    assert compare_rows(with_achievement(made, 6), "goal_achievement_time").problems == 0
    assert compare_rows(with_achievement(made, 20), "goal_achievement_time").problems == 10


def test_the_two_parts_add_up_to_the_total():
    rng = np.random.default_rng(1)
    found = goal_achievement(dict(zip(NEEDED, rng.integers(0, 50, (4, 20)), strict=True)), turn=5)
    assert (found.total == found.standing + found.walking).all()
    for turn in (0, -1, np.inf, np.nan):
        with pytest.raises(ParameterError, match="the length of a turn must be"):
            goal_achievement({name: [1] for name in NEEDED}, turn)
