"""Figures, and the only access to matplotlib, which is imported when the first figure is made."""

from __future__ import annotations

import io
import os
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from andante.errors import OutputError
from andante.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The colours of plots. In a page, each becomes a CSS variable, so that plots follow the light or dark theme.
INK = "#22262b"
MUTED = "#6a7178"
RULE = "#dcd8cf"
ACCENT = "#1f6f78"
SOFT = "#8db9bd"
WARM = "#c8553d"
PAPER = "#ffffff"
_VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    RULE: "--rule",
    ACCENT: "--accent",
    SOFT: "--accent-soft",
    WARM: "--warm",
    PAPER: "--card",
}

FORMATS = (".png", ".svg", ".pdf")
DPI = 100
_PRINTED_DPI = 600  # of a picture for a paper


class Look(NamedTuple):
    """The medium that a figure is drawn for: its width in inches, and the size of its letters in points."""

    width: float
    letters: float
    labels: float  # beside the points of a plot
    printed: bool = False  # in black on white paper

    @property
    def left(self) -> float:
        """The share of the width for the numbers and the title of the axis."""
        return 5.2 * self.letters / 72 / self.width

    def bottom(self, height: float) -> float:
        """Return the share of a height for the numbers and the title of the axis."""
        return 3.9 * self.letters / 72 / height


PAGE = Look(5.6, 10, 9)
COLUMN = Look(3.33, 8, 7, printed=True)  # one of two columns of a paper

_STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 10,
    "svg.fonttype": "none",  # text stays text: small, sharp, and in the page's own font
    "text.color": INK,
    "text.parse_math": False,  # names are shown unchanged, whatever characters they contain
    "axes.edgecolor": RULE,
    "axes.labelcolor": MUTED,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "grid.color": RULE,
}


_PRINTED: Any = {
    "text.color": "black",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": "black",
    "xtick.color": "black",
    "ytick.color": "black",
}


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, independent of all others."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        what_to_do = "pictures and plots need matplotlib, which is not installed; pip install 'andante[report]'"
        raise OutputError(what_to_do) from error
    return Figure(figsize=(width, height), dpi=DPI)


def styled(look: Look = PAGE) -> Any:
    """Return a context in which figures are drawn in Andante's style."""
    import matplotlib

    return matplotlib.rc_context({**_STYLE, "font.size": look.letters, **(_PRINTED if look.printed else {})})


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF, by its extension, completely or not at all."""
    check_name(path)
    write_whole(path, _render(figure, Path(path).suffix.lower()[1:]))


def save_for_paper(figure: Figure, stem: Path) -> list[Path]:
    """Write a figure as SVG, PDF and PNG with embedded letters; return the files."""
    files = [stem.with_name(f"{stem.name}{ending}") for ending in FORMATS]
    for file in files:
        write_whole(file, _render(figure, file.suffix[1:], embedded=True))
    return files


def check_name(path: str | os.PathLike[str]) -> None:
    """Refuse a file name with an unsupported extension."""
    if Path(path).suffix.lower() not in FORMATS:
        raise OutputError(f"cannot write {path}: the file name must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")


def inline_svg(figure: Figure, label: str) -> str:
    """Return a figure as an SVG element for a page, in the page's colours; ``label`` is for screen readers."""
    text = _render(figure, "svg", label).decode()
    text = re.sub(r'<g id="[^"]*"', "<g", text[text.index("<svg") :])  # group ids, which are the same in every figure
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, f"var({variable})")
    return text.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)


def _render(figure: Figure, kind: str, salt: str = "andante", embedded: bool = False) -> bytes:
    """Return the bytes of a figure, reproducibly; ``salt`` keeps the ids of two SVGs in one page distinct.

    With ``embedded`` it can be shown without installed fonts: letters are outlines in an SVG, and TrueType in a PDF.
    """
    import matplotlib

    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    data = io.BytesIO()
    fonts: Any = {"svg.fonttype": "path", "pdf.fonttype": 42} if embedded else {}
    with matplotlib.rc_context({**_STYLE, **fonts, "svg.hashsalt": salt}):
        dpi = _PRINTED_DPI if embedded else figure.dpi
        figure.savefig(data, format=kind, transparent=kind == "svg", metadata=metadata, dpi=dpi)
    return data.getvalue()
