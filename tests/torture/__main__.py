"""Run torture programs: ``python -m tests.torture PROGRAM [PART ...] --seed 1 --size 1000000``; without a name, all of them at full length.

With ``--log FILE`` a run that was stopped continues where it was, and the table at the end covers everything in the file.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path

from tests.torture.frame import PROGRAMS, Log, parts_of, run_part, tell, unit_of

#: Cases of each part where no size is given: together a million inputs per parser, a hundred kills, a hundred million moves.
FULL = {"inputs": 1_000_000, "kills": 20, "walks": 5_000, "exports": 100}
FORGED = 200_000  # inputs that are put to use if they are taken, beside the million that are not
LONG = 1_200  # walks of a hundred thousand moves each


def main() -> int:
    """Run what is asked for: 1 if anything was found."""
    asked = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    asked.add_argument("program", nargs="?", choices=PROGRAMS, help="all of them, unless one is named")
    asked.add_argument("parts", nargs="*", metavar="PART", help="some parts of the program; all, unless some are named")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--size", type=int, help="cases of each part; the full length if it is not given")
    asked.add_argument("--first", type=int, default=0, help="the number of the first case")
    asked.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes at a time")
    asked.add_argument("--log", type=Path, metavar="FILE", help="where what was run is noted, chunk by chunk")
    options = asked.parse_args()
    log = Log(options.log)
    figures: Counter[str] = Counter()
    for program in [options.program] if options.program else PROGRAMS:
        known = parts_of(program)
        for part in options.parts or known:
            if part not in known:
                asked.error(f"{program} has no part {part!r}; it has {', '.join(known)}")
            full = FORGED if part.startswith("forged-") else LONG if part == "long" else FULL[program]
            size = options.size if options.size is not None else full
            outcome = run_part(program, part, options.seed, options.first, size, options.workers, log)
            figures[unit_of(program)] += outcome.cases
            figures.update({name: outcome.figures[name] for name in ("kills", "moves") if name in outcome.figures})
            figures["findings"] += len(outcome.findings)
    tell("\n".join(["", *log.table(), ""]))
    tell("in all: " + ", ".join(f"{count:,} {name}" for name, count in figures.items()))
    return 1 if figures["findings"] else 0


if __name__ == "__main__":
    sys.exit(main())
