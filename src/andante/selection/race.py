"""Racing: many candidates on few problems, survivors on more.

Each round gives those who are left twice as many problems. From round to round go the best, by their means: as many as
are not surely worse than the leader, by the differences on the problems that both were run on, but half of all at
most. After the first round newcomers may join that resemble the leaders. And when a race is over, the best may race
again, against more that resemble them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from andante.selection.significance import Scores, surely_worse

C = TypeVar("C")

FIRST_ROUND = 6  # problems, about
_SHARE_OF_FIRST_ROUND = 0.5  # of the time that there is


@dataclass(frozen=True)
class Measured:
    """What a run on some problems came to: a score for each, less being better, and how long it took."""

    scores: Scores
    seconds: float


#: Runs a candidate on the problems from one number up to another; None if it is out of the question.
Run = Callable[[C, int, int], Measured | None]


@dataclass(frozen=True)
class Place(Generic[C]):
    """A candidate, with its scores on the first problems of the race."""

    candidate: C
    scores: Scores
    seconds: float  # that these took

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(self.scores.mean())

    @property
    def seconds_per_problem(self) -> float:
        """How long a problem takes."""
        return self.seconds / max(len(self.scores), 1)


@dataclass
class Race(Generic[C]):
    """The rules of a race.

    ``left`` says how many seconds there are; ``breed`` makes newcomers from the leaders; ``again`` is how often the
    best race against more of them, as long as there is time; ``tell`` hears of every run.
    """

    run: Run[C]
    rounds: Sequence[int]  # up to how many problems each goes
    finalists: int
    left: Callable[[], float] = lambda: math.inf
    breed: Callable[[list[C]], list[C]] = lambda _: []
    tell: Callable[[str, int, int], None] = lambda what, done, total: None
    again: int = 0
    untried: int = field(default=0, init=False)  # candidates for which there was no time

    def __post_init__(self) -> None:
        self._number = 1
        self._known: dict[tuple[C, int], Measured | None] = {}  # by candidate and first problem

    def places(self, candidates: Sequence[C]) -> list[Place[C]]:
        """All candidates that are in question, the best first: those that came further, then those with less mean."""
        found = self._raced(candidates)
        for number in range(2, 2 + self.again):
            self._number = number
            leaders = [place.candidate for place in found[: self.finalists]]
            if not leaders or self.left() <= 0 or not (newcomers := self.breed(leaders)):
                break
            found = ranked(_longest([*found, *self._raced([*leaders, *newcomers])]))
        return found

    def _raced(self, candidates: Sequence[C]) -> list[Place[C]]:
        """The places of one race."""
        out: list[Place[C]] = []
        places = self._first_round(candidates)
        for number, (done, upto) in enumerate(zip(self.rounds, self.rounds[1:], strict=False), 2):
            survivors, gone = cut(places, self.finalists)
            to_run = [place for place in survivors if (place.candidate, done) not in self._known]
            expected = sum(place.seconds_per_problem for place in to_run) * (upto - done)
            if not survivors or expected > self.left():
                break
            further = self._further(survivors, upto, number)
            if further is None:
                break
            out += gone
            places = further
        return [*ranked(places), *ranked(out)]

    def _first_round(self, candidates: Sequence[C]) -> list[Place[C]]:
        """All candidates, as far as half of the time goes; then those that resemble the leaders."""
        upto, reserve = self.rounds[0], self.left() * (1 - _SHARE_OF_FIRST_ROUND)
        places: list[Place[C]] = []

        def admit(newcomers: Sequence[C], what: str) -> None:
            for number, candidate in enumerate(newcomers):
                if self.left() <= (reserve if math.isfinite(reserve) else 0.0):
                    if newcomers is candidates and self._number == 1:  # nobody asked for the others
                        self.untried = len(newcomers) - number
                    break
                self.tell(what, number, len(newcomers))
                measured = self._measured(candidate, 0, upto)
                if measured is not None:
                    places.append(Place(candidate, measured.scores, measured.seconds))
            self.tell(what, len(newcomers), len(newcomers))

        admit(candidates, self._called(f"round 1: {len(candidates)} candidates on {upto} problems"))
        leaders = [place.candidate for place in ranked(places)[: self.finalists]]
        reserve *= 0.8
        if newcomers := self.breed(leaders):
            admit(newcomers, self._called(f"round 1: {len(newcomers)} more like the best"))
        return places

    def _further(self, places: Sequence[Place[C]], upto: int, number: int) -> list[Place[C]] | None:
        """The same candidates on more problems; None if time runs out before all had their turn."""
        what = self._called(f"round {number}: {len(places)} candidates on {upto} problems")
        found = []
        for k, place in enumerate(places):
            if self.left() <= 0:
                return None
            self.tell(what, k, len(places))
            measured = self._measured(place.candidate, len(place.scores), upto)
            if measured is not None:
                scores = np.concatenate([place.scores, measured.scores])
                found.append(Place(place.candidate, scores, place.seconds + measured.seconds))
        self.tell(what, len(places), len(places))
        return found

    def _measured(self, candidate: C, first: int, last: int) -> Measured | None:
        """As in a race before, or run now; where each round begins decides where it ends."""
        if (candidate, first) not in self._known:
            self._known[candidate, first] = self.run(candidate, first, last)
        return self._known[candidate, first]

    def _called(self, what: str) -> str:
        return what if self._number == 1 else f"{what}, race {self._number}"


def rounds_up_to(problems: int, first: int = FIRST_ROUND) -> list[int]:
    """Up to how many problems each round goes, doubling.

    >>> rounds_up_to(100), rounds_up_to(5)
    ([6, 12, 25, 50, 100], [5])
    """
    rounds = [problems]
    while rounds[0] // 2 >= first:
        rounds.insert(0, rounds[0] // 2)
    return rounds


def _longest(places: Sequence[Place[C]]) -> list[Place[C]]:
    """Of each candidate the place with most scores: a race that was broken off takes nothing away."""
    found: dict[C, Place[C]] = {}
    for place in sorted(places, key=lambda place: len(place.scores)):
        found[place.candidate] = place
    return list(found.values())


def ranked(places: Sequence[Place[C]]) -> list[Place[C]]:
    """The places in order: who came further is before who did not, then by the mean."""
    return sorted(places, key=lambda place: (-len(place.scores), place.mean))


def cut(places: Sequence[Place[C]], finalists: int) -> tuple[list[Place[C]], list[Place[C]]]:
    """Who goes on, and who does not: as many as are not surely worse, half of all at most, and so many at least."""
    order = ranked(places)
    if len(order) <= finalists:
        return order, []
    leader = order[0]
    in_doubt = sum(not surely_worse(place.scores, leader.scores) for place in order)
    kept = max(finalists, min(in_doubt, -(-len(order) // 2)))
    return order[:kept], order[kept:]
