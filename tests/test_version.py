"""The version is written once, in `andante.__version__`, and everything that names it agrees."""

import re
import tomllib
from pathlib import Path

import pytest

import andante
from andante.provenance import provenance

ROOT = Path(__file__).resolve().parents[1]
NUMBER = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_it_is_a_version():
    assert NUMBER.fullmatch(andante.__version__)


def test_the_package_reads_it_from_the_code():
    settings = tomllib.loads(read("pyproject.toml"))
    assert "version" not in settings["project"]
    assert settings["project"]["dynamic"] == ["version"]
    source = read(settings["tool"]["hatch"]["version"]["path"])
    assert re.findall(r'^__version__ = "(.*)"$', source, re.MULTILINE) == [andante.__version__]


def test_the_citation_names_it():
    assert re.findall(r"^version: (.*)$", read("CITATION.cff"), re.MULTILINE) == [andante.__version__]


def test_the_changelog_begins_with_it():
    newest = re.search(r"^## \[(.*?)\] - (.*)$", read("CHANGELOG.md"), re.MULTILINE)
    assert newest[1] == andante.__version__
    assert newest[2] == "in preparation" or re.fullmatch(r"\d{4}-\d\d-\d\d", newest[2])


def test_results_name_the_version_of_the_code_that_runs(monkeypatch):
    monkeypatch.setattr(andante, "__version__", "9.9.9")
    provenance.cache_clear()
    try:
        assert provenance()["andante"] == "9.9.9"
    finally:
        provenance.cache_clear()


@pytest.mark.parametrize(
    "heading", ["make test-deep", "make torture", "make bench", "make docs", "check_wheel", "git tag"]
)
def test_the_release_checklist_names_every_step(heading):
    checklist = read("CONTRIBUTING.md").partition("## Releasing")[2]
    assert heading in checklist
