"""The names of agents as papers write them, from their cards."""

from __future__ import annotations

from dataclasses import replace

from andante.agent import algorithms
from andante.measures import Comparison


def title_of(agent: str) -> str:
    """Return an agent's name with the title of its algorithm instead of its name in the notation.

    The text after the name is kept: parameters that differ from their defaults, and conditions. A name that is not
    registered is returned unchanged.

    >>> title_of("lrta(depth=3), sight 5"), title_of("astar"), title_of("no such agent")
    ('LRTA* (depth=3), sight 5', 'A*', 'no such agent')
    """
    ends = [place for sign in "(," if (place := agent.find(sign)) >= 0]
    end = min(ends, default=len(agent))
    titles = {entry.card.name: entry.card.title for entry in algorithms()}
    name, rest = agent[:end], agent[end:]
    return f"{titles[name]}{' ' if rest.startswith('(') else ''}{rest}" if name in titles else agent


def titled(comparison: Comparison) -> Comparison:
    """Return a comparison with the papers' names for its agents."""
    names = {name: title_of(name) for name in comparison.solved}
    if len(set(names.values())) < len(names):  # two would be called the same
        return comparison
    return replace(
        comparison,
        agents=tuple(names[name] for name in comparison.agents),
        solved={names[name]: count for name, count in comparison.solved.items()},
        differences=tuple(
            one._replace(first=names[one.first], second=names[one.second]) for one in comparison.differences
        ),
        better=frozenset((names[a], names[b]) for a, b in comparison.better),
    )
