"""``python -m benchmarks.cluster``: the throughput of a Dask cluster here, and an estimate for a large campaign.

The cluster is that of `docs/how-to/cluster.md`: a scheduler and workers with one thread each, started by the same
commands, in separate processes that communicate over TCP. It runs one part of `studies/choosing/space.toml`, as
`andante campaign run --engine dask --scheduler ... --part 1/8` does, in jobs as large as those of the whole campaign.
The estimate is based on the processor time of each side, which other work on the machine changes little. What the
scheduler spends when there is nothing to do is measured first, and subtracted.
"""

from __future__ import annotations

import argparse
import contextlib
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil

from andante.campaign import Campaign, Share, plan, prepare, read_campaign, resume
from andante.campaign.engines.dask import Dask
from andante.cli.running import compile_for
from andante.markdown import markdown_table

ROOT = Path(__file__).parents[1]
SPACE = ROOT / "studies" / "choosing" / "space.toml"
PART = "1/8"
CORES = (2, 64, 256)  # numbers of cores that times are estimated for, if one scheduler serves as many
START_SECONDS = 60
IDLE_SECONDS = 20  # for which processes are watched that have nothing to do
HOUR = 3600.0


class Cluster(NamedTuple):
    """A running scheduler and its workers."""

    address: str
    scheduler: psutil.Process
    workers: list[psutil.Process]

    def seconds(self) -> tuple[float, float]:
        """Return the processor time spent so far by the scheduler, and by all workers together."""
        return _spent(self.scheduler), sum(map(_spent, self.workers))


class Throughput(NamedTuple):
    """The cost of one part of a campaign."""

    workers: int
    trials: int
    jobs: int
    wall: float  # seconds
    worker: float  # processor seconds of all workers
    scheduler: float  # processor seconds, beyond those that it spends on nothing
    client: float  # processor seconds of the process that writes the rows
    others: float  # processor seconds of everything else on the machine
    bytes: int  # on disk

    @property
    def worker_rate(self) -> float:
        """The number of trials per second of a worker's processor time."""
        return self.trials / self.worker

    @property
    def most_workers(self) -> float:
        """The number of workers that fully occupy the scheduler or the client, whichever is slower."""
        return self.worker / max(self.scheduler, self.client)


def _spent(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _busy() -> float:
    """Return the processor seconds spent by the whole machine since it was started."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0))


@contextlib.contextmanager
def cluster(workers: int) -> Iterator[Cluster]:
    """Start a scheduler and workers with Dask's own commands, and end them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    dask = [sys.executable, "-m", "dask"]
    with contextlib.ExitStack() as stack:
        main = stack.enter_context(
            _started([*dask, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"])
        )
        count = ["--nthreads", "1", "--nworkers", str(workers)]
        nanny = stack.enter_context(_started([*dask, "worker", address, *count, "--no-dashboard"]))
        _await_workers(address, workers)
        found = [child for child in nanny.children(recursive=True) if "forkserver" not in " ".join(child.cmdline())]
        yield Cluster(address, main, found)


@contextlib.contextmanager
def _started(command: list[str]) -> Iterator[psutil.Process]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield psutil.Process(process.pid)
        finally:
            process.terminate()


def _await_workers(address: str, workers: int) -> None:
    from distributed import Client

    with Client(address, timeout=START_SECONDS) as client:
        client.wait_for_workers(workers, timeout=START_SECONDS)


@contextlib.contextmanager
def jobs_of(size: int) -> Iterator[None]:
    """Let campaigns that are planned meanwhile have jobs of this size: their cost on the cluster depends on it."""
    before, plan.LEAST_TRIALS = plan.LEAST_TRIALS, size
    try:
        yield
    finally:
        plan.LEAST_TRIALS = before


def idle_rate(scheduler: psutil.Process) -> float:
    """Return the processor seconds that a scheduler spends per second while there is nothing to do."""
    before = _spent(scheduler)
    time.sleep(IDLE_SECONDS)
    return (_spent(scheduler) - before) / IDLE_SECONDS


def measure(campaign: Campaign, part: Share, workers: int, size: int) -> Throughput:
    """Run a part of a campaign on a cluster of its own, whose workers have loaded their kernels before."""
    with tempfile.TemporaryDirectory(prefix="andante-bench-") as scratch, cluster(workers) as own, jobs_of(size):
        smoke = read_campaign(campaign.path, "smoke")
        store, planned = prepare(smoke, Path(scratch, "smoke.store"))
        compile_for(planned)
        resume(store, planned, Dask(scheduler=own.address), smoke.seed)
        store, planned = prepare(campaign, Path(scratch, "rows.store"))
        mine = part.of_jobs(planned.order(campaign.seed), planned).tolist()
        idle = idle_rate(own.scheduler)
        before, client, machine, began = own.seconds(), time.process_time(), _busy(), time.perf_counter()
        resume(store, planned, Dask(scheduler=own.address), campaign.seed, part=part)
        wall, client = time.perf_counter() - began, time.process_time() - client
        scheduler, worker = (now - then for now, then in zip(own.seconds(), before, strict=True))
        others = max(0.0, _busy() - machine - scheduler - worker - client)
        scheduler = max(0.0, scheduler - idle * wall)
        written = sum(file.stat().st_size for file in (store.folder / "parts").iterdir())
        trials = sum(planned.trials_of(number) for number in mine)
    return Throughput(workers, trials, len(mine), wall, worker, scheduler, client, others, written)


def full_trials(file: Path) -> int:
    """Return the number of trials of a full campaign, whose problem sets must all give their number of problems."""
    campaign = read_campaign(file, "full")
    problems = {name: one.total for name, one in campaign.problems.items()}
    return sum(
        run.batches * len(list(run.entries(0))) * sum(problems[name] or 0 for name in run.problems)
        for run in campaign.runs
    )


def report(found: list[Throughput], whole: int) -> str:
    """Return the measurements and the estimates, in Markdown."""
    head = ["workers", "trials", "jobs", "time", "trials/s", "trials/s of a worker's processor time"]
    head += ["scheduler", "client", "other work on the machine"]
    rows = []
    for one in found:
        shares = [f"{100 * spent / one.worker:.2g} %" for spent in (one.scheduler, one.client)]
        rates = [f"{one.trials / one.wall:,.0f}", f"{one.worker_rate:,.0f}"]
        others = f"{one.others / one.wall:.1f} cores"
        rows.append(
            [str(one.workers), f"{one.trials:,}", f"{one.jobs:,}", f"{one.wall:,.0f} s", *rates, *shares, others]
        )
    rate = sum(one.trials for one in found) / sum(one.worker for one in found)
    most = min(one.most_workers for one in found)
    size = sum(one.bytes for one in found) / sum(one.trials for one in found)
    hours = whole / rate / HOUR
    times = ", ".join(
        f"{hours / cores:,.{0 if hours / cores >= 10 else 1}f} hours on {cores:,}" for cores in CORES if cores <= most
    )
    said = (
        f"{whole:,} trials would take {hours:,.0f} core hours: {times}. More than {most:,.0f} workers would wait for "
        f"the one scheduler or the client. The rows would take {size * whole / 1e9:,.0f} GB."
    )
    return f"{markdown_table(head, rows)}\n\n{said}"


def main() -> None:
    """Measure clusters of several sizes, and print the table and the estimates."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4], help="sizes of clusters (default: 2 4)")
    parser.add_argument("--campaign", type=Path, default=SPACE, help="the campaign to measure (default: space.toml)")
    parser.add_argument("--scale", default="quick", help="its scale (default: quick)")
    parser.add_argument("--part", default=PART, help=f"the part of it that is run (default: {PART})")
    asked = parser.parse_args()
    campaign, part = read_campaign(asked.campaign, asked.scale), Share.read(asked.part)
    whole = full_trials(asked.campaign)
    size = plan.job_size(whole)
    print(report([measure(campaign, part, count, size) for count in asked.workers], whole))


if __name__ == "__main__":
    main()
