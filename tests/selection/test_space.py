"""Candidates and settings drawn from the ranges of the register."""

import ast
from pathlib import Path

import numpy as np
import pytest

import andante.selection
from andante.agent import algorithms, find
from andante.campaign.orders import BuildOrder
from andante.campaign.settings import sample
from andante.episode.run import Outfit
from andante.offline import builders
from andante.selection.space import candidates, drawn_setting, neighbour

ALL = algorithms()


@pytest.mark.parametrize("entry", ALL, ids=str)
def test_every_drawn_setting_is_valid(entry):
    rng = np.random.default_rng(1)
    one = Outfit(entry)
    for _ in range(50):
        drawn = drawn_setting(entry, rng)
        assert find(str(drawn)) == drawn
        one = neighbour(one, rng)
        assert find(str(one.algorithm)) == one.algorithm
        if any(p.name != "seed" for p in entry.parameters):
            assert tuple(BuildOrder.of(text).name for text in one.databases) == one.algorithm.needs


def test_the_family_is_drawn_from_all_six_dimensions():
    settings = sample("family", 400, 1, {})
    params = [entry.params for entry in settings]
    for name, low, high in (("w", 1, 10), ("wc", 1, 10), ("b", 0, 1)):
        values = np.array([getattr(p, name) for p in params])
        assert low <= values.min() < low + 0.1 * (high - low)
        assert high - 0.1 * (high - low) < values.max() <= high
        assert abs(values.mean() - (low + high) / 2) < 0.06 * (high - low)
    assert {p.operator.name for p in params} == {"MIN", "AVG", "MEDIAN", "MAX"}
    assert {(p.da, p.expendable) for p in params} == {(a, b) for a in (False, True) for b in (False, True)}


def test_settings_of_cards_come_first():
    found = candidates(lambda entry: not entry.card.needs, 120, seed=3)
    names = [one.name for one in found]
    assert len(names) == len(set(names)) == 120
    for entry in ALL:
        if not entry.card.needs:
            assert {entry.card.name, *map(str, map(find, entry.card.examples))} <= set(names)


def test_the_seed_determines_the_settings_drawn():
    def names(seed):
        return [one.name for one in candidates(lambda entry: not entry.card.needs, 100, seed)]

    assert names(1) == names(1) != names(2)


def test_an_algorithm_without_parameters_is_one_candidate():
    assert [one.name for one in candidates(lambda entry: entry.card.name == "rta", 10, seed=1)] == ["rta"]


def test_agents_with_databases_are_combined_with_each_kind():
    found = candidates(lambda entry: entry.card.name == "knn", 3, seed=1)
    assert {one.databases for one in found if str(one.algorithm) == "knn"} == {
        ("subgoals",),
        ("subgoals(records=1000, series=true)",),
        ("subgoals(series=true, coverage=gaps)",),
    }


def test_a_database_for_an_agent_that_plans_on_regions_is_built_over_its_level():
    found = candidates(lambda entry: entry.card.name == "dprlrta", 3, seed=1)
    assert "pattern(base=3, level=4)" in {one.databases[0] for one in found}


def test_a_database_over_the_highest_level_can_be_built():
    highest, rng = Outfit(find("prlrts(level=20, goal_by=pattern)"), ("pattern",)), np.random.default_rng(1)
    for one in (neighbour(highest, rng) for _ in range(50)):
        assert [BuildOrder.of(text).name for text in one.databases] == list(one.algorithm.needs)


def literals(tree):
    """Return the texts in a program, except docstrings and names of columns."""
    homes = (ast.Module, ast.ClassDef, ast.FunctionDef)
    aside = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, homes) and node.body and isinstance(node.body[0], ast.Expr)
    }
    aside |= {id(node.slice) for node in ast.walk(tree) if isinstance(node, ast.Subscript)}
    aside |= {id(key) for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in aside and isinstance(node.value, str)
    ]


def test_selection_knows_no_algorithm_and_no_kind_of_database_by_name():
    names = {entry.card.name for entry in ALL} | set(builders())
    for file in Path(andante.selection.__file__).parent.glob("*.py"):
        known = [text for text in literals(ast.parse(file.read_text("utf-8"))) if text.partition("(")[0] in names]
        assert (file.name, known) == (file.name, [])
