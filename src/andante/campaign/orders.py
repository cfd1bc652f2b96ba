"""Orders of databases: a kind with all its parameters, and everything else that determines its contents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import andante
from andante.campaign.maps import PlannedMap
from andante.datafile import only_texts
from andante.kernel import source_state
from andante.notation import Call, parse
from andante.offline import builders
from andante.offline.builder import asks_for_goals, with_parameters


@cache
def version_of_code(function: Callable[..., Any]) -> str:
    """Return the version of all code that a function runs: Andante's version, and a hash of the sources."""
    return f"{andante.__version__} {source_state(function)}"


class BuildOrder(NamedTuple):
    """A database to build: its kind with all parameters, the version of its builder, and training maps."""

    text: str
    version: str
    training: tuple[PlannedMap, ...] = ()  # for a kind that serves any map; if empty, it is built for each map

    @property
    def name(self) -> str:
        """Its kind, without parameters."""
        return parse(self.text).name

    @property
    def brief(self) -> str:
        """The text without parameters that have their default values, for reports.

        >>> BuildOrder.of("subgoals(records=500)").brief
        'subgoals(records=500)'
        """
        call = parse(self.text)
        usual = {p.name: p.word(p.default) for p in builders()[call.name].parameters}
        return str(Call(call.name, {name: value for name, value in call.arguments.items() if value != usual[name]}))

    @property
    def serves_any_map(self) -> bool:
        """Whether it is built from training maps rather than for each map."""
        return builders()[self.name].any_map

    @property
    def asks_for_goals(self) -> bool:
        """Whether it is built for the goals of the campaign's problems only."""
        return asks_for_goals(self.text)

    @property
    def stale(self) -> bool:
        """Whether the builder's code has changed since the order was made."""
        return self.version != version_of_code(builders()[self.name].make)

    @classmethod
    def of(cls, text: str) -> BuildOrder:
        """Return the order described by a text in the notation.

        >>> BuildOrder.of("moves").text
        'moves'
        """
        call = parse(text)
        chosen, params = with_parameters(call.name, dict(call.arguments))
        words = {p.name: p.word(value) for p, value in zip(chosen.parameters, params, strict=True)}
        return cls(str(Call(chosen.kind, words)), version_of_code(chosen.make))

    @property
    def deciding(self) -> tuple[str, ...]:
        """Everything that determines the contents of the database, except the map it is built for."""
        return (self.text, self.version, *(planned.fingerprint for planned in self.training))

    def as_data(self) -> dict[str, Any]:
        """Return plain data for a manifest."""
        maps = [planned.as_data() for planned in self.training]
        return {"text": self.text, "version": self.version, "training": maps}

    @classmethod
    def from_data(cls, data: Mapping[str, Any], folder: str) -> BuildOrder:
        """Return the order from what `as_data` returned; the paths of maps start at ``folder``."""
        maps = tuple(PlannedMap.from_data(each, folder) for each in data["training"])
        text, version = only_texts((data["text"], data["version"]))
        return cls(text, version, maps)


def full_database(text: str) -> str:
    """Return a database with all its parameters, as rows name it.

    >>> full_database("moves()")
    'moves'
    """
    return BuildOrder.of(text).text
