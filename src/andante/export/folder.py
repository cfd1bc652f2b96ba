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
from typing import Any

import numpy as np

from andante.agent import Algorithm, find
from andante.databases.header import Database
from andante.episode.crowd import flag, sharing
from andante.episode.lanes import LEAST_MEMORY, MOST_MEMORY
from andante.errors import AlgorithmError, OutputError, ParameterError, real_number, whole_number
from andante.export.crowds import CrowdPlan, CrowdSize
from andante.export.images import MOST_DATABASES, MapImage, Plan
from andante.export.library import (
    Exported,
    filled,
    moves_and_codes,
    names_for,
    objects,
    sources,
    template,
    tick_names,
    words_of,
)
from andante.export.linking import link
from andante.export.objects import TARGETS, Target, targets_named
from andante.files import make_folder
from andante.kernel import JIT
from andante.measures import Outcome
from andante.world.grid import Grid, refuse_costs, refuse_sixteen
from andante.world.living import World

MANIFEST = "export.json"
CROWD_MEMORY = 16e6  # bytes for the units of a crowd, unless another number is given
MOST_UNITS = 2**20
_WASM_BYTES = 2**32 - 2**20  # that a page can address, less some for the library itself


@dataclass(frozen=True)
class Package:
    """What an export has written."""

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

    With ``living`` cells of the maps can be closed and opened there. With ``crowd`` there are crowds too, of at most so
    many units, which together take ``memory`` bytes at most; ``bodies`` and ``share`` are as in `andante.Crowd`. They
    can ``grow`` up to so many times that: there are plans for twice as much, four times, and so on. A target is
    ``this`` (machine), ``linux``, ``windows``, ``macos``, ``wasm``, or one of `TARGETS`. The folder may be there only
    if it is empty or was written by an export.
    """
    if not JIT:
        raise ParameterError("agents are exported as the compiler made them; unset NUMBA_DISABLE_JIT")
    chosen = _targets([targets] if isinstance(targets, str) else targets)
    found = [find(one) for one in ([algorithms] if isinstance(algorithms, str | Algorithm) else algorithms)]
    grids = [maps] if isinstance(maps, Grid) else list(maps)
    if not found or not grids:
        raise ParameterError("an export needs at least one algorithm and one map")
    for grid in grids:
        refuse_costs(grid, "an export")
        refuse_sixteen(grid, "an export")
    if len({grid.name for grid in grids}) < len(grids):
        raise ParameterError("two of the maps have the same name, and so would their files")
    given = [databases] if isinstance(databases, Database) else list(databases)
    folder = _place(out)
    sizes = _crowd_sizes(crowd, memory, bodies, share, grow)
    agents = _planned(found, grids, given, living, sizes)
    _check_sizes(agents, chosen)
    _check_names(agents)
    temporary = folder.parent / f".{secrets.token_hex(8)}.part"
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
    """Return the folder to write; raise `OutputError` if that is not possible, or if it holds anything else."""
    folder = Path(os.path.abspath(out))
    if os.path.lexists(folder):
        if not folder.is_dir():
            raise OutputError(f"cannot write to {folder}: it is not a folder")
        strange = sorted(_held(folder) - _listed(folder))
        if strange:
            raise OutputError(
                f"{folder} holds {strange[0]!r}, which no export wrote; name a new folder with --out, or move it away"
            )
    make_folder(folder.parent)
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
    """Rename a complete folder; what an earlier export wrote is removed only when the new one is there."""
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
    images = [MapImage.of(World(grid) if living else grid) for grid in grids]
    agents = []
    for name, algorithm in zip(names_for(map(str, algorithms)), algorithms, strict=True):
        plans = tuple(
            Plan.of(algorithm, image, [one for one in databases if one.serves(image.graph)]) for image in images
        )
        if len({plan.entry.identity for plan in plans}) > 1:
            raise AlgorithmError(
                f"{algorithm} needs other machine code for some of these maps than for others; export them one by one"
            )
        crowds = tuple(CrowdPlan.of(algorithm, plan.map, plan.databases, size) for plan in plans for size in sizes)
        agents.append(Exported(name, plans, crowds))
    return agents


def _crowd_sizes(crowd: int, memory: float, bodies: bool, share: str | None, grow: int) -> list[CrowdSize]:
    """Return how large a crowd may be, from the smallest to the largest; nothing without a crowd."""
    units = whole_number(crowd, "the units of a crowd", least=0, error=ParameterError)
    times = whole_number(grow, "how many times a crowd can grow", least=1, error=ParameterError)
    room = real_number(memory, "memory, in bytes,", least=LEAST_MEMORY)
    shares, has_bodies = sharing(share), flag(bodies, "bodies")
    if units == 0:
        if shares or has_bodies or times > 1:
            raise ParameterError("bodies, share and grow are for crowds; say how many units a crowd may have")
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


def image_name(image: MapImage) -> str:
    """Return the file name of a map image."""
    return f"{image.world.name}.image"


def plan_name(plan: Plan, agent: str) -> str:
    """Return the file name of a plan."""
    return f"{plan.map.world.name}.{agent}.plan"


def crowd_name(plan: CrowdPlan, agent: str) -> str:
    """Return the file name of a crowd's plan."""
    return f"{plan.map.world.name}.{agent}.crowd{plan.size.times if plan.size.times > 1 else ''}"


def database_names(plan: Plan) -> list[str]:
    """Return the file names of the databases of a plan, in the order in which C is given them."""
    return [f"{plan.map.world.name if one.fingerprint else 'any'}.{one.kind}" for one in plan.databases]


def _check_names(agents: Sequence[Exported]) -> None:
    """Raise `ParameterError` if two databases would have the same file name."""
    named: dict[str, Database] = {}
    for one in agents:
        for plan in one.plans:
            for name, database in zip(database_names(plan), plan.databases, strict=True):
                if named.setdefault(name, database) is not database:
                    raise ParameterError(
                        f"two different databases would be written to {name}; export the algorithms that use them into "
                        "folders of their own"
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
        "example.c": _example(agents[0], living),
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
            for name, text in _scripts(agents).items():
                (place / name).write_text(text, encoding="utf-8")
                libraries[target.name].append(name)
    (folder / "README.md").write_text(_readme(agents, libraries, unlinked, living), encoding="utf-8")
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


def _problem(plan: Plan) -> tuple[int, int]:
    """Return a start and a goal for examples: far apart, in the largest part of the map, and served by databases."""
    grid = plan.map.world.frozen() if isinstance(plan.map.world, World) else plan.map.world
    label = grid.graph.components
    states = np.flatnonzero(grid.passable.ravel())
    if not len(states):
        return 0, 0
    served = np.ones(len(states), np.bool_)
    for one in plan.databases:
        served &= one.covers(grid.graph, states)
    goals = states[served] if served.any() else states
    most = np.bincount(label[goals]).argmax()
    inside, goals = states[label[states] == most], goals[label[goals] == most]
    return int(inside[0]), int(goals[-1])


def _example(agent: Exported, living: bool) -> str:
    plan = agent.plans[0]
    start, goal = _problem(plan)
    reads, frees = [], []
    for number, name in enumerate(database_names(plan)):
        place, size = f"files.databases[{number}]", f"files.database_bytes[{number}]"
        reads.append(f'    {place} = read_file(folder, "{name}", &{size});\n')
        frees.append(f"    free((void *){place});\n")
    world = ""
    if living:
        world = _WORLD_EXAMPLE
    command = "cc -std=c99 -O2 -I. example.c TARGET/libandante.a -o ../example"
    return filled(
        template("example.c"),
        {
            "ALGORITHM": agent.algorithm,
            "COMMAND": command,
            "NAME": agent.name,
            "PLAN": plan_name(plan, agent.name),
            "IMAGE": image_name(plan.map),
            "DATABASES": "".join(reads),
            "FREES": "".join(frees),
            "WORLD": world,
            "START": start,
            "GOAL": goal,
        },
    )


_WORLD_EXAMPLE = """
    /* The map can change: agents get a copy of its image that is ours to edit. */
    void *world = malloc(files.map_bytes);
    if (world == NULL) return 1;
    check(andante_world_init(world, files.map_bytes, files.map, files.map_bytes));
    free((void *)files.map);
    files.map = world;
"""


def _scripts(agents: Sequence[Exported]) -> dict[str, str]:
    words = words_of(agents)
    outcomes = [outcome.name for outcome in Outcome]
    values = {
        "NAME": agents[0].name,
        "OUTCOMES": json.dumps(outcomes),
        "AGENT_BYTES": 4 * (4 + MOST_DATABASES) + 8 * words,
        "DATABASES": MOST_DATABASES,
        "TICK": json.dumps(tick_names()),
        **moves_and_codes(),
    }
    types = {
        "NAMES": " | ".join(json.dumps(one.name) for one in agents),
        "OUTCOMES": " | ".join(map(json.dumps, outcomes)),
        "TICK": "\n".join(f"  {name}: number;" for name in tick_names()),
    }
    return {
        "andante.mjs": filled(template("andante.mjs"), values),
        "andante.d.mts": filled(template("andante.d.mts"), types),
    }


def _readme(agents: Sequence[Exported], libraries: dict[str, Any], unlinked: Sequence[str], living: bool) -> str:
    first, plan = agents[0], agents[0].plans[0]
    start, goal = _problem(plan)
    rows = []
    for one in agents:
        for each in one.plans:
            files = ", ".join(f"`{name}`" for name in database_names(each)) or "none"
            rows.append(
                f"| `andante_{one.name}_...` | `{one.algorithm}` | `{plan_name(each, one.name)}` | "
                f"`{image_name(each.map)}` | {files} | {each.mind_bytes:,} | {each.desk_bytes:,} |"
            )
    built = [f"| `{name}/` | {', '.join(f'`{file}`' for file in files)} |" for name, files in libraries.items()]
    return filled(
        template("README.md"),
        {
            "AGENTS": "\n".join(rows),
            "MAPS": "\n".join(_about_map(each.map) for each in first.plans),
            "LIBRARIES": "\n".join(built),
            "LINKING": _linking(unlinked),
            "LIVING": template("living.md") if living else "",
            "CROWDS": _about_crowds(agents),
            "NAME": first.name,
            "PLAN": plan_name(plan, first.name),
            "IMAGE": image_name(plan.map),
            "START": start,
            "GOAL": goal,
            "AGENT_BYTES": 8 * (4 + MOST_DATABASES + words_of(agents)),
            **_databases_in_examples(database_names(plan)),
            **(_WORLD_IN_EXAMPLES if living else dict.fromkeys(_WORLD_IN_EXAMPLES, "")),
        },
    )


#: What examples do besides on a map that changes: agents get a copy of its image that is the game's to edit.
_WORLD_IN_EXAMPLES = {
    "CS_IMPORT": (
        '    [DllImport("andante")] public static extern int andante_world_init(IntPtr world, UIntPtr worldBytes, '
        "IntPtr image, UIntPtr imageBytes);\n"
    ),
    "CS_WORLD": (
        "        IntPtr world = Marshal.AllocHGlobal((int)files.mapBytes); // for andante_close_cell and the like\n"
        "        andante_world_init(world, files.mapBytes, files.map, files.mapBytes);\n"
        "        files.map = world;\n"
    ),
    "GD_WORLD": (
        "        PackedByteArray image = map; // map is now ours: for andante_close_cell, andante_open_cell\n"
        "        andante_world_init(map.ptrw(), map.size(), image.ptr(), image.size());\n"
        "        files.map = map.ptr();\n"
    ),
}


def _databases_in_examples(names: Sequence[str]) -> dict[str, str]:
    """Return how the examples of a README read databases."""
    listed = ", ".join(f'await bytes("data/{name}")' for name in names)
    loads = [
        f'        files.databases[{i}] = Load("data/{name}", out files.databaseBytes[{i}]);\n'
        for i, name in enumerate(names)
    ]
    note = " Its databases are opened like the map, and put into `files.databases`." if names else ""
    return {
        "JS_DATABASES": f", databases: [{listed}]" if names else "",
        "CS_DATABASES": "".join(loads),
        "GD_NOTE": note,
    }


def _about_map(image: MapImage) -> str:
    world = image.world
    return f"| `{image_name(image)}` | {world.width}, {world.height} | {image.graph.chart} |"


def _about_crowds(agents: Sequence[Exported]) -> str:
    """Return what a README says of crowds; nothing if there are none."""
    rows = [
        f"| `andante_{one.name}_crowd_...` | `{crowd_name(crowd, one.name)}` | {crowd.size.units:,} | "
        f"{crowd.size.memory:,} | {crowd.memory_bytes:,} |"
        for one in agents
        for crowd in one.crowds
    ]
    return filled(template("crowd.md"), {"CROWDS": "\n".join(rows), "NAME": agents[0].name}) if rows else ""


def _linking(unlinked: Sequence[str]) -> str:
    if not unlinked:
        return ""
    zigs = "\n".join(
        f"zig cc -target {TARGETS[name].zig} -std=c99 -O2 -c andante.c -o {name}/andante.o" for name in unlinked
    )
    return (
        f"\nNo linker was at hand for {', '.join(unlinked)}, so there are object files instead of libraries. Compile "
        "`andante.c` for the same target, and link it with all objects of the folder, or add them to your own program. "
        "With Zig:\n\n```console\n"
        f"{zigs}\n```\n\nFor WebAssembly compile `runtime.c` as well, and link with "
        "`zig wasm-ld --no-entry --export-dynamic --export=__heap_base -o andante.wasm wasm/*.o`. Or install "
        "`andante[export]`, which brings Zig, and export again.\n"
    )
