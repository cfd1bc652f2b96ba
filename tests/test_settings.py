"""Algorithms as functions, as seen by editors and interactive shells."""

from __future__ import annotations

import inspect

import pytest

import andante
from andante import settings
from andante.errors import ParameterError


def test_every_algorithm_is_a_function_with_its_own_parameters():
    for entry in andante.algorithms():
        function = getattr(settings, entry.card.name.replace("-", "_"))
        assert function() == entry
        assert list(inspect.signature(function).parameters) == [p.name for p in entry.parameters]
        assert function.__doc__.startswith(entry.card.summary)
    assert dir(settings) == sorted(entry.card.name.replace("-", "_") for entry in andante.algorithms())


def test_a_setting_equals_that_of_the_notation():
    assert settings.late_astar(budget=30) == andante.find("late-astar(budget=30)")
    assert str(settings.tba(ties="first")) == "tba(ties=first)"


def test_mistakes_are_refused_as_everywhere():
    with pytest.raises(ParameterError, match="lrta has no parameter 'deph'; did you mean 'depth'?"):
        settings.lrta(deph=3)
    with pytest.raises(AttributeError, match="there is no algorithm 'lrtaa'; did you mean 'rtaa'?"):
        settings.lrtaa  # noqa: B018
