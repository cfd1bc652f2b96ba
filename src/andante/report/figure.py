"""Figures: the only access to matplotlib, which is imported when the first figure is made."""

from __future__ import annotations

import io
import os
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from andante.errors import OutputError
from andante.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The colours of plots. In a page each becomes a CSS variable, so plots follow the light or dark theme.
INK = "#22262b"
MUTED = "#6a7178"
RULE = "#dcd8cf"
ACCENT = "#1f6f78"
SOFT = "#8db9bd"
WARM = "#c8553d"
_VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    RULE: "--rule",
    ACCENT: "--accent",
    SOFT: "--accent-soft",
    WARM: "--warm",
}

FORMATS = (".png", ".svg", ".pdf")
DPI = 100

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


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, independent of all others."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        what_to_do = "pictures and plots need matplotlib, which is not installed; pip install 'andante[report]'"
        raise OutputError(what_to_do) from error
    return Figure(figsize=(width, height), dpi=DPI)


def styled() -> Any:
    """Return a context in which figures are drawn in Andante's style."""
    import matplotlib

    return matplotlib.rc_context(_STYLE)


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF, by its extension, whole or not at all."""
    check_name(path)
    write_whole(path, _render(figure, Path(path).suffix.lower()[1:]))


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


def _render(figure: Figure, kind: str, salt: str = "andante") -> bytes:
    """Return the bytes of a figure, reproducibly; ``salt`` keeps the ids of two SVGs in one page distinct."""
    import matplotlib

    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    data = io.BytesIO()
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": salt}):
        figure.savefig(data, format=kind, transparent=kind == "svg", metadata=metadata)
    return data.getvalue()
