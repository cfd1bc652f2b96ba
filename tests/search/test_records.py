"""Paged records: a unit finds again what it wrote, no other unit does, and all of it is released."""

import itertools

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from andante.kernel import kernel
from andante.search import records
from andante.search.mind import Draft, Group, Mind, Minds
from andante.search.pages import HOLDER, Room, cut_into, paged
from andante.search.records import (
    Dense,
    claim,
    claim_beside,
    find,
    find_beside,
    held_bytes,
    number_at,
    release,
    used_bytes,
)
from tests.worlds import examples

UNITS, NUMBERS = 4, 5000
STEPS = st.integers(1, 60)


@kernel
def write(index, field, number, value):
    place = claim(index, number)
    field[place] = value
    return place


@kernel
def read(index, field, number):
    return field[find(index, number)]


@kernel
def where(index, number):
    return find(index, number)


@kernel
def where_beside(index, place, number, near):
    return find_beside(index, place, number, near)


@kernel
def claimed_beside(index, place, number, near):
    return claim_beside(index, place, number, near)


@kernel
def number_of(index, place):
    return number_at(index, place)


@kernel
def give_back(index):
    release(index)


@kernel
def held(index):
    return held_bytes(index)


@kernel
def used(index):
    return used_bytes(index)


@kernel
def tidy(index, entries):
    records.tidy(index, entries)


class Pool(RuleBasedStateMachine):
    """A few units that write, read and leave; a dictionary for each contains what it should find."""

    width, across, down, linked = NUMBERS, 4, 0, False

    def __init__(self):
        super().__init__()
        holders = np.zeros(UNITS, HOLDER)
        index, (self.value, self.other) = paged(
            [np.dtype(np.float64), np.dtype(np.int32)],
            cut_into(self.width, self.across, self.down, linked=self.linked),
            Room(300_000, NUMBERS),
            holders,
        )
        self.own = [index._replace(holder=holders[i : i + 1]) for i in range(UNITS)]
        self.known = [{} for _ in range(UNITS)]

    def page_of(self, number):
        y, x = divmod(number, self.width)
        return y >> self.down, x >> self.across

    @rule(unit=st.integers(0, UNITS - 1), number=st.integers(0, NUMBERS - 1), value=st.floats(1, 9))
    def writes(self, unit, number, value):
        place = write(self.own[unit], self.value, number, value)
        assert number_of(self.own[unit], place) == number
        assert self.other[place] == 0  # its page was cleared
        self.known[unit][number] = value

    @rule(unit=st.integers(0, UNITS - 1), first=st.integers(0, NUMBERS - 1), count=st.integers(1, 400))
    def writes_many(self, unit, first, count):
        for number in range(first, min(first + 16 * count, NUMBERS), 16):
            self.writes(unit, number, float(number + 1))

    @rule(unit=st.integers(0, UNITS - 1), number=st.integers(0, NUMBERS - 1))
    def reads(self, unit, number):
        assert read(self.own[unit], self.value, number) == self.known[unit].get(number, 0.0)

    @rule(unit=st.integers(0, UNITS - 1))
    def leaves(self, unit):
        give_back(self.own[unit])
        self.known[unit] = {}
        assert held(self.own[unit]) == 0

    @rule(entries=st.integers(1, 3000))
    def tidies(self, entries):
        tidy(self.own[0], entries)

    @precondition(lambda self: not any(self.known))
    @rule()
    def nothing_is_held_in_the_end(self):
        tidy(self.own[0], 1 << 30)
        assert used(self.own[0]) == 0

    @invariant()
    def finds_all_that_it_wrote(self):
        for own, known in zip(self.own, self.known, strict=True):
            for number in list(known)[:: max(1, len(known) // 20)]:
                assert read(own, self.value, number) == known[number]

    @invariant()
    def counts_its_pages(self):
        for own, known in zip(self.own, self.known, strict=True):
            assert own.holder[0]["pages"] == len({self.page_of(number) for number in known})
        assert self.own[0].pool[0]["pages"] == sum(own.holder[0]["pages"] for own in self.own)
        assert self.own[0].pool[0]["lost"] == 0


class TiledPool(Pool):
    """The same with pages that are tiles of a map whose width is not a multiple of theirs."""

    width, across, down, linked = 73, 2, 2, True

    @rule(unit=st.integers(0, UNITS - 1), number=st.integers(0, NUMBERS - 1), far=st.booleans())
    def looks_around(self, unit, number, far):
        """Find neighbours through links, and other numbers too."""
        index, rows, place = self.own[unit], range(-1, 2), where(self.own[unit], number)
        for y, x in itertools.product(rows, rows):
            near = number + y * self.width + x + 7 * far
            inside = 0 <= number % self.width + x < self.width or far
            if inside and 0 <= near < NUMBERS:
                found = self.value[where_beside(index, place, number, near)]
                assert found == self.known[unit].get(near, 0.0)

    @rule(unit=st.integers(0, UNITS - 1), number=st.integers(0, NUMBERS - 1), direction=st.integers(0, 8), count=STEPS)
    def walks(self, unit, number, direction, count):
        """Walk in one direction, claiming each record from the one beside it."""
        index, dy, dx = self.own[unit], direction // 3 - 1, direction % 3 - 1
        self.writes(unit, number, 1.0)
        place = where(index, number)
        for _ in range(count):
            near = number + dy * self.width + dx
            if not (0 <= number % self.width + dx < self.width and 0 <= near < NUMBERS):
                break
            place, number = claimed_beside(index, place, number, near), near
            assert number_of(index, place) == near
            assert self.value[place] == self.known[unit].get(near, 0.0)
            self.value[place] = self.known[unit][near] = float(near + 1)


TestPool = Pool.TestCase
TestPool.settings = examples(120)
TestTiledPool = TiledPool.TestCase
TestTiledPool.settings = examples(120)


def test_the_row_of_every_number_is_found_without_a_division():
    rng = np.random.default_rng(3)
    for width in [1, 2, 3, 5, 511, 512, 513, 32_000, 2**31 - 1]:
        cut = cut_into(width, 2, 2)
        numbers = np.append(rng.integers(0, 2**31, 2000), [0, width - 1, width, 2**31 - 1])
        edges = np.append(numbers, numbers // width * width)
        for number in edges.tolist():
            assert number * cut.factor >> cut.shift == number // width
            assert number * cut.factor < 2**63


def test_a_page_is_cleared_before_it_is_used_again():
    index, (field,) = paged([np.dtype(np.int32)], cut_into(100, 4, 0), Room(10_000, 100), np.zeros(1, HOLDER))
    for number in range(16):
        write(index, field, number, 7)
    give_back(index)
    write(index, field, 3, 1)
    assert [int(read(index, field, number)) for number in range(16)] == [0, 0, 0, 1] + [0] * 12


def test_without_a_free_page_other_records_stay_intact():
    holders = np.zeros(2, HOLDER)
    index, (field,) = paged([np.dtype(np.int64)], cut_into(1, 0, 0), Room(8, 1), holders)
    one, other = (index._replace(holder=holders[i : i + 1]) for i in range(2))
    pages = len(index.head) // index.cut.head - 2
    for number in range(pages):
        write(one, field, number, number + 1)
    write(other, field, 0, -5)  # lost
    assert index.pool[0]["lost"] == 1
    assert [int(read(one, field, number)) for number in range(pages)] == list(range(1, pages + 1))
    assert read(other, field, 0) == 0


def test_minds_have_the_arrays_that_a_draft_recorded():
    def ask(mind):
        return (
            mind.one(np.int32, 5),
            mind.index(),
            mind.field(np.float64),
            mind.row(np.int16, 3),
            mind.row(np.int32, 99),
        )

    def all_parts(minds):
        parts = {id(first): each for first, each in minds.rows}
        one, index, _, row, long = ask(minds)
        return [parts[id(first)] for first in (one, row, long, index.holder)]

    draft = Draft(100)
    ask(draft)
    minds = Minds(draft, 4, 10_000)
    assert ask(minds)[2].dtype == np.float64
    assert all(a is b for a, b in zip(ask(minds), ask(minds), strict=True))
    minds.begin(3)
    one, row, long, holders = all_parts(minds)
    assert one.tolist() == [[5], [5], [5], [0]]
    assert row.shape == (4, 3)
    assert long.shape == (4, 99)
    assert holders.shape == (4, 1)
    one[2], row[1], long[2, 98], holders[1, 0]["pages"] = 9, 1, 7, 3
    minds.grow(6)
    minds.begin(6)
    one, row, long, holders = all_parts(minds)
    assert one.tolist() == [[5], [5], [9], [5], [5], [5]]
    assert row.tolist() == [[0] * 3, [1] * 3] + [[0] * 3] * 4
    assert long.sum() == long[2, 98] == 7
    assert holders["pages"].ravel().tolist() == [0, 3, 0, 0, 0, 0]


def test_annexes_are_separate_and_number_0_belongs_to_no_unit():
    def ask(mind):
        first = mind.one(np.int64, 1)
        annex, head = mind.annex()
        return first, head, annex.one(np.int64, 8), annex.index(), annex.field(np.int8), annex.row(np.int32, 1000)

    alone = ask(Mind(100))
    assert alone[1]["held"].tolist() == [1]
    draft = Draft(100)
    ask(draft)
    minds = Minds(draft, 2, 10_000)
    first, head, number, index, _, row = ask(minds)
    assert [one for one, _ in minds.rows if one is first]
    assert len(minds.rows) == 1
    apart = {id(one): parts for one, parts in minds.team_rows}
    assert {len(apart[id(one)]) for one in (head, number, index.holder, row)} == {3}
    assert number.tolist() == [8]
    assert head["held"].tolist() == [0]
    assert minds.unit_bytes == 64
    assert minds.annex_bytes == 4000 + 128  # a holder, the head and a number


def test_an_agent_alone_has_its_records_at_their_own_numbers():
    mind = Mind(10)
    assert mind.index() == Dense()
    assert len(mind.field(np.int8, Group.APART)) == 10
    assert len(mind.field(np.int8, numbers=3)) == 3
    assert mind.one(np.int8, 3).tolist() == [3]
