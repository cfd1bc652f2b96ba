"""`andante export`."""

import json

import pytest

from andante.kernel import JIT

pytestmark = [pytest.mark.compiled, pytest.mark.skipif(not JIT, reason="needs compiled kernels")]


def test_a_folder_is_written(cli, tmp_path):
    out = tmp_path / "engine"
    code, shown, _ = cli("export", "lrta", "--map", "rooms:30x24:3", "--out", out, "--json")
    assert code == 0
    assert json.loads(shown)["agents"] == {"lrta": "lrta"}
    assert (out / "andante.h").is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lrta", "--target", "amiga"], "there is no target 'amiga'; the targets are this, linux, windows"),
        (["cpd"], "needs a database of kind 'moves'"),
        (["nobody"], "nobody"),
    ],
)
def test_bad_input_is_one_sentence(words, said, cli, tmp_path):
    code, _, shown = cli("export", *words, "--map", "rooms:30x24:3", "--out", tmp_path / "engine")
    assert code == 1
    assert said in shown
    assert len(shown.splitlines()) == 1
    assert not list(tmp_path.iterdir())
