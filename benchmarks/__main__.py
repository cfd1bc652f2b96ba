"""``python -m benchmarks``: measure, print the tables, and write them to ``benchmarks/latest.md``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from benchmarks import comparison, fixed_costs, maps, peers, report, targets
from benchmarks.floor import Floor, NoFloorError
from benchmarks.problems import ProblemSet
from benchmarks.tables import Table

Say = Callable[[str], None]

LATEST = Path(__file__).with_name("latest.md")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure everything that the command line requests."""
    asked = _options().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 160)
    with tempfile.TemporaryDirectory(prefix="andante-bench-") as scratch, console.status("") as status:
        status.update("computing the correct answers")
        sets = maps.standard(asked.problems)
        tables = measure(sets, asked.peers, asked.budget, Path(scratch), status.update)
    for table in tables:
        console.print(table.rich(), "")
    if asked.write:
        report.write(LATEST, [each.name for each in sets], asked.problems, tables)
        console.print(f"written to {LATEST.name}")


def _options() -> argparse.ArgumentParser:
    known = [name for name in peers.names() if name != comparison.OURS]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure Andante's speed, with other packages and a lower bound."
    )
    parser.add_argument("--problems", type=int, default=200, help="on each of the three maps (default: 200)")
    parser.add_argument(
        "--budget", type=float, default=15.0, help="seconds a peer may spend on a map's problems (default: 15)"
    )
    parser.add_argument(
        "--peers", nargs="*", default=known, choices=known, metavar="PEER", help=f"of {', '.join(known)}"
    )
    parser.add_argument("--no-write", dest="write", action="store_false", help="leave latest.md as it is")
    return parser


def measure(sets: Sequence[ProblemSet], names: Sequence[str], budget: float, scratch: Path, say: Say) -> list[Table]:
    """Return every table of the benchmark; ``scratch`` is a folder for temporary files."""
    layouts = [targets.Files.write(each, scratch) for each in sets]
    files = [layout.map.with_suffix(".npz") for layout in layouts]
    for each, file in zip(sets, files, strict=True):
        each.save(file)
    say("fixed costs")
    fixed = fixed_costs.table(fixed_costs.measure(layouts[0]))
    try:
        floor = Floor.compiled(scratch)
    except NoFloorError as reason:
        tables, lowest = [Table(targets.TITLE, ["search"], notes=[f"There is no floor to compare with: {reason}."])], []
    else:
        tables = [targets.table(targets.measure_all(floor, layouts, say), [each.name for each in sets])]
        lowest = [targets.floor_result(floor, *pair) for pair in zip(layouts, sets, strict=True)]
    results = comparison.compare(names, files, budget, say)
    return [*tables, comparison.paths_table(results, lowest), comparison.fields_table(results), fixed]


if __name__ == "__main__":
    main()
