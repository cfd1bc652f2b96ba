"""`python -m andante`."""

import runpy
import sys

import pytest

import andante


def test_it_is_the_command_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["andante", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("andante", run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"{andante.__version__}\n"
