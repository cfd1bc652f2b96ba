"""Run torture programs: ``python -m tests.torture PROGRAM [PART ...] --seed 1 --size 1000000``; without a name, all of them at full length.

With ``--log FILE`` a stopped run is resumed, and the table at the end covers everything in the file.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path

from tests.torture.frame import PROGRAMS, Log, parts_of, run_part, say, unit_of

#: The default numbers of cases of each part: together a million inputs per parser, a hundred kills and a hundred
#: million moves.
FULL = {"inputs": 1_000_000, "kills": 20, "walks": 5_000, "exports": 100}
FORGED = 200_000  # forged inputs that are used if they are accepted, besides the million damaged ones
LONG = 1_200  # walks of a hundred thousand moves each


def main() -> int:
    """Run the requested parts, and return 1 if there are findings."""
    asked = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    asked.add_argument("program", nargs="?", choices=PROGRAMS, help="the program (default: all)")
    asked.add_argument("parts", nargs="*", metavar="PART", help="parts of the program (default: all)")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--size", type=int, help="cases of each part (default: the full length)")
    asked.add_argument("--first", type=int, default=0, help="the number of the first case")
    asked.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="the number of processes")
    asked.add_argument(
        "--log", type=Path, metavar="FILE", help="the log of finished chunks, from which a stopped run is resumed"
    )
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
    say("\n".join(["", *log.table(), ""]))
    say("total: " + ", ".join(f"{count:,} {name}" for name, count in figures.items()))
    return 1 if figures["findings"] else 0


if __name__ == "__main__":
    sys.exit(main())
