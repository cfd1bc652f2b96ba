"""What the command line shows of compiling."""

from andante.cli.shared import _Compiling, show_compilation


class Status:
    """Notes what a terminal would show."""

    def __init__(self):
        self.lines = []

    def update(self, line):
        self.lines.append(line)

    def start(self):
        pass


def test_a_terminal_shows_every_kernel_and_whom_it_waits_for():
    status = Status()
    line = _Compiling(status)
    line.begin("search")
    line.report("prlrts", 1, 2)
    line.begin("mend")
    line.wait("drive_prlrts_step")
    assert status.lines == [
        "compiling kernels, once (kernel 1: search)",
        "compiling kernels, once: prlrts, 1 of 2 (kernel 2: mend)",
        "waiting for another process that is compiling drive_prlrts_step",
    ]


def test_elsewhere_each_line_is_said_once(capsys):
    line = _Compiling(None)
    for kernel in ("look", "step"):
        line.begin(kernel)
        line.report("lrta", 1, 1)
        line.wait(kernel)
    assert capsys.readouterr().err.splitlines() == [
        "compiling kernels, once: lrta, 1 of 1",
        "waiting for another process that is compiling the same kernels",
    ]


def test_nothing_is_said_where_nothing_is_compiled(capsys):
    with show_compilation():
        pass
    assert capsys.readouterr() == ("", "")
