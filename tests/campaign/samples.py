"""Campaigns for tests, and the contents by which two stores are compared."""

from andante.store.identity import NOT_DECIDED

ROOMS = """
    title = "Lookahead in rooms"
    seed = 1

    [problems.rooms]
    maps = ["rooms(width=24, height=24, seed=[1..3])"]
    count = { quick = 5, full = 20 }

    [[run]]
    problems = ["rooms"]
    algorithms = ["lrta(depth=[1, 3])", "rta"]
    limits = { suboptimality = 1000 }
"""

TREES = """
    [problems.rooms]
    maps = ["rooms(width=16, height=16, seed=[1, 2])"]
    count = 3
    [[run]]
    algorithms = ["dlrta(depth_by=tree, goal_by=global)"]
    databases = ["depth-tree(deepest=4, problems=4, leaf=5)"]
    training = ["rooms(width=24, height=24, seed=[7, 8])"]
"""


def decided(store):
    """Return the rows of a store in order, without times."""
    frame = store.frame()
    return frame.select(sorted(set(frame.columns) - NOT_DECIDED | {"set", "problem", "algorithm"})).sort(
        "set", "problem", "algorithm", "max_trials", "sight"
    )


SCENES = """
    [problems.doors]
    maps = ["rooms(width=24, height=24, seed=[1..2])"]
    scene = "doors(changes_per_second=30, ticks=200, moving=0.5, targets=flee)"
    count = 6

    [[run]]
    algorithms = ["lrta", "tba(budget=10)"]
    limits = { moves = 1000 }

    [[run]]
    algorithms = ["lrta"]
    limits = { moves = 1000 }
    forget_goals = true
"""
