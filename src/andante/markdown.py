"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def markdown_table(head: Sequence[str], lines: Sequence[Sequence[str]], left: Collection[str] = ()) -> str:
    """Return a table; its first column and those with a title in ``left`` are aligned left, the others right.

    >>> print(markdown_table(["", "ours"], [["a", "1"]]))
    |  | ours |
    | --- | --: |
    | a | 1 |
    """
    rule = ["---" if number == 0 or title in left else "--:" for number, title in enumerate(head)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *lines))


def plain(text: str) -> str:
    r"""Return a text on one line in which Markdown finds neither emphasis, nor the end of a cell, nor HTML.

    >>> plain("TBA* on a|b <c>")
    'TBA\\* on a\\|b &lt;c>'
    """
    return " ".join(text.splitlines()).replace("*", "\\*").replace("|", "\\|").replace("<", "&lt;")
