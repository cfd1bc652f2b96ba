"""Put the pages of the documentation into one folder, from which the site is built.

``python tools/site_pages.py`` copies ``docs`` and pages from other places of the repository: the results of the studies
with their figures, the benchmarks, CONTRIBUTING and CHANGELOG. Links between them are rewritten, so that every link
works both in the repository and on the site. `make docs` calls it.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAGE = ROOT / "out" / "docs"  # `docs_dir` of mkdocs.yml
ELSEWHERE = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "benchmarks/exported.md",
    "benchmarks/latest.md",
    "benchmarks/ticks.md",
    "studies/*/results.md",
    "studies/*/*.svg",
)
LINK = re.compile(r"(?P<text>!?\[(?:[^\]\[]|\[[^\]]*\])*\])\((?P<target>[^)#:\s]+)(?P<anchor>#[^)\s]*)?\)")


def sources() -> dict[Path, str]:
    """Return every file of the site, with its name there."""
    found = {file: file.relative_to(ROOT / "docs").as_posix() for file in (ROOT / "docs").rglob("*") if file.is_file()}
    return found | {file: file.relative_to(ROOT).as_posix() for each in ELSEWHERE for file in ROOT.glob(each)}


def relinked(text: str, page: Path, names: dict[Path, str]) -> str:
    """Return a page with links for the site; links to other files of the repository become names."""

    def link(match: re.Match[str]) -> str:
        target = (page.parent / match["target"]).resolve()
        if target in names:
            there = os.path.relpath(names[target], Path(names[page]).parent).replace(os.sep, "/")
            return f"{match['text']}({there}{match['anchor'] or ''})"
        if target.exists() and not match["text"].startswith("!"):
            return f"{match['text'][1:-1]} (`{target.relative_to(ROOT).as_posix()}`)"
        return match[0]

    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def write(folder: Path) -> list[str]:
    """Empty a folder, write all files of the site into it, and return their names."""
    names = sources()
    shutil.rmtree(folder, ignore_errors=True)
    for file, name in names.items():
        there = folder / name
        there.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            there.write_text(relinked(file.read_text(encoding="utf-8"), file, names), encoding="utf-8")
        else:
            shutil.copyfile(file, there)
    return sorted(names.values())


if __name__ == "__main__":
    print(f"{len(write(STAGE))} files of the site are in {STAGE.relative_to(ROOT)}")
