"""The bucket queue against a dictionary of keys."""

import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from andante.kernel import JIT
from andante.search import buckets
from andante.search.buckets import BUCKETS, LATER, NONE, Buckets
from andante.search.memory import new_space
from andante.world.graph import Graph
from tests.worlds import examples

STATES = 40
LINE = Graph.from_edges([(s, s + 1, 1.0) for s in range(STATES - 1)])
RING = BUCKETS / buckets.PER_COST  # how far the buckets reach, in units of key
FAR = 100 if JIT else 3  # rounds of the ring: empty buckets are passed one by one, slowly in plain Python

# Keys near each other, near the ends of the ring, and many rounds of the ring away.
keys = st.one_of(
    st.floats(0, 3),
    st.floats(0, 2 * RING),
    st.sampled_from([0.0, 1 / 16, RING - 1 / 16, RING, RING + 1 / 32, 2 * RING, FAR * RING]),
    st.integers(0, 60).map(float),
)


def new_queue() -> Buckets:
    return Buckets.allocate(new_space(LINE, None))


class Model(RuleBasedStateMachine):
    """Random pushes, pops, moves and clears: each popped key is the least, up to the width of a bucket."""

    @initialize()
    def begin(self):
        self.queue, self.model, self.base = new_queue(), {}, 0.0
        buckets.clear(self.queue, 0.0)

    @precondition(lambda self: len(self.model) < STATES)
    @rule(data=st.data(), key=keys)
    def push(self, data, key):
        state = data.draw(st.sampled_from([s for s in range(STATES) if s not in self.model]))
        self.model[state] = self.base + key
        buckets.push(self.queue, state, self.base + key)

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def remove(self, data):
        state = data.draw(st.sampled_from(sorted(self.model)))
        buckets.remove(self.queue, state)
        del self.model[state]

    @rule()
    def pop(self):
        state = buckets.pop(self.queue)
        if not self.model:
            assert state == NONE
            return
        assert state in self.model
        assert buckets.key_of(self.queue, state) == self.model[state]
        assert self.model.pop(state) < min(self.model.values(), default=math.inf) + buckets.width(self.queue)
        assert buckets.floor(self.queue) <= min(self.model.values(), default=math.inf)

    @rule()
    def take(self):
        """Make one step: take a state of least key, or LATER."""
        state = buckets.take(self.queue)
        if state == LATER:
            assert self.model
        elif state == NONE:
            assert not self.model
        else:
            assert self.model.pop(state) < min(self.model.values(), default=math.inf) + buckets.width(self.queue)

    @rule(base=st.sampled_from([0.0, 7.25, 1000.0]))
    def clear(self, base):
        buckets.clear(self.queue, base)
        self.model, self.base = {}, base

    @invariant()
    def first_is_there(self):
        state = buckets.first(self.queue)
        assert (state == NONE) == (not self.model)
        assert state == NONE or state in self.model


TestModel = Model.TestCase
TestModel.settings = examples(120)


@given(st.lists(keys, max_size=STATES))
@examples(100)
def test_everything_pushed_is_popped_in_order(values):
    queue = new_queue()
    buckets.clear(queue, 0.0)
    for state, key in enumerate(values):
        buckets.push(queue, state, key)
    out = [buckets.pop(queue) for _ in values]
    assert sorted(out) == list(range(len(values)))
    for earlier, later in itertools.pairwise(out):
        assert values[earlier] < values[later] + buckets.width(queue)
    assert buckets.pop(queue) == NONE


def test_within_a_bucket_the_last_in_is_the_first_out():
    queue = new_queue()
    buckets.clear(queue, 0.0)
    for state in range(5):
        buckets.push(queue, state, 10.0)
    buckets.remove(queue, 2)
    assert [buckets.pop(queue) for _ in range(5)] == [4, 3, 1, 0, NONE]


def test_keys_far_beyond_the_ring_are_popped_in_order():
    queue = new_queue()
    buckets.clear(queue, 0.0)
    far = [FAR * RING + 5, 3.0, FAR * RING + 1, 2 * RING, FAR * RING + 3, 1.0]
    for state, key in enumerate(far):
        buckets.push(queue, state, key)
    assert [buckets.pop(queue) for _ in far] == [5, 1, 3, 2, 4, 0]


def test_a_key_below_the_base_is_not_lost():
    queue = new_queue()
    buckets.clear(queue, 100.0)
    buckets.push(queue, 0, 100.0)
    buckets.push(queue, 1, 3.0)
    assert [buckets.pop(queue) for _ in range(3)] == [1, 0, NONE]
    buckets.push(queue, 2, -5.0)
    assert buckets.floor(queue) == -math.inf or buckets.first(queue) == 2


def test_clearing_takes_time_in_proportion_to_the_buckets_used():
    queue = new_queue()
    buckets.clear(queue, 0.0)
    buckets.push(queue, 0, 5.0)
    before = np.array(queue.head)
    assert np.count_nonzero(before) == 1
    buckets.clear(queue, 0.0)
    assert not queue.head.any()
    assert buckets.first(queue) == NONE
