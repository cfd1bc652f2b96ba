"""`andante choose`: the gain of choosing algorithms per map and per problem, computed from a campaign's results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from andante.cli.shared import check_places, number_option, out, print_written
from andante.errors import ParameterError

if TYPE_CHECKING:
    from andante.report.choosingpaper import Choice
    from andante.selection.features import Described
    from andante.selection.matrix import Matrix
    from andante.selection.split import Line
    from andante.store import Store

app = typer.Typer(add_completion=False)

FACTORIZED = (0.05, 0.2)  # shares of results present


@app.command()
def choose(
    store: Path = typer.Argument(
        ..., metavar="STORE", help="The results of a campaign that ran every algorithm on every problem."
    ),
    expansions: float = number_option(
        float("inf"), 0, help="Leave out algorithms that expanded more states than this before any move."
    ),
    only: list[str] = typer.Option([], metavar="NAME", help="Choose among algorithms of this name; may be repeated."),
    splits: int = typer.Option(100, min=1, help="The number of random splits into known and new results."),
    seed: int = typer.Option(0, min=0, help="For the splits."),
    predict: bool = typer.Option(True, help="Also predict the best algorithm; needs scikit-learn and the maps."),
    folder: Path = typer.Option(
        Path(), "--maps", metavar="FOLDER", help="The folder that paths of map files are relative to."
    ),
    markdown: Path | None = typer.Option(None, metavar="FILE.md", help="Write the tables there."),
    csv: Path | None = typer.Option(None, metavar="FILE.csv", help="Write the best algorithm for each map there."),
    figures: Path | None = typer.Option(None, metavar="FOLDER", help="Write the figures there, as SVG."),
    aslib: Path | None = typer.Option(None, metavar="FOLDER", help="Export the results as an ASlib scenario."),
    paper: Path | None = typer.Option(
        None, metavar="FILE.toml", help="Show the numbers of a paper beside ours, as in studies/choosing/paper.toml."
    ),
    numbers: Path | None = typer.Option(None, metavar="FILE.json", help="With --paper: write both there as JSON."),
) -> None:
    """Show what choosing an algorithm for each map, or for each problem, gains over one for all.

    As in Bulitko's "Per-map algorithm selection in real-time heuristic search" (2016), it compares prior, sample and
    exhaustive selection over random splits. It also measures them on results that the choice has not seen.
    """
    from andante.files import make_folder, write_whole
    from andante.report.choosingpaper import missing_for, read_choices
    from andante.selection.features import NAMES, describe, maps_of
    from andante.selection.matrix import from_store
    from andante.store import Store

    check_places(markdown, csv, numbers)
    if numbers is not None and paper is None:
        raise ParameterError("--numbers writes a paper's numbers beside ours, so it needs --paper")
    title, choices = ("", []) if paper is None else read_choices(paper)
    for kept in filter(None, (figures, aslib)):
        make_folder(kept)
    if predict:
        check_learning()
    opened = Store(store)
    problems = from_store(opened, expansions, only)
    described = describe(problems, maps_of(opened, str(folder))) if predict or aslib is not None else None
    said: list[str] = []

    def show(text: str) -> None:
        """Print a section as soon as it is ready, because the next one may take minutes, or fail."""
        out.print(text, soft_wrap=True)
        said.append(text)

    show(overview(problems, opened, expansions))
    found: dict[str, list[Line]] = {}
    for each in sweeps(problems, splits, seed, figures, missing_for(choices, len(problems.algorithms)), found):
        show(each)
    if choices:
        show(beside_paper(title, choices, problems, found, opened, numbers))
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
    print_written(figures, aslib, markdown, csv, numbers)


def check_learning() -> None:
    """Raise `ParameterError` if scikit-learn, which predicting needs, is not installed."""
    from importlib.util import find_spec

    if find_spec("sklearn") is None:
        raise ParameterError(
            "predicting needs scikit-learn, which is not installed; pip install 'andante[learn]', or use --no-predict"
        )


def write_best(maps: Matrix, file: Path) -> None:
    """Write the best algorithm for each map."""
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
    from andante.report import choosing
    from andante.selection.matrix import share_of_gap_closed

    maps, means = problems.by_map(), problems.means
    return choosing.overview(
        store.about.get("title", store.folder.name),
        (len(problems.algorithms), len(problems.instances), len(maps.instances)),
        expansions,
        {
            "an algorithm drawn at random": means.mean(),
            "single best algorithm": means.min(),
            "best for each map": maps.virtual_best,
            "best for each problem (virtual best)": problems.virtual_best,
        },
        problems.algorithms[problems.best],
        share_of_gap_closed(maps.virtual_best, means.min(), problems.virtual_best),
    )


def part(title: str, make: Callable[[], list[str]]) -> str:
    """Return a section; if the results are not sufficient for it, it says why."""
    from andante.report.choosing import section
    from andante.selection.matrix import MatrixError

    try:
        lines = make()
    except MatrixError as error:
        lines = [f"Not available: {error}."]
    return section(title, lines)


def sweeps(
    problems: Matrix,
    splits: int,
    seed: int,
    figures: Path | None,
    also: Sequence[float] = (),
    found: dict[str, list[Line]] | None = None,
) -> Iterator[str]:
    """Yield the paper's tables 1 and 2, with figures 3 and 4; table 1 also on results not seen by the choice.

    ``also`` are further shares of missing results. The lines of tables 1 and 2 are added to ``found``.
    """
    from andante.report.choosing import CITED, SHOWN, draw_sweep, sweep_table
    from andante.selection.split import MISSING, sweep

    def swept(name: str, *matrices: Matrix) -> list[str]:
        lines = sweep(*matrices, missing=sorted({*MISSING, *SHOWN, *also}), splits=splits, seed=seed)
        if found is not None and len(matrices) == 1:
            found["map" if name == "figure3" else "problem"] = lines
        if figures is not None:
            draw_sweep(lines, figures / f"{name}.svg")
        return sweep_table(lines, len(problems.algorithms))

    yield part(f"Per map ({CITED}, Table 1 and Figure 3)", lambda: swept("figure3", problems.by_map()))
    yield part(
        "Per map, judged on other problems of the same maps",
        lambda: swept("figure3-held-out", *problems.halves(seed)),
    )
    yield part(f"Per problem ({CITED}, Table 2 and Figure 4)", lambda: swept("figure4", problems))


def beside_paper(
    title: str,
    choices: Sequence[Choice],
    problems: Matrix,
    found: Mapping[str, Sequence[Line]],
    store: Store,
    numbers: Path | None,
) -> str:
    """Return the section with a paper's numbers and ours, and write them as data if a file is given."""
    from andante.measures import Statistics
    from andante.report.choosing import counts_in_words, section
    from andante.report.choosingpaper import Scores, paper_section, published
    from andante.report.study import run_sentence, write_numbers

    means = problems.means
    whole = {
        "random": Statistics.of(means),
        "single best": Statistics.of(problems.values[problems.best]),
        "virtual best": Statistics.of(problems.values.min(axis=0)),
    }
    judged = published(choices, Scores(len(problems.algorithms), whole, found))
    if numbers is not None:
        sizes = len(problems.algorithms), len(problems.instances), len(problems.by_map().instances)
        seconds = float(store.frame(["seconds"])["seconds"].sum())
        write_numbers(numbers, title, run_sentence(f"{counts_in_words(*sizes)}.", seconds, store.made_with), judged)
    return section(f"The numbers of {title}", paper_section(judged))


def predictions(problems: Matrix, described: Described, seed: int) -> list[str]:
    """Return the table of the paper's section 7: the results without running everything."""
    from andante.measures import Statistics
    from andante.report.choosing import prediction_table
    from andante.selection.predict import factorization_scores, on_unseen_maps

    maps, scores = problems.by_map(), dict[str, Statistics]()
    for share in FACTORIZED:
        for what, matrix in {"map": maps, "problem": problems}.items():
            name = f"factorization per {what}, {share:.0%} present"
            scores[name] = factorization_scores(matrix, share, seed=seed)
    unseen = on_unseen_maps(problems, described.features, seed=seed)
    for what, reached in {
        "prior": unseen.prior,
        "learned from features": unseen.learned,
        "best for its map": unseen.per_map,
        "best for the problem": unseen.virtual_best,
    }.items():
        scores[f"on maps not trained on: {what}"] = Statistics.of(reached, clusters=unseen.clusters)
    return prediction_table(scores, unseen.gain)


def nearby(problems: Matrix, described: Described, seed: int, figures: Path | None) -> list[str]:
    """Return the table of results of choosing by other problems of the same map, for several numbers of them."""
    from andante.report.choosing import draw_nearby, nearby_table
    from andante.selection.cases import by_size

    found = by_size(problems, described.cells, seed=seed)
    if figures is not None:
        draw_nearby(found, figures / "nearby.svg")
    return nearby_table(found)
