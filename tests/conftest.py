"""What tests in several rooms need."""

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from andante.cli import OK, main
from tests.worlds import DEEP, examples

settings.register_profile("andante", examples(100))
settings.load_profile("andante")


def pytest_collection_modifyitems(items):
    """Leave what is marked ``deep`` to `make test-deep`."""
    for item in items:
        if not DEEP and item.get_closest_marker("deep"):
            item.add_marker(pytest.mark.skip(reason="takes long: make test-deep"))


def pytest_collection_finish():
    """Keep what is loaded by now out of the garbage collector: looking through it took an eighth of the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def movingai(tmp_path_factory):
    """The folder with the MovingAI archives; sets fetched from it go to a cache of this session's own."""
    folder = Path(os.environ.get("ANDANTE_MOVINGAI") or "absent")
    if not (folder / "dao-map.zip").is_file():
        pytest.skip("needs the MovingAI archives: set ANDANTE_MOVINGAI to the folder that holds them")
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("andante.datasets.movingai.cache_folder", lambda: cache)
        yield folder


@pytest.fixture
def cli(monkeypatch, capsys):
    """Calls the command line: its exit code, what it printed, and what it said on standard error."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["andante", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        shown = capsys.readouterr()
        return end.value.code or OK, shown.out, shown.err

    return call
