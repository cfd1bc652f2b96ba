"""Racing: many candidates on few problems, survivors on more.

Each round runs the remaining candidates on twice as many problems. Those that are not surely worse than the leader, by
a paired comparison, continue to the next round, but at most half of all. After the first round, newcomers that resemble
the leaders may join. When a race is over, the best may race again against more newcomers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from andante.datasets import ProgressCallback, quiet
from andante.measures.comparison import FEWEST, difference

C = TypeVar("C")

Scores = npt.NDArray[np.float64]

SURELY = 2.33  # standard errors: one chance in a hundred

FIRST_ROUND = 6  # approximate number of problems
_SHARE_OF_FIRST_ROUND = 0.5  # of the time for the race


@dataclass(frozen=True)
class Measured:
    """The result of a run on some problems: a score for each, lower is better, and the time it took."""

    scores: Scores
    seconds: float


#: A function that runs a candidate on the problems from one number up to another; None if the candidate is dropped.
Run = Callable[[C, int, int], Measured | None]


@dataclass(frozen=True)
class Place(Generic[C]):
    """A candidate with its scores on the first problems of the race."""

    candidate: C
    scores: Scores
    seconds: float  # the time these took

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(self.scores.mean())

    @property
    def seconds_per_problem(self) -> float:
        """The mean time per problem."""
        return self.seconds / max(len(self.scores), 1)


@dataclass
class Race(Generic[C]):
    """A race.

    ``left`` returns the seconds left. ``breed`` makes newcomers from the leaders. ``again`` is the number of times that
    the best race again against newcomers, as long as there is time. ``progress`` is called before every run.
    """

    run: Run[C]
    rounds: Sequence[int]  # the number of problems after each round
    finalists: int
    left: Callable[[], float] = lambda: math.inf
    breed: Callable[[list[C]], list[C]] = lambda _: []
    progress: ProgressCallback = quiet
    again: int = 0
    untried: int = field(default=0, init=False)  # number of candidates that were not tried for lack of time

    def __post_init__(self) -> None:
        self._number = 1
        self._known: dict[tuple[C, int], Measured | None] = {}  # by candidate and first problem

    def places(self, candidates: Sequence[C]) -> list[Place[C]]:
        """Run the race and return the candidates that were not dropped: by rounds survived, then by mean score."""
        found = self._raced(candidates)
        for number in range(2, 2 + self.again):
            self._number = number
            leaders = [place.candidate for place in found[: self.finalists]]
            if not leaders or self.left() <= 0 or not (newcomers := self.breed(leaders)):
                break
            found = ranked(_longest([*found, *self._raced([*leaders, *newcomers])]))
        return found

    def _raced(self, candidates: Sequence[C]) -> list[Place[C]]:
        """Run one race and return its places."""
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
        """Run all candidates, within half of the time, and then newcomers that resemble the leaders."""
        upto, reserve = self.rounds[0], self.left() * (1 - _SHARE_OF_FIRST_ROUND)
        places: list[Place[C]] = []

        def admit(newcomers: Sequence[C], what: str) -> None:
            for number, candidate in enumerate(newcomers):
                if self.left() <= (reserve if math.isfinite(reserve) else 0.0):
                    if newcomers is candidates and self._number == 1:  # later ones are newcomers
                        self.untried = len(newcomers) - number
                    break
                self.progress(what, number, len(newcomers))
                measured = self._measured(candidate, 0, upto)
                if measured is not None:
                    places.append(Place(candidate, measured.scores, measured.seconds))
            self.progress(what, len(newcomers), len(newcomers))

        admit(candidates, self._called(f"round 1: {len(candidates)} candidates on {upto} problems"))
        leaders = [place.candidate for place in ranked(places)[: self.finalists]]
        reserve *= 0.8
        if newcomers := self.breed(leaders):
            admit(newcomers, self._called(f"round 1: {len(newcomers)} more like the best"))
        return places

    def _further(self, places: Sequence[Place[C]], upto: int, number: int) -> list[Place[C]] | None:
        """Run the same candidates on more problems; return None if time runs out before all are done."""
        what = self._called(f"round {number}: {len(places)} candidates on {upto} problems")
        found = []
        for k, place in enumerate(places):
            if self.left() <= 0:
                return None
            self.progress(what, k, len(places))
            measured = self._measured(place.candidate, len(place.scores), upto)
            if measured is not None:
                scores = np.concatenate([place.scores, measured.scores])
                found.append(Place(place.candidate, scores, place.seconds + measured.seconds))
        self.progress(what, len(places), len(places))
        return found

    def _measured(self, candidate: C, first: int, last: int) -> Measured | None:
        """Return the result from an earlier race, or run it now; the first problem of a round determines its last."""
        if (candidate, first) not in self._known:
            self._known[candidate, first] = self.run(candidate, first, last)
        return self._known[candidate, first]

    def _called(self, what: str) -> str:
        return what if self._number == 1 else f"{what}, race {self._number}"


def rounds_up_to(problems: int, first: int = FIRST_ROUND) -> list[int]:
    """Return the number of problems after each round, about doubling.

    >>> rounds_up_to(100), rounds_up_to(5)
    ([6, 12, 25, 50, 100], [5])
    """
    rounds = [problems]
    while rounds[0] // 2 >= first:
        rounds.insert(0, rounds[0] // 2)
    return rounds


def _longest(places: Sequence[Place[C]]) -> list[Place[C]]:
    """Return the place with most scores of each candidate, because an unfinished race must not lose earlier results."""
    found: dict[C, Place[C]] = {}
    for place in sorted(places, key=lambda place: len(place.scores)):
        found[place.candidate] = place
    return list(found.values())


def ranked(places: Sequence[Place[C]]) -> list[Place[C]]:
    """Return the places by number of problems, most first, then by mean score."""
    return sorted(places, key=lambda place: (-len(place.scores), place.mean))


def surely_worse(scores: Scores, leader: Scores) -> bool:
    """Return whether the mean is higher than the leader's by more than chance explains; not corrected for repetition.

    >>> leader = np.arange(20.0)
    >>> surely_worse(leader + 1, leader), surely_worse(leader + np.tile([9.0, -9.0], 10), leader)
    (True, False)
    """
    if len(scores) < FEWEST:
        return False
    mean, error = difference(scores, leader)
    return mean > SURELY * error


def cut(places: Sequence[Place[C]], finalists: int) -> tuple[list[Place[C]], list[Place[C]]]:
    """Return the candidates that stay in the race and those that leave it.

    Those that are not surely worse than the leader stay, at most half of all, and at least ``finalists``.
    """
    order = ranked(places)
    if len(order) <= finalists:
        return order, []
    leader = order[0]
    in_doubt = sum(not surely_worse(place.scores, leader.scores) for place in order)
    kept = max(finalists, min(in_doubt, -(-len(order) // 2)))
    return order[:kept], order[kept:]
