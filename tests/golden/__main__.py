"""Fill in the rows of ``counts.txt`` that have no answer yet: ``python -m tests.golden``.

Rows with an answer are not changed; if an algorithm is meant to behave differently, delete its answers first. Each new answer is
confirmed before it is written (see `tests.golden.counts.confirm`).
"""

from __future__ import annotations

import sys

from tests.golden.counts import FILE, compute, confirm, question_of


def filled_in(line: str) -> str:
    """Return the line with its answer; comments, blank lines and answered questions are not changed."""
    words = line.split()
    if not words or line.startswith("#") or len(words) > 4:
        return line
    question = question_of(words)
    answer = compute(question)
    confirm(question, answer)
    return "{:<18}{:<7}{:<7}{:<19}{:<10}{:<6}{:>6}  {:<20}{:>6}".format(*words, *map(str, answer)).rstrip()


def main() -> None:
    """Rewrite the file."""
    before = FILE.read_text().splitlines()
    after = [filled_in(line) for line in before]
    FILE.write_text("\n".join(after) + "\n")
    sys.stdout.write(f"{sum(a != b for a, b in zip(before, after, strict=True))} rows filled in\n")


if __name__ == "__main__":
    main()
