"""A cache of its own for each test, so that no test touches the user's cache."""

import pytest


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    """Set up an empty cache for optimal costs, and return its folder."""
    monkeypatch.setattr("andante.datasets.cache.cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"
