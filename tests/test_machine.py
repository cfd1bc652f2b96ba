"""The number of cores that can be used, and work on several threads."""

import os
import threading
from contextlib import closing
from itertools import count

import pytest

from andante.errors import ParameterError
from andante.machine import cores, on_threads
from andante.recent import Recent


def test_only_cores_that_the_process_may_use_count(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 5}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert cores() == 2


def test_all_cores_count_if_the_system_does_not_report_them(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert cores() == 3
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_every_part_is_worked_on_once(threads):
    done = [one for batch in on_threads(lambda part, stop: part * part, range(50), threads) for one in batch]
    assert sorted(done) == [(k, k, k * k) for k in range(50)]


def test_no_more_threads_are_started_than_there_are_parts(monkeypatch):
    started = []

    class Counted(threading.Thread):
        def start(self):
            started.append(self.name)
            super().start()

    monkeypatch.setattr(threading, "Thread", Counted)
    for parts in ([], [1], [1, 2], range(9)):
        started.clear()
        assert sum(len(batch) for batch in on_threads(lambda part, stop: part, parts, 4)) == len(parts)
        assert len(started) == min(max(len(parts), 1), 4)


def test_a_failure_reaches_the_caller_and_stops_the_others():
    stopped = threading.Event()

    def work(part, stop):
        if part == 0:
            raise ValueError("this part is wrong")
        assert stop.wait(60)
        stopped.set()

    with pytest.raises(ValueError, match="this part is wrong"):
        list(on_threads(work, range(2), 2))
    assert stopped.is_set()


def test_parts_are_taken_as_they_are_needed_and_no_more_once_it_is_closed():
    taken = []

    def parts():
        for number in count():
            taken.append(number)
            yield number

    with closing(on_threads(lambda part, stop: part, parts(), 2)) as batches:
        next(batches)
    assert not [one for one in threading.enumerate() if one.name.startswith("andante ")]
    before = len(taken)
    assert next(batches, None) is None
    assert len(taken) == before


def test_a_value_that_several_threads_request_is_made_once():
    held, made = Recent(4), []
    list(on_threads(lambda part, stop: held.get(part % 4, lambda: made.append(part % 4)), range(40), 4))
    assert sorted(made) == [0, 1, 2, 3]


@pytest.mark.parametrize("threads", [0, -1, 1.5])
def test_there_is_at_least_one_thread(threads):
    with pytest.raises(ParameterError, match="threads must be a whole number of at least 1"):
        on_threads(lambda part, stop: part, [1, 2], threads)
