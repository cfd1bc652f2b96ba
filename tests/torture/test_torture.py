"""A short run of each torture program; `make torture` runs them at full length."""

import json
import os
from collections import Counter
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool

import pytest

from tests.torture import kills
from tests.torture.frame import CHUNK, Entry, Finding, FoundError, Log, Outcome, chance, parts_of, run_cases, run_part
from tests.torture.inputs import checked
from tests.torture.mutate import altered, damaged

pytest.importorskip("polars")
pytest.importorskip("sklearn")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and limits are different on Windows")

SEED = 20261116
INPUTS = 40  # of each parser
WALKS = 4  # of each kind of graph


def found(program, part, size):
    """Return the findings as they would be printed."""
    findings = run_cases(program, part, SEED, 0, size).findings
    return ["\n".join(finding.lines(program, part, SEED)) for finding in findings]


@pytest.mark.compiled
@pytest.mark.parametrize("part", parts_of("inputs"))
def test_inputs_are_read_or_refused_with_a_sentence(part):
    assert found("inputs", part, INPUTS) == []


@pytest.mark.parametrize("part", parts_of("walks"))
def test_agents_walk_correctly_on_random_graphs(part):
    assert found("walks", part, WALKS) == []


@pytest.mark.compiled
def test_a_killed_campaign_has_the_same_rows(monkeypatch):
    monkeypatch.setattr(kills, "MOST_KILLS", 2)
    figures = kills._campaigns(most=6)(chance(SEED, "campaigns", 0))
    assert figures["rows"] == 3 * 60 * 7


# --- findings are reported ------------------------------------------------------------------------------------------


def hang(data):
    while True:
        pass


@pytest.mark.parametrize(
    ("read", "sentence"),
    [
        (lambda data: data.decode(), "UnicodeDecodeError"),
        (lambda data: {}["x"], "KeyError: 'x'"),
        (hang, "not read within"),
    ],
)
def test_a_bad_parser_is_found(read, sentence, monkeypatch):
    monkeypatch.setattr("tests.torture.inputs.SECONDS", 0.05)
    with pytest.raises(FoundError, match=sentence):
        checked(read, b"\xff")
    with pytest.raises(FoundError, match="it is wrong"):
        checked(len, b"x", lambda value: "it is wrong")


def test_a_stopped_run_is_resumed_from_its_log(tmp_path):
    file = tmp_path / "log"
    one, two = (Outcome(3, 0.5, Counter(read=2, refused=1)) for _ in range(2))
    two.findings.append(Finding(4, "what", "data"))
    log = Log(file)
    log.add(Entry("inputs", "maps", 1, 0, 3, "abc", one))
    log.add(Entry("inputs", "maps", 1, 3, 3, "abc", two))
    with file.open("a") as stream:
        stream.write('{"program": "inp')  # a kill in the middle of a line
    again = Log(file)
    assert again.entries == log.entries
    assert [entry.chunk for entry in again.done("inputs", "maps", 1)] == [(0, 3)]  # a chunk with findings is run again
    assert again.done("inputs", "maps", 2) == []
    *_, row = again.table()
    assert row == "| inputs | maps | 6 |  |  | 1 | 6 | abc |"


def test_chunks_in_the_log_are_not_run_again(monkeypatch, capsys):
    monkeypatch.setitem(CHUNK, "inputs", 5)
    log = Log()
    for first in (0, 5):
        log.add(Entry("inputs", "notation", 1, first, 5, "abc", Outcome(5, 0.1, Counter(read=5))))
    assert run_part("inputs", "notation", 1, 0, 10, 1, log).figures == {"read": 10}
    assert len(log.entries) == 2


def test_a_process_that_dies_is_a_finding_in_the_log_too(monkeypatch, capsys):
    class Pool:
        def __init__(self, *how, **more): ...

        def __enter__(self):
            return self

        def __exit__(self, *error): ...

        def submit(self, *what):
            died = Future()
            died.set_exception(BrokenProcessPool())
            return died

    monkeypatch.setattr("tests.torture.frame.ProcessPoolExecutor", Pool)
    log = Log()
    outcome = run_part("inputs", "notation", 1, 0, 10, 1, log)
    assert [len(one.findings) for one in (outcome, *(entry.outcome for entry in log.entries))] == [1, 1]
    assert log.done("inputs", "notation", 1) == []
    assert "a process died or hung, in one of: --first 0 --size 10" in capsys.readouterr().out


def test_documents_of_any_depth_are_altered():
    document = []
    for _ in range(10_000):
        document = [document]
    rng, whole = chance(1, "any", 1), {"a": [document, document]}
    found = [altered(rng, whole) for _ in range(500)]
    assert all(one is not whole for one in found)
    assert any(isinstance(one, dict) and list(one) == ["a"] and one["a"] is not whole["a"] for one in found)


def test_altering_does_not_change_the_original_document():
    document = {"a": [1, {"b": "c"}, []], "d": {}}
    before = json.dumps(document)
    rng = chance(1, "any", 2)
    for _ in range(500):
        altered(rng, document)
    assert json.dumps(document) == before


def test_a_case_is_the_same_every_time():
    one, two = (chance(1, "maps", 7) for _ in range(2))
    assert damaged(one, b"type octile\n" * 9) == damaged(two, b"type octile\n" * 9)
    assert repr(altered(one, {"a": [1, {"b": "c"}]})) == repr(altered(two, {"a": [1, {"b": "c"}]}))
