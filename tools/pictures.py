"""Draw the pictures of the documentation: one agent's path for each page, and several side by side for the README.

``python tools/pictures.py`` writes ``docs/images/*.png``. All agents solve the same problem on the same generated map.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from matplotlib.figure import Figure
from matplotlib.image import imread

import andante
from andante.offline import build
from andante.report.picture import draw

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / "docs" / "images"

#: The name of each picture and its page, and the agent on it.
AGENTS = {
    "astar": "astar",
    "rta": "rta",
    "lrta": "lrta(depth=5)",
    "family": "family(wc=7, operator=median, expendable=true)",
    "lrts": "lrts",
    "lss": "lss(lookahead=50)",
    "rtaa": "rtaa(lookahead=50)",
    "flrta": "flrta(lookahead=50)",
    "plrta": "plrta",
    "tba": "tba(budget=50)",
    "tbwalls": "tbwalls(budget=100)",
    "late-astar": "late-astar(budget=50)",
    "pra": "pra",
    "prlrts": "prlrta(level=3, depth=5, gamma=1.0)",
    "dlrta": "dlrta",
}
#: The databases of agents.
DATABASES = {"dlrta": ("pattern",)}
SIDE_BY_SIDE = ("rta", "lrta", "lss", "tba")
INCHES, DPI = 3.0, 110


def problem() -> andante.Problem:
    """Return a problem whose path leads around two dead ends."""
    grid = andante.generate("outdoor", 128, 128, seed=5)
    return max(
        andante.random_problems(grid, 40, optimal_cost=(90, 130), seed=2),
        key=lambda one: andante.run("lrta", one).suboptimality_ratio,
    )


def main() -> None:
    """Draw all pictures."""
    HOME.mkdir(parents=True, exist_ok=True)
    shown = problem()
    with TemporaryDirectory() as scratch:
        drawn = {name: Path(scratch) / f"{name}.png" for name in AGENTS}
        for name, agent in AGENTS.items():
            databases = [build(kind, shown.world) for kind in DATABASES.get(name, ())]
            draw(andante.record(agent, shown, limits=andante.Limits(moves=20_000), databases=databases), drawn[name])
            beside([drawn[name]], HOME / f"{name}.png", INCHES * 1.6)
        beside([drawn[name] for name in SIDE_BY_SIDE], HOME / "agents.png", INCHES)


def beside(pictures: list[Path], path: Path, inches: float) -> None:
    """Combine pictures side by side into one."""
    images = [imread(picture) for picture in pictures]
    figure = Figure(figsize=(inches * len(images), inches * images[0].shape[0] / images[0].shape[1]), dpi=DPI)
    for k, image in enumerate(images):
        axes = figure.add_axes(((k + 0.01) / len(images), 0, 0.98 / len(images), 1))
        axes.imshow(image, interpolation="antialiased")
        axes.set_axis_off()
    figure.savefig(path)


if __name__ == "__main__":
    main()
