"""The finals: the best candidates of a race on fresh problems, which were not used to choose them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from andante.episode.run import Outfit
from andante.measures import Row, summarise
from andante.measures.clusters import student
from andante.selection.answer import CONFIDENCE, Standing
from andante.selection.race import Place
from andante.selection.requirements import nothing_fits
from andante.selection.session import FINALISTS, Session
from andante.selection.space import complexity
from andante.selection.trials import REPEATS, SCORE
from andante.world.problem import Problem

ALIKE = 3  # finalists of the same algorithm, if there are others
FRONT = 4  # further candidates that plan less

FEWEST_FRESH = 10
CROWD_RUNS = 2  # of each crowd, to measure how much depends on the machine
_TIMED_FRESH = 50
_FRESH_AT_A_TIME = 50  # so that a question with more time can reuse the trials of one with less
_OF_THE_REST = 0.8  # share of the time left that the finals are planned to take
_FEWEST_CROWDS = 2  # finalists that must fit into the time, or crowds are made smaller
_CLEARLY_LESS = 0.7  # share of another candidate's planning below which a candidate is shown beside it


class _Finalist(NamedTuple):
    """A candidate that kept all limits on the fresh problems."""

    candidate: Outfit[str]
    rows: list[Row]
    worst_microseconds: float | None
    timed: int
    noise: float = 0.0  # error of the mean score that is due to the machine


class Finals:
    """The finalists, and candidates that plan less, on fresh problems; one that breaks a limit there is dropped."""

    def __init__(self, session: Session, places: Sequence[Place[Outfit[str]]], problems: Sequence[Problem]) -> None:
        self._session = session
        self._waiting = distinct(session, places)
        self._problems = problems[: self._affordable(len(problems))]
        self._found: list[_Finalist] = []

    def standings(self) -> list[Standing]:
        """Run the finals and return the standings, best first."""
        session, found = self._session, self._found
        while self._waiting and len(found) < FINALISTS and (not found or session.left() > 0):
            place = self._next()
            if not found or self._in_time(place):
                self._try(place.candidate, FINALISTS)
        if not found:
            raise nothing_fits(session.requirements, list(session.dropped.values()))
        for place in self._front()[:FRONT] if session.crowds is None else ():  # all crowds have the same time to plan
            if session.left() > 0:
                self._try(place.candidate, FINALISTS + FRONT)
        return ranking(session, found)

    def _in_time(self, place: Place[Outfit[str]]) -> bool:
        """Return whether there is time left to run a candidate as a crowd; single agents can stop at any problem."""
        seconds = CROWD_RUNS * place.seconds_per_problem * len(self._problems)
        return self._session.crowds is None or seconds <= self._session.left()

    def _next(self) -> Place[Outfit[str]]:
        """Remove and return the best waiting candidate, preferably of an algorithm with fewer than ALIKE finalists."""
        found = Counter(finalist.candidate.algorithm.card.name for finalist in self._found)
        other = (k for k, place in enumerate(self._waiting) if found[place.candidate.algorithm.card.name] < ALIKE)
        return self._waiting.pop(next(other, 0))

    def _affordable(self, most: int) -> int:
        """Return the number of fresh problems that fit into the time."""
        session = self._session
        expected, runs = (FINALISTS + FRONT, 1) if session.crowds is None else (_FEWEST_CROWDS, CROWD_RUNS)
        rate = runs * sum(place.seconds_per_problem for place in self._waiting[:expected])
        seconds = _OF_THE_REST * session.left()
        if math.isinf(seconds):
            return most
        # Moves are timed on one thread, several times each.
        timed = 0 if session.requirements.microseconds is None else REPEATS * session.threads * min(_TIMED_FRESH, most)
        if rate * (most + timed) <= seconds:
            return most
        fewest = min(most, max(FEWEST_FRESH, len(session.grids)))  # at least one per map
        affordable = max(fewest, min(most, int(seconds / rate) - timed))
        whole = len(session.grids) * (session.requirements.units or 1)
        return affordable // whole * whole or affordable

    def _try(self, one: Outfit[str], total: int) -> None:
        session, problems = self._session, self._problems
        session.progress(f"finalists on {len(problems)} fresh problems", len(self._found), total)
        rows: list[Row] = []
        portion = _FRESH_AT_A_TIME if session.crowds is None else len(problems)
        for first in range(0, len(problems), portion):
            some = session.rows(one, problems[first : first + portion])
            if some is None:
                return
            rows += some
        worst: float | None = None
        timed = problems[:_TIMED_FRESH]
        if session.requirements.microseconds is not None:
            if session.too_slow(one, timed, rows):
                return
            worst = session.slow_move(one, timed)[0]
        noise = 0.0
        if session.crowds is not None:
            again = session.rows(one, problems, again=True)
            if again is None:
                return
            noise = abs(_mean_score(rows) - _mean_score(again)) / math.sqrt(2)  # an estimate from two numbers
        self._found.append(_Finalist(one, rows, worst, len(timed), noise))

    def _front(self) -> list[Place[Outfit[str]]]:
        """Return the waiting candidates that plan clearly less than all better ones, best first."""
        efforts = self._session.efforts
        least = min(efforts[finalist.candidate.name] for finalist in self._found)
        chosen = []
        for place in sorted(self._waiting, key=lambda place: place.mean):
            effort = efforts[place.candidate.name]
            if effort < _CLEARLY_LESS * least:
                chosen.append(place)
                least = effort
        return chosen


def _mean_score(rows: Sequence[Row]) -> float:
    return sum(float(row[SCORE]) for row in rows) / len(rows)


def distinct(session: Session, places: Sequence[Place[Outfit[str]]]) -> list[Place[Outfit[str]]]:
    """Return the places without settings that change nothing.

    Candidates of one algorithm are the same if they did exactly the same on all problems that both were run on, with
    the same memory. Of these only the simplest is kept, in the place of the best.
    """
    groups: dict[tuple[str, int], list[list[Place[Outfit[str]]]]] = {}  # by algorithm and first trial
    for place in places:
        one = place.candidate
        near = groups.setdefault((one.algorithm.card.name, session.walks[one.name][0]), [])
        alike = next((group for group in near if _do_the_same(session, group[0].candidate, one)), None)
        if alike is None:
            near.append([place])
        else:
            alike.append(place)
    simplest = {
        group[0].candidate.name: min(group, key=lambda place: complexity(place.candidate))
        for near in groups.values()
        for group in near
    }
    return [simplest[place.candidate.name] for place in places if place.candidate.name in simplest]


def _do_the_same(session: Session, one: Outfit[str], other: Outfit[str]) -> bool:
    """Return whether two candidates did the same on the problems of the race that both were run on."""
    walks, others = session.walks[one.name], session.walks[other.name]
    common = min(len(walks), len(others))
    return walks[:common] == others[:common] and session.memory_bytes(one) == session.memory_bytes(other)


def ranking(session: Session, found: Sequence[_Finalist]) -> list[Standing]:
    """Return the standings of the finalists, best first."""
    doubt = (1 - CONFIDENCE) / (2 * len(found))  # so that the intervals hold for all of them together
    standings = []
    for one, rows, worst, timed, noise in found:
        built = session.databases(one)
        extra = {"database_bytes": built.nbytes, "build_seconds": built.build_seconds}
        if session.crowds is None:
            extra["memory_bytes"] = session.memory_bytes(one)
        full: list[Row] = [{**row, **extra} for row in rows]
        summary = summarise(full, over="problems")[0]  # only these maps matter
        numbers = summary[SCORE]
        half = student(1 - doubt, len(rows) - 1) * math.hypot(numbers.standard_error, noise)
        interval = (max(1.0, numbers.mean - half), numbers.mean + half)
        standings.append(Standing(one, summary, full, interval, worst, timed, built, noise))
    size = "max_states_expanded" if session.crowds is None else "crowd_bytes"  # the measure that decides between equals
    return sorted(standings, key=lambda one: (one.suboptimality.mean, one.summary[size].max))
