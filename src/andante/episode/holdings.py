"""The memory that units hold: records from pools and annexes, their size, and their release."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from andante.episode.units import NEW_PROBLEM, NO_ANNEX, NO_TEAM, NOBODY, Annexes, Ground, Unit
from andante.kernel import Each, kernel, nth, subroutine
from andante.measures.outcome import Outcome
from andante.search.records import Index, held_bytes, lost_records, release, tidy, used_bytes

_WALKING = int(Outcome.WALKING)
TIDIED = 32  # entries of discarded tables that are cleared after each move


@kernel
def release_all(pools: tuple[Index, ...]) -> None:
    """Release all records of these pools."""
    for i in range(len(pools)):
        release(pools[i])


@kernel
def take_annex(annexes: Annexes, row: Any, at: Any) -> None:
    """Give a unit an annex."""
    if at["annexes_free"] > 0:
        at["annexes_free"] -= 1
        row["annex"] = annexes.free[at["annexes_free"]]
        return
    at["annexes"] += 1
    begin = at["annexes"] * annexes.size
    for i in range(annexes.size):
        annexes.bytes[begin + i] = annexes.bytes[i]
    annexes.head[at["annexes"]]["held"] = 1
    row["annex"] = at["annexes"]


@kernel
def give_back_annex(one: Unit, annexes: Annexes, row: Any, at: Any) -> None:
    """Take back the annex of a unit, if it has one, with all records in it."""
    if len(annexes.head) == 0 or row["annex"] == NO_ANNEX:
        return
    release_all(one.team_pools)
    annexes.head[row["annex"]]["use"] = 0
    annexes.free[at["annexes_free"]] = row["annex"]
    at["annexes_free"] += 1
    row["annex"] = NO_ANNEX


@kernel
def tidy_all(pools: tuple[Index, ...]) -> None:
    """Clear a few entries of tables that units have discarded."""
    for i in range(len(pools)):
        tidy(pools[i], TIDIED)


@kernel
def _used_bytes(pools: tuple[Index, ...]) -> int:
    total = 0
    for i in range(len(pools)):
        total += used_bytes(pools[i])
    return total


@kernel
def used_by_all(one: Unit, at: Any) -> int:
    """Return the bytes that all units of a squad hold; ``one`` is any of them."""
    annexes = (at["annexes"] - at["annexes_free"]) * at["annex_bytes"]
    return _used_bytes(one.pools) + _used_bytes(one.team_pools) + annexes


@kernel
def lost_of_all(pools: tuple[Index, ...]) -> int:
    """Return how many records of all units could not be kept."""
    total = 0
    for i in range(len(pools)):
        total += lost_records(pools[i])
    return total


@kernel
def _held_bytes(pools: tuple[Index, ...]) -> int:
    total = 0
    for i in range(len(pools)):
        total += held_bytes(pools[i])
    return total


@subroutine
def restart_largest(
    crew: Each, annexes: Annexes, ground: Ground, members: npt.NDArray[np.int32], squad: npt.NDArray[Any]
) -> bool:
    """Restart the unit that holds most from its current state, with nothing learned; return whether there is one.

    The unit that set out first is spared, with its team, unless it is the only one. So it arrives, then the next, and
    so on. What a team has learned counts as held by each of its units, and is forgotten by all of them.
    """
    at, spared = squad[0], NO_TEAM
    eldest = NOBODY
    for slot in range(at["slots"]):
        unit = members[slot]
        if unit == NOBODY or ground.units[unit]["outcome"] != _WALKING:
            continue
        if eldest == NOBODY or ground.units[unit]["joined"] < ground.units[members[eldest]]["joined"]:
            eldest = slot
    if eldest != NOBODY:
        spared = ground.units[members[eldest]]["team"]
    largest, most = eldest, 0
    for slot in range(at["slots"]):
        if members[slot] == NOBODY or slot == eldest:
            continue
        row = ground.units[members[slot]]
        one = nth(crew, slot, row["team"])
        held = _held_bytes(one.pools) + (_held_bytes(one.team_pools) if row["team"] != spared else 0)
        if row["annex"] != NO_ANNEX:
            held += at["annex_bytes"] + _held_bytes(nth(crew, slot, row["annex"]).team_pools)
        if held > most:
            largest, most = slot, held
    if largest == NOBODY:
        return False
    row = ground.units[members[largest]]
    one = nth(crew, largest, row["team"] + row["annex"])
    release_all(one.pools)
    give_back_annex(one, annexes, row, at)
    if row["team"] != spared or largest == eldest:
        release_all(one.team_pools)
    row["begins"] = NEW_PROBLEM
    row["restarts"] += 1
    at["restarted"] += 1
    return True


@kernel
def release_units(
    crew: Each, annexes: Annexes, ground: Ground, squad: npt.NDArray[Any], units: npt.NDArray[np.int64]
) -> None:
    """Release all records that these units hold, except those that they share."""
    for i in range(len(units)):
        row = ground.units[units[i]]
        one = nth(crew, row["slot"], row["annex"])
        release_all(one.pools)
        give_back_annex(one, annexes, row, squad[0])


@kernel
def release_annexes(
    crew: Each, annexes: Annexes, ground: Ground, members: npt.NDArray[np.int32], squad: npt.NDArray[Any]
) -> None:
    """Take back the annexes of all units."""
    for slot in range(squad[0]["slots"]):
        if members[slot] != NOBODY:
            row = ground.units[members[slot]]
            give_back_annex(nth(crew, slot, row["annex"]), annexes, row, squad[0])


@kernel
def release_teams(crew: Each, teams: npt.NDArray[np.int64]) -> None:
    """Release all records that these teams hold."""
    for i in range(len(teams)):
        release_all(nth(crew, 0, teams[i]).team_pools)


@kernel
def held_by(
    crew: Each,
    ground: Ground,
    squad: npt.NDArray[Any],
    units: npt.NDArray[np.int64],
    held: npt.NDArray[np.int64],
) -> int:
    """Write the bytes that these units hold alone, and return the bytes that the whole squad holds."""
    for i in range(len(units)):
        row = ground.units[units[i]]
        one = nth(crew, row["slot"], row["annex"])
        held[i] = _held_bytes(one.pools)
        if row["annex"] != NO_ANNEX:
            held[i] += squad[0]["annex_bytes"] + _held_bytes(one.team_pools)
    return used_by_all(nth(crew, 0, NO_TEAM), squad[0])


@kernel
def restart(one: Unit, annexes: Annexes, row: Any, at: Any) -> None:
    """Restart a unit from its current state, with nothing learned."""
    release_all(one.pools)
    release_all(one.team_pools)
    give_back_annex(one, annexes, row, at)
    row["begins"] = NEW_PROBLEM
    row["restarts"] += 1
    at["restarted"] += 1
