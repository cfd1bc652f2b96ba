"""`andante choose`: what choosing algorithms per map and per problem would gain, from the results of a campaign."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from andante.cli.shared import check_places, number_option, out, print_written
from andante.errors import ParameterError

if TYPE_CHECKING:
    from andante.measures import Statistics
    from andante.selection.features import Described
    from andante.selection.matrix import Matrix
    from andante.selection.split import Line
    from andante.store import Store

app = typer.Typer(add_completion=False)

#: Shares of results missing that the tables show, in percent; beside the paper's there are those that are as many
#: algorithms where there are fewer of them.
SHOWN = (0, 25, 50, 80, 85, 90, 95, 96, 97, 98, 98.5, 99)
FACTORIZED = (0.05, 0.2)  # shares of results present
PAPER = 'V. Bulitko, "Per-map algorithm selection in real-time heuristic search" (2016)'
CITED = "Bulitko 2016"


@app.command()
def choose(
    store: Path = typer.Argument(..., metavar="STORE", help="The results of a campaign in which all ran on all."),
    expansions: float = number_option(
        float("inf"), 0, help="Leave out algorithms that expanded more states than this before any move."
    ),
    only: list[str] = typer.Option([], metavar="NAME", help="Choose among algorithms of this name; may be repeated."),
    splits: int = typer.Option(100, min=1, help="How many random splits into old and new."),
    seed: int = typer.Option(0, min=0, help="For the splits."),
    predict: bool = typer.Option(True, help="Also try to predict what is best; needs scikit-learn and the maps."),
    folder: Path = typer.Option(Path(), "--maps", metavar="FOLDER", help="Where the paths of map files begin."),
    markdown: Path | None = typer.Option(None, metavar="FILE.md", help="Write the tables there."),
    csv: Path | None = typer.Option(None, metavar="FILE.csv", help="Write the best algorithm for each map there."),
    figures: Path | None = typer.Option(None, metavar="FOLDER", help="Write the figures there, as SVG."),
    aslib: Path | None = typer.Option(None, metavar="FOLDER", help="Export the results as an ASlib scenario."),
) -> None:
    """Show what choosing an algorithm for each map, or for each problem, gains over one for all.

    As in Bulitko's "Per-map algorithm selection in real-time heuristic search" (2016):
    prior, sample and exhaustive selection over random splits; and on results that the
    choice has not seen.
    """
    from andante.files import make_folder, write_whole
    from andante.selection.features import NAMES, describe, maps_of
    from andante.selection.matrix import from_store
    from andante.store import Store

    check_places(markdown, csv)
    for kept in filter(None, (figures, aslib)):
        make_folder(kept)
    if predict:
        check_learning()
    opened = Store(store)
    problems = from_store(opened, expansions, only)
    described = describe(problems, maps_of(opened, str(folder))) if predict or aslib is not None else None
    said: list[str] = []

    def show(text: str) -> None:
        """Print a section as soon as it is ready: the next may take minutes, or fail."""
        out.print(text, soft_wrap=True)
        said.append(text)

    show(overview(problems, opened, expansions))
    for each in sweeps(problems, splits, seed, figures):
        show(each)
    if described is not None:
        if predict:
            show(
                part("Choosing by problems nearby, on the same map", lambda: nearby(problems, described, seed, figures))
            )
            show(part("Predicting instead of running", lambda: predictions(problems, described, seed)))
        if aslib is not None:
            from andante.selection.aslib import export

            export(problems, described.features, NAMES, aslib, seed=seed)
    if markdown is not None:
        write_whole(markdown, "\n".join(said).encode())
    if csv is not None:
        write_best(problems.by_map(), csv)
    print_written(figures, aslib, markdown, csv)


def check_learning() -> None:
    """Raise `ParameterError` if scikit-learn, which predicting needs, is not installed."""
    from importlib.util import find_spec

    if find_spec("sklearn") is None:
        raise ParameterError(
            "predicting needs scikit-learn, which is not installed; pip install 'andante[learn]', or use --no-predict"
        )


def write_best(maps: Matrix, file: Path) -> None:
    """Write which algorithm is best for each map."""
    from csv import writer
    from io import StringIO

    from andante.files import write_whole

    text = StringIO()
    lines = writer(text, lineterminator="\n")
    lines.writerow(["map", "problems", "algorithm", "suboptimality"])
    for number, one in sorted(enumerate(maps.instances), key=lambda pair: pair[1].map):
        best = int(maps.values[:, number].argmin())
        lines.writerow([one.map, int(maps.weights[number]), maps.algorithms[best], maps.values[best, number]])
    write_whole(file, text.getvalue().encode())


def overview(problems: Matrix, store: Store, expansions: float) -> str:
    """Return the section about the results: their numbers, and the best possible choices."""
    from andante.report.table import counted
    from andante.selection.matrix import share_of_gap_closed

    maps, means = problems.by_map(), problems.means
    kinds = {"algorithm": problems.algorithms, "problem": problems.instances, "map": maps.instances}
    algorithms, tasks, worlds = (counted(len(some), what) for what, some in kinds.items())
    limit = "" if expansions == float("inf") else f" that expand at most {expansions:g} states before any move"
    size = (
        f"{algorithms}{limit} on {tasks} of {worlds}. Mean suboptimality; an agent that did not arrive counts as the "
        f"cap. Tables and figures are numbered as in {PAPER}."
    )
    named = f"The single best algorithm is `{problems.algorithms[problems.best]}`."
    closed = share_of_gap_closed(maps.virtual_best, means.min(), problems.virtual_best)
    if not isnan(closed):
        named += f" The best for each map closes {abs(closed):.0%} of the gap between single best and virtual best."
    rows = {
        "an algorithm drawn at random": means.mean(),
        "single best algorithm": means.min(),
        "best for each map": maps.virtual_best,
        "best for each problem (virtual best)": problems.virtual_best,
    }
    shown = table(["", "mean suboptimality"], [[what, f"{value:.2f}"] for what, value in rows.items()])
    return "\n".join([f"# {store.about.get('title', store.folder.name)}", "", size, "", *shown, "", named, ""])


def part(title: str, make: Callable[[], list[str]]) -> str:
    """Return a section; if the results do not suffice for it, it says why."""
    from andante.selection.matrix import MatrixError

    try:
        lines = make()
    except MatrixError as error:
        lines = [f"None: {error}."]
    return "\n".join([f"## {title}", "", *lines, ""])


def sweeps(problems: Matrix, splits: int, seed: int, figures: Path | None) -> Iterator[str]:
    """Yield the paper's tables 1 and 2, with figures 3 and 4; the first also on results unseen by the choice."""
    from andante.selection.split import MISSING, sweep

    def swept(name: str, *matrices: Matrix) -> list[str]:
        lines = sweep(*matrices, missing=sorted({*MISSING, *SHOWN}), splits=splits, seed=seed)
        if figures is not None:
            methods = ("exhaustive", "prior", "sample")
            curves = {name: [(line.present, getattr(line, name)) for line in lines] for name in methods}
            draw(curves, "Results present (%)", figures / f"{name}.svg")
        return sweep_table(lines, len(problems.algorithms))

    yield part(f"Per map ({CITED}, Table 1 and Figure 3)", lambda: swept("figure3", problems.by_map()))
    yield part(
        "Per map, judged on other problems of the same maps",
        lambda: swept("figure3-held-out", *problems.halves(seed)),
    )
    yield part(f"Per problem ({CITED}, Table 2 and Figure 4)", lambda: swept("figure4", problems))


def sweep_table(lines: Sequence[Line], algorithms: int) -> list[str]:
    """Return one sweep as a table; shares of results that amount to less than one algorithm are left out."""
    shown = [line for line in lines if 100 - line.present in SHOWN and line.present * algorithms >= 100]
    rows = [
        [
            f"{line.present:g} %",
            f"{line.present * algorithms / 100:.1f}",
            *map(with_error, (line.exhaustive, line.prior, line.sample)),
        ]
        for line in shown
    ]
    return table(["results present", "algorithms run", "exhaustive", "prior", "sample"], rows)


def predictions(problems: Matrix, described: Described, seed: int) -> list[str]:
    """Return the table of the paper's section 7: what is reached without running everything."""
    from andante.measures import Statistics
    from andante.selection.predict import factorization_scores, on_unseen_maps

    maps = problems.by_map()
    rows = []
    for share in FACTORIZED:
        rows.append(
            [f"factorization per map, {share:.0%} present", with_error(factorization_scores(maps, share, seed=seed))]
        )
        rows.append(
            [
                f"factorization per problem, {share:.0%} present",
                with_error(factorization_scores(problems, share, seed=seed)),
            ]
        )
    unseen = on_unseen_maps(problems, described.features, seed=seed)
    for name, scores in {
        "on maps not trained on: prior": unseen.prior,
        "on maps not trained on: learned from features": unseen.learned,
        "on maps not trained on: best for its map": unseen.per_map,
        "on maps not trained on: best for the problem": unseen.virtual_best,
    }.items():
        rows.append([name, with_error(Statistics.of(scores))])
    gain = f"Learned is better than prior by {with_error(unseen.gain)}, problem by problem."
    return [*table(["", "mean suboptimality"], rows), "", gain]


def nearby(problems: Matrix, described: Described, seed: int, figures: Path | None) -> list[str]:
    """Return the table of what choosing by other problems of the same map reaches, by their number."""
    from andante.selection.cases import by_size

    head = ["old problems", "maps", "by those nearby", "prior", "best of the map", "best for the problem", "gain"]
    found = by_size(problems, described.cells, seed=seed)
    if figures is not None:
        methods = {"best of the map": "per_map", "prior": "prior", "by those nearby": "chosen"}
        curves = {title: [(one.old, getattr(one, name)) for one in found] for title, name in methods.items()}
        draw(curves, "Old problems on each map", figures / "nearby.svg", log=True)
    scores = [(one.chosen, one.prior, one.per_map, one.virtual_best, one.gain) for one in found]
    rows = [[f"{one.old:,}", f"{one.maps:,}", *map(with_error, its)] for one, its in zip(found, scores, strict=True)]
    return table(head, rows)


def draw(
    curves: Mapping[str, Sequence[tuple[float, Statistics]]], across: str, file: Path, *, log: bool = False
) -> None:
    """Write a figure of means."""
    from andante.report.figure import save_figure
    from andante.report.lines import lines_plot

    save_figure(lines_plot(curves, across, "Mean suboptimality", log=log), file)


def with_error(numbers: Statistics) -> str:
    """Return a mean with its standard error."""
    return f"{numbers.mean:.2f} ± {numbers.standard_error:.2f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    from andante.report.markdown import markdown_table

    return markdown_table(head, rows).splitlines()
