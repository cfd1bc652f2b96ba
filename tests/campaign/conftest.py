"""Small campaigns for tests."""

from textwrap import dedent

import pytest

from andante.campaign import read_campaign
from tests.campaign.samples import ROOMS

pytest.importorskip("polars")


@pytest.fixture
def written(tmp_path):
    """A function that writes a campaign file and returns its path."""

    def write(text=ROOMS, **changes):
        for old, new in changes.get("replace", {}).items():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "campaign.toml"
        path.write_text(dedent(text).strip() + "\n")
        return path

    return write


@pytest.fixture
def campaign(written):
    """A small campaign: three maps, twenty problems each, three algorithms."""
    return read_campaign(written())
