"""Cards for a page: its menus, names, ranges and help are those of the registered algorithms."""

from __future__ import annotations

from collections.abc import Collection
from enum import IntEnum
from typing import Any

from andante.agent import Algorithm, Parameter, parameters_of
from andante.notation import write
from andante.play.recipes import Recipe

#: The claims of cards, in words.
CLAIMS = {
    "real_time": "real-time",
    "complete": "complete",
    "optimal": "optimal",
    "converges": "convergent",
    "senses": "discovers its map",
    "living": "follows a map that changes",
    "pursues": "pursues a goal that moves",
    "crowd": "can be one of a crowd",
}


def card_of(algorithm: Algorithm, recipe: Recipe | None, links: Collection[str] = ()) -> dict[str, Any]:
    """Return the card of an algorithm; ``recipe`` lists the values that a page can offer, if it has any."""
    card = algorithm.card
    shaping = {one.name: one.values for one in recipe.shaping} if recipe else {}
    return {
        "name": card.name,
        "title": card.title,
        "summary": card.summary,
        "paper": card.paper,
        "link": next(iter(links), ""),
        "claims": [words for claim, words in CLAIMS.items() if getattr(algorithm, claim, getattr(card, claim))],
        "living": algorithm.living,
        "pursues": algorithm.pursues,
        "crowd": algorithm.crowd,
        "needs": list(algorithm.needs),
        "anywhere": not algorithm.needs and not card.regions,
        "parameters": [_parameter(one, shaping.get(one.name)) for one in algorithm.parameters],
        "examples": list(card.examples),
        "shown": list(card.shown),
    }


def _parameter(one: Parameter, values: list[Any] | None) -> dict[str, Any]:
    """Return what a page needs to know about a parameter; values are written as in the notation."""
    is_choice = issubclass(one.kind, IntEnum)
    if values is None and issubclass(one.kind, IntEnum):
        values = list(one.kind)
    return {
        "name": one.name,
        "about": one.about,
        "allowed": one.allowed,
        "kind": "choice" if is_choice else one.kind.__name__,
        "optional": one.optional,
        "default": write(one.word(one.default)),
        "least": _bound(one, "low"),
        "most": _bound(one, "high"),
        "values": None if values is None else [write(one.word(value)) for value in values],
    }


def _bound(one: Parameter, side: str) -> float | None:
    """Return the least or greatest allowed value; None if there is none."""
    value = getattr(one.range, side) if one.range is not None else None
    return value if value is not None and abs(value) != float("inf") else None


def codes_of(algorithm: Algorithm) -> list[dict[str, Any]]:
    """Return the name and kind of each word that is a parameter, and its value if it is fixed."""
    free = {one.name for one in algorithm.parameters}
    return [
        {
            "name": one.name,
            "kind": "choice" if issubclass(one.kind, IntEnum) else one.kind.__name__,
            "words": {word.name.lower(): int(word) for word in one.kind} if issubclass(one.kind, IntEnum) else {},
            "fixed": None if one.name in free else write(one.word(getattr(algorithm.params, one.name))),
        }
        for one in parameters_of(type(algorithm.params))
    ]
