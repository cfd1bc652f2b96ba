"""The store: rows survive any end of the process, are counted once, and must agree."""

import csv
import errno
import hashlib
import json
import multiprocessing
import os
import signal
import time

import numpy as np
import pytest

from andante.errors import OutputError
from andante.measures import Statistics, summarise
from andante.store import Store, StoreError, check, export, merge, row_ids, summaries
from andante.store.store import _FANOUT, FORMAT, _sealed

pl = pytest.importorskip("polars")


def job(number, count=3, **columns):
    """Return the rows of one job."""
    problems = np.arange(number * count, (number + 1) * count)
    return {
        "id": row_ids({"settings": "lrta"}, problems.tolist(), (problems + 1).tolist()),
        "set": ["s"] * count,
        "problem": problems,
        "repeat": [0] * count,
        "job": [number] * count,
        "algorithm": ["lrta"] * count,
        "map": ["arena"] * count,
        "solved": [True] * count,
        "cost": problems * 0.5,
        "seconds": [0.25] * count,
        **columns,
    }


@pytest.fixture
def store(tmp_path):
    return Store.create(tmp_path / "rows", {"title": "a test"})


def test_appended_rows_are_there_when_the_store_is_opened_again(store):
    for number in (4, 1, 2):
        store.append(job(number))
    again = Store(store.folder)
    assert again.finished_jobs().tolist() == [1, 2, 4]
    assert sorted(again.frame()["problem"]) == [3, 4, 5, 6, 7, 8, 12, 13, 14]
    assert (len(again), again.about) == (9, {"title": "a test"})


def test_small_parts_are_merged_and_nothing_is_lost(store):
    count = 3 * _FANOUT + 5
    for number in range(count):
        store.append(job(number, count=2))
    assert len(store.parts()) < _FANOUT
    assert store.finished_jobs().tolist() == list(range(count))
    assert len(store) == 2 * count


def test_trials_that_are_appended_repeatedly_are_kept(store):
    for number in range(_FANOUT - 1):
        store._write_part(pl.DataFrame(job(1, seconds=[float(number)] * 3)))
    store.append(job(1))  # merged, they have the rows of the first part, and so its name
    assert len(store.parts()) == 1
    assert (len(store), store.finished_jobs().tolist()) == (3, [1])
    assert check(store) == []


def test_rows_that_a_kill_left_twice_count_once(store):
    store.append(job(1))
    store._write_part(pl.concat([store.frame(), store.frame()]))  # as if killed before the small part was removed
    assert len(store) == 3
    assert check(store) == []


def test_a_damaged_part_is_reported_and_moved_aside_and_its_job_counts_as_not_done(store):
    store.append(job(1))
    store.append(job(2))
    victim = store.parts()[0].path
    victim.write_bytes(victim.read_bytes()[:-20] + b"\0" * 20)
    assert len(check(store)) == 1
    with store.writing():
        assert len(store.finished_jobs()) == 1
    assert store.damaged == 1
    assert check(store) == []


@pytest.mark.parametrize("end", [b"\0" * 20, b""])
def test_every_reader_reports_a_damaged_part_in_one_sentence(store, tmp_path, end):
    store.append(job(1))
    victim = store.parts()[0].path
    victim.write_bytes(victim.read_bytes()[:-20] + end)
    other = Store.create(tmp_path / "other", {"title": "another"})
    other.append(job(2))
    again = Store(store.folder)
    for read in (
        again.frame,
        again.finished_jobs,
        again.__len__,
        lambda: export(again, tmp_path / "rows.csv"),
        lambda: merge([other, again], tmp_path / "both"),
        lambda: again.append(job(3)),
    ):
        with pytest.raises(StoreError, match=r"^\S+\.parquet is damaged; run 'andante store check \S+rows'$"):
            read()
    assert not Store.exists(tmp_path / "both")


def test_a_damaged_or_lost_table_is_reported(tmp_path):
    store = Store.create(tmp_path / "rows", {}, {"problems": {"start": [1, 2, 3]}})
    store.append(job(1))
    assert check(store) == []
    file = store.folder / "problems.parquet"
    whole = bytearray(file.read_bytes())
    whole[30] ^= 1
    file.write_bytes(whole)
    with pytest.raises(StoreError, match=r"problems\.parquet is damaged; run 'andante store check"):
        store.table("problems")
    (fault,) = check(store)
    assert "problems.parquet is damaged or missing" in fault
    file.unlink()
    with pytest.raises(StoreError, match="has lost its problems table"):
        store.table("problems")
    assert len(check(store)) == 1


def test_a_query_is_repeated_when_parts_were_merged_meanwhile(store, monkeypatch):
    store.append(job(1))
    store.append(job(2))
    reader, asked = Store(store.folder), []

    def late(rows):
        asked.append(rows)
        if len(asked) == 1:
            store._write_part(store.frame())
            for part in store.parts()[:2]:
                part.path.unlink()
        return rows

    assert len(reader._found(late)) == 6
    assert len(asked) == 2


@pytest.mark.parametrize("name", ["²-0.parquet", "-.parquet", "notes.parquet", "1.txt"])
def test_files_with_other_names_are_not_parts(store, name):
    before = len(store.parts())
    (store.folder / "parts" / name).write_text("mine")
    assert len(store.parts()) == before


def test_unfinished_files_are_removed(store):
    leftover = store.folder / "parts" / ".0000000003-ab.parquet.123.part"
    leftover.write_bytes(b"half a")
    with store.writing():
        assert not leftover.exists()


def test_two_processes_cannot_write_at_the_same_time(store):
    with store.writing(), pytest.raises(StoreError, match="another process is writing"), Store(store.folder).writing():
        pass


def test_rows_of_one_trial_that_disagree_are_reported_except_for_times(store):
    store.append(job(1))
    store.append(job(1, set=["other"] * 3, seconds=[9.0] * 3))
    assert check(store) == []
    store.append(job(1, set=["third"] * 3, cost=np.array([1.5, 2.0, 99.0])))
    (fault,) = check(store)
    assert "disagree in cost: lrta on arena" in fault


def test_rows_that_disagree_are_kept_when_parts_are_merged(store):
    store.append(job(1))
    store.append(job(1, seconds=[9.0] * 3))
    store.append(job(1, cost=np.array([1.5, 2.0, 99.0])))
    for number in range(2, _FANOUT - 1):
        store.append(job(number))
    assert len(store.parts()) == 1
    assert len(store) == 3 * (_FANOUT - 2)
    assert len(store.scan_all().collect()) == 3 * (_FANOUT - 2) + 1
    (fault,) = check(store)
    assert "disagree in cost" in fault


def test_rows_that_do_not_fit_are_refused(store):
    store.append(job(1))
    with pytest.raises(StoreError, match="differ in the column 'extra'"):
        store.append(job(2, extra=[1, 2, 3]))


def test_a_whole_number_where_others_have_fractions_fits(store):
    store.append(job(1))
    store.append(job(2, cost=np.array([1, 2, 3])))
    assert store.frame()["cost"].dtype == pl.Float64


@pytest.mark.parametrize(
    ("manifest", "sentence"),
    [
        (None, "is not a store"),
        (b"{", "is damaged"),
        (json.dumps({"format": FORMAT}).encode(), "is damaged"),
        (json.dumps({"format": 99}).encode(), "has format 99"),
    ],
)
def test_a_folder_that_is_not_a_store_of_this_version_is_refused(tmp_path, manifest, sentence):
    if manifest is not None:
        (tmp_path / "manifest.json").write_bytes(manifest)
    with pytest.raises(StoreError, match=sentence):
        Store(tmp_path)


def test_every_flipped_bit_of_a_manifest_is_detected(tmp_path):
    """The only exceptions are letters in escapes and exponents, whose case has no meaning."""
    about = {"title": "Weg zur\u00fcck", "plan": {"tasks": [[0, "lrta(depth=3)", 1e-7]], "sight": None, "found": True}}
    store = Store.create(tmp_path / "rows", about, {"problems": {"start": [1]}})
    file = store.folder / "manifest.json"
    whole = file.read_bytes()
    for place in range(len(whole)):
        for bit in range(8):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << bit
            file.write_bytes(flipped)
            try:
                found = Store(store.folder)
            except StoreError as error:
                assert str(error).count("\n") == 0
                continue
            assert flipped.lower() == whole.lower()
            assert (found.about, found.tables, found.version) == (store.about, store.tables, store.version)


def test_a_store_of_an_older_version_is_refused(store):
    """Its manifest has no checksum, so damage could not be detected."""
    file = store.folder / "manifest.json"
    manifest = {**json.loads(file.read_text()), "format": 2}
    del manifest["checksum"]
    file.write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match="has format 2, .* reads format 3; read it with the version that wrote it"):
        Store(store.folder)


@pytest.mark.parametrize("name", ["checksum", "about", "format"])
def test_an_incomplete_manifest_is_refused(store, name):
    file = store.folder / "manifest.json"
    manifest = json.loads(file.read_text())
    del manifest[name]
    file.write_text(json.dumps(manifest))
    with pytest.raises(StoreError):
        Store(store.folder)


@pytest.mark.parametrize("tables", [{"../problems": "0"}, {"a\0b": "0"}, {"": "0"}, {"problems": 7}])
def test_a_table_is_never_read_from_another_folder(store, tables):
    file = store.folder / "manifest.json"
    file.write_bytes(_sealed({**json.loads(file.read_bytes()), "tables": tables}))
    with pytest.raises(StoreError, match=r"manifest\.json is damaged"):
        Store(store.folder)


def test_rows_without_a_manifest_are_refused(store):
    store.append(job(1))
    (store.folder / "manifest.json").unlink()
    with pytest.raises(StoreError, match=r"contains rows but no manifest\.json"):
        Store.create(store.folder, {"title": "another"})
    assert len(list((store.folder / "parts").iterdir())) == 1


def test_a_store_killed_before_its_manifest_was_written_can_be_created_again(store):
    (store.folder / "manifest.json").unlink()
    assert Store.create(store.folder, {"title": "another"}).about == {"title": "another"}


def test_a_manifest_is_standard_json(tmp_path):
    store = Store.create(tmp_path / "rows", {"limits": {"cost": float("inf")}, "pair": (1, 2.5)})
    assert store.about == {"limits": {"cost": None}, "pair": [1, 2.5]}
    assert "Infinity" not in (store.folder / "manifest.json").read_text()


def test_a_store_that_cannot_be_written_to_is_reported_in_one_sentence(store):
    (store.folder / "lock").mkdir()
    with pytest.raises(OutputError, match="cannot write to the store .*rows"), store.writing():
        pass


@pytest.mark.parametrize("call", ["os.replace", "os.fsync"])  # a disk may report early or late that it is full
def test_a_full_disk_is_reported_in_one_sentence_and_earlier_rows_are_kept(store, monkeypatch, call):
    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store.append(job(1))
    with monkeypatch.context() as full:
        full.setattr(call, fail)
        with pytest.raises(OutputError, match=r"cannot write \S+\.parquet: No space left on device"):
            store.append(job(2))
    again = Store(store.folder)
    with again.writing():
        assert 1 in again.finished_jobs()
    assert check(again) == []
    assert not list((store.folder / "parts").glob(".*"))


def test_a_store_is_not_created_twice(store):
    with pytest.raises(StoreError, match="already contains a store"):
        Store.create(store.folder, {})


def _append_for_ever(folder):
    store = Store(folder)
    with store.writing():
        for number in range(10_000):
            store.append(job(number))
            (folder / "progress").write_text(str(number))


def test_a_store_killed_at_any_moment_keeps_appended_rows(store):
    process = multiprocessing.get_context("spawn").Process(target=_append_for_ever, args=(store.folder,))
    process.start()
    progress = store.folder / "progress"
    while not progress.exists() or int(progress.read_text() or 0) < 2 * _FANOUT:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    last = int(progress.read_text() or 0)
    with store.writing():  # the lock was released when the process ended
        jobs = store.finished_jobs().tolist()
    assert jobs == list(range(len(jobs)))
    assert len(jobs) > last
    assert len(store) == 3 * len(jobs)
    assert check(store) == []


# --- merging, exporting, summaries ----------------------------------------------------------------------------------


def test_stores_of_one_campaign_merge_into_one(tmp_path):
    about = {"title": "a test"}
    parts = [Store.create(tmp_path / name, about, {"problems": {"start": [1]}}) for name in ("a", "b")]
    parts[0].append(job(1))
    parts[1].append(job(1))
    parts[1].append(job(2))
    merged = merge(parts, tmp_path / "both")
    assert (merged.about, len(merged)) == (about, 6)
    assert merged.table("problems")["start"].to_list() == [1]


def test_stores_of_different_campaigns_merge_into_one_for_reports(tmp_path):
    parts = [Store.create(tmp_path / name, {"title": name}) for name in ("a", "b")]
    parts[0].append(job(1))
    parts[1].append(job(1, set=["other"] * 3))
    merged = merge(parts, tmp_path / "both")
    assert (merged.about["title"], len(merged)) == ("a and b", 6)


def test_stores_with_different_tables_are_of_different_campaigns(tmp_path):
    parts = [Store.create(tmp_path / name, {"title": "t"}, {"problems": {"start": [k]}}) for k, name in enumerate("ab")]
    for one in parts:
        one.append(job(1))
    merged = merge(parts, tmp_path / "both")
    assert (merged.about["title"], merged.tables, len(merged)) == ("t and t", {}, 3)


def test_stores_of_different_versions_do_not_merge(tmp_path):
    parts = [Store.create(tmp_path / name, {}) for name in ("a", "b")]
    parts[1]._manifest["andante"] = "0.0.1"
    with pytest.raises(StoreError, match="rows of different versions"):
        merge(parts, tmp_path / "both")


def test_export(store, tmp_path):
    store.append(job(1))
    assert export(store, tmp_path / "rows.csv") == export(store, tmp_path / "rows.parquet") == 3
    with (tmp_path / "rows.csv").open() as stream:
        assert [row["problem"] for row in csv.DictReader(stream)] == ["3", "4", "5"]
    assert pl.read_parquet(tmp_path / "rows.parquet").equals(store.frame())


def test_summaries_equal_those_of_plain_rows():
    rng = np.random.default_rng(1)
    cost = rng.pareto(1.5, 200)
    cost[::7] = np.nan
    rows = pl.DataFrame(
        {
            "algorithm": rng.choice(["a", "b", "c"], 200),
            "solved": rng.random(200) < 0.7,
            "outcome": np.where(rng.random(200) < 0.1, "COST_CAP", "GOAL"),
            "cost": cost,
            "moves": rng.integers(1, 99, 200),
            "fingerprint": rng.choice(["f", "g"], 200),
            "start": rng.integers(1, 4, 200),
            "goal": rng.integers(4, 6, 200),
        }
    )
    plain = {summary.name: summary for summary in summarise(rows.to_dicts())}
    found = summaries(rows, order=["c", "a"])
    assert [summary.name for summary in found] == ["c", "a", "b"]
    for summary in found:
        twin = plain[summary.name]
        assert (summary.trials, summary.solved, summary.problems) == (twin.trials, twin.solved, twin.problems)
        for name in ("cost", "moves"):
            for field in Statistics.__dataclass_fields__:
                assert getattr(summary[name], field) == pytest.approx(getattr(twin[name], field))
    assert {(one["moves"].median_is_bound, one["moves"].bounds > 0) for one in found} == {(True, True)}


@pytest.mark.parametrize("bytes_", [b"", b"PAR1", b"no rows" * 100])
def test_a_part_that_is_not_a_table_is_reported_although_its_hash_is_correct(store, bytes_):
    store.append(job(1))
    digest = hashlib.sha256(bytes_).hexdigest()[:16]
    (store.folder / "parts" / f"{3:010d}-{digest}.parquet").write_bytes(bytes_)
    with pytest.raises(StoreError, match="cannot read the rows"):
        store.frame()


def test_parts_with_different_columns_are_reported_in_one_sentence(store, tmp_path):
    store.append(job(1))
    other = Store.create(tmp_path / "other", {})
    other.append({"id": ["x"], "set": ["s"], "repeat": [0], "job": [1], "shade": ["green"]})
    store.adopt(other.parts()[0])
    for asked in (store.frame, store.finished_jobs, lambda: len(store)):
        with pytest.raises(StoreError, match="cannot read the rows"):
            asked()
