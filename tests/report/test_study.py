"""Studies and reports of a store: pages, tables and figures, from rows alone."""

import json
import re
import shutil
from itertools import combinations, product
from textwrap import dedent

import numpy as np
import pytest

from andante.campaign import read_campaign, run
from andante.campaign.engines.local import Local
from andante.campaign.orders import full_database
from andante.errors import AndanteError, CampaignError, ParameterError
from andante.measures import summarise
from andante.report import charts
from andante.report.page import results_page
from andante.report.results import Results
from andante.report.study import run_sentence, write_results
from andante.report.studycontests import best
from andante.report.studyfigures import _by_parameter, figure
from andante.report.studyfile import find_study, read_study, study_folders
from andante.report.studyrows import contestants
from andante.report.studyspecs import FigureSpec
from andante.report.studytables import amortization, table
from andante.report.table import summary_csv
from andante.selection.features import maps_of
from andante.store import Store, StoreError, days_in_words
from andante.store.store import _sealed

pl = pytest.importorskip("polars")

STUDY = """
    title = "A study"
    about = "What it is about."
    notes = "Why they differ."

    [problems.rooms]
    maps = ["rooms:24x24:1"]
    count = 12

    [[run]]
    algorithms = ["lrta(depth=[1..4])", "tba(budget=[10, 50], switch_rule=[true, false])", "rta", "cpd"]
    databases = ["moves"]
    limits = { suboptimality = 2 }

    [[table]]
    title = "Table 1: lookahead"
    measures = ["capped_suboptimality_ratio"]
    rows = [
        { algorithm = "lrta", label = "d = 1", paper = 1.5 },
        { algorithm = "lrta(depth=3)", paper = "about 1.2", note = "a guess" },
        { algorithm = "lrta(depth=9)", paper = 1.1 },
        { algorithm = "tba(budget=10, switch_rule=true)", against = "tba(budget=10)", paper = "-2 %" },
    ]

    [[table]]
    title = "Table 2: two measures"
    measures = ["suboptimality_ratio", "max_states_expanded"]
    rows = [
        { algorithm = "rta", paper = [1.3, "-"] },
        { algorithm = "lrta(depth=9)" },
    ]

    [[best]]
    title = "Table 3: the best"
    rows = [
        { label = "one state", worst_move = 1, paper = "RTA*" },
        { label = "least work", measure = "states_expanded" },
        { label = "no state", worst_move = 0 },
    ]

    [[amortization]]
    title = "Table 4: amortization"
    rivals = ["rta"]
    rows = [
        { algorithm = "cpd", where = { databases = "moves" }, paper = "an hour" },
        { algorithm = "dlrta", where = { databases = "pattern(level=1)" } },
    ]

    [[duel]]
    title = "Problem by problem"
    first = "tba(budget=50)"
    second = "lrta"
    paper = { first_dominates = 10.0, ratio = 2.5 }

    [[figure]]
    title = "Figure 1: all"
    kind = "trade-off"
    algorithms = ["lrta", "tba(budget=[10, 50])"]
    x_by = { lrta = "depth" }
    worst_move = 1000

    [[figure]]
    title = "Figure 2: curves"
    kind = "curves"
    algorithms = ["lrta"]
    parameters = ["depth"]

    [[figure]]
    title = "Figure 3: spread"
    kind = "histogram"
    marks = [{ algorithm = "rta", label = "RTA*", paper = 50 }]
    paper = 1.4

    [[figure]]
    title = "Figure 4: a map of heat"
    kind = "heat-map"
    algorithms = ["tba"]
    parameters = ["budget", "switch_rule"]

    [[figure]]
    title = "Figure 5: dominance"
    kind = "dominance"
    algorithms = ["lrta", "rta", "cpd"]
    marks = [{ algorithm = "rta", label = "RTA*" }]

    [[figure]]
    title = "Figure 6: several curves"
    kind = "curves"
    algorithms = ["tba"]
    parameters = ["budget"]
    y = ["suboptimality_ratio", "cost", "moves", "states_expanded", "seconds"]

    [[figure]]
    title = "Figure 7: a trend"
    kind = "trend"
    algorithms = ["lrta"]
    width = 10
    y = ["suboptimality_ratio", "cost"]

    [[figure]]
    title = "Figure 8: trials"
    kind = "histogram"
    counted = "trials"

    [[figure]]
    title = "Figure 9: two of them"
    kind = "scatter"
    algorithms = ["lrta(depth=2)", "lrta(depth=4)"]
    y = ["cost", "states_expanded"]

    [[figure]]
    title = "Figure 10: maps of heat"
    kind = "heat-map"
    algorithms = ["tba"]
    parameters = ["budget", "weight"]
    panels = "switch_rule"
    differences = true

    [[figure]]
    title = "Figure 11: the best so far"
    kind = "best-so-far"
    algorithms = ["lrta"]
    by = "max_trials"
    x = "cost"

    [[front]]
    title = "Table 5: fronts"
    rows = [{ x = "cost", y = "states_expanded", paper = "A*" }]

    [[pairs]]
    title = "All pairs"
    paper = { least = 5.48, mean = "534.32 ± 123.47" }

    [[correlation]]
    title = "Work and way"
    x = "cost"
    y = "moves"
    rows = [{ label = "RTA*", algorithm = "rta", paper = 0.95 }]

    [[influence]]
    title = "Table 6: influence"
    algorithms = ["tba"]
    parameters = ["budget"]
    rows = [{ label = "walked", measure = "cost", paper = ["D"] }]
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The file and the store of a study that was run."""
    folder = tmp_path_factory.mktemp("study")
    path = folder / "study.toml"
    path.write_text(dedent(STUDY))
    run(read_campaign(path), folder / "rows", Local(2))
    return path, Store(folder / "rows")


@pytest.fixture(scope="module")
def page_of_study(study, tmp_path_factory):
    """The page with all its figures, which take seconds to draw."""
    path, store = study
    folder = tmp_path_factory.mktemp("page") / "out"
    spec, caveats = read_study(path, "full", full_database), ["A caveat."]
    return write_results(spec, Results.of(store), folder, store.made_with, caveats)


def test_the_page_shows_the_papers_numbers_beside_ours(study, page_of_study):
    _, store = study
    page = page_of_study.read_text()
    rows = Results.of(store).rows.filter(pl.col("algorithm") == "lrta")
    mean = np.minimum(rows["suboptimality_ratio"].to_numpy(), 2).mean()
    line = next(line for line in page.splitlines() if line.startswith("| d = 1"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[1].removesuffix(" ✓").removesuffix(" ✗") == "1.5"
    assert float(cells[2].partition(" ")[0]) == pytest.approx(mean, abs=6e-4)
    assert "| lrta(depth=3) (a guess) | about 1.2 " in page
    assert "| lrta(depth=9) | 1.1 | not run |" in page
    assert "120 trials: 10 algorithms on 12 problems of 1 map." in page
    assert "| tba(budget=50) dominates | 10.0 % " in page
    assert "| dominance ratio | 2.5 " in page
    assert page.endswith("Why they differ.\n")
    titles = [line.removeprefix("## ").partition(":")[0] for line in page.splitlines() if line.startswith("## ")]
    of_figures = [f"Figure {number}" for number in range(1, 12)]
    first = [
        "How many of the paper's numbers are reproduced",
        "The experiments",
        "Table 1",
        "Table 2",
        "Table 3",
        "Table 4",
        "Problem by problem",
    ]
    last = ["Table 5", "All pairs", "Work and way", "Table 6", "Where they differ, and why"]
    assert titles == [*first, *of_figures, *last]  # as in the file
    for number in range(1, 12):
        assert f"figure-{number}.svg" in page
        assert (page_of_study.parent / f"figure-{number}.svg").read_text().startswith("<?xml")


def test_the_page_says_when_and_with_what_it_was_run(study, page_of_study):
    (made,) = study[1].made_with
    page = page_of_study.read_text()
    assert f"Run {days_in_words([made])} with Andante {made['andante']}" in page
    assert f"of 1 map. 2 threads of {made['processor']}, " in page
    assert " of the agents' own time. A caveat.\n" in page


def test_days_of_the_run_not_of_writing():
    made = {"andante": "0.2.0", "processor": "A CPU", "first_day": "2020-01-01", "last_day": "2020-01-03"}
    earlier = {**made, "commit": "8f20b2b44a", "clean": True, "engine": "1 thread", "first_day": "2019-12-31"}
    said = run_sentence("3 trials.", 1.0, [made, earlier])
    assert said.startswith(
        "Run from 2019-12-31 to 2020-01-03 with Andante 0.2.0 and Andante 0.2.0 at commit 8f20b2b44a: "
    )
    assert ": 3 trials. A CPU and 1 thread of A CPU, " in said


def test_tables_of_several_measures_bests_and_amortizations(page_of_study):
    lines = page_of_study.read_text().splitlines()
    assert (
        "|  | Suboptimality (times optimal): paper | ours | Worst move (states): ours | trials | not solved |" in lines
    )
    assert "| lrta(depth=9) | - | not run | not run | - | - |" in lines
    found = {line.split(" | ")[0]: line for line in lines}
    assert found["| rta"].split(" | ")[3:5] == ["≥ 1", "12"]
    assert found["| one state"].startswith("| one state | RTA\\* | cpd | 1.000")
    assert found["| no state"].startswith("| no state | - | cpd | 1.000")
    saved = found["| cpd"].split(" | ")
    assert saved[1:3] == ["an hour", "rta"]
    assert "not run" in found["| dlrta"]


def test_an_algorithm_shown_by_a_parameter_has_no_limit_on_expansions(study, tmp_path):
    path, store = study
    cut = tmp_path / "study.toml"
    cut.write_text(path.read_text().replace("worst_move = 1000", "worst_move = 3"))
    spec = next(part for part in read_study(cut, "full", full_database).parts if isinstance(part, FigureSpec))
    results = Results.of(store)
    means = {one.name: one["suboptimality_ratio"].mean for one in results.summaries()}
    points = _by_parameter(spec, results)["LRTA* by its depth"]
    assert points == [(1.0, means["lrta"]), (2.0, means["lrta(depth=2)"]), (3.0, means["lrta(depth=3)"])]
    words = "Hollow, and in no front: 1 of 1 settings, whose agents did not always arrive."
    assert figure(spec, results, tmp_path) == ["![Figure 1: all](figure-1.svg)", words]
    assert "LRTA* by its depth" in (tmp_path / "figure-1.svg").read_text()


@pytest.mark.parametrize(
    ("settings", "points"),
    [("family(b=none)", []), ("family(b=uniform)", []), ("family(b=4)", [(4.0, 2.0)])],
)
def test_values_that_are_not_numbers_are_not_plotted(tmp_path, settings, points):
    text = "[[figure]]\ntitle = 'F'\nkind = 'trade-off'\nx_by = { family = 'b' }"
    (spec,) = spec_of(tmp_path, text).parts
    rows = synthetic(family=[(1, 2.0, 1.0)]).rows.with_columns(settings=pl.lit(settings)).drop("agent")
    assert list(_by_parameter(spec, Results(rows, "t")).values()) == ([points] if points else [])


def test_a_worst_move_is_of_an_agent_not_of_an_algorithm():
    rows = pl.DataFrame(
        {
            "algorithm": ["a", "a", "b"],
            "settings": ["a()", "a()", "b()"],
            "solved": [True] * 3,
            "databases": ["pattern(cap=9)", "pattern(cap=20)", ""],
            "databases_brief": ["pattern(cap=9)", "pattern", ""],
            "max_states_expanded": [5, 50, 7],
        }
    )
    results = Results(rows, "t")
    assert [one.name for one in results.summaries()] == ["a, pattern(cap=9)", "a, pattern", "b"]
    assert results.within(10).rows["max_states_expanded"].to_list() == [5, 7]


def test_databases_have_the_names_in_the_rows_even_if_defaults_have_changed():
    def names(*databases, **more):
        agents = {"algorithm": ["a"] * len(databases), "settings": ["a()"] * len(databases)}
        rows = pl.DataFrame({**agents, "solved": [True] * len(databases), "databases": databases, **more})
        return [one.name for one in Results(rows, "t").summaries()]

    default = "regions(m=5, borders=3, seed=0)"
    assert names(default, "regions(m=9)") == [f"a, {default}", "a, regions(m=9)"]  # an older store
    assert names(default, "regions(m=9)", databases_brief=["regions(m=5)", "regions"]) == [
        "a, regions(m=5)",
        "a, regions",
    ]
    assert names("gone(x=1)", "regions(m=9)", databases_brief=["gone", "regions"]) == ["a, gone", "a, regions"]
    merged = names("regions(m=5)", "regions(m=9)", databases_brief=["regions", "regions"])  # before and after a change
    assert merged == ["a, regions(m=5)", "a, regions(m=9)"]
    assert names("x(m=1)", "x(m=1)", "y(m=1)", databases_brief=["x", "x(m=1)", "y"]) == ["a, x(m=1)", "a, y"]


def test_agents_whose_databases_were_trained_on_other_maps_are_distinguished():
    rows = pl.DataFrame(
        {
            "algorithm": ["a", "a", "a", "b"],
            "settings": ["a()", "a()", "a()", "b()"],
            "solved": [True] * 4,
            "databases": ["depth-tree", "depth-tree", "depth-tree(leaf=5)", ""],
            "training": ["x; y", "z", "z", ""],
        }
    )
    names = [one.name for one in Results(rows, "t").summaries()]
    assert names == ["a, depth-tree, trained on x; y", "a, depth-tree, trained on z", "a, depth-tree(leaf=5)", "b"]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('kind = "trade-off"', 'kind = "tradeoff"', "there is no kind of figure 'tradeoff'; did you mean 'trade-off'?"),
        ('algorithm = "lrta(depth=3)"', 'algorithm = "lrt(depth=3)"', "there is no algorithm 'lrt'; did you mean"),
        ("paper = 1.5", "papper = 1.5", "rows do not accept 'papper'; did you mean 'paper'?"),
        ("ratio = 2.5", "ration = 2.5", "'paper' has no entry 'ration' here; did you mean 'ratio'?"),
        ('parameters = ["depth"]', "", "needs 1 'parameters'"),
        (
            'x_by = { lrta = "depth" }',
            'x_by = { lrta = "deep" }',
            "lrta has no parameter 'deep'; did you mean 'depth'?",
        ),
        (
            'x_by = { lrta = "depth" }',
            'x_by = { "lrta(depth=2)" = "depth" }',
            "x_by needs algorithms without their parameters, not 'lrta(depth=2)'",
        ),
        (
            'kind = "dominance"',
            'kind = "dominance"\nx_by = { lrta = "depth" }',
            "x_by is for figures of the kind 'trade-off'",
        ),
        ("paper = [1.3,", "paper = [1.3, 2,", "'paper' must have 2 numbers here, one for each measure, not 3"),
        ("worst_move = 0 ", "worst_mov = 0 ", "rows do not accept 'worst_mov'; did you mean 'worst_move'?"),
        ('databases = "moves" }', 'databases = "movs" }', "there is no kind of database 'movs'; did you mean 'moves'?"),
        ('counted = "trials"', 'counted = "maps"', "a histogram counts algorithms or trials, not 'maps'"),
        ('algorithms = ["lrta(depth=2)", "lrta(depth=4)"]', "", "compares exactly two 'algorithms'"),
        ('counted = "trials"', 'y = ["cost", "moves"]', "shows one measure as 'y'"),
        ('panels = "switch_rule"', "", "only a heat-map with 'panels' has 'differences'"),
        ("least = 5.48", "lest = 5.48", "'paper' has no entry 'lest' here; did you mean 'least'?"),
        ('paper = ["D"]', 'paper = ["D", "A"]', "the paper's words must be a list of 1 here, one for each parameter"),
        ('y = "states_expanded", paper', "paper", "there is no measure ''"),
        (
            'measures = ["capped_suboptimality_ratio"]',
            'measures = ["cots"]',
            "there is no measure 'cots'; did you mean 'cost'?",
        ),
        ('algorithm = "lrta(depth=3)"', "algorithm = 3", "an algorithm must be text in quotes, not 3"),
        ('y = "states_expanded", paper', "y = [], paper", "a measure must be text in quotes, not []"),
        ("worst_move = 0 ", 'worst_move = "none" ', "worst_move must be a number, not 'none'"),
        ('databases = "moves" }', "databases = 7 }", "databases must be text in quotes, not 7"),
        ('counted = "trials"', "most = [1]", "most must be the greatest x and the greatest y to show, not [1]"),
        ('counted = "trials"', 'most = [1, "x"]', "most must be a number, not 'x'"),
    ],
)
def test_mistakes_are_reported_with_their_lines(tmp_path, old, new, sentence):
    text = dedent(STUDY)
    assert old in text
    path = tmp_path / "study.toml"
    path.write_text(text.replace(old, new))
    with pytest.raises(CampaignError, match=r"study\.toml, line \d+: ") as refusal:
        read_study(path, "full", full_database)
    assert sentence in str(refusal.value)


def test_a_part_that_is_not_a_table_is_one_sentence(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text("table = [1]\n")
    with pytest.raises(CampaignError, match=r"study\.toml, line 1: each table must be a table, \[\[table\]\], not 1"):
        read_study(path, "full", full_database)


#: The numbers of tables and figures in the paper of each study.
PAPERS = {
    "dynamic-control": (14, 15),
    "graph-abstraction": (6, 36),
    "tba": (1, 4),
    "knn": (1, 8),
    "family": (2, 4),
}


def mentioned(kind, text):
    """Return the numbers of the tables or figures that a text names, as in 'Figures 1, 4 to 8 and 12'."""
    found = set()
    for numbers in re.findall(rf"{kind}s? ((?:\d+(?: to \d+)?(?:, (?:and )?| and )?)+)", text):
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", numbers):
            found |= set(range(int(first), int(last or first) + 1))
    return found


def test_every_table_and_figure_of_a_paper_is_in_its_study_or_its_absence_is_explained():
    assert mentioned("Figure", "Figures 1, 4 to 6 and 9, and Table 2") == {1, 4, 5, 6, 9}
    folders = study_folders()
    assert set(PAPERS) <= set(folders)
    for name, counts in PAPERS.items():
        study = read_study(folders[name] / "study.toml", "full", full_database)
        titles = "; ".join(part.title for part in study.parts)
        for kind, count in zip(("Table", "Figure"), counts, strict=True):
            known = mentioned(kind, f"{titles}. {study.absent}")
            assert known == set(range(1, count + 1)), (name, kind)


@pytest.mark.parametrize("name", sorted(study_folders()))
def test_every_row_of_a_study_is_run(name):
    file = study_folders()[name] / "study.toml"
    ran = set()
    for each in read_campaign(file, "full").runs:
        for shelf, entry in product(each.shelves(), each.entries(0)):
            books = "; ".join(order.text for order in shelf if order.name in entry.needs)
            ran |= {(str(entry), books, problems) for problems in each.problems}
    for part in read_study(file, "full", full_database).parts:
        for claim in getattr(part, "claims", ()):
            algorithms = {claim.algorithm, claim.against or claim.algorithm}
            where = claim.where
            found = {
                algorithm
                for algorithm, books, problems in ran
                if books == where.get("databases", books) and problems == where.get("set", problems)
            }
            assert algorithms <= found, (part.title, claim.label)


def test_every_study_that_comes_with_andante_can_be_read():
    folders = study_folders()
    assert {"family", "tba"} <= set(folders)
    for folder in folders.values():
        for scale in ("quick", "full"):
            assert read_study(folder / "study.toml", scale, full_database).parts
            assert read_campaign(folder / "study.toml", scale).runs


# --- comparisons are about the same problems -------------------------------------------------------------------------


def synthetic(**agents):
    """Return rows of algorithms, each given as a list of (start, suboptimality, states expanded per move)."""
    rows = [
        {
            "algorithm": name,
            "settings": f"{name}()",
            "solved": True,
            "set": "s",
            "fingerprint": "f",
            "start": start,
            "goal": 99,
            "repeat": 0,
            "suboptimality_ratio": ratio,
            "states_expanded_per_move": effort,
            "max_states_expanded": 9,
            "microseconds_per_move": 1.0,
            "build_seconds": 2.0,
        }
        for name, trials in agents.items()
        for start, ratio, effort in trials
    ]
    return Results(pl.DataFrame(rows), "t")


def spec_of(tmp_path, text):
    path = tmp_path / "study.toml"
    path.write_text(dedent(text))
    return read_study(path, "full", full_database)


def test_what_the_paper_did_not_have_does_not_compete(study, tmp_path):
    _, store = study
    results = Results.of(store)
    text = "[[best]]\ntitle = 'Best'\nwithout = [{ algorithm = 'cpd' }, { algorithm = 'lrta', repeat = 0 }]\nrows = [{ paper = 'a: 1' }]"
    (spec,) = spec_of(tmp_path, text).parts
    rest = contestants(spec, results).rows["algorithm"].unique().to_list()
    everyone = results.rows["algorithm"].unique().to_list()
    assert sorted(rest) == sorted({*everyone} - {"cpd", "lrta"})
    assert "cpd" not in best(spec, results)
    (other,) = spec_of(tmp_path, text.replace("'cpd'", "'no such agent'")).parts
    assert "cpd" in best(other, results)
    (wrong,) = spec_of(tmp_path, text.replace("algorithm = 'cpd'", "nothing = 'cpd'")).parts
    with pytest.raises(ParameterError, match="rows have no column 'nothing'"):
        best(wrong, results)


def test_parts_may_be_written_as_a_list(tmp_path):
    text = """
        best = [{ title = "A", rows = [] }, { title = "B", rows = [] }]
        front = [{ title = "C", rows = [] }]

        [[table]]
        title = "D"
        rows = []
    """
    assert [part.title for part in spec_of(tmp_path, text).parts] == ["A", "B", "C", "D"]


def test_agents_whose_problems_are_not_known_are_not_called_incomparable():
    known = synthetic(lrta=[EASY], rta=[EASY]).rows.drop("agent")
    unknown = known.with_columns(start=pl.when(pl.col("algorithm") == "lrta").then("start"))
    assert Results(unknown, "t").incomparable == ""
    other = known.with_columns(start=pl.when(pl.col("algorithm") == "lrta").then(7).otherwise("start"))
    assert "run on 2 different samples of problems" in Results(other, "t").incomparable


EASY, HARD = (1, 1.5, 2.0), (2, 9.0, 2.0)

BEST = """
    [[best]]
    title = "Table 3: the best"
    rows = [{ label = "of all" }]
"""


def test_the_best_is_found_on_the_same_problems(tmp_path):
    (spec,) = spec_of(tmp_path, BEST).parts
    found_text = best(spec, synthetic(lrta=[EASY], rta=[EASY, HARD]))
    assert found_text == "Not compared: lrta and rta were run on different problems, so their means cannot be compared."
    assert "| of all | - | lrta | 5.250" in best(spec, synthetic(lrta=[HARD, EASY], rta=[EASY, (2, 9.1, 1.0)]))


@pytest.mark.parametrize("kind", ["trade-off", "dominance"])
def test_fronts_are_drawn_for_the_same_problems(tmp_path, kind):
    (spec,) = spec_of(tmp_path, f"[[figure]]\ntitle = 'Figure 1'\nkind = '{kind}'").parts
    (found_text,) = figure(spec, synthetic(lrta=[EASY], rta=[EASY, HARD]), tmp_path)
    assert found_text.startswith("Not compared: lrta and rta were run on different problems")
    assert not (tmp_path / "figure-1.svg").exists()
    assert "figure-1.svg" in figure(spec, synthetic(lrta=[EASY, HARD], rta=[EASY, HARD]), tmp_path)[0]


def test_other_figures_say_that_their_means_are_about_different_problems(tmp_path):
    (spec,) = spec_of(tmp_path, "[[figure]]\ntitle = 'Figure 1'\nkind = 'histogram'").parts
    assert "were run on different problems" in figure(spec, synthetic(lrta=[EASY], rta=[EASY, HARD]), tmp_path)[-1]
    assert "different" not in figure(spec, synthetic(lrta=[EASY], rta=[EASY]), tmp_path)[-1]


def test_a_change_is_over_the_problems_in_common(tmp_path):
    table_of = "[[table]]\ntitle = 'T'\nrows = [{ algorithm = 'lrta', against = 'rta' }]"
    (spec,) = spec_of(tmp_path, table_of).parts
    found_text = table(spec, synthetic(lrta=[(1, 3.0, 1.0)], rta=[(1, 2.0, 1.0), (2, 100.0, 1.0)]))
    assert "| +50.00 % |" in found_text


def test_databases_pay_off_against_rivals_on_the_same_problems(tmp_path):
    text = "[[amortization]]\ntitle = 'T'\nrivals = ['rta']\nrows = [{ algorithm = 'lrta' }]"
    (spec,) = spec_of(tmp_path, text).parts
    assert "different problems" in amortization(spec, synthetic(lrta=[EASY], rta=[EASY, HARD]))
    assert "| lrta | - | rta | 1.500, 1.500 |" in amortization(spec, synthetic(lrta=[EASY], rta=[EASY]))


def test_a_row_is_about_one_set_of_conditions(tmp_path):
    (spec,) = spec_of(tmp_path, "[[table]]\ntitle = 'T'\nrows = [{ algorithm = 'lrta' }]").parts
    rows = synthetic(lrta=[EASY, HARD]).rows.with_columns(sight=pl.Series([5.0, 9.0]))
    with pytest.raises(CampaignError, match=r"lrta was run under several conditions \(lrta, sight 5 and lrta, sight"):
        table(spec, Results(rows, "t"))


def test_an_unknown_study():
    with pytest.raises(AndanteError, match="there is no study 'famly'; did you mean 'family'"):
        find_study("famly")


def test_stuck_and_stopped_agents_count_as_in_bulitko_2016():
    rows = pl.DataFrame(
        {
            "algorithm": ["a"] * 4,
            "solved": [True, True, False, False],
            "outcome": ["GOAL", "GOAL", "COST_CAP", "STUCK"],
            "suboptimality_ratio": [3.0, 10.5, 10.2, float("nan")],
            "suboptimality_cap": [10.0] * 4,
            "cost": [15.0, 52.5, 51.0, 40.0],
            "optimal_cost": [5.0] * 4,
        }
    )
    assert Results(rows, "t").capped().rows["capped_suboptimality_ratio"].to_list() == [3.0, 10.0, 10.0, 10.2]
    assert Results(rows, "t").capped().rows["solved"].to_list() == rows["solved"].to_list()
    cut = Results(rows, "t").capped(2.0)  # the stuck agent would have been stopped before
    assert cut.rows["capped_suboptimality_ratio"].to_list() == [2.0] * 4
    assert cut.rows["solved"].to_list() == [False] * 4
    assert Results(rows, "t").capped(9.0).rows["capped_suboptimality_ratio"].to_list() == [3.0, 9.0, 9.0, 9.2]


def test_one_algorithm_under_two_conditions_is_two_agents():
    rows = pl.DataFrame(
        {
            "algorithm": ["a", "a", "b"],
            "settings": ["a()", "a()", "b()"],
            "solved": [True] * 3,
            "sight": [3.0, np.inf, 3.0],
        }
    )
    assert [summary.name for summary in Results(rows, "t", ["b", "a"]).summaries()] == ["b", "a, sight 3", "a"]


def test_a_page_of_a_store_is_one_file(study):
    results = Results.of(study[1])
    page = results_page(results, x="states_expanded_per_move", y="suboptimality_ratio", notes=["A note."])
    assert "Dominance" in page
    assert "A note." in page
    assert "http" not in page.replace("http://www.w3.org", "")


@pytest.mark.parametrize("plan", [None, [], "plan", {"tasks": 7}, {"tasks": [[1]]}, {}])
def test_a_store_whose_plan_is_damaged_is_reported_and_says_so(study, tmp_path, plan):
    """It is reported even if the checksum of its manifest is correct."""
    folder = shutil.copytree(study[1].folder, tmp_path / "rows")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["about"]["plan"] = plan
    (folder / "manifest.json").write_bytes(_sealed(manifest))
    for results in (Results.of(Store(folder)), Results.comparable(Store(folder))):
        assert "The plan of the campaign is lost or damaged" in results.lead
        assert len(results.rows) == 120
    with pytest.raises(StoreError, match="the plan of .* is damaged"):
        maps_of(Store(folder))


def test_tables_for_csv():
    summaries = summarise([{"algorithm": "a_b", "solved": True, "suboptimality_ratio": 2.0}] * 2)
    assert summary_csv(summaries).splitlines()[1] == (
        "a_b,2,2,suboptimality_ratio,2,2.0,0.0,2.0,2.0,2.0,0,False,False,-inf,inf,-inf,inf,2,False,1"
    )


@pytest.mark.parametrize("marks", [(31.6, 37.7, 181.5), (1.0, 1.1, 1.2), (150.0, 150.5, 181.5)])
def test_names_of_the_lines_of_a_histogram_stay_in_the_plot_and_apart(marks):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    values = np.random.default_rng(1).uniform(0.9 * marks[0], marks[1], 500).tolist()
    drawn = charts.histogram_plot(values, "Cost", dict(zip(["mean", "daLRTA*+E", "RTA*"], marks, strict=True)))
    renderer = FigureCanvasAgg(drawn).get_renderer()
    drawn.draw(renderer)
    (axes,) = drawn.axes
    boxes = [text.get_window_extent(renderer) for text in axes.texts]
    assert [text.get_text() for text in axes.texts] == [
        f"{n}: {v}" for n, v in zip(["mean", "daLRTA*+E", "RTA*"], marks, strict=True)
    ]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert all(axes.bbox.x0 <= box.x0 < box.x1 <= axes.bbox.x1 for box in boxes)


def test_plots_without_content_are_errors(study):
    settings = Results.of(study[1]).settings()
    with pytest.raises(ParameterError, match="has a numeric parameter 'gamma'"):
        charts.curves_plot(settings, "gamma", ["cost"])
    with pytest.raises(ParameterError, match="has both 'gamma' and 'depth'"):
        charts.heat_map(settings, "gamma", "depth", "cost")
    with pytest.raises(ParameterError, match="there are no values"):
        charts.histogram_plot([], "Cost", {})
