"""Pattern databases unpacked into a table with a row and a column for each region."""

from typing import NamedTuple

import numpy as np

from andante.databases.pattern import NO_STATE, Pattern
from andante.offline.builder import finished
from andante.offline.packing import packed


class Tables(NamedTuple):
    """The entries of a pattern database for each state, and for each pair of a region and a column."""

    region: np.ndarray  # [states]
    column: np.ndarray  # [states], of goals there; negative if there is none
    subgoal: np.ndarray  # [regions, columns], NO_STATE for the goal itself
    via: np.ndarray  # [regions, columns], NO_STATE for straight on
    depth: np.ndarray  # [regions, columns]
    goal_depth: np.ndarray  # [regions, columns]


def spread_out(run: np.ndarray, owner: np.ndarray, states: int) -> np.ndarray:
    """Return the entry of each state from runs."""
    whole = np.full(states, NO_STATE)
    for begin, end, one in zip(run.tolist(), [*run[1:].tolist(), states], owner.tolist(), strict=True):
        whole[begin:end] = one
    return whole


def unpacked(pattern: Pattern) -> Tables:
    """Return the tables of a database, with NO_STATE for missing entries."""
    states = int(pattern.states[0])
    region, column = (
        spread_out(pattern.run, pattern.owner, states),
        spread_out(pattern.goal_run, pattern.goal_column, states),
    )
    subgoal, via, depth, far = (np.full((pattern.regions, pattern.columns), NO_STATE) for _ in range(4))
    special = {int(place): k for k, place in enumerate(pattern.special)}
    for here in range(pattern.regions):
        choices = []
        spans = pattern.span[pattern.row[here] : pattern.row[here + 1]].tolist()
        for k, span in enumerate(spans):
            end = spans[k + 1] >> 16 if k + 1 < len(spans) else pattern.columns
            choices += [span & 0xFFFF] * (end - (span >> 16))
        for there in range(pattern.columns):
            place = int(pattern.palette[here]) + choices[there]
            subgoal[here, there] = pattern.subgoal[place]
            via[here, there] = pattern.via[special[place]] if place in special else NO_STATE
            depth[here, there] = pattern.depth[special[place]] if place in special else 1
            if len(pattern.goal_depth):
                far[here, there] = pattern.goal_depth[here, there]
    return Tables(region, column, subgoal, via, depth, far)


def repacked(pattern: Pattern, subgoal: np.ndarray) -> Pattern:
    """Return the same database with other subgoals, all climbed to straight at depth 2."""
    choices = finished(packed(subgoal.astype(np.int32)))
    special = np.arange(len(choices.subgoal), dtype=np.int32)
    via, depth = np.full(len(special), NO_STATE, np.int32), np.full(len(special), 2, np.uint16)
    return pattern._replace(**choices._asdict(), special=special, via=via, depth=depth)
