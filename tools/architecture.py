"""Draw which packages import which: ``docs/images/packages.svg``, made from the code.

``python tools/architecture.py`` writes the picture; ``--check`` only reports whether it is out of date, for a test.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "andante"
PICTURE = ROOT / "docs" / "images" / "packages.svg"

ROW, LEFT, TOP, DOT, WORDS = 24, 16, 104, 22, 110
FONT = 'font-family="sans-serif" font-size="13"'


def packages() -> list[str]:
    """Return the packages that exist, highest first, as listed for import-linter."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    names = [name.strip("() ") for layer in layers for name in layer.split("|")]
    return [name for name in names if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").exists()]


def sources(package: str) -> list[Path]:
    """Return the files of a package."""
    folder = PACKAGE / package
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{package}.py"]


def about(package: str) -> str:
    """Return the first sentence of a package's docstring."""
    first = PACKAGE / package / "__init__.py" if (PACKAGE / package).is_dir() else PACKAGE / f"{package}.py"
    line = (ast.get_docstring(ast.parse(first.read_text(encoding="utf-8"))) or "").split("\n")[0]
    return line.replace("`", "").rstrip(".:")


def imports(package: str) -> set[str]:
    """Return the other packages that a package imports, also lazily, but not only for type checkers."""
    return {name for file in sources(package) for name in _imported(file)} - {package}


def _imported(file: Path) -> Iterator[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    typed = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and isinstance(branch.test, ast.Name) and branch.test.id == "TYPE_CHECKING"
        for node in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in typed:
            parts = node.module.split(".")
            if parts[0] == "andante":
                yield from [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]


def picture() -> str:
    """Return the picture: a line per package with its purpose, and a dot for each package that it imports."""
    names = packages()
    columns = [name for name in names if any(name in imports(other) for other in names)]
    dots = {name: imports(name) for name in names}
    grid = LEFT + WORDS * 7 + 130
    width, height = grid + DOT * len(columns) + LEFT, TOP + ROW * len(names) + LEFT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {FONT}>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="28" font-size="16" font-weight="bold">The packages of Andante, highest first</text>',
        f'<text x="{LEFT}" y="50" fill="#555555">A dot: the package of the row imports that of the column.</text>',
    ]
    for k, name in enumerate(columns):
        x = grid + DOT * k + DOT // 2
        parts.append(f'<text transform="translate({x + 4} {TOP - 8}) rotate(-60)">{name}</text>')
    for i, name in enumerate(names):
        y = TOP + ROW * i
        if i % 2 == 0:
            parts.append(f'<rect x="0" y="{y}" width="{width}" height="{ROW}" fill="#f3f5f8"/>')
        parts.append(f'<text x="{LEFT}" y="{y + 16}" font-weight="bold">{name}</text>')
        parts.append(f'<text x="{LEFT + 110}" y="{y + 16}" fill="#333333">{escape(about(name))}</text>')
        parts += [
            f'<circle cx="{grid + DOT * k + DOT // 2}" cy="{y + ROW // 2}" r="5" fill="#0072b2"/>'
            for k, other in enumerate(columns)
            if other in dots[name]
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    """Write the picture, or with ``--check`` fail if it is out of date."""
    drawn = picture()
    if "--check" in sys.argv:
        if not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != drawn:
            sys.exit(f"out of date: {PICTURE.name}; run 'python tools/architecture.py'")
        return
    PICTURE.write_text(drawn, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
