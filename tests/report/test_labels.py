"""Labels cannot be misread: each name is at its point, at the end of a line from it, or beside its number."""

import math
import re
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.text import Text

from andante.report.figure import COLUMN, new_figure, styled
from andante.report.labels import label
from andante.report.titles import title_of


def drawn(named, others, line=(), name="agent number {}"):
    """Return the axes with these points, their labels, and the texts below."""
    figure = new_figure(3.3, 2.5)
    with styled(COLUMN):
        axes = figure.add_subplot()
        for point in [*named, *others]:
            axes.plot(*point, "o")
        axes.margins(0.1)
        label(figure, axes, [name.format(k) for k in range(len(named))], named, others, size=7, line=line)
    figure.draw_without_rendering()
    below = []
    for text in figure.texts:
        if text.get_text().startswith(" "):  # the line above continues
            below[-1] += f" {text.get_text().strip()}"
        else:
            below.append(text.get_text())
    return figure, axes, below


def box_of(text, figure):
    """Return the box of a text's letters, without the line, in points of 1/72 inch."""
    extent = Text.get_window_extent(text).transformed(figure.dpi_scale_trans.inverted())
    return np.array([extent.x0, extent.y0, extent.x1, extent.y1]) * 72


def distance(box, place):
    return math.hypot(max(box[0] - place[0], place[0] - box[2], 0), max(box[1] - place[1], place[1] - box[3], 0))


@pytest.mark.parametrize("seed", range(8))
def test_no_name_can_be_mistaken_for_that_of_another_point(seed):
    rng = np.random.default_rng(seed)
    named, others = ([tuple(point) for point in rng.integers(0, 20, (rng.integers(1, 14), 2)).tolist()] for _ in "ab")
    figure, axes, below = drawn(named, others)
    places = {
        point: axes.transData.transform(point) * 72 / figure.dpi for point in {*named, *others}
    }  # points in one place are one
    listed = {}
    for line in below:
        number, _, names = line.partition("  ")
        listed[number] = [int(re.sub("agent number ", "", name)) for name in names.split("; ")]
    boxes = []
    for text in axes.texts:
        words, point = text.get_text(), tuple(text.xy)
        if words in listed:
            assert all(math.dist(places[named[k]], places[point]) < 6 for k in listed[words])
        else:
            assert named[int(words.rpartition(" ")[2])] == point
        box = box_of(text, figure)
        own = distance(box, places[point])
        if text.arrow_patch is None:  # without a line its own point is the nearest, or below it
            assert own < 1 or all(distance(box, place) > own for other, place in places.items() if other != point)
        else:  # the line does not pass so near to another point that it seems to begin there
            end = np.array([max(box[0], min(places[point][0], box[2])), (box[1] + box[3]) / 2])
            along = np.linspace(0.2, 1.0, 200)[:, None] * (end - places[point]) + places[point]
            others_there = [place for other, place in places.items() if other != point]
            assert all(np.hypot(*(along - place).T).min() > 6 for place in others_there)
        if own > 1:
            assert not any(distance(box, place) < 2 for place in places.values())  # does not hide a point
            boxes.append(box)
    for k, one in enumerate(boxes):
        for other in boxes[:k]:
            apart = one[2] <= other[0] + 1 or other[2] <= one[0] + 1 or one[3] <= other[1] + 1 or other[3] <= one[1] + 1
            assert apart
    shown = [text.get_text() for text in axes.texts]
    found = [words for words in shown if words not in listed]
    found += [f"agent number {k}" for some in listed.values() for k in some]
    assert sorted(found) == sorted(f"agent number {k}" for k in range(len(named)))


def test_a_single_point_has_its_name_beside_it():
    _, axes, below = drawn([(1, 1)], [])
    (text,) = axes.texts
    assert (text.get_text(), text.arrow_patch, below) == ("agent number 0", None, [])


def test_points_in_one_place_share_a_number():
    _, axes, below = drawn([(1, 1)] * 90, [])
    assert len(axes.texts) + len([name for line in below for name in line.split(";")]) - len(below) == 90
    assert len(below) == 1


def test_a_name_that_begins_with_a_number_keeps_it():
    crowded = [(k % 6, k // 6) for k in range(36)]
    _, axes, below = drawn(crowded, [], name="{}. an agent with quite a long name")
    listed = [line.partition(".")[0] for line in below]
    assert listed
    assert {text.get_text() for text in axes.texts if text.get_text().isdigit()} == set(listed)


def test_names_of_agents_are_those_of_papers():
    assert title_of("late-astar") == "Late-acting A*"
    assert title_of("tba(budget=10), at most 3 moves") == "TBA* (budget=10), at most 3 moves"


def test_no_name_covers_a_line_of_the_plot():
    points = [(1, 3), (2, 2), (3, 1)]
    stairs = [(1, 3), (2, 3), (2, 2), (3, 2), (3, 1)]
    figure, axes, _ = drawn(points, [], stairs)
    steps = np.linspace(0, 1, 200)
    corners = axes.transData.transform(stairs) * 72 / figure.dpi
    along = [a + (b - a) * step for a, b in pairwise(corners) for step in steps]
    for text in axes.texts:
        assert min(distance(box_of(text, figure), place) for place in along) > 0.5


def test_a_long_name_below_the_plot_has_several_lines():
    name = "agent (one=1.25, two=2.5, three=avg, four=true, five=expendable, six=shortcut)"
    figure = new_figure(3.3, 2.5)
    with styled(COLUMN):
        axes = figure.add_subplot()
        axes.plot([1, 2], [1, 2], "o")
        label(figure, axes, [name], [(1, 1)], [(2, 2)], size=7)
    assert [text.get_text() for text in axes.texts] == ["1"]
    figure.draw_without_rendering()
    assert len(figure.texts) > 1
    edge = figure.get_figwidth() * 72
    assert all(box_of(text, figure)[2] <= edge for text in figure.texts)
    assert " ".join(text.get_text().strip() for text in figure.texts) == f"1  {name}"
