"""Adding and removing arcs of abstract nodes: rows of chunks that grow and shrink (see `abstraction.layers`)."""

from __future__ import annotations

from andante.abstraction.layers import CHUNK, CHUNK_MASK, Layers, chunk_of, note_chunk, note_node
from andante.kernel import int64, kernel


@kernel
def add_arc(layers: Layers, node: int, to: int) -> None:
    """Count one more arc from ``node`` to ``to``."""
    chunk, place = _find_or_make(layers, node, to)
    layers.arc[chunk, CHUNK + place] += 1


@kernel
def set_arc(layers: Layers, node: int, to: int, number: int) -> None:
    """Make the arc from ``node`` to ``to`` represent ``number`` arcs below; add it if it is missing."""
    chunk, place = _find_or_make(layers, node, to)
    layers.arc[chunk, CHUNK + place] = number


@kernel
def _find_or_make(layers: Layers, node: int, to: int) -> tuple[int, int]:
    """Return the chunk and the place of the arc from ``node`` to ``to``; add it with a count of 0 if it is missing."""
    entry = layers.node[node - layers.ground]
    chunk, left, last = int64(entry["row"]), int64(entry["degree"]), 0
    while left > 0:
        for place in range(min(left, CHUNK)):
            if layers.arc[chunk, place] == to:
                note_chunk(layers, chunk)
                return chunk, place
        last, chunk, left = chunk, int64(layers.link[chunk]), left - CHUNK
    place = int64(entry["degree"]) & CHUNK_MASK
    if place == 0:
        fresh = _new_chunk(layers)
        if last > 0:
            note_chunk(layers, last)
            layers.link[last] = fresh
        else:
            entry["row"] = fresh
        last = fresh
    note_chunk(layers, last)
    layers.arc[last, place], layers.arc[last, CHUNK + place] = to, 0
    note_node(layers, node)
    entry["degree"] += 1
    return last, place


@kernel
def drop_arc(layers: Layers, node: int, to: int) -> None:
    """Remove the arc from ``node`` to ``to``; the last arc of the row takes its place."""
    entry = layers.node[node - layers.ground]
    last = int64(entry["degree"]) - 1
    row = int64(entry["row"])
    end = chunk_of(layers, row, last)
    for k in range(last + 1):
        chunk = chunk_of(layers, row, k)
        if layers.arc[chunk, k & CHUNK_MASK] == to:
            note_chunk(layers, chunk)
            layers.arc[chunk, k & CHUNK_MASK] = layers.arc[end, last & CHUNK_MASK]
            layers.arc[chunk, CHUNK + (k & CHUNK_MASK)] = layers.arc[end, CHUNK + (last & CHUNK_MASK)]
            break
    note_node(layers, node)
    entry["degree"] = last
    if last & CHUNK_MASK == 0:
        if last == 0:
            entry["row"] = 0
        _give_back_chunk(layers, end)


@kernel
def clear_row(layers: Layers, node: int) -> None:
    """Remove all arcs of a node."""
    chunk, arcs = set_aside(layers, node)
    give_back_row(layers, chunk, arcs)


@kernel
def set_aside(layers: Layers, node: int) -> tuple[int, int]:
    """Remove all arcs of a node but keep them; return their first chunk and their number, for `give_back_row`."""
    note_node(layers, node)
    entry = layers.node[node - layers.ground]
    chunk, arcs = int64(entry["row"]), int64(entry["degree"])
    entry["row"] = entry["degree"] = 0
    return chunk, arcs


@kernel
def give_back_row(layers: Layers, chunk: int, arcs: int) -> None:
    """Release the chunks of a row that was set aside."""
    while arcs > 0:
        after = int64(layers.link[chunk])
        _give_back_chunk(layers, chunk)
        chunk, arcs = after, arcs - CHUNK


@kernel
def _new_chunk(layers: Layers) -> int:
    chunk = layers.scalars[0]["free_chunk"]
    if chunk > 0:
        layers.scalars[0]["free_chunk"] = layers.link[chunk]
        layers.scalars[0]["free_chunks"] -= 1
    else:
        chunk = layers.scalars[0]["chunks"]
        layers.scalars[0]["chunks"] = chunk + 1
    return chunk


@kernel
def _give_back_chunk(layers: Layers, chunk: int) -> None:
    note_chunk(layers, chunk)
    layers.link[chunk] = layers.scalars[0]["free_chunk"]
    layers.scalars[0]["free_chunk"] = chunk
    layers.scalars[0]["free_chunks"] += 1
