"""LaTeX typesets tables for a paper without errors, within the page, with the right fonts."""

import math
import re
import shutil
import string
import subprocess

import numpy as np
import pytest

from andante.measures import summarise
from andante.report.latex import for_latex, latex
from andante.report.typeset import width


def has_packages():
    """Return whether there is a LaTeX with the packages that tables need."""
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        return False
    asked = ["kpsewhich", "siunitx.sty", "booktabs.sty"]
    return len(subprocess.run(asked, capture_output=True, text=True, check=False).stdout.split()) == 2


pytestmark = pytest.mark.skipif(not has_packages(), reason="needs pdflatex with siunitx and booktabs")

DOCUMENT = r"""
\documentclass[%s]{article}
\pdfcompresslevel=0
\pdfobjcompresslevel=0
\usepackage{booktabs}
\usepackage{siunitx}
\begin{document}
%s
\end{document}
"""


@pytest.fixture
def typeset(tmp_path):
    """Typeset a text and return the log and the bytes of the PDF."""

    def run(text, options=""):
        (tmp_path / "paper.tex").write_text(DOCUMENT % (options, text), "utf-8")
        command = ["pdflatex", "-interaction=nonstopmode", "-no-shell-escape", "paper.tex"]
        subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=120)
        log = (tmp_path / "paper.log").read_text("latin-1")
        assert not re.findall("(?m)^!.*$", log), log
        assert not re.findall("Overfull.*", log)
        assert not re.findall("Float too large.*", log)
        return log, (tmp_path / "paper.pdf").read_bytes()

    return run


NAMES = [
    "lrta(depth=2), sight 5",
    "family(w=8.65, wc=7.41, b=0.2, operator=median, da=true, expendable=true)",
    '[50 %_of] #1 & ~{x}^\\y "z" <a|b>',
    "*astar",
]


def rows(seed):
    """Return made-up trials with bounds, errors, intervals, missing and infinite numbers, and sizes of all kinds."""
    rng = np.random.default_rng(seed)
    return [
        {"algorithm": name, "map": f"map {k % 7}", "start": k, "goal": 0, "solved": arrived, "sight": 1}
        | {"outcome": "GOAL" if arrived else "MOVE_CAP", "moves": 9000 * ratio, "cost": -ratio}
        | {"suboptimality_ratio": ratio if k % 5 else math.nan, "states_expanded_per_move": 10.0 ** (3 * who)}
        | {"max_states_expanded": 5 * who, "memory_bytes": 10.0 ** (2 * who + 1), "build_seconds": ratio / 7}
        | {"microseconds_per_move": math.inf if who == 3 else ratio, "values_stored": 1e9}
        for who, name in enumerate(NAMES)
        for k, ratio in enumerate(rng.pareto(1.5, 40) + 1)
        if (arrived := bool(who % 2 or rng.random() < 0.9)) in (True, False)
    ]


CHOSEN = [
    [],
    ["cost", "moves", "suboptimality_ratio"],
    ["memory_bytes:mean", "build_seconds:p95", "microseconds_per_move:mean", "microseconds_per_move:max"],
]


@pytest.mark.parametrize("number", range(len(CHOSEN)))
@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
def test_tables_of_all_kinds_fit_on_the_page(typeset, number, columns):
    summaries = summarise(rows(number))
    best = lambda measure, statistic: NAMES[::2]  # noqa: E731
    caption = ["Rooms & mazes: 50 % of_them #1.", "± is one standard error, [a,\N{NO-BREAK SPACE}b] an interval."]
    _, pdf = typeset(latex(summaries, CHOSEN[number], best=best, caption=caption, notes=["A note: 5 %."]), columns)
    assert b"/Type3" not in pdf  # no letters as bitmaps


@pytest.mark.parametrize("agents", [13, 90])
@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
def test_a_table_taller_than_a_page_continues_on_the_next(typeset, agents, columns):
    many = [one | {"algorithm": f"lrta(depth={one['start'] % agents + 1})"} for one in rows(2)]
    text = latex(summarise(many), CHOSEN[1], caption=["Many agents."] + ["A sentence of the caption."] * 20)
    assert all(
        text.count(f"LRTA* (depth={k}) ") == text.count("LRTA* (depth=2) ") for k in range(2, 1 + min(agents, 40))
    )
    assert text.count("\\caption") == text.count("\\label") == 1
    assert text.count("continued") == text.count("\\end{table") - 1 > 0
    typeset(text, columns)


def test_a_narrow_table_fits_into_a_column(typeset):
    few = [one | {"algorithm": f"rta {one['algorithm'] == NAMES[0]}"} for one in rows(1)]
    text = latex(summarise(few), ["cost:mean"])
    assert "\\begin{table}" in text
    typeset(text, "twocolumn")


def test_every_sign_of_a_keyboard_is_typeset(typeset):
    typeset(for_latex(" ".join(string.printable)))


def test_a_bold_lower_bound_is_bold(typeset):
    summaries = summarise([one | {"solved": False, "outcome": "MOVE_CAP"} for one in rows(1)])
    for names, bold in ((NAMES, True), ([], False)):
        text = latex(summaries, ["moves:mean"], best=lambda measure, statistic, names=names: names)
        assert "\\geq" in text
        assert (b"CMBX" in typeset(text)[1]) == bold


TEXTS = [
    "LSS-LRTA* (lookahead=100)",
    "Bulitko's family (w=8.65, wc=7.41, b=0.2, operator=median)",
    "Agent memory, maximum",
    "(times optimal)",
    "WarCraft III & TBA*_2 % #",
    *("$\\,[1.353,\\,\\infty)$", "$\\,[1.000,\\,1.034]$", "$\\,\\pm\\,10.25\\,(n=41)$"),
]


def test_widths_are_about_those_of_latex(typeset):
    texts = [text if "$" in text else for_latex(text) for text in TEXTS]
    boxes = "\n".join(f"\\setbox0=\\hbox{{{text}}}\\typeout{{width \\the\\wd0}}" for text in texts)
    found = [float(one) for one in re.findall(r"width ([0-9.]+)pt", typeset(f"{boxes} nothing")[0])]
    for text, points in zip(texts, found, strict=True):
        assert points * 0.97 <= width(text) <= points * 1.2, text
