"""Put the playground on the front page of the built documentation: the live one instead of its picture.

``python tools/front_page.py SITE`` is called by `make docs`. If the playground is not built (it needs Node), the
picture is kept, and a message says so.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from andante.files import write_whole
from andante.play.page import is_built, page_with

PICTURE = re.compile(r'<img [^>]*\bsrc="images/playground\.png"[^>]*>')
FRAME = (
    '<iframe src="playground.html" title="The playground: agents that run in this page" loading="lazy" '
    'style="width: 100%; height: 46rem; border: 1px solid currentcolor; border-radius: 0.5rem"></iframe>'
)


def with_playground(text: str) -> str:
    """Return a front page with the playground instead of its picture."""
    made, count = PICTURE.subn(FRAME, text)
    if count != 1:
        raise SystemExit(f"the front page should have one picture of the playground to put it at, and it has {count}")
    return made


def main(site: Path) -> None:
    """Put the playground on the front page of a site, if it is built."""
    front = site / "index.html"
    text = with_playground(front.read_text(encoding="utf-8"))
    if not is_built():
        print("the front page shows a picture of the playground, which is not built here: 'make playground' needs Node")
        return
    write_whole(site / "playground.html", page_with(None).encode())
    write_whole(front, text.encode())
    print("the front page has the playground")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
