"""The documentation agrees with the code where the two could diverge. (`make docs` itself fails on broken links.)"""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import andante

DOCS = Path(__file__).resolve().parents[1] / "docs"
site_pages = runpy.run_path(str(DOCS.parent / "tools" / "site_pages.py"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder that the site is built from."""
    folder = tmp_path_factory.mktemp("site").resolve()
    site_pages["write"](folder)
    return folder


def test_every_page_can_be_reached_and_every_entry_of_the_navigation_is_a_page(site):
    settings = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    navigation = {site / name for name in re.findall(r"\S+\.md$", settings.partition("\nnav:\n")[2], re.MULTILINE)}
    pages = set(site.rglob("*.md"))
    assert navigation - pages == set()
    reached, waiting = set(), list(navigation)
    while waiting:
        page = waiting.pop()
        if page in pages - reached:
            reached.add(page)
            waiting += _links(page)
    assert pages - reached == set()


def test_every_page_is_two_clicks_from_the_front_page_without_the_menu(site):
    first = set(_links(site / "index.md"))
    second = {link for page in first for link in _links(page)}
    needed = {page for page in site.rglob("*.md") if page.relative_to(site).parts[0] not in ("decisions", "studies")}
    assert {page.relative_to(site).as_posix() for page in needed - first - second} == {"index.md"}


def test_links_of_the_site_lead_to_files_of_the_site(site):
    dead = [
        (page.name, link) for page in site.rglob("*.md") for link in _links(page, r"[^)#:\s]+") if not link.exists()
    ]
    assert dead == []


def _links(page: Path, target: str = r"[^)#:]+\.md") -> list[Path]:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [(page.parent / link).resolve() for link in re.findall(rf"\]\(({target})[)#]", text)]


def test_agents_walk_the_dead_end_of_the_explanation_as_it_says():
    page = (DOCS / "explanation" / "real-time-search.md").read_text(encoding="utf-8")
    rows = re.search(r"```text\n(.+?)\n```", page, flags=re.DOTALL)[1].split("\n")
    cells = np.array([list(row) for row in rows])
    ends = {letter: tuple(int(place[0]) for place in np.nonzero(cells == letter))[::-1] for letter in "sg"}
    problem = andante.Grid(cells != "@").problem(start=ends["s"], goal=ends["g"])

    said = re.findall(r"^\| (\d+) \| (.+) \|$", page, flags=re.MULTILINE)
    trials = {depth: andante.run("lrta", problem, depth=int(depth)) for depth, _ in said}
    assert said == [(depth, _row(trial)) for depth, trial in trials.items()]

    nearsighted = trials["1"]
    most_visits = np.unique(nearsighted.path, return_counts=True)[1].max()
    assert f"takes {nearsighted.moves}, and visits the cell in front of the wall {most_visits} times" in page


def _row(trial: andante.Trial) -> str:
    per_move = trial.states_expanded / trial.moves
    return f"{trial.moves} | {trial.suboptimality_ratio:.2f} | {per_move:.1f} | {trial.max_states_expanded}"


@pytest.mark.parametrize("tool", ["reference", "architecture", "published"])
def test_generated_pages_are_up_to_date(tool):
    done = subprocess.run(
        [sys.executable, f"tools/{tool}.py", "--check"], cwd=Path(__file__).parents[1], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_files_named_in_the_layout_page_exist():
    page = (Path(__file__).parents[1] / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    package, root = Path(andante.__file__).parent, Path(__file__).parents[1]
    named = re.findall(r"`([a-z_/]+(?:\.py|/))`", page)
    assert len(named) > 20
    assert [name for name in named if not (package / name).exists() and not (root / name).exists()] == []


def test_the_page_says_for_every_algorithm_that_follows_changes_what_it_forgets():
    page = (DOCS / "how-to" / "living-maps.md").read_text(encoding="utf-8")
    section = page.partition("### What each algorithm forgets")[2].partition("\n\nA test compares")[0]
    said = [name for line in section.split("\n") if line.startswith("| `") for name in re.findall(r"`([\w-]+)`", line)]
    assert set(said) - {"expendable"} == {entry.card.name for entry in andante.algorithms() if entry.living}
