"""The heap against a dictionary of keys, sorted again each time."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from andante.kernel import kernel
from andante.search import heap
from andante.search.heap import Heap
from andante.search.mind import Draft, Minds
from andante.search.records import release
from tests.worlds import examples

ITEMS = 24
CAPACITY = 15

items = st.integers(0, ITEMS - 1)
keys = st.one_of(st.integers(0, 3).map(float), st.floats(-10, 10), st.just(float("inf")))  # many are equal
ties = st.integers(0, 2).map(float)


@kernel
def give_back(index):
    release(index)


class Model(RuleBasedStateMachine):
    """Random pushes, moves forward, pops and clears: each popped item is the first in the order."""

    def __init__(self):
        super().__init__()
        self.heap, self.model = Heap.over(ITEMS, CAPACITY), {}

    def first(self):
        return min(self.model, key=lambda item: (*self.model[item], item))

    @rule(item=items, key=keys, tie=ties)
    def push(self, item, key, tie):
        entry = (key, -tie)
        if entry > self.model.get(item, entry) or len(self.model | {item: entry}) > CAPACITY:
            return
        self.model[item] = entry
        heap.push(self.heap, item, key, tie)

    @precondition(lambda self: self.model)
    @rule()
    def pop(self):
        first = self.first()
        assert heap.pop(self.heap) == first
        del self.model[first]

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def remove(self, data):
        item = data.draw(st.sampled_from(sorted(self.model)))
        heap.remove(self.heap, item)
        del self.model[item]

    @rule()
    def clear(self):
        heap.clear(self.heap)
        self.model = {}

    @invariant()
    def holds_what_it_should(self):
        assert self.heap.scalars[0]["size"] == len(self.model)
        assert [item for item in range(ITEMS) if heap.is_queued(self.heap, item)] == sorted(self.model)
        if self.model:
            assert self.heap.item[0] == self.first()

    def teardown(self):
        while self.model:
            self.pop()


TestModel = Model.TestCase
TestModel.settings = examples(60)


def test_equal_keys_are_ordered_by_tie_and_then_by_number():
    queue = Heap.over(4, 4)
    for item, tie in ((3, 1.0), (1, 1.0), (2, 5.0), (0, 0.0)):
        heap.push(queue, item, 7.0, tie)
    assert [heap.pop(queue) for _ in range(4)] == [2, 1, 3, 0]


def test_the_item_that_replaces_a_removed_one_may_rise():
    """The last entry, 6, goes to the place of 3, whose parent 1 has a higher key."""
    queue = Heap.over(7, 7)
    for item, key in enumerate((1.0, 10.0, 2.0, 11.0, 12.0, 3.0, 4.0)):
        heap.push(queue, item, key, 0.0)
    heap.remove(queue, 3)
    assert [heap.pop(queue) for _ in range(6)] == [0, 2, 5, 6, 1, 4]


@pytest.mark.parametrize(("one", "other", "ahead"), [(0, 1, True), (1, 0, False)])
def test_entries_can_be_compared_in_place(one, other, ahead):
    queue = Heap.over(2, 2)
    heap.push(queue, 1, 2.0, 0.0)
    heap.push(queue, 0, 1.0, 0.0)
    assert heap.is_ahead(queue, one, other) == ahead


def test_clearing_a_heap_claims_no_released_records():
    def asked(mind):
        return Heap.in_mind(mind, CAPACITY)

    draft = Draft(ITEMS)
    asked(draft)
    queue = asked(Minds(draft, 1, 10_000))
    for item in range(5):
        heap.push(queue, item, 1.0, 0.0)
    give_back(queue.where)
    heap.clear(queue)
    assert queue.where.holder[0]["pages"] == 0
    assert heap.size(queue) == 0
    assert not heap.is_queued(queue, 3)
