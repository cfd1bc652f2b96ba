"""Watches of an agent: its moves, made one at a time, with its thoughts before each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from andante.episode.tables import Episodes, Trail
from andante.episode.trial import Limits, Trial
from andante.errors import ProblemError
from andante.measures import Outcome
from andante.search.memory import ThoughtKind
from andante.world.problem import Problem

if TYPE_CHECKING:
    from andante.episode.single import Agent

_WAITING, _WALKING, _UNREACHABLE = int(Outcome.WAITING), int(Outcome.WALKING), int(Outcome.UNREACHABLE)


class Thought(NamedTuple):
    """One step of an agent's planning."""

    kind: ThoughtKind
    state: int
    value: float


class Turn(NamedTuple):
    """One move of an agent, and its planning before the move."""

    number: int  # from 1
    state: int  # the agent's new state
    cost: float
    states_expanded: int
    states_touched: int
    learned: float
    discovered: list[int]  # cells that the agent found to be blocked, or open again, before it moved
    thoughts: list[Thought]
    thoughts_lost: int  # thoughts for which the log had no room


class Watch(Iterator[Turn]):
    """The moves of one episode, made one at a time; ``trial`` is the trial so far."""

    def __init__(self, agent: Agent, problem: Problem, limits: Limits) -> None:
        self._agent = agent
        self._problem = problem
        self._episode = Episodes(1)
        agent._fill(self._episode, [problem], limits)
        self._trail = Trail(1)
        self._path = [problem.start]

    def __next__(self) -> Turn:
        with self._agent.alone:
            return self._next_turn()

    def _next_turn(self) -> Turn:
        agent, episode = self._agent, self._episode
        outcome = episode.outcome()
        news = outcome == _WALKING and agent._living is not None and agent._sees_news()
        if news and agent._apart(self._path[-1], self._problem.goal):
            episode.rows["outcome"][0] = outcome = _UNREACHABLE
        if outcome == _WAITING:
            agent._leave()
            agent._watched, agent._goal = self, self._problem.goal
        elif outcome == _WALKING and agent._watched is not self:
            raise ProblemError(
                f"the agent has begun another problem and forgotten {self._problem!r}; use an agent for each"
            )
        logs = agent._log_rows > 0
        if logs:
            agent.thoughts()
        moves = len(self._path)
        while outcome <= _WALKING and episode.moves() < moves:
            agent.drive(episode, trail=self._trail)
            outcome = episode.outcome()
        if episode.moves() < moves:
            raise StopIteration
        state, cost, expanded, touched, learned, found = self._trail.first()
        self._path.append(state)
        thoughts, lost = agent._take_thoughts() if logs else ([], 0)
        discovered = agent._last_found(found) if found else []
        return Turn(moves, state, cost, expanded, touched, learned, discovered, thoughts, lost)

    def __repr__(self) -> str:
        return f"<Watch {self._agent.name}: {self._problem!r}, {self._episode.moves()} moves so far>"

    @property
    def trial(self) -> Trial:
        """The trial so far; its outcome is WALKING until the episode ends."""
        path = np.array(self._path, np.int32)
        return Trial.from_results(self._agent.name, self._problem, self._episode.results(), path)
