"""What is written beside a library for its users: a README, an example, and the scripts of WebAssembly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from andante.export.crowds import CrowdPlan
from andante.export.images import MOST_DATABASES, MapImage, Plan
from andante.export.library import Exported, filled, moves_and_codes, template
from andante.export.objects import TARGETS
from andante.export.records import in_javascript, tick_names
from andante.markdown import markdown_table
from andante.measures import Outcome
from andante.world.living import World


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
    """Return the file names of the databases of a plan, in the order in which they are passed to C."""
    return [f"{plan.map.world.name if one.fingerprint else 'any'}.{one.kind}" for one in plan.databases]


def problem_for(plan: Plan) -> tuple[int, int]:
    """Return a start and a goal for examples, far apart in the largest component and served by the databases."""
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


def example(agent: Exported, living: bool) -> str:
    """Return ``example.c``, with an agent on its first map."""
    plan = agent.plans[0]
    start, goal = problem_for(plan)
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
    /* The map can change. Agents get a copy of its image, which this program may edit. */
    size_t world_bytes;
    check(andante_world_bytes(files.map, files.map_bytes, &world_bytes));
    void *world = calloc(1, world_bytes);
    if (world == NULL) return 1;
    check(andante_world_init(world, world_bytes, files.map, files.map_bytes));
    free((void *)files.map);
    files.map = world;
    files.map_bytes = world_bytes;
"""


def scripts(agents: Sequence[Exported]) -> dict[str, str]:
    """Return the ES module around a library, and its declarations for TypeScript."""
    outcomes = [outcome.name for outcome in Outcome]
    values = {
        "NAME": agents[0].name,
        "OUTCOMES": json.dumps(outcomes),
        "DATABASES": MOST_DATABASES,
        "RECORDS": in_javascript(),
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


def readme(
    agents: Sequence[Exported], libraries: Mapping[str, Sequence[str]], unlinked: Sequence[str], living: bool
) -> str:
    """Return ``README.md``."""
    first, plan = agents[0], agents[0].plans[0]
    start, goal = problem_for(plan)
    return filled(
        template("README.md"),
        {
            "AGENTS": _about_agents(agents),
            "MAPS": _about_maps([each.map for each in first.plans]),
            "LIBRARIES": _about_libraries(libraries),
            **_static(libraries),
            "LINKING": _linking(unlinked),
            "LIVING": template("living.md") if living else "",
            "CROWDS": _about_crowds(agents),
            "NAME": first.name,
            "PLAN": plan_name(plan, first.name),
            "IMAGE": image_name(plan.map),
            "START": start,
            "GOAL": goal,
            "RS_MUT": "mut " if living or plan.databases else "",
            **_databases_in_examples(database_names(plan)),
            **(_WORLD_IN_EXAMPLES if living else dict.fromkeys(_WORLD_IN_EXAMPLES, "")),
        },
    )


#: What examples add on a map that changes. Agents get a copy of its image, which the game may edit.
_WORLD_IN_EXAMPLES = {
    "CS_IMPORT": (
        '    [DllImport("andante")] public static extern int andante_world_bytes(IntPtr image, UIntPtr imageBytes, '
        "out UIntPtr worldBytes);\n"
        '    [DllImport("andante")] public static extern int andante_world_init(IntPtr world, UIntPtr worldBytes, '
        "IntPtr image, UIntPtr imageBytes);\n"
    ),
    "CS_WORLD": (
        "        andante_world_bytes(files.map, files.mapBytes, out var worldBytes);\n"
        "        IntPtr world = Marshal.AllocHGlobal((IntPtr)(long)worldBytes); // for andante_close_cell and so on\n"
        "        andante_world_init(world, worldBytes, files.map, files.mapBytes);\n"
        "        files.map = world; files.mapBytes = worldBytes;\n"
    ),
    "RS_IMPORT": (
        "    fn andante_world_bytes(image: *const u64, image_bytes: usize, world_bytes: *mut usize) -> i32;\n"
        "    fn andante_world_init(world: *mut u64, world_bytes: usize, image: *const u64, image_bytes: usize) "
        "-> i32;\n"
    ),
    "RS_WORLD": (
        "    let mut world_bytes = 0;\n"
        "    assert_eq!(unsafe { andante_world_bytes(files.map, files.map_bytes, &mut world_bytes) }, 0);\n"
        "    let mut world = memory(world_bytes); // for andante_close_cell and so on\n"
        "    assert_eq!(\n"
        "        unsafe { andante_world_init(world.as_mut_ptr(), world_bytes, files.map, files.map_bytes) }, 0\n"
        "    );\n"
        "    (files.map, files.map_bytes) = (world.as_ptr(), world_bytes);\n"
    ),
    "GD_WORLD": (
        "        PackedByteArray image = map; // map is now ours: for andante_close_cell, andante_open_cell\n"
        "        size_t world_bytes = 0;\n"
        "        andante_world_bytes(image.ptr(), image.size(), &world_bytes);\n"
        "        map.resize(world_bytes);\n"
        "        andante_world_init(map.ptrw(), map.size(), image.ptr(), image.size());\n"
        "        files.map = map.ptr(); files.map_bytes = map.size();\n"
    ),
}


def _databases_in_examples(names: Sequence[str]) -> dict[str, str]:
    """Return the lines with which the examples of a README read databases."""
    listed = ", ".join(f'await bytes("data/{name}")' for name in names)
    loads = [
        f'        files.databases[{i}] = Load("data/{name}", out files.databaseBytes[{i}]);\n'
        for i, name in enumerate(names)
    ]
    places = "".join(
        f'    let (database_{i}, database_{i}_bytes) = load("data/{name}");\n'
        f"    (files.databases[{i}], files.database_bytes[{i}]) = (database_{i}.as_ptr(), database_{i}_bytes);\n"
        for i, name in enumerate(names)
    )
    note = " Its databases are opened like the map, and put into `files.databases`." if names else ""
    return {
        "JS_DATABASES": f", databases: [{listed}]" if names else "",
        "CS_DATABASES": "".join(loads),
        "RS_DATABASES": places,
        "GD_NOTE": note,
    }


def _about_agents(agents: Sequence[Exported]) -> str:
    head = ["functions", "algorithm", "plan", "map", "databases, in this order", "mind, bytes", "desk, bytes"]
    rows = [
        [
            f"`andante_{one.name}_...`",
            f"`{one.algorithm}`",
            f"`{plan_name(each, one.name)}`",
            f"`{image_name(each.map)}`",
            ", ".join(f"`{name}`" for name in database_names(each)) or "none",
            f"{each.mind_bytes:,}",
            f"{each.desk_bytes:,}",
        ]
        for one in agents
        for each in one.plans
    ]
    return markdown_table(head, rows, left=head[:5])


def _about_maps(images: Sequence[MapImage]) -> str:
    head = ["map", "columns, rows", "fingerprint, as `andante maps show` prints it"]
    rows = [[f"`{image_name(one)}`", f"{one.world.width}, {one.world.height}", one.graph.chart] for one in images]
    return markdown_table(head, rows, left=head)


def _about_libraries(libraries: Mapping[str, Sequence[str]]) -> str:
    rows = [[f"`{name}/`", ", ".join(f"`{file}`" for file in files)] for name, files in libraries.items()]
    return markdown_table(["folder", "files"], rows, left=["files"])


def _static(libraries: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the static library that examples are linked with: that of the first target with an operating system."""
    for name, files in libraries.items():
        library = TARGETS[name].static
        if not TARGETS[name].is_wasm and library in files:
            return {"FOLDER": name, "STATIC": library, "LINKED": library.partition(".")[0].removeprefix("lib")}
    return {"FOLDER": "TARGET", "STATIC": "libandante.a", "LINKED": "andante"}


def _about_crowds(agents: Sequence[Exported]) -> str:
    """Return the section of a README about crowds, or an empty text if there are none."""
    head = ["functions", "plan", "units", "what they use together, at most", "bytes of memory"]
    rows = [
        [
            f"`andante_{one.name}_crowd_...`",
            f"`{crowd_name(crowd, one.name)}`",
            f"{crowd.size.units:,}",
            f"{crowd.size.memory:,}",
            f"{crowd.memory_bytes:,}",
        ]
        for one in agents
        for crowd in one.crowds
    ]
    if not rows:
        return ""
    return filled(template("crowd.md"), {"CROWDS": markdown_table(head, rows, left=["plan"]), "NAME": agents[0].name})


def _linking(unlinked: Sequence[str]) -> str:
    if not unlinked:
        return ""
    zigs = "\n".join(
        f"zig cc -target {TARGETS[name].zig} -std=c99 -O2 -c andante.c -o {name}/andante.o" for name in unlinked
    )
    return (
        f"\nNo linker was available for {', '.join(unlinked)}, so there are object files instead of libraries. Compile "
        "`andante.c` for the same target, and link it with all objects of the folder, or add them to your own program. "
        "With Zig:\n\n```console\n"
        f"{zigs}\n```\n\nFor WebAssembly compile `runtime.c` as well, and link with "
        "`zig wasm-ld --no-entry --export-dynamic --export=__heap_base -o andante.wasm wasm/*.o`. Or install "
        "`andante[export]`, which brings Zig, and export again.\n"
    )
