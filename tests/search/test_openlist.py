"""The open lists against a list in plain Python that is scanned."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from andante.kernel import JIT, kernel
from andante.search import openlist
from andante.search.buckets import BUCKETS, LATER, NONE, PER_COST, PUT_BACK, Nodes
from andante.search.mind import Mind
from andante.search.openlist import Ties, WallsFirst, open_list
from tests.worlds import examples

STATES = 30


def nodes():
    """Return a mind, and records of states in it."""
    mind = Mind(STATES)
    return mind, Nodes.over(mind)


RING = BUCKETS / PER_COST
FAR = 20 if JIT else 2


@kernel
def clear(queue, base):
    openlist.clear(queue, base)


@kernel
def push(queue, state, key, g):
    openlist.push(queue, state, key, g)


@kernel
def admit(queue, state, key, g, h, moves):
    openlist.admit(queue, state, key, g, h, moves)


@kernel
def remove(queue, state):
    openlist.remove(queue, state)


@kernel
def take(queue):
    return openlist.take(queue)


@kernel
def first(queue):
    return openlist.first(queue)


@kernel
def floor(queue):
    return openlist.floor(queue)


class Plain:
    """States in the order in which they were pushed, each with its bucket and g."""

    def __init__(self, ties):
        self.ties, self.rows = ties, {}

    def push(self, state, key, g):
        self.rows[state] = (max(0, math.floor((key + 1 / PER_COST) * PER_COST)), g)

    def take(self):
        if not self.rows:
            return NONE
        least = min(bucket for bucket, _ in self.rows.values())
        equal = [state for state, (bucket, _) in self.rows.items() if bucket == least]
        if self.ties is Ties.LARGER_G:
            equal.sort(key=lambda state: (-self.rows[state][1], state))
        elif self.ties is Ties.SMALLER_G:
            equal.sort(key=lambda state: (self.rows[state][1], state))
        state = equal[-1 if self.ties is Ties.LAST else 0]
        del self.rows[state]
        return state


# Few different buckets, so that many states are equal, and g is a multiple of a quarter.
actions = st.lists(
    st.tuples(
        st.sampled_from(["push", "push", "take", "remove"]),
        st.integers(0, STATES - 1),
        st.integers(0, 5).map(lambda step: step / 32),
        st.integers(0, 8).map(lambda quarters: quarters / 4),
    ),
    max_size=80,
)


@pytest.mark.parametrize("ties", Ties)
@given(actions=actions)
@examples(80)
def test_states_are_taken_in_the_order_of_the_rule(ties, actions):
    queue, plain = open_list(ties, *nodes(), 1.0), Plain(ties)
    clear(queue, 0.0)
    for action, state, key, g in actions:
        if action == "take":
            known = first(queue)
            taken = take(queue)
            assert taken == known == plain.take()
        elif state in plain.rows:
            remove(queue, state)
            del plain.rows[state]
        elif action == "push":
            push(queue, state, key, g)
            plain.push(state, key, g)
    while plain.rows:
        assert take(queue) == plain.take()
    assert take(queue) == first(queue) == NONE


@pytest.mark.parametrize("ties", Ties)
def test_a_cleared_list_is_empty_and_can_be_used_again(ties):
    queue = open_list(ties, *nodes(), 1.0)
    for base in (0.0, 100.0, 7.5):
        clear(queue, base)
        assert first(queue) == NONE
        for state in range(STATES):
            push(queue, state, base + (state % 3) / 8, float(state))
        assert [take(queue) % 3 for _ in range(20)] == [0] * 10 + [1] * 10
        assert floor(queue) <= base + 1 / 8 < floor(queue) + 2 / PER_COST


@pytest.mark.parametrize("ties", Ties)
def test_keys_far_beyond_the_ring_are_popped_in_order(ties):
    queue = open_list(ties, *nodes(), 1.0)
    clear(queue, 0.0)
    far = [FAR * RING + 5, 3.0, FAR * RING + 1, 2 * RING, FAR * RING + 3, 1.0]
    for state, key in enumerate(far):
        push(queue, state, key, 0.0)
    out = []
    while len(out) < len(far):
        state = take(queue)
        out += [state] if state != LATER else []
    assert out == [5, 1, 3, 2, 4, 0]


# Keys that share places of the ring with others one round away. There are so few states that none is put back too often
# in one call: each is put back at most twice.
falling = st.lists(
    st.tuples(
        st.sampled_from(["push", "push", "take"]),
        st.integers(0, PUT_BACK // 2),
        st.builds(
            float.__add__, st.integers(0, 3).map(lambda step: step / 16), st.sampled_from([0.0, RING - 1 / 8, RING])
        ),
    ),
    max_size=40,
)


@pytest.mark.parametrize("ties", Ties)
@given(actions=falling)
@example(actions=[("push", 0, RING), ("push", 1, 0.0), ("push", 2, 1 / 16), ("take", 0, 0.0), ("take", 0, 0.0)])
@examples(80)
def test_the_first_state_has_the_least_key_although_keys_fall_by_more_than_the_ring(ties, actions):
    queue, plain = open_list(ties, *nodes(), 1.0), Plain(ties)
    clear(queue, 0.0)
    for action, state, key in actions:
        if action == "push" and state not in plain.rows:
            push(queue, state, key, 0.0)
            plain.push(state, key, 0.0)
        elif action == "take" and plain.rows:
            least = min(bucket for bucket, _ in plain.rows.values())
            known = first(queue)
            assert plain.rows[known][0] == least
            assert take(queue) == known
            del plain.rows[known]


@pytest.mark.parametrize("ties", Ties)
@given(actions=st.lists(st.tuples(actions, st.integers(0, 3), st.booleans()), max_size=3))
@examples(40)
def test_states_at_walls_and_the_nearest_ones_are_first(ties, actions):
    """The twin is two lists in plain Python; each round begins with a cleared queue."""
    queue = WallsFirst.over(ties, *nodes(), 1.0, 8)
    for round_, far, at_wall in actions:
        near, rest, least = Plain(ties), Plain(ties), math.inf
        clear(queue, 0.0)
        for action, state, key, g in round_:
            wall, h = at_wall ^ (state % 2 == 0), float((state * 7 + far) % 5)
            if action == "take":
                expected = near.take() if near.rows else rest.take()
                assert first(queue) == expected
                assert take(queue) == expected
            elif state in near.rows or state in rest.rows:
                remove(queue, state)
                (near if state in near.rows else rest).rows.pop(state)
            elif action == "push":
                admit(queue, state, key, g, h, 7 if wall else 8)
                (near if wall or h <= least else rest).push(state, key, g)
                least = min(least, h)
