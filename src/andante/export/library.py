"""A library of agents: C sources around the machine code of their loops.

The C declarations of our tables (episodes, outcomes, the numbers in plans) are generated from those tables, so that
they cannot differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from andante.agent import STUCK, UNREACHABLE
from andante.databases.header import VERSION
from andante.episode import bodies, lanes, units
from andante.episode.places import PRIORITIES
from andante.episode.pursuit import MOST_AT_ONCE
from andante.episode.single import MOST_PROBLEMS, NO_LIMITS
from andante.episode.tables import EPISODE
from andante.export import layout
from andante.export.crowds import CROWD_HEAD, CROWD_KERNELS, CROWD_NUMBERS, TEAM, CrowdPlan
from andante.export.images import (
    MAP_NUMBERS,
    MIND_HEAD,
    MOST_DATABASES,
    MOST_MAP_WORDS,
    PLAN_NUMBERS,
    Plan,
    code_number,
    levels_code,
    levels_entry,
    map_code,
    map_entries,
)
from andante.export.objects import Target, object_of
from andante.export.records import RECORDS, in_c
from andante.kernel import Entry
from andante.measures import Outcome
from andante.world.living import MENDED, MOST_UNNOTED, TENDED

#: Codes that are not errors, with what remains to be done.
CONTINUE = {
    "MORE": "there was room for only some of the steps; continue for the others",
    "FULL": "memory is full: give the crowd more with grow, or leave pause_when_full out, then call tick again",
}

#: Errors, with what `andante_error_text` returns for each; numbered from -1 downwards.
ERRORS = {
    "NULL": "a pointer is NULL that must not be",
    "MISALIGNED": "memory and files must be aligned to 8 bytes",
    "TOO_SMALL": "the memory is smaller than what bytes returned",
    "TOO_LARGE": "the agent needs more memory than this machine can address",
    "NO_FILE": "this is not an Andante file",
    "VERSION": "this library reads another version of the file format; export both again",
    "CUT_OFF": "the file is shorter or longer than its header says; copy it again",
    "DAMAGED": "the file or the saved memory is damaged: its checksum is wrong; copy it again",
    "KIND": "this function needs a file of another kind",
    "OTHER_LIBRARY": "the file is for another agent, or was exported by another version than this library",
    "OTHER_MAP": "the plan is for another map",
    "OTHER_DATABASE": "the plan is for other databases, or for these in another order",
    "OTHER_MIND": "this memory does not contain the mind of such an agent",
    "UNSEALED": "this memory was not sealed before it was copied: call seal, then copy it",
    "NO_AGENT": "the agent is not initialised, or has another algorithm",
    "NO_STATE": "there is no such state on the map",
    "BLOCKED": "the state is a cell that is blocked",
    "NOT_SERVED": "a database was built for other goals, not for this one",
    "SAME": "start and goal are the same: there is nothing to solve",
    "BAD_LIMIT": "a limit is below 0 or not a number",
    "NO_GOAL": "there is no goal yet, or no run to continue",
    "NO_WORLD": "this map can change: give agents what andante_world_init makes of it, not the image",
    "FIXED_MAP": "this map cannot change: export it with --living",
    "OLDER_MAP": "the agent has seen more changes than this map has had: restore both together, or call init again",
    "NO_UNIT": "there is no such unit in the crowd",
    "TAKEN": "another unit is in that cell, and units have bodies",
    "CROWD_FULL": "the crowd has as many units as its plan has room for; let it grow into a larger plan",
    "OTHER_CROWD": "a crowd grows only into the plan of a larger crowd from the same export",
    "OVERLAP": "the new memory overlaps with the old",
    "UNFINISHED": "the last tick is waiting for more memory: call tick again first, with the same budget",
    "FAILED": "the algorithm failed; this is a bug in Andante or in the algorithm, please report it",
}

_SEGMENTS = ("NUMBER", "PLAN", "MAP", "MIND", "DESK", "DATABASE")

#: What C needs to know about crowds besides their tables.
_CONSTANTS = {
    "NOBODY": units.NOBODY,
    "NO_WISH": units.NO_WISH,
    "NO_TEAM": units.NO_TEAM,
    "NEW_TRIAL": units.NEW_TRIAL,
    "NEW_PROBLEM": units.NEW_PROBLEM,
    "FREE": bodies.FREE,
    "PATIENT_PASSES": lanes.PATIENT_PASSES,
    "MOST_AHEAD": lanes.MOST_AHEAD,
    "UNORDERED": -1,
}

_HERE = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Exported:
    """An agent in a library, with its name there and its plan on each map."""

    name: str
    plans: tuple[Plan, ...]
    crowds: tuple[CrowdPlan, ...] = ()  # one for each map, if crowds are exported too

    @property
    def entry(self) -> Entry:
        """Its machine code, which is the same on all maps."""
        return self.plans[0].entry

    @property
    def algorithm(self) -> str:
        """The algorithm in the notation."""
        return str(self.plans[0].algorithm)


def names_for(algorithms: Iterable[str]) -> list[str]:
    """Return a name in C for each algorithm in the notation, all different.

    >>> names_for(["lrta", "late-astar", "lrta(depth=3)"])
    ['lrta', 'late_astar', 'lrta_2']
    """
    found: list[str] = []
    for text in algorithms:
        plain = re.sub(r"\W", "_", text.partition("(")[0])
        number = 1 + sum(re.fullmatch(rf"{plain}(_\d+)?", one) is not None for one in found)
        found.append(plain if number == 1 else f"{plain}_{number}")
    return found


@cache
def template(name: str) -> str:
    """Return the text of a template."""
    return (_HERE / name).read_text(encoding="utf-8")


def filled(text: str, values: Mapping[str, object]) -> str:
    """Return the text with each ``@NAME@`` replaced by its value."""
    return re.sub(r"@([A-Z_]+)@", lambda name: str(values[name[1]]), text)


def sources(agents: Sequence[Exported], library: str) -> dict[str, str]:
    """Return the header and the C source of a library."""
    owner = owners(agents)
    about = [
        {"NAME": one.name, "ALGORITHM": one.algorithm, "CODE": code_number(one.entry), "OWNER": owner[one.name]}
        for one in agents
    ]
    header = {
        "LIBRARY": library,
        "FILE_VERSION": VERSION,
        "DATABASES": MOST_DATABASES,
        "WORDS": words_of(agents),
        "CODES": "\n".join(
            f"    ANDANTE_{name} = {-number}, /* {text} */" for number, (name, text) in enumerate(ERRORS.items(), 1)
        ),
        "OUTCOMES": ",\n".join(f"    {_outcome(one)} = {int(one)}" for one in Outcome),
        "AGENTS": "".join(filled(template("agent.h"), one) for one in about),
        "CROWD": _crowds(agents, "crowd.h", "squad.h"),
        **{name: in_c(dtype) for name, dtype in RECORDS.items()},
        **moves_and_codes(),
        **CONTINUE,
    }
    source = {
        **CONTINUE,
        "PROTOTYPES": "\n".join(_prototypes(agents)),
        "SEGMENTS": ", ".join(f"{name} = {getattr(layout, name)}" for name in _SEGMENTS),
        "MAP_NUMBERS": ", ".join(f"MAP_{name}" for name in MAP_NUMBERS),
        "PLAN_NUMBERS": ", ".join(f"PLAN_{name}" for name in PLAN_NUMBERS),
        "EPISODE": in_c(EPISODE),
        "MIND_HEAD": f"int64_t {', '.join(MIND_HEAD)}",
        "TENDED": TENDED,
        "MENDED": MENDED,
        "MOST_UNNOTED": MOST_UNNOTED,
        "LEVELS": _levels(agents),
        "MOST_MAP_WORDS": MOST_MAP_WORDS,
        "MOST_AT_ONCE": MOST_AT_ONCE,
        "MOST_PROBLEMS": MOST_PROBLEMS,
        "MAP_CODE": _literal(map_code()),
        "DEFAULT_MOVES": NO_LIMITS.caps[1],
        "CRC": _crc_tables(),
        "TEXTS": "\n".join(f'    case ANDANTE_{name}: return "{text}";' for name, text in ERRORS.items()),
        "AGENTS": "".join(filled(template("agent.c"), {**one, "CODE": _literal(one["CODE"])}) for one in about),
        "CROWD": _crowds(agents, "crowd.c", "squad.c"),
    }
    return {"andante.h": filled(template("andante.h"), header), "andante.c": filled(template("andante.c"), source)}


def owners(agents: Sequence[Exported], *, crowds: bool = False) -> dict[str, str]:
    """Return for each agent, or for its crowd, the name of the first one with the same machine code.

    Settings of one algorithm share code, which is in a library once.
    """
    first: dict[str, str] = {}
    having = [one for one in agents if one.crowds or not crowds]
    return {
        one.name: first.setdefault(one.crowds[0].identity if crowds else one.entry.identity, one.name) for one in having
    }


def moves_and_codes() -> dict[str, int]:
    """Return the numbers of results that C and JavaScript need."""
    return {
        "STUCK": STUCK,
        "UNREACHABLE": UNREACHABLE,
        **{f"{name}_CODE": number for number, name in enumerate(CONTINUE, 1)},
    }


def words_of(agents: Sequence[Exported]) -> int:
    """Return the length of the longest context of a library."""
    crowds = (crowd.words for one in agents for crowd in one.crowds)
    return max(*(len(one.entry.words) for one in agents), 0, *crowds)


def _crowds(agents: Sequence[Exported], common: str, each: str) -> str:
    """Return the parts of a source that are for crowds, or an empty text if there are none."""
    having = [one for one in agents if one.crowds]
    if not having:
        return ""
    values = {
        "TICK": in_c(RECORDS["TICK"]),
        "ABOUT_UNIT": in_c(RECORDS["ABOUT_UNIT"]),
        "KERNELS": _kernels(having[0].crowds[0]),
        "CROWD_NUMBERS": ", ".join(f"CROWD_{name}" for name in CROWD_NUMBERS),
        "CONSTANTS": ", ".join(f"{name} = {value}" for name, value in _CONSTANTS.items()),
        "LEAST_PRIORITY": PRIORITIES[0],
        "MOST_PRIORITY": PRIORITIES[1],
        "UNIT": in_c(units.UNIT),
        "SQUAD": in_c(units.SQUAD),
        "TEAM": in_c(TEAM),
        "CROWD_HEAD": in_c(CROWD_HEAD),
    }
    owner = owners(agents, crowds=True)
    made = [
        filled(template(each), {**_squad(one, owner[one.name]), "NAME": one.name, "ALGORITHM": one.algorithm})
        for one in having
    ]
    return filled(template(common), values) + "".join(made)


def _kernels(crowd: CrowdPlan) -> str:
    """Return the table of kernels that are the same for all algorithms, with NULL for those that a crowd lacks."""
    there = [name for name in CROWD_KERNELS if name in crowd.entries]
    declared = [f"extern {name}_code andante_code_{name};" for name in there]
    fields = " ".join(f"{name}_code *{name};" for name in CROWD_KERNELS)
    values = ", ".join(f"andante_code_{name}" if name in there else "NULL" for name in CROWD_KERNELS)
    return "\n".join([*declared, f"static const struct {{ {fields} }} CROWD_CODE = {{{values}}};"])


def _squad(one: Exported, owner: str) -> dict[str, str]:
    """Return the parts of the source for the kernels of one algorithm's crowd."""
    release = [f"andante_{name}_{owner}" for name in ("release", "release_teams") if name in one.crowds[0].entries]
    return {
        "CODE": _literal(one.crowds[0].code),
        "OWNER": owner,
        "RELEASES": ", ".join(release),
        "RELEASE_TEAMS": release[1] if len(release) > 1 else "NULL",
    }


def _outcome(one: Outcome) -> str:
    """Return the name of an outcome in C; two names are taken by what a move may return instead of a state."""
    return f"ANDANTE_{'OUTCOME_' if one in (Outcome.STUCK, Outcome.UNREACHABLE) else ''}{one.name}"


def has_levels(agents: Sequence[Exported]) -> bool:
    """Return whether maps of a library have levels that follow their changes."""
    return any(plan.map.followers for one in agents for plan in one.plans)


def _levels(agents: Sequence[Exported]) -> str:
    """Return the part of the source for the kernel that repairs levels; without levels it is never called."""
    if not has_levels(agents):
        return "#define LEVELS_CODE INT64_C(0)\nstatic mend_code *const MEND = NULL;"
    return (
        f"extern mend_code andante_code_mend;\n#define LEVELS_CODE INT64_C({_literal(levels_code())})\n"
        "static mend_code *const MEND = andante_code_mend;"
    )


def _literal(number: object) -> str:
    """Return a number as a C literal; C has none for the lowest number."""
    return f"{number}" if number != -(2**63) else "-9223372036854775807) - INT64_C(1"


def _prototypes(agents: Sequence[Exported]) -> list[str]:
    """Return the declarations of the machine code."""
    made = [f"extern code andante_code_{name};" for name in dict.fromkeys(owners(agents).values())]
    for name, entry in map_entries().items():
        result = "double" if name == "straight" else "int64_t"
        numbers = ", int64_t" * entry.numbers
        made.append(f"extern int32_t andante_code_{name}({result} *, void **, int64_t{numbers});")
    return made


def _crc_tables() -> str:
    """Return eight tables: what a byte does to a checksum if none to seven bytes follow it."""
    tables: list[list[int]] = [[]]
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
        tables[0].append(value)
    for _ in range(7):
        tables.append([tables[0][value & 0xFF] ^ value >> 8 for value in tables[-1]])
    rows = [[", ".join(f"0x{value:08X}" for value in table[i : i + 8]) for i in range(0, 256, 8)] for table in tables]
    return ",\n".join("    {\n        " + ",\n        ".join(lines) + "}" for lines in rows)


def objects(agents: Sequence[Exported], target: Target) -> dict[str, bytes]:
    """Return the object files of a library: one for each machine code of agents, and one for maps."""
    named = {one.name: one for one in agents}
    made = {
        f"{name}.o": object_of({f"andante_code_{name}": named[name].entry}, target)
        for name in dict.fromkeys(owners(agents).values())
    }
    for name in dict.fromkeys(owners(agents, crowds=True).values()):
        entries = named[name].crowds[0].entries
        own = {f"andante_{key}_{name}": entry for key, entry in entries.items() if key not in CROWD_KERNELS}
        made[f"{name}_crowd.o"] = object_of(own, target)
        common = {f"andante_code_{key}": entry for key, entry in entries.items() if key in CROWD_KERNELS}
        made["crowds.o"] = object_of(common, target)
    if has_levels(agents):
        made["levels.o"] = object_of({"andante_code_mend": levels_entry()}, target)
    kernels = {f"andante_code_{name}": entry for name, entry in map_entries().items()}
    return {**made, "maps.o": object_of(kernels, target)}
