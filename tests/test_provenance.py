"""The provenance of results."""

import shutil
import subprocess

import pytest

from andante.provenance import code_state, commit_of, described, provenance


@pytest.fixture
def tree(tmp_path):
    """A source tree with one commit and a function that calls git in it."""
    git = shutil.which("git")
    if git is None:
        pytest.skip("there is no git")

    def call(*words):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        return subprocess.run(
            [git, "-C", str(tmp_path), *who, *words], check=True, capture_output=True, text=True
        ).stdout

    call("init", "-q")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("a = 1")
    (tmp_path / "notes.txt").write_text("one")
    call("add", ".")
    call("commit", "-qm", "first")
    return tmp_path, call


def test_a_clean_tree_and_changes_to_it(tree):
    folder, git = tree
    head = git("rev-parse", "HEAD")[:10]
    assert commit_of(folder / "code") == (head, True)
    (folder / "output.csv").write_text("1")  # beside the code, and not tracked by git
    assert commit_of(folder / "code") == (head, True)
    (folder / "notes.txt").write_text("two")
    assert commit_of(folder / "code") == (head, False)
    git("checkout", "notes.txt")
    (folder / "code" / "b.py").write_text("b = 2")
    assert commit_of(folder / "code") == (head, False)


def test_without_a_commit(tree, tmp_path_factory):
    folder, _ = tree
    assert commit_of(tmp_path_factory.mktemp("elsewhere")) == ("", None)
    installed = folder / "site-packages"
    installed.mkdir()
    assert commit_of(installed) == ("", None)


def test_in_words():
    made = provenance()
    assert code_state({**made, "commit": "", "clean": None}) == ""
    assert "commit" not in described({**made, "commit": ""})
    assert f"Python {made['python']}, Numba {made['numba']}, NumPy {made['numpy']}" in described(made)
