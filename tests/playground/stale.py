"""Outdated entries of databases after cells were closed, found by walking, or by checking all regions."""

from __future__ import annotations

import itertools

import numpy as np

from andante.episode.single import Agent


def moves_of(graph):
    """Return the moves of a map, as pairs of states."""
    return {(state, near) for state in range(len(graph)) for near, _ in graph.neighbours(state)}


def walked(agent, grid, start, goal):
    """Return the moves of an agent on the original map."""
    path = agent.run(grid.problem(grid.cell(start), grid.cell(goal))).path.tolist()
    return list(itertools.pairwise(path))


def led_astray(database, grid, edited, goal):
    """Return the states from which a database of first moves leads along a move that has become impossible."""
    agent, left = Agent("cpd", grid, databases=[database]), moves_of(edited)
    free = [one for one in np.flatnonzero(grid.passable.ravel()).tolist() if one != goal]
    label = grid.graph.components
    inside = [one for one in free if label[one] == label[goal]]
    return [one for one in inside if not left.issuperset(walked(agent, grid, one, goal))]


def climbed(agent, grid, start, goal):
    """Return the moves of an agent for as long as each brings it nearer to the goal in octile distance."""

    def far(state):
        (x, y), (gx, gy) = grid.cell(state), grid.cell(goal)
        dx, dy = abs(x - gx), abs(y - gy)
        return max(dx, dy) + (2**0.5 - 1) * min(dx, dy)

    return list(itertools.takewhile(lambda move: far(move[1]) < far(move[0]), walked(agent, grid, start, goal)))


def broken_records(database, grid, edited):
    """Return the states on paths of solved problems with an impossible move; LRTA* climbs where that is possible.

    A record may have one subgoal only, from which the goal cannot be climbed to: the path ends where the climb does.
    """
    agent, left, found = Agent("lrta", grid), moves_of(edited), set()
    arrays = database.arrays
    for k, (start, goal) in enumerate(zip(arrays.start.tolist(), arrays.goal.tolist(), strict=True)):
        stops = [start, *arrays.subgoal[arrays.first[k] : arrays.first[k + 1]].tolist(), goal]
        moves = [move for one, to in itertools.pairwise(stops) if one != to for move in climbed(agent, grid, one, to)]
        if not left.issuperset(moves):
            found |= {state for move in moves for state in move}
    return sorted(found)


def changed_regions(region, grid, edited):
    """Return the states of regions in which the moves of a state have changed."""
    before, after = moves_of(grid.graph), moves_of(edited)
    changed = {region[state] for state, _ in before ^ after} - {-1}
    return [state for state in range(len(region)) if region[state] in changed]


def pattern_regions(database, grid):
    """Return the region of each state in a pattern database; -1 for none."""
    arrays, count = database.arrays, grid.width * grid.height
    lengths = np.diff([*arrays.run.tolist(), count])
    return np.maximum(np.repeat(arrays.owner, lengths), -1).tolist()


def climbing_regions(database, grid):
    """Return the region of each state in a database of regions."""
    arrays, found = database.arrays, []
    for state in range(grid.width * grid.height):
        block = state // 256
        runs = range(arrays.block[block], arrays.block[block + 1])
        found.append(int(arrays.region[max(run for run in runs if arrays.begin[run] <= state % 256)]))
    return found
