"""What tests in several rooms need."""

import os
from pathlib import Path

import pytest


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
