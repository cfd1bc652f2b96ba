"""Plots and pictures: their contents, their files, and their errors."""

import math
import re
import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import andante
from andante.episode.trace import record
from andante.errors import OutputError, ParameterError
from andante.measures import compare_rows, summarise
from andante.report.charts import Setting, curves_plot, heat_map
from andante.report.figure import COLUMN, PAPER, inline_svg, new_figure, save_figure, save_for_paper
from andante.report.picture import draw, without_loops
from andante.report.plots import difference_plot, pareto_front, planning_plot, spread_plot
from andante.world.grid import Grid

MAGIC = {".png": b"\x89PNG\r\n", ".svg": b"<?xml", ".pdf": b"%PDF"}


def row(algorithm, ratio, worst, mean):
    numbers = {"suboptimality_ratio": ratio, "max_states_expanded": worst, "states_expanded_per_move": mean}
    return {"algorithm": algorithm, "solved": True, **numbers}


ROWS = [
    *(row("quick", ratio, 1, 1.0) for ratio in (100.0, 300.0)),
    *(row("slow", ratio, 900, 400.0) for ratio in (1.0, 1.2)),
    *(row("worse", ratio, 1000, 500.0) for ratio in (2.0, 2.5)),
    row("stuck", math.nan, 1, 1.0),
]


def words(figure):
    axes = figure.axes[0]
    return {text.get_text() for text in [*axes.texts, *axes.get_yticklabels()]}


# --- plots ---


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=20))
def test_the_front_consists_of_points_that_no_other_beats(points):
    def beaten(p):
        return any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)

    assert pareto_front(points) == sorted({p for p in points if not beaten(p)})


def test_every_agent_with_a_result_has_a_named_point():
    figure = planning_plot(summarise(ROWS))
    assert {"quick", "slow", "worse"} <= words(figure)
    assert "stuck" not in words(figure)
    assert figure.axes[0].get_xscale() == figure.axes[0].get_yscale() == "log"


def test_axes_are_linear_if_numbers_are_similar():
    figure = planning_plot(summarise([row("a", 1.0, 10, 5.0), row("b", 2.0, 12, 6.0)]), "states_expanded_per_move")
    assert figure.axes[0].get_xscale() == figure.axes[0].get_yscale() == "linear"


def test_labels_do_not_cover_each_other():
    rows = [row(f"agent number {k}", 1.0 + k / 50, 100 + k, 5.0) for k in range(6)]
    figure = planning_plot(summarise(rows))
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    overlaps = [
        (a, b) for k, a in enumerate(boxes) for b in boxes[:k] if a.shrunk(0.9, 0.7).overlaps(b.shrunk(0.9, 0.7))
    ]
    assert not overlaps


def values_of(rows):
    return {
        one["algorithm"]: [r["suboptimality_ratio"] for r in rows if r["algorithm"] == one["algorithm"]] for one in rows
    }


def test_the_spread_has_a_line_for_each_agent():
    figure = spread_plot(values_of(ROWS), "suboptimality_ratio")
    assert {"quick", "slow", "worse"} <= words(figure)
    assert figure.axes[0].get_xscale() == "log"


def test_long_names_are_within_the_figure():
    long = "family(w=8.65, wc=7.41, b=0.2, operator=median, da=true, expendable=true)"
    rows = [
        {"algorithm": name, "map": "m", "start": k, "goal": 0, "solved": True, "suboptimality_ratio": 1.0 + where * k}
        for where, name in enumerate(["lrta", long, "astar"])
        for k in range(1, 9)
    ]
    groups = {name: [one["suboptimality_ratio"] for one in rows if one["algorithm"] == name] for name in ["lrta", long]}
    for figure in (spread_plot(groups, "suboptimality_ratio", COLUMN), difference_plot(compare_rows(rows), COLUMN)):
        figure.draw_without_rendering()
        (axes,) = figure.axes
        boxes = [text.get_window_extent() for text in (*axes.get_yticklabels(), axes.xaxis.label)]
        assert all(box.x0 >= 0 and box.y0 >= 0 for box in boxes)
        middle, *ends = sorted(boxes[:-1], key=lambda box: -box.height)
        assert middle.height > 2 * ends[0].height
        assert not any(a.y0 < b.y1 and b.y0 < a.y1 for a, b in combinations(boxes[:-1], 2))


@pytest.mark.parametrize("rows", [[], [row("stuck", math.nan, 1, 1.0)], [row("one", 1.0, 1, 1.0)]])
def test_few_or_no_results_make_a_plot_all_the_same(rows, tmp_path):
    save_figure(planning_plot(summarise(rows)), tmp_path / "a.png")
    save_figure(spread_plot(values_of(rows), "suboptimality_ratio"), tmp_path / "b.svg")
    assert len(list(tmp_path.iterdir())) == 2


def settings_of(costs):
    """Return an agent for each depth; the first of its two trials did not arrive if the cost is negative."""
    rows = [
        {"algorithm": f"lrta(depth={depth})", "solved": k > 0 or cost > 0, "cost": abs(cost)}
        for depth, cost in costs.items()
        for k in (0, 1)
    ]
    return Setting.of(summarise(rows), {row["algorithm"]: row["algorithm"] for row in rows})


def test_lower_bounds_are_hollow_in_curves_and_marked_in_heat_maps():
    settings = settings_of({1: 5.0, 2: -3.0, 3: 4.0})
    axes = curves_plot(settings, "depth", ["cost"]).axes[0]
    solid = [line for line in axes.lines if line.get_markerfacecolor() != PAPER and len(line.get_xdata())]
    assert [x for line in solid for x in line.get_xdata()] == [1.0, 3.0]
    texts = {text.get_text() for text in heat_map(settings, "depth", "depth", "cost").axes[0].texts}
    assert texts == {"5.00", "≥ 3.00", "4.00"}


def test_inline_svg_uses_the_colours_of_its_page():
    text = inline_svg(planning_plot(summarise(ROWS)), 'A "plot" of <agents>')
    assert text.startswith("<svg ")
    assert "var(--accent)" in text
    assert "var(--ink)" in text
    assert 'aria-label="A &quot;plot&quot; of &lt;agents&gt;"' in text
    assert "<text" in text
    assert set(re.findall(r"https?://[^\"]*", text)) == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_the_same_rows_make_the_same_bytes(tmp_path):
    for name in ("a.svg", "b.svg", "a.png", "b.png"):
        save_figure(planning_plot(summarise(ROWS)), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize("ending", MAGIC)
def test_formats(ending, tmp_path):
    save_figure(new_figure(1, 1), tmp_path / f"a{ending.upper()}")
    assert (tmp_path / f"a{ending.upper()}").read_bytes().startswith(MAGIC[ending])


def test_figures_for_a_paper_are_a_column_wide_and_embed_their_letters(tmp_path):
    figure = planning_plot(summarise(ROWS), look=COLUMN)
    files = save_for_paper(figure, tmp_path / "fig.1")
    assert [file.name for file in files] == ["fig.1.png", "fig.1.svg", "fig.1.pdf"]
    png, svg, pdf = (file.read_bytes() for file in files)
    assert b"<text" not in svg
    assert b"font-family" not in svg
    assert f'width="{3.33 * 72:g}pt"'.encode() in svg
    assert b"/FontFile2" in pdf  # TrueType letters inside
    assert f"/MediaBox [ 0 0 {3.33 * 72:g} ".encode() in pdf
    assert int.from_bytes(png[16:20]) == int(3.33 * 600)
    save_for_paper(figure, tmp_path / "again")
    assert (tmp_path / "again.pdf").read_bytes() == pdf


def test_other_formats_and_places_are_refused(tmp_path):
    with pytest.raises(OutputError, match=r"must end in \.png, \.svg or \.pdf"):
        save_figure(new_figure(1, 1), tmp_path / "a.gif")
    with pytest.raises(OutputError, match="cannot write"):
        save_figure(new_figure(1, 1), tmp_path / "no folder" / "a.png")
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_a_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(OutputError, match=r"pip install 'andante\[report\]'"):
        new_figure(1, 1)


# --- pictures ---

MAP = ["..........", ".@@@@@@@W.", "........T.", ".@@@@@@@@.", "....S....."]


@pytest.fixture(scope="module")
def grid():
    return Grid([list(line) for line in MAP], name="pocket")


@pytest.fixture(scope="module")
def problem(grid):
    return grid.problem((3, 2), (9, 2))


def pixels(path):
    from matplotlib.image import imread

    return imread(path)


def test_a_map_is_drawn_cell_by_cell(grid, tmp_path):
    draw(grid, tmp_path / "map.png")
    image = pixels(tmp_path / "map.png")
    assert image.shape[:2] == (400 + 34, 800)

    def colour(x, y):
        return tuple(image[y * 80 + 40, x * 80 + 40, :3])

    assert colour(0, 0) == colour(5, 2)
    assert len({colour(0, 0), colour(1, 1), colour(8, 1), colour(8, 2), colour(4, 4)}) == 5


def test_a_trial_and_a_trace_are_drawn_on_it(grid, problem, tmp_path):
    draw(grid, tmp_path / "map.png")
    draw(andante.run("lrta", problem), tmp_path / "trial.png")
    draw(record("lrta", problem), tmp_path / "trace.png")
    ground, trial, trace = (pixels(tmp_path / f"{name}.png")[:400] for name in ("map", "trial", "trace"))
    assert not np.array_equal(ground, trial)
    assert not np.array_equal(trial, trace)
    corner = (slice(0, 70), slice(700, 790))  # the top right, which the agent did not visit in the trial
    wall = (slice(90, 150), slice(90, 150))
    assert np.array_equal(ground[wall], trial[wall])
    assert np.array_equal(ground[wall], trace[wall])
    assert ground[corner].shape == trial[corner].shape


def test_infinite_values_can_be_drawn(problem, tmp_path):
    trace = record("rta", problem)
    trace.thoughts["value"][trace.thoughts["kind"] == 1] = np.inf
    draw(trace, tmp_path / "a.png")
    assert (tmp_path / "a.png").exists()


def test_a_problem_without_a_path_can_be_drawn(tmp_path):
    apart = Grid([list("..@..")]).problem((0, 0), (4, 0))
    draw(record("lrta", apart), tmp_path / "a.png")
    draw(andante.run("lrta", apart), tmp_path / "b.png")
    assert len(list(tmp_path.iterdir())) == 2


def reddest(path, width, height):
    """Return the cell of a picture that is most in the colour of the goal."""
    image = pixels(path)[: 800 * height // width, :, :3]
    near = np.abs(image - np.array([0xC2, 0x18, 0x5B]) / 255).sum(-1) < 0.05
    side = 800 // width
    counts = near.reshape(height, side, width, side).sum((1, 3))
    y, x = np.unravel_index(counts.argmax(), counts.shape)
    assert counts[y, x] > 0
    return x, y


@pytest.mark.parametrize("subject", [andante.run, record])
def test_the_goal_is_drawn_where_it_is_even_if_the_agent_does_not_arrive(subject, tmp_path):
    apart = Grid([list("......@..."), list("......@...")]).problem((0, 0), (9, 1))
    seeking = subject("astar", apart, sight=2)
    assert seeking.path[-1] not in (apart.start, apart.goal)
    draw(seeking, tmp_path / "a.png")
    assert reddest(tmp_path / "a.png", 10, 2) == (9, 1)


def test_where_an_agent_ended_that_did_not_arrive_is_marked(problem, tmp_path):
    lost = andante.run("lrta", problem, limits=andante.Limits(moves=3))
    draw(lost, tmp_path / "lost.png")
    x, y = lost.cells[-1]
    assert (x, y) not in (lost.cells[0], (9, 2))
    cell = pixels(tmp_path / "lost.png")[y * 80 : y * 80 + 80, x * 80 : x * 80 + 80, :3]
    assert np.allclose(cell[40, 40], np.array([0x14, 0x50, 0x5C]) / 255, atol=0.02)
    assert (cell == 1).all(-1).any()  # its white edge


def test_large_maps_make_pictures_of_bounded_size(tmp_path):
    draw(Grid(np.ones((10, 5000), bool)), tmp_path / "a.png")
    assert pixels(tmp_path / "a.png").shape[1] == 4096


def test_a_trial_without_a_path_cannot_be_drawn(problem, tmp_path):
    trial = andante.run_many("lrta", [problem], paths=False)[0]
    with pytest.raises(ParameterError, match="paths=True"):
        draw(trial, tmp_path / "a.png")


@given(st.lists(st.integers(0, 8), min_size=1, max_size=40))
def test_a_path_without_loops_visits_nothing_twice(path):
    """Compare with a slow implementation that removes a loop whenever a state is repeated."""
    way = []
    for state in path:
        way = way[: way.index(state) + 1] if state in way else [*way, state]
    assert without_loops(np.array(path, np.int32)).tolist() == way
