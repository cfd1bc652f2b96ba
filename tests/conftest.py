"""Fixtures that tests of several packages share."""

import gc
import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import settings

from andante.agent import algorithms
from andante.cli import OK, main
from andante.episode import contract
from andante.episode.trial import Limits
from tests.slow import is_slow
from tests.worlds import DEEP, FEW, FULL, WIDTHS, examples, has_one_loop, is_plain_in_rows

PLAIN = Limits(moves=30)  # of an agent in plain Python

settings.register_profile("andante", examples(100))
settings.load_profile("andante")


def pytest_collection_modifyitems(items):
    """Skip tests that are for other runs.

    Those marked ``deep`` are for `make test-deep`; those marked ``full``, or listed in tests/slow.py, for
    `make test FULL=1`.
    """
    for item in items:
        case = item.callspec.params.values() if hasattr(item, "callspec") else ()
        slow = item.get_closest_marker("full") or is_slow(item.nodeid.partition("[")[0], case)
        if not DEEP and item.get_closest_marker("deep"):
            item.add_marker(pytest.mark.skip(reason="takes long: make test-deep"))
        elif not FULL and slow:
            item.add_marker(pytest.mark.skip(reason="takes seconds: make test FULL=1"))


def pytest_collection_finish():
    """Exclude everything loaded so far from garbage collection, which took an eighth of the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def movingai(tmp_path_factory):
    """The folder with the MovingAI archives; sets fetched from it are stored in a cache for this session."""
    folder = Path(os.environ.get("ANDANTE_MOVINGAI") or "absent")
    if not (folder / "dao-map.zip").is_file():
        pytest.skip("needs the MovingAI archives: set ANDANTE_MOVINGAI to the folder that contains them")
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("andante.datasets.movingai.cache_folder", lambda: cache)
        yield folder


@pytest.fixture
def quick_contract(monkeypatch):
    """A faster `check_algorithm`: checks that call Python at every move or tick make fewer moves.

    Unless the run is a full one, most algorithms are compiled only for maps that they know.
    """
    if DEEP:
        monkeypatch.setattr(contract, "WATCHED", contract.LIMITS)
        monkeypatch.setattr(contract, "CROWD_MOVES", contract.LIMITS.moves)
        return
    monkeypatch.setattr(contract, "WATCHED", Limits(moves=150))
    monkeypatch.setattr(contract, "COUNTED", Limits(moves=10))
    monkeypatch.setattr(contract, "CROWD_MOVES", 500)
    monkeypatch.setattr(contract, "WIDTHS", WIDTHS)
    for check, uncompiled, is_plain in _UNCOMPILED:
        instead = partial(_if_compiled, getattr(contract, check), uncompiled, is_plain)
        monkeypatch.setattr(contract, check, instead)


def _if_compiled(compiled, uncompiled, is_plain, subject, *rest):
    """Run a check of the contract, or another one in its place."""
    return (uncompiled if is_plain(subject.entry) else compiled)(subject, *rest)


def _in_rows(subject, trials):
    problems = [trial.problem for trial in trials]
    rows = replace(subject, plain=True).run(map(contract._rows_of, problems), PLAIN)
    return contract._differences(subject.run(problems, PLAIN), rows, "on rows of arcs")


def _discovery(subject, trials, some):
    """Make a few moves with each sight."""
    found = [
        trial
        for sight in contract.SIGHTS
        for trial in replace(subject, sight=sight, plain=True).run([trial.problem for trial in trials[::24]], PLAIN)
    ]
    return {
        "walks only along edges, at their cost, on a map that it discovers": lambda: contract._along_edges(found),
        "never beats the optimal cost on a map that it discovers": lambda: contract._never_below_optimal(found),
    }


_one_way = contract._arrives_one_way
_UNCOMPILED = [  # checks, those that replace them, and for which algorithms
    ("_in_rows", _in_rows, is_plain_in_rows),
    ("_arrives_one_way", lambda subject: _one_way(replace(subject, plain=True)), is_plain_in_rows),
    ("_in_units", lambda *_: (), has_one_loop),
    ("_discovery", _discovery, has_one_loop),
    ("_in_a_crowd", lambda *_: (), has_one_loop),
]


@pytest.fixture
def contract_alone(quick_contract, monkeypatch):
    """A faster `check_algorithm` for settings of an algorithm, without crowds, which are left to `make test-deep`.

    For each setting with another mind, the loop of a crowd has to be compiled again, which takes some seconds.
    """
    if not DEEP:
        monkeypatch.setattr(contract, "_in_a_crowd", lambda *_: ())


@pytest.fixture
def few_algorithms(monkeypatch):
    """A short list of algorithms for advice, so that not all of them are compiled for crowds."""
    known = [entry for entry in algorithms() if entry.card.name in FEW]
    monkeypatch.setattr("andante.selection.space.algorithms", lambda: known)


@pytest.fixture
def cli(monkeypatch, capsys):
    """A function that calls the command line, and returns its exit code, its output and its standard error."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["andante", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        shown = capsys.readouterr()
        return end.value.code or OK, shown.out, shown.err

    return call
