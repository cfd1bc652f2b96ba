"""Commands killed at random moments and started again, compared with undisturbed runs.

After every kill, no finished work is lost and no half-written file is in the place of a result. Finally the results are
those of an undisturbed run, row for row, each once, and there are no other files.
"""

from __future__ import annotations

import atexit
import csv
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from textwrap import dedent

import andante
from andante.campaign import read_campaign
from andante.campaign.engines.local import Local
from andante.campaign.run import run as run_campaign
from andante.campaign.standing import status
from andante.databases.header import load
from andante.store import Store
from andante.store import check as check_store
from andante.store.identity import TIMES
from tests.campaign.samples import decided
from tests.torture.frame import Attempt, FoundError

UNIT = "commands"

MOST_KILLS = 4  # of one command, before it may run to its end
LONGEST_SECONDS = 600.0  # that a command may take, on any machine

_MAIN = "from andante.cli import main; main()"


def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="andante-torture-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def command(arguments: Sequence[object], begun: Callable[[], bool], delay: float | None) -> tuple[bool, str]:
    """Start a command, and kill it ``delay`` seconds after its work has begun; without a delay it runs to its end.

    Return whether it was killed, and its output.
    """
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            [sys.executable, "-c", _MAIN, *map(str, arguments)], stdout=said, stderr=subprocess.STDOUT
        )
        try:
            if delay is not None:
                while child.poll() is None and not begun():
                    time.sleep(0.002)
                time.sleep(delay)
                if child.poll() is None:
                    child.send_signal(signal.SIGKILL)
            code = child.wait(LONGEST_SECONDS)
        finally:
            child.kill()
            child.wait()
        said.seek(0)
        text = said.read().decode(errors="replace")
    if code not in (0, -signal.SIGKILL):
        raise FoundError(f"{' '.join(map(str, arguments))} ends with {code}", text)
    return code == -signal.SIGKILL, text


def until_it_ends(
    rng: random.Random, arguments: Sequence[object], begun: Callable[[], bool], usual: float, look: Callable[[], None]
) -> int:
    """Kill a command repeatedly, call ``look`` after each kill, run it to its end, and return the number of kills."""
    kills = 0
    for _ in range(rng.randint(1, MOST_KILLS)):
        at_once = rng.random() < 0.15  # also while it starts
        killed, _ = command(arguments, (lambda: True) if at_once else begun, rng.uniform(0, 2.0 if at_once else usual))
        kills += killed
        look()
        if not killed:
            break
    command(arguments, begun, None)
    return kills


def _leftovers(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*.part")]


# --- campaigns ------------------------------------------------------------------------------------------------------

_CAMPAIGN = """
    seed = 1
    [problems.rooms]
    maps = ["rooms(width=16, height=16, seed=[1..3])"]
    count = 60
    [[run]]
    algorithms = ["lrta(depth=[1..{most}])", "rta"]
    limits = {{ suboptimality = 1000 }}
"""


def _campaigns(most: int = 60) -> Attempt:
    home = _folder()
    file = home / "campaign.toml"
    file.write_text(dedent(_CAMPAIGN.format(most=most)))
    began = time.perf_counter()
    run_campaign(read_campaign(file), home / "whole", Local(1))
    usual = time.perf_counter() - began
    expected = decided(Store(home / "whole"))

    def attempt(rng: random.Random) -> Mapping[str, int]:
        folder = home / "store"
        shutil.rmtree(folder, ignore_errors=True)
        finished: set[int] = set()

        def look() -> None:
            if not Store.exists(folder):
                return
            now = set(Store(folder).finished_jobs().tolist())
            if not finished <= now:
                raise FoundError(f"jobs that were finished are lost: {sorted(finished - now)[:5]}")
            finished.update(now)

        arguments = ["campaign", "run", file, "--store", folder, "--threads", rng.choice([1, 2])]
        kills = until_it_ends(rng, arguments, lambda: Store.exists(folder), usual, look)
        store = Store(folder)
        faults = [*check_store(store), *_leftovers(folder)]
        if faults or not status(store).finished or store.damaged:
            raise FoundError(f"after {kills} kills the store is not sound", faults)
        if not decided(store).equals(expected):
            raise FoundError(
                f"after {kills} kills there are {len(store)} rows, not the {len(expected)} of an undisturbed run"
            )
        return {"kills": kills, "rows": len(store)}

    return attempt


# --- builds ---------------------------------------------------------------------------------------------------------


def _builds() -> Attempt:
    home = _folder()
    grid = andante.generate("rooms", 48, 48, seed=1)
    orders = ["moves", "subgoals(records=400)", "pattern(level=2, cap=20)", "regions(m=4)"]
    map_text = "rooms:48x48:1"

    @cache
    def undisturbed(order: str) -> tuple[bytes, float]:
        began = time.perf_counter()
        command(["build", order, map_text, "--out", home / "whole"], lambda: True, None)
        return _built(home / "whole", order).read_bytes(), time.perf_counter() - began

    def attempt(rng: random.Random) -> Mapping[str, int]:
        order = rng.choice(orders)
        expected, usual = undisturbed(order)
        folder = home / "out"
        shutil.rmtree(folder, ignore_errors=True)
        file = _built(folder, order)

        def look() -> None:
            if file.exists() and file.read_bytes() != expected:
                raise FoundError(
                    f"a kill left a file of {file.stat().st_size} bytes, not the {len(expected)} of {order}"
                )

        kills = until_it_ends(rng, ["build", order, map_text, "--out", folder], lambda: True, 1.2 * usual, look)
        look()
        load(file, map=grid)
        return {"kills": kills}

    return attempt


def _built(folder: Path, order: str) -> Path:
    """Return the file that a build writes."""
    return folder / f"{andante.generate('rooms', 48, 48, seed=1).name}.{order.partition('(')[0]}"


# --- advice ---------------------------------------------------------------------------------------------------------


def _advice() -> Attempt:
    home = _folder()
    question = [
        "advise",
        "rooms:24x24:1",
        "--expansions",
        20,
        "--memory",
        0,
        "--problems",
        12,
        "--candidates",
        12,
        "--threads",
        1,
    ]

    @cache
    def undisturbed() -> tuple[list[dict[str, str]], float]:
        command([*question, "--out", home / "first"], lambda: True, None)  # this may have to compile
        began = time.perf_counter()
        command([*question, "--out", home / "whole"], lambda: True, None)
        return _trials(home / "whole"), time.perf_counter() - began

    def attempt(rng: random.Random) -> Mapping[str, int]:
        expected, usual = undisturbed()
        folder = home / "some"
        shutil.rmtree(folder, ignore_errors=True)
        pieces: dict[Path, bytes] = {}

        def look() -> None:
            for file, before in pieces.items():
                if not file.exists() or file.read_bytes() != before:
                    raise FoundError(f"a finished piece is lost or has changed: {file.name}")
            pieces.update({file: file.read_bytes() for file in (folder / "state").glob("*.json")})

        kills = until_it_ends(rng, [*question, "--out", folder], (folder / "state").exists, 0.4 * usual, look)
        if _trials(folder) != expected:
            raise FoundError(
                f"after {kills} kills the advice differs from that of an undisturbed run", _trials(folder)[:2]
            )
        return {"kills": kills, "rows": len(expected)}

    return attempt


def _trials(folder: Path) -> list[dict[str, str]]:
    """Return the rows that were written, without times."""
    with (folder / "trials.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    return [{name: value for name, value in row.items() if name not in TIMES} for row in rows]


PARTS: dict[str, Callable[[], Attempt]] = {"campaigns": _campaigns, "builds": _builds, "advice": _advice}
