"""The page of the playground as one HTML file with everything inside: the built page, the engine, and one map."""

from __future__ import annotations

import base64
import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from andante.errors import AndanteError

STATIC = Path(__file__).parent / "static"  # not in the repository: `make playground` makes it, for the wheel too
PAGE, ENGINE = STATIC / "page.html", STATIC / "engine.bin"


class NotBuiltError(AndanteError):
    """An error because the playground was not built."""


def is_built() -> bool:
    """Return whether the page and the engine exist."""
    return PAGE.exists() and ENGINE.exists()


def check_built() -> None:
    """Raise `NotBuiltError` if the page or the engine does not exist."""
    if not is_built():
        raise NotBuiltError(
            "the playground is not built here; in a clone of the repository run 'make playground', which needs Node; "
            "or install a release of Andante, which contains it"
        )


@cache
def about_built() -> dict[str, Any]:
    """Return the description of the built engine."""
    check_built()
    data = ENGINE.read_bytes()
    length, _, rest = data.partition(b"\n")
    found: dict[str, Any] = json.loads(rest[: int(length)])
    return found


def page_with(scene: bytes | None, title: str | None = None) -> str:
    """Return the page with the engine inside, and with a scene if there is one."""
    check_built()
    text = PAGE.read_text(encoding="utf-8")
    text = _filled(text, "andante-engine", ENGINE.read_bytes())
    if scene is not None:
        text = _filled(text, "andante-scene", scene)
    return (
        text if title is None else re.sub(r"<title>[^<]*</title>", lambda _: f"<title>{_escaped(title)}</title>", text)
    )


def _filled(text: str, name: str, data: bytes) -> str:
    """Return the page with data in the element of this name."""
    packed = base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
    made, count = re.subn(rf'(<script[^>]*\bid="{name}"[^>]*>)[^<]*(</script>)', rf"\g<1>{packed}\g<2>", text)
    if count != 1:
        raise NotBuiltError(f"the built page has no place for {name}; build it again with 'make playground'")
    return made


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
