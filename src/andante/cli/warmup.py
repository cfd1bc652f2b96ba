"""`andante warmup`: compile all kernels now."""

from __future__ import annotations

import time

import typer

from andante.cli.shared import out, show_compilation

app = typer.Typer(add_completion=False)


@app.command()
def warmup() -> None:
    """Compile every algorithm, for grids and for other graphs, so that later commands start faster."""
    import numpy as np

    from andante.agent import algorithms
    from andante.episode.run import Outfit, compile_all
    from andante.files import cache_folder
    from andante.world.grid import Grid

    graph = Grid(np.ones((16, 16), bool)).graph  # large enough for some levels of abstraction
    entries = algorithms()
    began = time.perf_counter()
    with show_compilation() as report:
        compile_all([Outfit(entry) for entry in entries], [graph, graph.csr()], report)
    took = time.perf_counter() - began
    out.print(
        f"{len(entries)} algorithms are ready after {took:.1f} s; their machine code is in {cache_folder()}",
        soft_wrap=True,
    )
