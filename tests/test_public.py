"""Everything public has a clear repr, and can be found with ``import andante`` alone."""

import re
import subprocess
import sys

import numpy as np
import pytest

import andante
from andante.agent import Parameter, Range
from andante.databases.kinds import kinds
from andante.episode.convergence import Ending
from andante.offline import builders
from andante.search.memory import ThoughtKind
from andante.world.heuristics import Metric

GRID = andante.Grid(np.ones((5, 6), bool), name="hall")
PROBLEM = GRID.problem((0, 0), (5, 4))


def examples():
    """Return an instance of every public class, and results of public functions that compile little."""
    agent = andante.Agent("lrta", GRID, sight=2)
    trial = agent.run(PROBLEM)
    made = {
        "Agent": agent,
        "Algorithm": andante.find("lrta"),
        "AndanteError": andante.AndanteError("no"),
        "Card": andante.find("lrta").card,
        "ChangingHierarchy": andante.ChangingHierarchy(GRID),
        "Convergence": andante.converge("lrta", PROBLEM),
        "Crowd": andante.Crowd("lrta", GRID),
        "Graph": GRID.graph,
        "Grid": GRID,
        "Hierarchy": andante.Hierarchy(GRID),
        "Limits": andante.Limits(),
        "Outcome": trial.outcome,
        "Problem": PROBLEM,
        "Requirements": andante.Requirements(expansions=100),
        "Tick": andante.Crowd("lrta", GRID).tick(),
        "Trace": andante.record("lrta", PROBLEM),
        "Trial": trial,
        "World": andante.World(GRID),
    }
    classes = {name for name in andante.__all__ if isinstance(getattr(andante, name), type)}
    assert set(made) == classes, "give the new public class an example here"
    return [*made.values(), andante.watch("lrta", PROBLEM), *kinds().values(), *builders().values()]


def test_every_public_object_has_a_short_repr():
    for thing in examples():
        text = repr(thing)
        assert not re.search(r"\bat 0x[0-9a-f]+", text), text
        assert type(thing).__name__ in text
        assert len(text) < 400, text


@pytest.mark.parametrize(
    ("thing", "shown"),
    [
        (andante.Outcome.GOAL, "Outcome.GOAL"),
        (Ending.CONVERGED, "Ending.CONVERGED"),
        (Metric.OCTILE, "Metric.OCTILE"),
        (ThoughtKind.LEARNED, "ThoughtKind.LEARNED"),
        (andante.Requirements(expansions=100), "Requirements(expansions=100)"),
        (
            Parameter("depth", int, 1, Range(1, 9)),
            "Parameter(name='depth', kind=int, default=1, range=Range(low=1, high=9))",
        ),
        (
            andante.Card("a", "A*", "Hart 1968", optimal=True),
            "Card(name='a', title='A*', paper='Hart 1968', optimal=True)",
        ),
    ],
)
def test_enums_show_their_names_and_records_the_fields_that_differ_from_defaults(thing, shown):
    assert repr(thing) == shown


def test_an_agent_shows_its_arguments():
    assert repr(andante.Agent("lrta", GRID, sight=2)) == f"<Agent lrta on {GRID!r} with sight 2>"
    assert repr(andante.Agent("lrta", GRID)) == f"<Agent lrta on {GRID!r}>"


def test_settings_need_no_separate_import():
    code = "import andante; assert 'settings' in dir(andante); print(andante.settings.lrta(depth=3))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "lrta(depth=3)"
