"""No test of this room touches the user's cache."""

import pytest


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    """An empty cache for optimal costs."""
    monkeypatch.setattr("andante.datasets.cache.cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"
