"""What the page needs to know about the engine, and about a map that it is written for, as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from andante.agent import algorithms
from andante.databases.header import VERSION
from andante.episode.units import UNIT
from andante.errors import AlgorithmError
from andante.export.crowds import CROWD_HEAD, CROWD_NUMBERS
from andante.export.images import (
    MAP_NUMBERS,
    MIND_BEGINS,
    MOST_DATABASES,
    PLAN_NUMBERS,
    levels_code,
    map_arrays,
    map_code,
    map_entries,
    number_of,
)
from andante.export.layout import DATABASE, aligned
from andante.export.records import exchanged, record_data
from andante.kernel import Table
from andante.measures import Outcome
from andante.play.cards import card_of, codes_of
from andante.play.recipes import CROWD_CELLS, SIZES, Formula, Layout, Recipe, fitted, stages
from andante.play.samples import Sample, sample_table
from andante.search.memory import CLOCK
from andante.search.path import PATH
from andante.search.plan import PLAN
from andante.search.tracing import ENDS, TRACING
from andante.world.living import World
from andante.world.parts import Parts

#: Records of agents and crowds that the page reads.
_SEEN = {"UNIT": UNIT, "CLOCK": CLOCK, "PLAN": PLAN, "PATH": PATH, "ENDS": ENDS, "TRACING": TRACING}

Names = Mapping[str, str]  # of code in the module, by the number of its identity


def code_key(identity: str) -> str:
    """Return the number that identifies code, as a key of JSON."""
    return str(number_of(identity))


def is_known(names: Names, identity: str) -> bool:
    """Return whether a module has this code."""
    return code_key(identity) in names


def as_hex(content: bytes) -> Any:
    """Return bytes as text for JSON."""
    return content.hex()


def about_engine(
    recipes: dict[str, Recipe],
    sighted: dict[str, Recipe],
    crowds: dict[str, dict[str, Recipe]],
    names: Names,
    words: int,
) -> dict[str, Any]:
    """Return everything that the page needs to know about the engine, for JSON.

    ``sighted`` has the recipes of agents that discover their map; ``words`` is the length of the longest context.
    """
    from importlib.metadata import version

    from andante.report.papers import papers_of

    return {
        "version": version("andante"),
        "file_version": VERSION,
        "database_segment": DATABASE,
        "map_numbers": list(MAP_NUMBERS),
        "plan_numbers": list(PLAN_NUMBERS),
        "databases": MOST_DATABASES,
        "words": words,
        "codes": dict(names),
        "mind_begins": MIND_BEGINS,
        "crowd_numbers": list(CROWD_NUMBERS),
        "crowd_cells": CROWD_CELLS,
        "crowd_begins": aligned(CROWD_HEAD.itemsize),
        "outcomes": [one.name for one in Outcome],
        "records": {**exchanged(), **{name: record_data(dtype) for name, dtype in _SEEN.items()}},
        "map": about_map(),
        "recipes": {name: about_recipe(recipe, names) for name, recipe in recipes.items()},
        "sighted": {name: about_recipe(recipe, names) for name, recipe in sighted.items()},
        "crowds": about_crowds(crowds, names),
        "cards": [
            card_of(one, recipes.get(one.card.name), [paper.link for paper in papers_of(one) if paper.link])
            for one in algorithms()
            if one.card.name in recipes or one.needs or one.card.regions
        ],
    }


def about_crowds(
    crowds: dict[str, dict[str, Recipe]], names: Names, keep: Callable[[bytes], Any] = as_hex
) -> dict[str, Any]:
    """Return recipes of crowds, with bodies and without, for JSON."""
    return {
        name: {kind: about_recipe(recipe, names, keep) for kind, recipe in kinds.items()}
        for name, kinds in crowds.items()
    }


def about_recipe(recipe: Recipe, names: Names, keep: Callable[[bytes], Any] = as_hex) -> dict[str, Any]:
    """Return a recipe for JSON; what differs between the columns of a layout is a list in ``by``.

    ``keep`` returns the JSON value for the contents of a piece of memory.
    """
    shaping = [
        {
            "name": one.name,
            "values": [_written(recipe, one.name, value) for value in one.values],
            "classes": one.classes,
        }
        for one in recipe.shaping
    ]
    return {
        "anchored": int(recipe.algorithm.card.anchored),
        "pursues": int(recipe.algorithm.pursues),
        "databases": list(recipe.algorithm.needs),
        "parameters": codes_of(recipe.algorithm),
        "shaping": shaping,
        "variants": {",".join(map(str, key)): place for key, place in recipe.variants.items()},
        "layouts": [_about_layout(layout, names, keep) for layout in recipe.layouts],
    }


def _written(recipe: Recipe, name: str, value: Any) -> str:
    from andante.notation import write

    parameter = next(one for one in recipe.algorithm.parameters if one.name == name)
    return write(parameter.word(value))


def _about_layout(layout: Layout, names: Names, keep: Callable[[bytes], Any]) -> dict[str, Any]:
    symbols: dict[Any, int] = {}
    places = [symbols.setdefault(column, len(symbols)) for column in zip(*layout.columns, strict=True)]
    words = len(layout.first.words)
    pieces, at = [], words
    for piece in layout.first.pieces:
        held = (
            piece.rule or keep(piece.content) if piece.rule or piece.content else places[at + 1 : at + 1 + piece.words]
        )
        pieces.append([piece.segment, places[at], held, *([1] if piece.once else [])])
        at += 1 + piece.words
    return {
        "agent": names[code_key(layout.first.identity)],
        "code": code_key(layout.first.identity),
        "symbols": [_by([one.as_data() for one in column]) for column in symbols],
        "words": [[*word, place] for word, place in zip(layout.first.words, places[:words], strict=True)],
        "pieces": pieces,
        "parameters_at": layout.parameters_at,
        "peeks": layout.peeks,
    }


def _by(column: Sequence[Any]) -> Any:
    """Return the common value of all columns or, if they differ, all values."""
    return column[0] if all(one == column[0] for one in column) else {"by": list(column)}


# --- maps -----------------------------------------------------------------------------------------------------------


def about_map() -> dict[str, Any]:
    """Return the layout of a map that changes, with all cells closed and not yet swept, for JSON."""
    found = [_map_arrays(stage.world) for stage in stages() if isinstance(stage.world, World)]
    contexts = [_map_contexts(stage.world, stage.places) for stage in stages() if isinstance(stage.world, World)]
    arrays = []
    for name in found[0]:
        formula = _must_fit([one[name][0] for one in found], name)
        arrays.append([name, formula.as_data(), _map_content(name, [one[name][1] for one in found])])
    described = {}
    for key, first in contexts[0].items():
        numbers = zip(*(one[key].numbers for one in contexts), strict=True)
        described[key] = [
            [*word, _must_fit(values, key).as_data()] for word, values in zip(first.words, numbers, strict=True)
        ]
    sweeps = record_data(Parts.over(1).scalars.dtype)["fields"]["sweeps"]
    return {
        "code": str(map_code()),
        "arrays": arrays,
        "contexts": described,
        "sweeps": sweeps[0],
        "levels_code": str(levels_code()),
    }


def _must_fit(values: Sequence[int], what: str) -> Formula:
    formula = fitted(SIZES, values)
    if formula is None:
        raise AlgorithmError(f"no formula explains what maps of {SIZES} cells need for {what}: {values}")
    return formula


def _map_arrays(world: World) -> dict[str, tuple[int, bytes]]:
    """Return the bytes of each array of a map, and its contents before the first sweep."""
    fresh = Parts.over(len(world.graph))
    unswept = {f"parts_{key}": part for key, part in fresh._asdict().items()}
    arrays = {**map_arrays(world), **unswept}
    return {name: (array.nbytes, array.tobytes()) for name, array in arrays.items()}


def _map_content(name: str, contents: Sequence[bytes]) -> Any:
    """Return the contents of an array of a map with all cells closed: a pattern, or a rule that all sizes follow."""
    if name in ("x", "y"):
        for (width, height), content in zip(SIZES, contents, strict=True):
            y, x = np.divmod(np.arange(width * height), width)
            if (x if name == "x" else y).astype(np.int16).tobytes() != content:
                raise AlgorithmError(f"the array {name} of a map differs from the page's")
        return name
    if name == "offset":
        steps = [(dx, dy) for dx, dy in ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))]
        for (width, _), content in zip(SIZES, contents, strict=True):
            if np.array([dx + dy * width for dx, dy in steps], np.int64).tobytes() != content:
                raise AlgorithmError("the directions of a map are not in the page's order")
        return {"steps": steps}
    if not any(map(any, contents)):
        return ""
    period = next(
        (k for k in (1, 2, 4, 8) if all(one == (one[:k] * (len(one) // k + 1))[: len(one)] for one in contents)), None
    )
    if period is not None and len({one[:period] for one in contents}) == 1:
        return contents[0][:period].hex()
    if len(set(contents)) == 1:
        return contents[0].hex()
    raise AlgorithmError(f"the array {name} of a map follows no rule that the page knows")


def _map_contexts(world: World, places: Any) -> dict[str, Sample]:
    """Return the contexts of the kernels that work on maps alone."""
    return {key: sample_table(table, places, _no_pieces) for key, table in world_tables(world).items()}


def world_tables(world: World) -> dict[str, Table]:
    """Return the contexts of the kernels of a map, by name."""
    from andante.kernel import table_of
    from andante.search.hillclimb import walk_straight

    found = {"straight": table_of(walk_straight, world.graph.arrays), **world.tables()}
    assert list(found) == list(map_entries())
    return found


def _no_pieces(arrays: Any, low: int, high: int) -> int:
    raise AlgorithmError("a kernel of maps uses memory that is not the map's")
