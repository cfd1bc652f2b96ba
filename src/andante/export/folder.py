"""Write a folder that a game can use: libraries for its targets, C sources, maps, databases, an example and a README.

The folder is made beside its place and appears complete or not at all.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from andante.agent import Algorithm, find
from andante.databases.header import Database
from andante.episode.crowd import flag, sharing
from andante.episode.lanes import LEAST_MEMORY, MOST_MEMORY
from andante.errors import AlgorithmError, OutputError, ParameterError, quoted, real_number, whole_number
from andante.export.crowds import CrowdPlan, CrowdSize
from andante.export.images import MapImage, Plan
from andante.export.library import (
    Exported,
    names_for,
    objects,
    sources,
    template,
)
from andante.export.linking import link
from andante.export.objects import Target, targets_named
from andante.export.texts import crowd_name, database_names, example, image_name, plan_name, readme, scripts
from andante.files import make_folder
from andante.kernel import JIT
from andante.world.grid import Grid, refuse_costs, refuse_sixteen
from andante.world.living import World

MANIFEST = "export.json"
CROWD_MEMORY = 16e6  # bytes for the units of a crowd, unless another number is given
MOST_UNITS = 2**20
#: Signs that names of maps may contain besides letters and digits: none has a meaning in programs, Markdown or paths.
_IN_NAMES = " ._-+()"
_WASM_BYTES = 2**32 - 2**20  # that a page can address, minus some for the library itself


@dataclass(frozen=True)
class Package:
    """The files that an export has written."""

    folder: Path
    agents: dict[str, str]  # name in C to algorithm
    libraries: dict[str, list[str]]  # target to the names of its files
    unlinked: list[str]  # targets without a linker, for which objects were written

    def __repr__(self) -> str:
        return f"<Package {self.folder}: {', '.join(self.agents)} for {', '.join(self.libraries)}>"


def export(
    algorithms: str | Algorithm | Sequence[str | Algorithm],
    maps: Grid | Sequence[Grid],
    out: str | os.PathLike[str],
    *,
    databases: Database | Sequence[Database] = (),
    targets: str | Sequence[str] = "this",
    living: bool = False,
    crowd: int = 0,
    memory: float = CROWD_MEMORY,
    bodies: bool = False,
    share: str | None = None,
    grow: int = 1,
) -> Package:
    """Write agents as a C library into a folder, for these targets, with these maps and databases.

    With ``living``, programs can close and open cells of the maps. With ``crowd`` there are crowds too, of at most this
    many units, which together take at most ``memory`` bytes; ``bodies`` and ``share`` are as in `andante.Crowd`. A
    crowd can ``grow`` to this many times its size: there are plans for twice as much, four times, and so on. A target
    is ``this`` (machine), ``linux``, ``windows``, ``macos``, ``wasm``, or one of `TARGETS`. The folder may exist only
    if it is empty or was written by an export.
    """
    if not JIT:
        raise ParameterError("only compiled agents can be exported; unset NUMBA_DISABLE_JIT")
    chosen = _targets([targets] if isinstance(targets, str) else targets)
    found = [find(one) for one in ([algorithms] if isinstance(algorithms, str | Algorithm) else algorithms)]
    grids = [maps] if isinstance(maps, Grid) else list(maps)
    if not found or not grids:
        raise ParameterError("an export needs at least one algorithm and one map")
    for grid in grids:
        refuse_costs(grid, "an export")
        refuse_sixteen(grid, "an export")
    _check_map_names(grids)
    given = [databases] if isinstance(databases, Database) else list(databases)
    folder = _place(out)
    sizes = _crowd_sizes(crowd, memory, bodies, share, grow)
    agents = _planned(found, grids, given, living, sizes)
    _check_sizes(agents, chosen)
    _check_names(agents)
    temporary = folder.parent / f".{secrets.token_hex(8)}.part"
    make_folder(folder.parent)
    try:
        temporary.mkdir()
        package = _write(temporary, agents, chosen, living)
        _put(temporary, folder)
    except OSError as error:
        raise OutputError(f"cannot write to {folder}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return Package(folder, *package)


def _targets(names: Sequence[str]) -> list[Target]:
    found = [target for name in names for target in targets_named(name)]
    return list(dict.fromkeys(found))


def _place(out: str | os.PathLike[str]) -> Path:
    """Return the folder to write; raise `OutputError` if it cannot be written, or if it contains other files."""
    folder = Path(os.path.abspath(out))
    if os.path.lexists(folder):
        if not folder.is_dir():
            raise OutputError(f"cannot write to {folder}: it is not a folder")
        strange = sorted(_held(folder) - _listed(folder))
        if strange:
            raise OutputError(
                f"{folder} contains {strange[0]!r}, which no export wrote; name a new folder with --out, or move it"
            )
    return folder


def _held(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def _listed(folder: Path) -> set[str]:
    """Return the files that an earlier export wrote there."""
    try:
        listed = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return {*map(str, listed["files"]), MANIFEST}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _put(temporary: Path, folder: Path) -> None:
    """Rename a complete folder; an earlier export there is removed only when the new one is in its place."""
    old = folder.parent / f".{secrets.token_hex(8)}.part"
    was_there = folder.exists()
    if was_there:
        os.replace(folder, old)
    try:
        os.replace(temporary, folder)
    except OSError:
        if was_there:
            with suppress(OSError):
                os.replace(old, folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _planned(
    algorithms: Sequence[Algorithm],
    grids: Sequence[Grid],
    databases: Sequence[Database],
    living: bool,
    sizes: Sequence[CrowdSize],
) -> list[Exported]:
    """Return the agents with a plan for each map."""
    worlds = [World(grid) if living else grid for grid in grids]
    serving = [[one for one in databases if one.serves(world.graph)] for world in worlds]
    images = [MapImage.of(world, algorithms, given) for world, given in zip(worlds, serving, strict=True)]
    agents = []
    for name, algorithm in zip(names_for(map(str, algorithms)), algorithms, strict=True):
        plans = tuple(Plan.of(algorithm, image, given) for image, given in zip(images, serving, strict=True))
        if len({plan.entry.identity for plan in plans}) > 1:
            raise AlgorithmError(
                f"{algorithm} needs other machine code for some of these maps than for others; export them one by one"
            )
        crowds = tuple(CrowdPlan.of(algorithm, plan.map, plan.databases, size) for plan in plans for size in sizes)
        agents.append(Exported(name, plans, crowds))
    return agents


def _crowd_sizes(crowd: int, memory: float, bodies: bool, share: str | None, grow: int) -> list[CrowdSize]:
    """Return the sizes of a crowd, from the smallest to the largest; none if ``crowd`` is 0."""
    units = whole_number(crowd, "the units of a crowd", least=0, error=ParameterError)
    times = whole_number(grow, "how many times a crowd can grow", least=1, error=ParameterError)
    room = real_number(memory, "memory, in bytes,", least=LEAST_MEMORY)
    shares, has_bodies = sharing(share), flag(bodies, "bodies")
    if units == 0:
        if shares or has_bodies or times > 1:
            raise ParameterError("bodies, share and grow are for crowds; set the number of units a crowd may have")
        return []
    if times * units > MOST_UNITS or times * room > MOST_MEMORY:
        raise ParameterError(f"an exported crowd has at most {MOST_UNITS:,} units and {MOST_MEMORY:g} bytes of memory")
    smallest = CrowdSize(units, int(room), has_bodies, shares)
    doubled = [2**k for k in range((times - 1).bit_length())]
    return [smallest.grown(each) for each in (*doubled, times)]


def _check_sizes(agents: Sequence[Exported], targets: Sequence[Target]) -> None:
    if not any(target.is_wasm for target in targets):
        return
    plans: list[Plan | CrowdPlan] = []
    for one in agents:
        plans += [*one.plans, *one.crowds]
    for plan in plans:
        if plan.total_bytes > _WASM_BYTES:
            raise ParameterError(
                f"{_what(plan)} on {plan.map.world.name} needs {plan.total_bytes:,} bytes, and WebAssembly can "
                f"address {_WASM_BYTES:,}; leave out this target, or choose another algorithm or a smaller map"
            )


def _what(plan: Plan | CrowdPlan) -> str:
    return f"a crowd of {plan.algorithm}" if isinstance(plan, CrowdPlan) else str(plan.algorithm)


# --- files ----------------------------------------------------------------------------------------------------------


def _check_map_names(grids: Sequence[Grid]) -> None:
    """Raise `ParameterError` if two maps have the same name, or files and programs cannot be written with one."""
    for grid in grids:
        strange = next((sign for sign in grid.name if not (sign.isalnum() or sign in _IN_NAMES)), None)
        if strange is not None:
            raise ParameterError(
                f"the map {quoted(grid.name)} cannot be exported, because {quoted(strange)} may have a meaning in "
                f"programs or paths; rename it with only letters, digits and signs of {quoted(_IN_NAMES)}"
            )
    if len({grid.name for grid in grids}) < len(grids):
        raise ParameterError("two of the maps have the same name, and so would their files")


def _check_names(agents: Sequence[Exported]) -> None:
    """Raise `ParameterError` if two databases would have the same file name."""
    named: dict[str, Database] = {}
    for one in agents:
        for plan in one.plans:
            for name, database in zip(database_names(plan), plan.databases, strict=True):
                if named.setdefault(name, database) is not database:
                    raise ParameterError(
                        f"two different databases would be written to {name}; export the algorithms that use them into "
                        "separate folders"
                    )


def _write(
    folder: Path, agents: Sequence[Exported], targets: Sequence[Target], living: bool
) -> tuple[dict[str, str], dict[str, list[str]], list[str]]:
    """Write everything into a new folder."""
    names = {one.name: one.algorithm for one in agents}
    for name, text in {
        **sources(agents, ", ".join(names)),
        "runtime.c": template("runtime.c"),
        "LICENSE.txt": template("LICENSE.txt"),
        "example.c": example(agents[0], living),
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    _write_data(folder / "data", agents)
    libraries: dict[str, list[str]] = {}
    unlinked = []
    for target in targets:
        place = folder / target.name
        place.mkdir()
        for name, code in objects(agents, target).items():
            (place / name).write_bytes(code)
        made = link(place, folder, target)
        if made is None:
            unlinked.append(target.name)
        libraries[target.name] = made or sorted(path.name for path in place.iterdir())
        if target.is_wasm:
            for name, text in scripts(agents).items():
                (place / name).write_text(text, encoding="utf-8")
                libraries[target.name].append(name)
    (folder / "README.md").write_text(readme(agents, libraries, unlinked, living), encoding="utf-8")
    listed = {"agents": names, "libraries": libraries, "files": sorted(_held(folder))}
    (folder / MANIFEST).write_text(json.dumps(listed, indent=2) + "\n", encoding="utf-8")
    return names, libraries, unlinked


def _write_data(folder: Path, agents: Sequence[Exported]) -> None:
    folder.mkdir()
    for one in agents:
        for plan in one.plans:
            (folder / image_name(plan.map)).write_bytes(plan.map.data)
            (folder / plan_name(plan, one.name)).write_bytes(plan.data)
            for name, database in zip(database_names(plan), plan.databases, strict=True):
                (folder / name).write_bytes(database.to_bytes())
        for crowd in one.crowds:
            (folder / crowd_name(crowd, one.name)).write_bytes(crowd.data)
