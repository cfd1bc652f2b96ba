"""Grids, trials, traces, advice and tables in a notebook: small HTML without scripts.

Text and lines have the colours of the notebook, light or dark. Pictures of maps are PNG, one pixel per cell, or per
block of cells on large maps.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from html import escape

import numpy as np
import numpy.typing as npt

#: The colours of map characters: ground, swamp, trees, water, and out of bounds.
TERRAIN = {
    ".": "#f3efe6",
    "G": "#f3efe6",
    "S": "#d6d8b4",
    "T": "#7f9a77",
    "W": "#8fb3cc",
    "@": "#4b4f55",
    "O": "#4b4f55",
}
EXPANDED, PATH, START, GOAL = "#b5d3e7", "#14505c", "#2e8b57", "#c2185b"
LEARNED = "#ee8434"

_MOST_PIXELS, _WIDE = 512, 320  # of the longer side of a picture: the most stored, and the least shown
_SPOT = 80  # a spot extends to each side by the longer side of the picture divided by this
_CELL = "padding:.15em .7em;border-bottom:1px solid rgba(128,128,128,.35);text-align:{};vertical-align:top"

#: States of a map, or one, and their colour.
Mark = tuple[npt.ArrayLike, str]


def map_picture(terrain: npt.NDArray[np.uint8], caption: str, marks: Sequence[Mark] = ()) -> str:
    """Return a picture of a map as HTML; later marks cover earlier ones. The mark of a single state is a spot.

    >>> shown = map_picture(np.full((3, 4), ord("."), np.uint8), "tiny & empty", [([0, 1], PATH)])
    >>> "tiny &amp; empty" in shown, "<script" in shown
    (True, False)
    """
    colours = [*dict.fromkeys(TERRAIN.values()), *(colour for _, colour in marks)]
    table = np.zeros(256, np.uint8)
    for character, colour in TERRAIN.items():
        table[ord(character)] = colours.index(colour)
    height, width = terrain.shape
    step = -(-max(width, height) // _MOST_PIXELS)
    image = table[terrain[::step, ::step]]
    for k, (states, _) in enumerate(marks):
        y, x = (np.asarray(part) // step for part in np.divmod(np.asarray(states, np.int64), width))
        number = len(colours) - len(marks) + k
        image[y, x] = number
        if np.ndim(states) == 0:
            around = max(image.shape) // _SPOT
            image[max(0, y - around) : y + around + 1, max(0, x - around) : x + around + 1] = number
    data = base64.b64encode(_png(image, colours)).decode()
    rows, columns = image.shape
    wide = columns * max(1, round(_WIDE / max(rows, columns)))
    said = escape(caption, quote=True)
    return (
        f'<figure style="margin:.3em 0"><img alt="{said}" src="data:image/png;base64,{data}" '
        f'style="width:{wide}px;max-width:100%;image-rendering:pixelated">'
        f'<figcaption style="opacity:.8;margin-top:.2em">{said}</figcaption></figure>'
    )


def html_table(head: Sequence[str], lines: Sequence[Sequence[str]], bold: Sequence[Sequence[bool]] = ()) -> str:
    """Return a table as HTML; its first column is aligned left, the others right, and it scrolls if it is too wide.

    >>> html_table(["a", "b"], [["<1>", "2"]]).count("&lt;1&gt;")
    1
    """
    heads = "".join(_cell("th", text, k) for k, text in enumerate(head))
    body = ""
    for i, line in enumerate(lines):
        strong = bold[i] if bold else [False] * len(line)
        body += f"<tr>{''.join(_cell('td', text, k, strong[k]) for k, text in enumerate(line))}</tr>"
    return (
        '<div style="overflow-x:auto"><table style="border-collapse:collapse;background:none">'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def html_sentences(sentences: Sequence[str]) -> str:
    """Return sentences as one paragraph."""
    return f'<p style="max-width:46em">{escape(" ".join(sentences))}</p>'


def _cell(tag: str, text: str, column: int, strong: bool = False) -> str:
    style = _CELL.format("right" if column else "left")
    shown = f"<b>{escape(text)}</b>" if strong else escape(text)
    return f'<{tag} style="{style}">{shown}</{tag}>'


def _png(image: npt.NDArray[np.uint8], colours: Sequence[str]) -> bytes:
    """Return an image, given as numbers of colours, as a PNG file."""
    height, width = image.shape
    rows = np.zeros((height, width + 1), np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = image
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    palette = b"".join(bytes.fromhex(colour[1:]) for colour in colours)
    parts = [(b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )
