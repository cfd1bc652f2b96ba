"""What the command line shows while kernels are compiled."""

from importlib import import_module

import pytest

from andante.cli.shared import _Compiling, show_compilation
from andante.kernel import on_compile


class Status:
    """A status that records what a terminal would show."""

    def __init__(self):
        self.lines = []

    def update(self, line):
        self.lines.append(line)

    def start(self):
        pass


def test_a_terminal_shows_every_kernel_and_what_it_waits_for():
    status = Status()
    line = _Compiling(status)
    line.begin("astar.search")
    line.report("prlrts", 1, 2)
    line.begin("repair.mend")
    line.wait("loop.drive_prlrts_step")
    assert status.lines == [
        "compiling kernels, once (kernel 1: astar.search)",
        "compiling kernels, once: prlrts, 1 of 2 (kernel 2: repair.mend)",
        "waiting for another process that is compiling loop.drive_prlrts_step",
    ]


def test_a_log_has_a_line_for_each_purpose_and_one_every_five_seconds(capsys):
    times = iter([0, 1, 4.9, 5, 6])
    line = _Compiling(None, lambda: next(times))
    line.report("prlrts", 1, 2)
    for kernel in ("loop.drive", "prlrts.step", "layers.build", "repair.mend"):
        line.begin(kernel)
        line.wait(kernel)
    line.report("lrta", 2, 2)
    line.begin("lrta.step")
    assert capsys.readouterr().err.splitlines() == [
        "compiling kernels, once: prlrts, 1 of 2 (kernel 1: loop.drive)",
        "waiting for another process that is compiling loop.drive",
        "compiling kernels, once: prlrts, 1 of 2 (kernel 4: repair.mend)",
        "compiling kernels, once: lrta, 2 of 2 (kernel 5: lrta.step)",
    ]


@pytest.mark.compiled
def test_the_line_shows_what_a_kernel_is_compiled_for(capsys, tmp_path, monkeypatch):
    (tmp_path / "just_compiled.py").write_text(
        "from andante.kernel import kernel\n\n@kernel\ndef double(number):\n    return number + number\n"
    )
    monkeypatch.setenv("ANDANTE_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path)
    with show_compilation() as report, on_compile(lambda _: report("doubling", 1, 1)):
        assert import_module("just_compiled").double(3) == 6
    assert capsys.readouterr().err == "compiling kernels, once: doubling, 1 of 1 (kernel 1: just_compiled.double)\n"


def test_nothing_is_printed_if_nothing_is_compiled(capsys):
    with show_compilation():
        pass
    assert capsys.readouterr() == ("", "")
