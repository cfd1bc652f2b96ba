"""`advise`: which agent to use on these maps, under these limits.

Candidates from the whole register race on random problems; whoever breaks a limit on any move is out. The best, and
those that offer less planning for a longer way, are then run on fresh problems, which have had no part in choosing
them. What is told of them is from there.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t

from andante.agent import Algorithm
from andante.campaign.ahead import Wanted, compile_ahead
from andante.datasets import Progress
from andante.datasets.scenarios import Band, random_problems
from andante.episode.run import Outfit, variant
from andante.episode.trial import Limits
from andante.errors import AndanteError, MapError, ParameterError, quoted, whole_number
from andante.files import make_folder, write_whole
from andante.measures import Row, Statistics, Summary, measure, summarise
from andante.notation import parse
from andante.selection.journal import Journal
from andante.selection.library import Books, Library, Refused, save_all
from andante.selection.race import Measured, Place, Race, difference, rounds_up_to, surely_worse
from andante.selection.requirements import AdviceError, Breach, Dropped, Requirements, nothing_fits
from andante.selection.space import Candidate, candidates, neighbour, recommended
from andante.selection.trials import run_rows, worst_move_microseconds
from andante.world.grid import Grid
from andante.world.problem import Problem

#: Beyond this many times the optimal cost an agent is lost, and counts as if it had walked so far.
CAP = 100.0
PROBLEMS = 400
CANDIDATES = 200
FINALISTS = 5  # of the race that are run on fresh problems
ALIKE = 3  # of them that are one algorithm, where there are others
FRONT = 4  # further ones that plan less
NEWCOMERS = 30
RACES, MOST_RACES = 2, 100  # in which the best race against newcomers once more: without a clock, and with one
CONFIDENCE = 0.95
STATE = "state"  # the folder of what a run has worked out
ANY_COST = (0.0, math.inf)
QUESTION = "question.json"  # the file that says what a folder's advice is about

FEWEST_PROBLEMS = 100  # that a map must have
_PROBE = Limits(moves=200, expansions=20_000)  # enough to see most that will break a limit
_PROBED = 4
_TIMED = 2  # problems of a round whose moves are timed, if time is limited
_TIMED_FRESH = 50
_FAR_BEYOND = 5.0
_FRESH_AT_A_TIME = 50  # so that a question with more time than another can use what was run for it
_FEWEST_FRESH = 10
_MOST = 1_000_000  # problems, or candidates
# Shares of the time that there is: for building databases, and for the race. The rest is for fresh problems.
_BUILDING, _RACING = 0.3, 0.4
_ONE_KIND = 0.5  # of the time for building, which one kind of database may take for all maps
_CLEARLY_LESS = 0.7  # of another's planning, to be worth showing beside it


@dataclass(frozen=True)
class Standing:
    """One candidate on the fresh problems."""

    candidate: Candidate
    summary: Summary
    rows: list[Row] = field(repr=False)
    interval: tuple[float, float]  # in which the mean suboptimality lies, for all standings at once
    worst_microseconds: float | None  # of any move; None if nobody asked
    books: Books = field(repr=False)

    @property
    def suboptimality(self) -> Statistics:
        """Cost walked over optimal cost, on the fresh problems."""
        return self.summary["suboptimality_ratio"]

    @property
    def scores(self) -> Any:
        """Suboptimality by problem."""
        return np.array([row["suboptimality_ratio"] for row in self.rows], np.float64)


@dataclass(frozen=True)
class Advice:
    """What `advise` answers."""

    requirements: Requirements
    maps: tuple[Grid, ...] = field(repr=False)
    ranking: tuple[Standing, ...]  # that keep to all limits, the best first
    dropped: tuple[Dropped, ...] = field(repr=False)
    tried: int  # candidates
    untried: int  # for which there was no time
    race_problems: int  # on which the finalists were chosen
    fresh_problems: int
    files: dict[str, list[Path]] = field(default_factory=dict, repr=False)  # of the winner's databases, by map

    @property
    def winner(self) -> Standing:
        """The one to use."""
        return self.ranking[0]

    @property
    def rows(self) -> list[Row]:
        """Every trial on the fresh problems."""
        return [row for standing in self.ranking for row in standing.rows]

    @property
    def summaries(self) -> list[Summary]:
        """The table, the best first."""
        return [standing.summary for standing in self.ranking]

    @property
    def code(self) -> str:
        """The line of Python that makes the winner."""
        entry, sight = self.winner.candidate.algorithm, self.requirements.sight
        options = [f"sight={sight}"] if sight is not None else []
        if self.winner.candidate.databases:
            files = [str(file) for file in self.files.get(self.maps[0].name, [])]
            loads = [f"andante.load({file!r}, map=grid)" for file in files]
            builds = [f"andante.build({text!r}, grid)" for text in self.winner.candidate.databases]
            options.append(f"databases=[{', '.join(loads or builds)}]")
        return f"andante.Agent({', '.join([repr(str(entry)), 'grid', *options])})"

    @property
    def sentences(self) -> list[str]:
        """The answer in words: what to use, how sure that is, what was tried."""
        told = [*self._use(), self._sure(), *self._simpler(), self._tried(), self.unfinished, *self._changing()]
        return [sentence for sentence in told if sentence]

    def _use(self) -> list[str]:
        best = self.winner
        ratio = measure("suboptimality_ratio").show(best.suboptimality.mean, best.suboptimality.standard_error)
        low, high = best.interval
        worst = f"its worst move expanded {_states(best.summary['max_states_expanded'].max)}"
        if best.worst_microseconds is not None:
            timed = min(_TIMED_FRESH, self.fresh_problems)
            worst += f", and the slowest on {timed} of them took {best.worst_microseconds:,.1f} µs"
        answer = (
            f"Use {best.candidate.name}: on {self.fresh_problems:,} fresh problems it walked {ratio} times the optimal "
            f"cost ({CONFIDENCE:.0%} interval {low:.3f} to {high:.3f}), and {worst}."
        )
        said = [answer]
        if best.books.databases:
            size = measure("database_bytes").show(best.books.nbytes)
            said.append(
                f"Its databases take at most {size} for a map, and at most {best.books.build_seconds:.1f} s to build."
            )
        if not best.candidate.algorithm.complete:
            said.append("It is not proven to arrive on every problem that has a way; others of the table may be.")
        if best.summary.solved < best.summary.trials:
            lost = best.summary.trials - best.summary.solved
            said.append(
                f"It did not arrive in {lost} of them: there its way was {CAP:g} times too long, or it was stuck."
            )
        return said

    def _sure(self) -> str:
        """How the winner compares with the next, problem by problem."""
        if len(self.ranking) < 2:
            return "No other candidate kept to all limits to the end."
        best, second = self.ranking[:2]
        mean, error = difference(second.scores, best.scores)
        if mean == 0 == error:
            return f"The second, {second.candidate.name}, did exactly as well, problem by problem."
        sure = (
            "so the first is clearly better"
            if surely_worse(second.scores, best.scores)
            else "so the two can hardly be told apart: let other reasons decide, or give it more problems"
        )
        return f"The second, {second.candidate.name}, walks {mean:.3f} ± {error:.3f} more: {sure}."

    def _simpler(self) -> list[str]:
        """Who does as well, for all that can be told, with fewer parameters to set."""
        best = self.winner
        ties = [
            one
            for one in self.ranking[1:]
            if _complexity(one.candidate) < _complexity(best.candidate) and not surely_worse(one.scores, best.scores)
        ]
        if not ties:
            return []
        one = min(ties, key=lambda tie: _complexity(tie.candidate))
        mean, error = difference(one.scores, best.scores)
        return [f"{one.candidate.name} is simpler, and not surely worse ({mean:+.3f} ± {error:.3f})."]

    def _tried(self) -> str:
        broken = Counter(_BROKEN[one.breach.limit] for one in self.dropped if one.breach is not None)
        why = "".join(f", {count} broke the limit on {limit}" for limit, count in sorted(broken.items()))
        return f"{self.tried} candidates raced on up to {self.race_problems:,} problems{why}."

    @property
    def unfinished(self) -> str:
        """That there was no time for all candidates, if so."""
        if not self.untried:
            return ""
        return (
            f"The time was up before {self.untried} more could be tried: with more minutes a better one may be found."
        )

    def _changing(self) -> list[str]:
        """What the numbers are about, where the map may change."""
        if not self.requirements.changing or self.requirements.sight is not None:
            return []
        told = (
            "The numbers are for maps that stay as they are. To follow changes an agent is made with sight=R, how many "
        )
        return [f"{told}cells far it sees; ask with --sight R (in Python sight=R) for numbers of that."]


#: How a limit that was broken is called.
_BROKEN = {"expansions": "expansions", "microseconds": "time", "memory_bytes": "memory", "build_seconds": "build time"}


def _complexity(candidate: Candidate) -> tuple[int, int]:
    """Databases to build, and parameters to set."""
    return len(candidate.databases), len(parse(str(candidate.algorithm)).arguments)


def _states(count: float) -> str:
    return f"{count:,.0f} state{'' if count == 1 else 's'}"


def _quiet(what: str, done: int, total: int) -> None:
    pass


def advise(
    maps: Grid | Sequence[Grid],
    requirements: Requirements = Requirements(),  # noqa: B008 (frozen)
    *,
    minutes: float | None = None,
    problems: int = PROBLEMS,
    candidates: int = CANDIDATES,
    seed: int = 0,
    threads: int = 1,
    optimal_cost: tuple[float, float] = ANY_COST,
    folder: str | os.PathLike[str] | None = None,
    journal: Journal | None = None,
    progress: Progress | None = None,
    compiling: Callable[[int, int], None] | None = None,
    also: Sequence[Candidate] = (),
) -> Advice:
    """Which agent to use on these maps, under these limits.

    At most so many problems are raced on, and as many fresh ones are kept for the end; with ``minutes`` it may be fewer
    of both. Without, the same seed gives the same advice, whatever ``folder`` holds. ``optimal_cost`` says how long the
    trips are, from low up to, not including, high. In ``folder`` are kept what a run has worked out, so that after a
    kill it goes on, and the winner's databases; a ``journal`` of another question is taken instead, and what it holds
    takes no time. Compiling happens once and does not count as time. Candidates ``also`` enter beside those that are
    found here.

    >>> import andante
    >>> grid = andante.generate("rooms", 24, 24, seed=1)
    >>> advice = advise([grid], Requirements(expansions=1, memory_bytes=0), problems=20, candidates=30)
    >>> advice.winner.summary["max_states_expanded"].max
    1.0
    """
    if minutes is not None and not minutes > 0:
        raise ParameterError(f"minutes must be above 0, got {minutes!r}")
    for what, number, least in (("problems", problems, _FEWEST_FRESH), ("candidates", candidates, 1)):
        if not least <= number <= _MOST:
            raise ParameterError(f"advise takes from {least} to {_MOST:,} {what}, got {quoted(number)}")
    whole_number(threads, "threads", least=1, error=ParameterError)
    Band.of(optimal_cost)  # refused before anything is compiled
    grids = (maps,) if isinstance(maps, Grid) else tuple(maps)
    _check_maps(grids)
    tell = progress or _quiet
    home = None if folder is None else Path(folder)
    journal = journal or Journal(None if home is None else home / STATE)
    question = question_of(grids, requirements, optimal_cost)
    if home is not None:
        check_folder(home, question)
    session = _Session(grids, requirements, journal, minutes, seed, threads, tell)
    asked = session.candidates(candidates, also)
    # Before the clock starts: time is for racing.
    wanted = [Wanted(one.algorithm, one.databases, requirements.sight) for one in asked]
    compile_ahead(wanted, compiling or (lambda number, total: None))
    journal.restart()
    race, fresh = session.draw(problems, optimal_cost)
    places, raced, untried = session.race(asked, race)
    ranking = session.validate(places, fresh)
    files = {}
    if home is not None:
        write_whole(home / QUESTION, json.dumps(question, indent=1).encode())
        if ranking[0].books.databases:
            files = save_all(ranking[0].books.databases, grids, home / "databases")
    return Advice(
        requirements,
        grids,
        tuple(ranking),
        tuple(session.dropped.values()),
        raced,
        untried,
        max(len(place.scores) for place in places),
        len(ranking[0].rows),
        files,
    )


def question_of(grids: Sequence[Grid], requirements: Requirements, optimal_cost: tuple[float, float]) -> dict[str, Any]:
    """What is asked, as plain data."""
    fingerprints = {grid.name: grid.graph.fingerprint for grid in grids}
    between = [cost if math.isfinite(cost) else None for cost in optimal_cost]
    return {"maps": fingerprints, **asdict(requirements), "optimal_cost": between}


def check_folder(home: Path, question: dict[str, Any]) -> None:
    """Make the folder, or refuse to put the advice on this question in the place of that on another."""
    make_folder(home)
    file = home / QUESTION
    try:
        same = not file.exists() or json.loads(file.read_bytes()) == question
    except (OSError, ValueError, RecursionError) as error:
        raise ParameterError(f"{file} cannot be read or is damaged; restore it, or name another folder") from error
    if not same:
        raise ParameterError(f"{home} has the advice on another question, see {file.name} there; name another folder")


@dataclass
class _Session:
    """One question, and all that is at hand to answer it."""

    grids: tuple[Grid, ...]
    requirements: Requirements
    journal: Journal
    minutes: float | None
    seed: int
    threads: int
    tell: Progress
    dropped: dict[str, Dropped] = field(default_factory=dict)
    took: float = 0.0  # seconds that the pieces of the last measurement took to make
    tried_first: set[str] = field(default_factory=set)  # by name: candidates tried first
    efforts: dict[str, float] = field(default_factory=dict)  # the worst move of each candidate so far, in expansions

    def __post_init__(self) -> None:
        most = math.inf if self._seconds is None else self._seconds * _BUILDING
        self.library = Library(
            self.grids, self.requirements, self.journal, self.threads, self.tell, most * _ONE_KIND, most
        )
        self.states = max(len(grid.graph) for grid in self.grids)

    @property
    def _seconds(self) -> float | None:
        return None if self.minutes is None else self.minutes * 60

    def left(self) -> float:
        """Seconds until all of the time is spent."""
        return math.inf if self._seconds is None else self._seconds - self.journal.seconds

    def left_to_race(self) -> float:
        """Seconds until the race has had its share, in which building does not count."""
        if self._seconds is None:
            return math.inf
        return self._seconds * _RACING - (self.journal.seconds - self.library.spent)

    def _may_enter(self, entry: Algorithm) -> bool:
        return self.requirements.admits(entry, self.states)

    def candidates(self, count: int, also: Sequence[Candidate]) -> list[Candidate]:
        """Whoever may be considered."""
        more = [one for one in also if self._may_enter(one.algorithm)]
        self.tried_first = {one.name for one in (*more, *recommended(self._may_enter))}
        found = list({one.name: one for one in (*more, *candidates(self._may_enter, count, self.seed))}.values())
        if not found:
            raise nothing_fits(self.requirements, [])
        return found

    # --- problems ----------------------------------------------------------------------------------------------------

    def draw(self, problems: int, band: tuple[float, float]) -> tuple[list[Problem], list[Problem]]:
        """Problems for the race, and as many fresh ones, different from those; both turn from map to map."""
        each = 2 * -(-problems // len(self.grids))
        pools = []
        for number, grid in enumerate(self.grids):
            self.tell("drawing problems", number, len(self.grids))
            room = min(each, _room_for_problems(grid))
            pools.append(random_problems(grid, room, optimal_cost=band, seed=self.seed))
        self.tell("drawing problems", len(self.grids), len(self.grids))
        halves = [[pool[side::2] for pool in pools] for side in (0, 1)]
        rng = np.random.default_rng([self.seed, 3])
        race, fresh = ([p for turn in _turns(half, rng) for p in turn][:problems] for half in halves)
        return race, fresh

    # --- trying candidates -------------------------------------------------------------------------------------------

    def race(self, asked: Sequence[Candidate], problems: list[Problem]) -> tuple[list[Place[Candidate]], int, int]:
        """The candidates in the order in which they should be run on fresh problems; how many ran and how many not."""
        rng = np.random.default_rng([self.seed, 1])
        order = [asked[k] for k in np.random.default_rng([self.seed, 2]).permutation(len(asked))]
        # Time may run out: first agents as they come, then as cards recommend them; of each, those with databases last.
        order.sort(key=lambda one: (one.name not in self.tried_first, _complexity(one)[1] > 0, len(one.databases)))
        known, compiled = {one.name for one in asked}, {variant(one.algorithm) for one in asked}

        def breed(leaders: list[Candidate]) -> list[Candidate]:
            drawn = [neighbour(leaders[k % len(leaders)], rng) for k in range(NEWCOMERS)] if leaders else []
            may_join = [one for one in drawn if self._may_enter(one.algorithm) and variant(one.algorithm) in compiled]
            fresh = {one.name: one for one in may_join if one.name not in known}
            known.update(fresh)
            return list(fresh.values())

        race: Race[Candidate] = Race(
            lambda one, first, last: self._measured(one, problems, first, last),
            rounds_up_to(len(problems)),
            FINALISTS,
            self.left_to_race,
            breed,
            self.tell,
            RACES if self.minutes is None else MOST_RACES,
        )
        places = race.places(order)
        if not places and race.untried:
            raise AdviceError(
                f"there was no time to try {race.untried} of {len(asked)} candidates, and no other will do; give it "
                "more minutes, or fewer maps"
            )
        if not places:
            raise nothing_fits(self.requirements, list(self.dropped.values()))
        return places, len(known) - race.untried, race.untried

    def _measured(self, one: Candidate, problems: Sequence[Problem], first: int, last: int) -> Measured | None:
        """The candidate on some problems of the race; None, and a note why, if it is out."""
        if first == 0 and not self._passes_probe(one, problems[:_PROBED]):
            return None
        self.took = 0.0
        rows = self._rows(one, problems[first:last])
        if rows is None:
            return None
        if self._too_slow(one, problems[first:last][:_TIMED], rows):
            return None
        scores = np.array([row["suboptimality_ratio"] for row in rows], np.float64)
        return Measured(scores, self.took)

    def _passes_probe(self, one: Candidate, problems: Sequence[Problem]) -> bool:
        """A short walk, in which most show that will break a limit."""
        return self._rows(one, problems, _PROBE) is not None

    def _rows(self, one: Candidate, problems: Sequence[Problem], limits: Limits | None = None) -> list[Row] | None:
        """The candidate's trials; None if it cannot run or broke a limit."""
        books = self.library.books(one.databases)
        if isinstance(books, Refused):
            self.dropped[one.name] = Dropped(one.name, books.breach, books.reason)
            return None
        chosen, sight = limits or Limits(suboptimality=CAP), self.requirements.sight

        def make() -> dict[str, Any]:
            try:
                return {"rows": run_rows(one, books.databases, problems, chosen, self.threads, sight)}
            except AndanteError as error:  # parameters that do not go with each other, or with the map
                return {"reason": str(error)}

        told = self._once(self._about(one, problems, limits=asdict(chosen)), make)
        breach = self.requirements.check_rows(told.get("rows", []))
        if breach is not None or "reason" in told:
            self.dropped[one.name] = Dropped(one.name, breach, told.get("reason", ""))
            return None
        found: list[Row] = told["rows"]
        self.efforts[one.name] = max(self.efforts.get(one.name, 0.0), *(float(r["max_states_expanded"]) for r in found))
        return found

    def _once(self, what: dict[str, Any], make: Callable[[], Any]) -> Any:
        """A piece from the journal, and in `took` what it took to make, be it now or for another question."""
        found = self.journal.once(what, make)
        self.took += self.journal.seconds_of(what)
        return found

    def _about(self, one: Candidate, problems: Sequence[Problem], **more: Any) -> dict[str, Any]:
        """All that decides what a candidate does on problems."""
        asked = [(p.graph.fingerprint[:16], p.start, p.goal) for p in problems]
        maps = [grid.graph.fingerprint for grid in self.grids] if one.databases else []  # some are trained on all
        return {**one.identity, "problems": asked, "maps": maps, "sight": self.requirements.sight, **more}

    def _too_slow(self, one: Candidate, problems: Sequence[Problem], rows: Sequence[Row]) -> bool:
        """Does any move of the problems break a limit on time? Nothing is timed where the usual move clearly does."""
        limit = self.requirements.microseconds
        if limit is None:
            return False
        usual = sum(float(row["seconds"]) for row in rows) * 1e6 / max(sum(int(row["moves"]) for row in rows), 1)
        far_too_slow = usual > _FAR_BEYOND * limit  # nothing that other programs on the machine could explain
        breach = Breach("microseconds", usual, limit) if far_too_slow else self._slow_move(one, problems)[1]
        if breach is not None:
            self.dropped[one.name] = Dropped(one.name, breach)
        return breach is not None

    def _slow_move(self, one: Candidate, problems: Sequence[Problem]) -> tuple[float, Breach | None]:
        """The slowest move of these problems, and the limit that it breaks."""
        books = self.library.books(one.databases)
        assert isinstance(books, Books)
        worst: float = self._once(
            self._about(one, problems, timed=True),
            lambda: worst_move_microseconds(one, books.databases, problems, CAP, self.requirements.sight),
        )
        return worst, self.requirements.check("microseconds", worst)

    # --- fresh problems ----------------------------------------------------------------------------------------------

    def validate(self, places: Sequence[Place[Candidate]], problems: Sequence[Problem]) -> list[Standing]:
        """The finalists, and those on the front behind them, on fresh problems; whoever breaks a limit there is out."""
        chosen = problems[: self._affordable(places, len(problems))]
        found: list[tuple[Place[Candidate], list[Row], float | None]] = []
        waiting = _varied(places)
        while waiting and len(found) < FINALISTS and (not found or self.left() > 0):
            self._try_fresh(waiting.pop(0), chosen, found, FINALISTS)
        if not found:
            raise nothing_fits(self.requirements, list(self.dropped.values()))
        for place in self._front(found, waiting)[:FRONT]:
            if self.left() > 0:
                self._try_fresh(place, chosen, found, FINALISTS + FRONT)
        return self._standings(found)

    def _try_fresh(
        self,
        place: Place[Candidate],
        problems: Sequence[Problem],
        found: list[tuple[Place[Candidate], list[Row], float | None]],
        total: int,
    ) -> None:
        self.tell(f"finalists on {len(problems)} fresh problems", len(found), total)
        rows: list[Row] = []
        for first in range(0, len(problems), _FRESH_AT_A_TIME):
            some = self._rows(place.candidate, problems[first : first + _FRESH_AT_A_TIME])
            if some is None:
                return
            rows += some
        worst: float | None = None
        if self.requirements.microseconds is not None:
            if self._too_slow(place.candidate, problems[:_TIMED_FRESH], rows):
                return
            worst = self._slow_move(place.candidate, problems[:_TIMED_FRESH])[0]
        found.append((place, rows, worst))

    def _affordable(self, places: Sequence[Place[Candidate]], most: int) -> int:
        """How many fresh problems there is time for."""
        rate = sum(place.seconds_per_problem for place in places[: FINALISTS + FRONT])
        seconds = self.left()
        if math.isinf(seconds) or rate * most <= 0.8 * seconds:
            return most
        fewest = min(most, max(_FEWEST_FRESH, len(self.grids)))  # one of every map
        return max(fewest, min(most, int(0.8 * max(seconds, 0.0) / rate)))

    def _front(
        self, found: Sequence[tuple[Place[Candidate], list[Row], float | None]], waiting: Sequence[Place[Candidate]]
    ) -> list[Place[Candidate]]:
        """Of those that are waiting, the best that plan less and less per move than all before them."""
        least = min(self.efforts[place.candidate.name] for place, _, _ in found)
        chosen = []
        for place in sorted(waiting, key=lambda place: place.mean):
            effort = self.efforts[place.candidate.name]
            if effort < _CLEARLY_LESS * least:
                chosen.append(place)
                least = effort
        return chosen

    def _standings(self, found: Sequence[tuple[Place[Candidate], list[Row], float | None]]) -> list[Standing]:
        doubt = (1 - CONFIDENCE) / (2 * len(found))  # so that the intervals hold for all of them at once
        standings = []
        for place, rows, worst in found:
            books = self.library.books(place.candidate.databases)
            assert isinstance(books, Books)
            extra = {
                "memory_bytes": self._memory(place.candidate, books),
                "database_bytes": books.nbytes,
                "build_seconds": books.build_seconds,
            }
            told: list[Row] = [{**row, **extra} for row in rows]
            summary = summarise(told)[0]
            numbers = summary["suboptimality_ratio"]
            half = float(t.ppf(1 - doubt, len(rows) - 1)) * numbers.standard_error
            interval = (max(1.0, numbers.mean - half), numbers.mean + half)
            standings.append(Standing(place.candidate, summary, told, interval, worst, books))
        return sorted(standings, key=lambda one: (one.suboptimality.mean, one.summary["max_states_expanded"].max))

    def _memory(self, one: Candidate, books: Books) -> int:
        """What its agent needs to think, on the largest map."""
        largest = max(self.grids, key=lambda grid: len(grid.graph))
        return Outfit(one.algorithm, books.databases, self.requirements.sight).agent(largest).memory_bytes


def _varied(places: Sequence[Place[Candidate]]) -> list[Place[Candidate]]:
    """The places in their order, but of one algorithm no more than a few before others have had their turn."""
    seen: Counter[str] = Counter()
    first: list[Place[Candidate]] = []
    later: list[Place[Candidate]] = []
    for place in places:
        name = place.candidate.algorithm.card.name
        seen[name] += 1
        (first if seen[name] <= ALIKE else later).append(place)
    return [*first, *later]


def _check_maps(grids: Sequence[Grid]) -> None:
    """Refuse maps that are too small, or that files could not tell apart."""
    if not grids:
        raise MapError("there is no map to advise on")
    names = Counter(grid.name for grid in grids)
    twice = next((name for name, count in names.items() if count > 1), None)
    if twice is not None:
        raise MapError(f"two different maps are called {twice}; rename one, so that their databases can be told apart")
    for grid in grids:
        _room_for_problems(grid)


def _room_for_problems(grid: Grid) -> int:
    """How many different problems can be drawn on a map without looking long for them."""
    label = grid.graph.components
    sizes = np.bincount(label[np.flatnonzero(grid.passable)]).astype(np.int64) if grid.passable.any() else np.zeros(1)
    pairs = int((sizes * (sizes - 1)).sum())
    if pairs < FEWEST_PROBLEMS:
        raise MapError(
            f"{grid.name} is too small to advise on: it has {pairs} pairs of connected cells to start and end in, and "
            f"{FEWEST_PROBLEMS} are needed"
        )
    return pairs // 2


def _turns(pools: Sequence[Sequence[Problem]], rng: np.random.Generator) -> list[list[Problem]]:
    """One problem of every pool, then the next of every pool, until all have had their turn; each turn in random order.

    So the first few problems are not always of the first few maps.
    """
    longest = max(len(pool) for pool in pools)
    turns = [[pool[k] for pool in pools if k < len(pool)] for k in range(longest)]
    return [[turn[k] for k in rng.permutation(len(turn))] for turn in turns]
