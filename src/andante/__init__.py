"""Andante plans an agent's next move in bounded time, however large the map.

>>> import andante
>>> grid = andante.generate("caves", 64, 64, seed=7)
>>> problem = andante.random_problems(grid, 1, seed=1)[0]
>>> trial = andante.run("lrta(depth=9)", problem)
>>> trial.solved
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from andante import settings as settings
    from andante.abstraction.hierarchy import ChangingHierarchy, Hierarchy
    from andante.agent import Algorithm, Card, algorithms, find
    from andante.databases.header import load
    from andante.datasets.generate import generate
    from andante.datasets.movingai import testbed
    from andante.datasets.scaling import upscale
    from andante.datasets.scenarios import random_problems, with_optimal_costs
    from andante.episode.contract import check_algorithm
    from andante.episode.convergence import Convergence, converge, converge_many
    from andante.episode.crowd import Crowd
    from andante.episode.run import run, run_many, watch
    from andante.episode.single import Agent
    from andante.episode.tick import Tick
    from andante.episode.trace import Trace, record
    from andante.episode.trial import Limits, Trial
    from andante.errors import AndanteError
    from andante.measures import Outcome
    from andante.offline import build
    from andante.report.comparing import table
    from andante.search.landmarks import with_landmarks
    from andante.selection.advise import advise
    from andante.selection.ladder import ladder
    from andante.selection.requirements import Requirements
    from andante.world.graph import Graph
    from andante.world.grid import Grid
    from andante.world.living import World
    from andante.world.mapfiles import read_map, read_scenario, write_map, write_scenario
    from andante.world.problem import Problem

__version__ = "0.2.0"

# The module of each public name. Names are imported on first use, to keep `import andante` fast.
_HOME = {
    "Agent": "episode.single",
    "Algorithm": "agent",
    "AndanteError": "errors",
    "Card": "agent",
    "ChangingHierarchy": "abstraction.hierarchy",
    "Convergence": "episode.convergence",
    "Crowd": "episode.crowd",
    "Graph": "world.graph",
    "Grid": "world.grid",
    "Hierarchy": "abstraction.hierarchy",
    "Limits": "episode.trial",
    "Outcome": "measures",
    "Problem": "world.problem",
    "Tick": "episode.tick",
    "Requirements": "selection.requirements",
    "Trace": "episode.trace",
    "Trial": "episode.trial",
    "World": "world.living",
    "advise": "selection.advise",
    "algorithms": "agent",
    "build": "offline",
    "check_algorithm": "episode.contract",
    "converge": "episode.convergence",
    "converge_many": "episode.convergence",
    "find": "agent",
    "generate": "datasets.generate",
    "ladder": "selection.ladder",
    "load": "databases.header",
    "random_problems": "datasets.scenarios",
    "read_map": "world.mapfiles",
    "read_scenario": "world.mapfiles",
    "record": "episode.trace",
    "run": "episode.run",
    "run_many": "episode.run",
    "table": "report.comparing",
    "testbed": "datasets.movingai",
    "upscale": "datasets.scaling",
    "watch": "episode.run",
    "with_landmarks": "search.landmarks",
    "with_optimal_costs": "datasets.scenarios",
    "write_map": "world.mapfiles",
    "write_scenario": "world.mapfiles",
}

__all__ = [
    "Agent",
    "Algorithm",
    "AndanteError",
    "Card",
    "ChangingHierarchy",
    "Convergence",
    "Crowd",
    "Graph",
    "Grid",
    "Hierarchy",
    "Limits",
    "Outcome",
    "Problem",
    "Requirements",
    "Tick",
    "Trace",
    "Trial",
    "World",
    "__version__",
    "advise",
    "algorithms",
    "build",
    "check_algorithm",
    "converge",
    "converge_many",
    "find",
    "generate",
    "ladder",
    "load",
    "random_problems",
    "read_map",
    "read_scenario",
    "record",
    "run",
    "run_many",
    "table",
    "testbed",
    "upscale",
    "watch",
    "with_landmarks",
    "with_optimal_costs",
    "write_map",
    "write_scenario",
]


def __getattr__(name: str) -> Any:
    if name == "settings":  # the only public module; its functions make algorithms
        return import_module("andante.settings")
    if name not in _HOME:
        raise AttributeError(f"andante has no {name!r}{_meant(name)}")
    value = getattr(import_module(f"andante.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def _meant(name: str) -> str:
    """Return a suggestion: the nearest public name, or one that contains this name."""
    from difflib import get_close_matches

    near = get_close_matches(name, __all__, n=1) or [known for known in __all__ if name.lower() in known.lower()]
    return f"; did you mean {near[0]!r}?" if near and name.strip("_") else ""


def __dir__() -> list[str]:
    return sorted([*__all__, "settings"])
