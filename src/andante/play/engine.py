"""The engine of the playground: the machine code of all agents as one WebAssembly module, recipes and cards.

It is one file: a line of text with the length of the JSON after it, the JSON, and the module. `make playground` makes
it once, with Zig. It works on maps that Python has never seen.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from andante.errors import AlgorithmError
from andante.export.library import Exported, objects, sources, template, words_of
from andante.export.linking import link
from andante.files import write_whole
from andante.play.about import about_engine, code_key
from andante.play.code import SIGHT, WASM, Code, Progress, Workers, chosen, discovers, is_anywhere
from andante.play.recipes import CrowdMaker, Maker, Recipe, checked_stages, crowd_makers, is_for_crowds, stages

SETTINGS = 6  # random settings that a recipe is checked on, for each further map
CROWD_SETTINGS = 2


def engine(names: Collection[str] = (), progress: Progress = lambda what: None) -> bytes:
    """Return the engine with all algorithms that a page can have, or with those of these names, and A*."""
    wanted = chosen(names)
    progress(f"looking at {len(wanted)} algorithms")
    code = Code(wanted)
    recipes, sighted, crowds = {}, {}, {}
    with Workers(code, progress) as workers:
        anywhere = [one for one in wanted if is_anywhere(one)]
        for number, algorithm in enumerate(anywhere, 1):
            name = algorithm.card.name
            progress(f"memory of {name} ({number} of {len(anywhere)})")
            recipes[name] = checked(Maker(algorithm, stages()), code, SETTINGS)
            if discovers(algorithm):
                sighted[name] = checked(Maker(algorithm, stages(), SIGHT), code, SETTINGS)
            if algorithm.crowd:
                makers = crowd_makers(algorithm, stages())
                crowds[name] = {kind: checked(one, code, CROWD_SETTINGS) for kind, one in makers.items()}
        progress("waiting for the compiler")
        workers.wait()
    agents = code.exported()
    progress("linking")
    return packed(about_engine(recipes, sighted, crowds, names_in(code), words_of(agents)), linked(agents))


def names_in(code: Code) -> dict[str, str]:
    """Return the names of code in the module, by the keys that the page uses."""
    return {code_key(identity): name for identity, name in code.names.items()}


def packed(about: dict[str, Any], blob: bytes) -> bytes:
    """Return JSON and bytes as one file."""
    text = json.dumps(about, separators=(",", ":"), allow_nan=False).encode()
    return f"{len(text)}\n".encode() + text + blob


def checked(maker: Maker, code: Code, settings: int) -> Recipe:
    """Return a recipe for maps of any size, checked against the memory layouts of Python on further maps."""
    recipe = maker.recipe(code.__contains__)
    further = [one for one in checked_stages() if is_for_crowds(one) or not isinstance(maker, CrowdMaker)]
    maker.check(recipe, further, settings)
    return recipe


def linked(agents: Sequence[Exported]) -> bytes:
    """Return the WebAssembly module with these agents; raise `AlgorithmError` without Zig."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in {**sources(agents, "the playground"), "runtime.c": template("runtime.c")}.items():
            (folder / file).write_text(text, encoding="utf-8")
        place = folder / WASM.name
        place.mkdir()
        for file, code in objects(agents, WASM).items():
            (place / file).write_bytes(code)
        if link(place, folder, WASM) is None:
            raise AlgorithmError("Zig, which links the playground, is not installed; pip install 'andante[export]'")
        return (place / WASM.shared).read_bytes()


def main() -> None:
    """Write the engine to the file named on the command line; names of algorithms may follow."""

    def say(what: str) -> None:
        sys.stderr.write(f"{what}\n")

    write_whole(sys.argv[1], engine(sys.argv[2:], say))


if __name__ == "__main__":
    main()
