"""Pattern databases unpacked the plain way: a table with a row and a column for each region."""

from typing import NamedTuple

import numpy as np

from andante.databases.pattern import NO_STATE, Pattern
from andante.offline.packing import packed


class Tables(NamedTuple):
    """What a pattern database says of each state and of each pair of regions."""

    region: np.ndarray  # [states]
    subgoal: np.ndarray  # [regions, regions], NO_STATE: the goal itself
    via: np.ndarray  # [regions, regions], NO_STATE: straight on
    depth: np.ndarray  # [regions, regions]
    goal_depth: np.ndarray  # [regions, regions]
    served: np.ndarray  # [regions], is there a column for goals in it?


def unpacked(pattern: Pattern) -> Tables:
    """The tables of a database; what it does not say is NO_STATE."""
    regions = len(pattern.column)
    region = np.full(int(pattern.base[2]), NO_STATE)
    ends = [*pattern.run[1:].tolist(), len(region)]
    for begin, end, owner in zip(pattern.run.tolist(), ends, pattern.owner.tolist(), strict=True):
        region[begin:end] = owner
    subgoal, via, depth, far = (np.full((regions, regions), NO_STATE) for _ in range(4))
    special = {int(place): k for k, place in enumerate(pattern.special)}
    for here in range(regions):
        choices = []
        spans = pattern.span[pattern.row[here] : pattern.row[here + 1]].tolist()
        for k, span in enumerate(spans):
            end = spans[k + 1] >> 16 if k + 1 < len(spans) else pattern.columns
            choices += [span & 0xFFFF] * (end - (span >> 16))
        for there in np.flatnonzero(pattern.column >= 0).tolist():
            column = int(pattern.column[there])
            if here == there:
                depth[here, there] = 1
            else:
                place = int(pattern.palette[here]) + choices[column]
                subgoal[here, there] = pattern.subgoal[place]
                via[here, there] = pattern.via[special[place]] if place in special else NO_STATE
                depth[here, there] = pattern.depth[special[place]] if place in special else 1
            if len(pattern.goal_depth):
                far[here, there] = pattern.goal_depth[here, column]
    return Tables(region, subgoal, via, depth, far, pattern.column >= 0)


def repacked(pattern: Pattern, subgoal: np.ndarray) -> Pattern:
    """The same database with other subgoals, all to be climbed to straight on at depth 2."""
    order = np.argsort(pattern.column)[-pattern.columns :]  # regions that goals may lie in, column by column
    choices = packed(subgoal[:, order].astype(np.int32))
    special = np.arange(len(choices.subgoal), dtype=np.int32)
    via, depth = np.full(len(special), NO_STATE, np.int32), np.full(len(special), 2, np.uint16)
    return pattern._replace(**choices._asdict(), special=special, via=via, depth=depth)
