"""The notebooks of the docs run from top to bottom, and are committed without outputs."""

import ast
import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "docs" / "notebooks").glob("*.ipynb"))


def cells(path, kind):
    return [one for one in json.loads(path.read_text(encoding="utf-8"))["cells"] if one["cell_type"] == kind]


def shown(value):
    """Return what a notebook shows for the value of a cell."""
    html = getattr(value, "_repr_html_", None)
    return html() if html is not None else repr(value)


@pytest.mark.full
@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_runs_from_top_to_bottom(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for cell in cells(path, "code"):
        tree = ast.parse("".join(cell["source"]))
        last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{path.name}, {cell['id']}", "exec"), names)
        if last is not None:
            value = eval(compile(last, f"{path.name}, {cell['id']}", "eval"), names)  # noqa: S307
            assert value is None or shown(value)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_has_no_outputs_that_could_go_stale(path):
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells(path, "code"))
    document = json.loads(path.read_text(encoding="utf-8"))
    ids = [cell["id"] for cell in document["cells"]]
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    assert len(set(ids)) == len(ids)
    assert path.read_text(encoding="utf-8") == json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 2
