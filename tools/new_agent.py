"""Write the skeleton of a new algorithm: ``make new-agent name=my_algorithm``.

It writes two files, the algorithm and its tests. They run without changes (a plain LRTA*); change them piece by piece.
"""

from __future__ import annotations

import keyword
import re
import sys
from pathlib import Path
from string import Template

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = ROOT / "tools" / "templates"


class SkeletonError(Exception):
    """A name that cannot be given to a new algorithm."""


def write_skeleton(name: str, root: Path = ROOT) -> list[Path]:
    """Write both files under ``root`` and return their paths; nothing is written if either exists."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise SkeletonError(
            f"{name!r} cannot name an algorithm: use small letters, digits and underscores, as in "
            "'make new-agent name=my_algorithm'"
        )
    files = {
        root / "src" / "andante" / "agents" / f"{name}.py": "agent.py.txt",
        root / "tests" / "agents" / f"test_{name}.py": "test_agent.py.txt",
    }
    for path in files:
        if path.exists():
            raise SkeletonError(f"{path.relative_to(root)} exists; choose another name, or remove it first")
    words = {"name": name, "Name": "".join(part.capitalize() for part in name.split("_"))}
    for path, template in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        text = Template((TEMPLATES / template).read_text(encoding="utf-8")).substitute(words)
        path.write_text(text, encoding="utf-8", newline="\n")
    return list(files)


def main() -> None:
    """Write the skeleton that the command line requests, and print the next steps."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        agent, test = (path.relative_to(ROOT) for path in write_skeleton(name))
    except SkeletonError as error:
        sys.exit(str(error))
    print(f"written: {agent} and {test}")
    print("1. In the first file, fill in the paper, the parameters, the memory, the step, and the claims of the card.")
    print("2. In the second file, add numbers from the paper.")
    print(f'3. make test ARGS="-k {name}" runs your tests, and the contract tests of the card\'s claims.')


if __name__ == "__main__":
    main()
