"""The shared parts of builders: parameters, threads, progress, interrupts."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import andante
from andante.databases.kinds import kinds
from andante.errors import DatabaseError, ParameterError
from andante.offline import build, builders
from andante.offline.builder import Crew, estimate, finished


def test_every_kind_has_a_builder():
    assert set(builders()) == set(kinds())


@pytest.mark.compiled
@pytest.mark.parametrize("kind", sorted(builders()))
def test_the_result_does_not_depend_on_threads(kind, tmp_path):
    grid = andante.generate("random", 20, 20, seed=1)
    for threads in (1, 2, 5):
        build(kind, grid, threads=threads).save(tmp_path / str(threads))
    assert len({(tmp_path / name).read_bytes() for name in ("1", "2", "5")}) == 1


def test_parameters_can_be_in_the_notation_or_keywords():
    grid = andante.generate("random", 20, 20, seed=1)
    database = build("subgoals(records=3, coverage=gaps)", grid, seed=5)
    assert database.parameters == {"records": 3, "seed": 5, "coverage": "gaps", "series": False, "m": 25}


@pytest.mark.parametrize(
    ("kind", "error", "sentence"),
    [
        ("mooves", DatabaseError, "did you mean 'moves'"),
        ("moves(depth=1)", ParameterError, "building moves has no parameter 'depth'; it has none"),
        ("subgoals(record=1)", ParameterError, "did you mean 'records'"),
        ("subgoals(records=-1)", ParameterError, "records must be a whole number"),
        ("subgoals(coverage=all)", ParameterError, "coverage must be random, gaps"),
    ],
)
def test_wrong_kinds_and_parameters_are_reported(kind, error, sentence):
    with pytest.raises(error, match=sentence):
        build(kind, andante.generate("empty", 4, 4))


def test_threads_are_at_least_one():
    with pytest.raises(ParameterError, match="threads must be a whole number of at least 1, got 0"):
        build("moves", andante.generate("empty", 4, 4), threads=0)


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["moves", "subgoals(records=300)"])
def test_progress_grows_to_its_total(kind):
    reported = []
    build(kind, andante.generate("random", 30, 30, seed=1), progress=lambda *word: reported.append(word), threads=2)
    done, totals = [word[1] for word in reported], {word[2] for word in reported}
    assert done == sorted(done)
    assert len(done) > 1
    assert {done[-1]} == totals


def test_every_stage_of_a_pattern_reports_progress_and_can_be_stopped():
    grid, reported = andante.generate("rooms", 32, 32, seed=1), {}
    build(
        "pattern(level=1)", grid, progress=lambda what, done, total: reported.setdefault(what, []).append((done, total))
    )
    assert list(reported) == [
        "finding climbs between regions",
        "choosing subgoals between regions",
        "computing depths",
    ]
    for steps in reported.values():
        assert steps == sorted(steps)
        assert steps[-1][0] == steps[-1][1]

    def stop(what, done, total):
        raise TimeoutError(what)

    with pytest.raises(TimeoutError, match="finding climbs"):
        build("pattern(level=1)", grid, progress=stop)


def test_parts_are_in_order_and_rooms_are_not_shared():
    rooms = [[], [], []]

    def work(room, part):
        room.append(part)
        assert len(room) == 1
        time.sleep(0.001)
        room.clear()
        return sum(part)

    parts = [range(k) for k in range(60)]
    assert finished(Crew(3).each(work, parts, rooms)) == [sum(part) for part in parts]


def test_a_part_that_fails_ends_the_build():
    def work(room, part):
        raise ValueError(part)

    with pytest.raises(ValueError, match="0"):
        finished(Crew(2).each(work, [[0]], [None, None]))


@pytest.mark.compiled
@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise on Windows")
def test_an_interrupted_build_ends_soon_and_leaves_nothing(tmp_path):
    code = f"""
        import signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)
        import andante
        from andante.offline import build
        build("moves", andante.generate("empty", 4, 4))
        sys.argv = ["andante", "build", "moves", "empty:256x256", "--out", {str(tmp_path)!r}]
        from andante.cli import main
        print("begun", flush=True)
        main()
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "begun\n"
        time.sleep(1)
        assert child.poll() is None
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 130
    assert out == ""
    assert list(tmp_path.iterdir()) == []


def test_an_estimate_is_from_a_sample_and_a_short_build_is_completed():
    grid = andante.generate("rooms", 32, 32, seed=1)
    sampled = estimate("pattern(level=1)", grid, seconds=0.0, threads=1)
    assert sampled.what.startswith("finding climbs")
    assert 0 < sampled.done < sampled.total
    assert sampled.seconds > 0
    whole = estimate("pattern(level=2)", grid, seconds=1000.0)
    assert (whole.what, whole.done) == ("", 0)
