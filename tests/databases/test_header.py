"""The one file format: databases are restored from their files, and all other files are refused with a sentence."""

import functools
import mmap
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

import andante
from andante.databases.header import ALIGNMENT, MAGIC, Database, load, pick, read_header, sizes
from andante.databases.kinds import kind_named, kinds
from andante.errors import AlgorithmError, DatabaseError, OutputError
from andante.offline import build
from andante.world.grid import Grid
from tests.databases.files import put_together, taken_apart

ROOM = np.ones((3, 4), bool)
ROOM[1, 1] = False

# Two kinds whose files are small enough for every byte to be tried, and below these all kinds.
SMALL = {"moves": "moves", "subgoals": "subgoals(records=3, series=true)"}


@functools.cache
def built(kind):
    """Return a small database; some kinds take seconds to build."""
    return build(SMALL.get(kind, kind), Grid(ROOM), threads=1)


@pytest.fixture
def grid():
    return Grid(ROOM)


@pytest.fixture(params=SMALL)
def file(request, tmp_path):
    path = tmp_path / "small.db"
    built(request.param).save(path)
    return path


@pytest.fixture(params=sorted(kinds()))
def any_file(request, tmp_path):
    """Return a file of each kind."""
    path = tmp_path / "small.db"
    built(request.param).save(path)
    return path


def test_what_is_saved_is_loaded(any_file, grid):
    database = load(any_file, map=grid)
    known = built(database.kind)
    assert database.fingerprint == known.fingerprint
    assert database.parameters == known.parameters
    assert database.path == any_file
    assert database.nbytes == known.nbytes
    for name, array in database.arrays._asdict().items():
        expected = getattr(known.arrays, name)
        assert array.dtype == expected.dtype
        assert np.array_equal(array, expected)


def test_every_kind_knows_its_size(any_file, grid):
    database = load(any_file, map=grid)
    assert 0 < database.records <= database.entries <= database.nbytes
    room = sizes([database, database], 10)
    assert room["database_bytes"] == 2 * database.nbytes
    assert room["database_maps"] == database.entries / 5


def test_sizes_are_counted_as_in_the_paper_on_knn(grid):
    """A record has three entries; there is a region for each cell and a subgoal for each pair of regions."""
    records = build("subgoals(records=7)", grid, threads=1)
    assert (records.records, records.entries) == (7, 21)
    regions = build("pattern(level=1)", grid, threads=1)
    pairs = regions.arrays.regions * regions.arrays.columns
    assert (regions.records, regions.entries) == (pairs, grid.width * grid.height + pairs)
    assert sizes([], 12) == {"database_bytes": 0, "database_records": 0, "database_maps": 0}


def test_arrays_are_mapped_aligned_and_read_only(file, grid):
    database = load(file, map=grid)
    for array in database.arrays:
        assert isinstance(array.base, mmap.mmap)
        assert array.ctypes.data % ALIGNMENT == 0
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_built_arrays_are_read_only_too(grid):
    for array in build("moves", grid).arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_a_graph_and_its_map_are_the_same(file, grid):
    assert load(file, map=grid.graph).kind == load(file, map=Grid(ROOM, name="by another name")).kind


# --- damage ---------------------------------------------------------------------------------------------------------


def test_every_byte_flipped_is_refused(any_file, grid):
    file, whole = any_file, any_file.read_bytes()
    for place in range(len(whole)):
        for flip in (1 << place % 8, 0xFF):
            damaged = bytearray(whole)
            damaged[place] ^= flip
            file.write_bytes(damaged)
            with pytest.raises(DatabaseError, match="small.db"):
                load(file, map=grid)


def test_every_truncation_is_refused(any_file, grid):
    file, whole = any_file, any_file.read_bytes()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        with pytest.raises(DatabaseError, match="small.db"):
            load(file, map=grid)


def test_more_bytes_than_there_should_be_are_refused(file, grid):
    file.write_bytes(file.read_bytes() + b"\0" * ALIGNMENT)
    with pytest.raises(DatabaseError, match=r"has \d+ bytes where it should have \d+"):
        load(file, map=grid)


def test_two_parts_that_changed_places_are_refused(file, grid):
    whole = file.read_bytes()
    one, other = whole[-128:-64], whole[-64:]
    if one == other:
        pytest.skip("these two are the same")
    file.write_bytes(whole[:-128] + other + one)
    with pytest.raises(DatabaseError, match="checksum"):
        load(file, map=grid)


@pytest.mark.parametrize(
    ("contents", "sentence"),
    [
        (b"", "is empty; build or copy it again"),
        (b"PK\3\4 a zip", "is not a database"),
        (MAGIC[:5], "cut off.*; build or copy it again"),
    ],
)
def test_other_files_are_refused(contents, sentence, grid, tmp_path):
    (tmp_path / "other").write_bytes(contents)
    with pytest.raises(DatabaseError, match=sentence):
        load(tmp_path / "other", map=grid)


def test_missing_files_and_folders_are_refused(grid, tmp_path):
    with pytest.raises(DatabaseError, match="cannot read .*absent.*: No such file"):
        load(tmp_path / "absent", map=grid)
    with pytest.raises(DatabaseError, match="cannot read"):
        load(tmp_path, map=grid)


# --- files of other origin -----------------------------------------------------------------------------------------------


def test_another_maps_file_is_refused(any_file, grid):
    file, other = any_file, ROOM.copy()
    if load(file, map=grid).fingerprint is None:
        pytest.skip("this kind is for any map")
    other[0, 0] = False
    with pytest.raises(DatabaseError, match="was built for another map"):
        load(file, map=Grid(other))
    with pytest.raises(DatabaseError, match="was built for another map"):
        load(file, map=Grid(ROOM, rule="corners"))


def rewritten(whole: bytes, change) -> bytes:
    """Return a file with another header and a matching checksum, which is not damaged but not ours either."""
    head, body = taken_apart(whole)
    return put_together(change(head), body)


def resized(head, which, **fields):
    for array in head["arrays"]:
        if array["name"].rstrip(b"\0") == which.encode():
            array.update(fields)
    return head


# Headers that no database has, with matching checksums, as an attacker may forge them.
UNREADABLE = [
    lambda head: {**head, "text": b"no notation ("},
    lambda head: {**head, "text": b""},
    lambda head: {**head, "text": b"pickles"},
    lambda head: {**head, "text": b"\xff" + head["text"]},
    lambda head: {**head, "text": head["kind"].rstrip(b"\0") + b"(seed=deep(of=1))"},
    lambda head: {**head, "text": head["kind"].rstrip(b"\0") + b"(seed=" + b"9" * 5000 + b")"},
    lambda head: {**head, "text": head["kind"].rstrip(b"\0") + b"(a=" * 300 + b")" * 300},
    lambda head: {**head, "text_bytes": 0},
    lambda head: {**head, "text_bytes": 2**32 - 1},
    lambda head: {**head, "count": 2**32 - 1},
    lambda head: {**head, "count": len(head["arrays"]) + 1},
    lambda head: {**head, "kind": b"\xff" * 24},
    lambda head: {**head, "kind": b"mo\0ves"},
    lambda head: {**head, "kind": b"\x1b[31m"},
    lambda head: {**head, "map": b"\x1b[31m"},
    lambda head: {**head, "stale": 64},
    lambda head: resized(head, "first", name=b"\xff"),
    lambda head: resized(head, "first", name=b"fi\nrst"),
    lambda head: resized(head, "first", dtype=b"\xff"),
    lambda head: resized(head, "first", sides=0),
    lambda head: resized(head, "first", sides=4),
    lambda head: resized(head, "first", sides=2**32 - 1),
    lambda head: resized(head, "first", b=1),
]


@pytest.mark.parametrize("change", UNREADABLE)
def test_headers_are_checked_without_the_map_too(change, file):
    file.write_bytes(rewritten(file.read_bytes(), change))
    with pytest.raises(DatabaseError, match="header that cannot be read"):
        read_header(file)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda head: {**head, "kind": b"pickles", "text": b"pickles"}, "no kind of database 'pickles'"),
        (lambda head: {**head, "arrays": head["arrays"][1:]}, "does not contain the arrays"),
        (
            lambda head: {**head, "arrays": [*head["arrays"], {**head["arrays"][0], "name": b"more"}]},
            "does not contain",
        ),
        (lambda head: {**head, "arrays": [*head["arrays"], head["arrays"][0]]}, "does not contain"),
        (lambda head: resized(head, "first", dtype=b"O"), "does not contain the arrays"),
        (lambda head: resized(head, "first", dtype=b"f4"), "does not contain the arrays"),
        (lambda head: resized(head, "first", a=10**9), "does not contain the arrays"),
        (lambda head: resized(head, "first", a=2**64 - 1), "does not contain the arrays"),
        (lambda head: resized(head, "first", a=2**40, b=2**40, sides=2), "does not contain the arrays"),
        (lambda head: resized(head, "first", a=0, b=2**62, sides=2), "(does not contain the arrays|cannot be used)"),
        (lambda head: resized(head, "first", offset=3), "does not contain the arrays"),
        (lambda head: resized(head, "first", offset=10**9 * ALIGNMENT), "does not contain the arrays"),
        (lambda head: resized(head, "first", offset=2**63), "does not contain the arrays"),
        (lambda head: resized(head, "first", a=1), "cannot be used"),
        (lambda head: resized(head, "first", a=0), "cannot be used"),
        (lambda head: resized(head, "first", a=2, b=2, sides=2), "cannot be used"),
        *((change, "header that cannot be read") for change in UNREADABLE),
    ],
)
def test_a_complete_file_that_makes_no_sense_is_refused(change, sentence, file, grid):
    file.write_bytes(rewritten(file.read_bytes(), change))
    with pytest.raises(DatabaseError, match=sentence):
        load(file, map=grid)


def test_a_rewritten_file_without_changes_is_accepted(file, grid):
    file.write_bytes(rewritten(file.read_bytes(), lambda head: head))
    assert load(file, map=grid).kind in SMALL


def changed(kind, **arrays):
    """Return a database with some numbers changed, which a complete file may contain."""
    known = built(kind)
    fields = {name: array.copy() for name, array in known.arrays._asdict().items()}
    for name, (place, value) in arrays.items():
        fields[name][place] = value
    return Database(known.kind, known.fingerprint, known.parameters, type(known.arrays)(**fields))


@pytest.mark.parametrize(
    ("kind", "arrays", "sentence"),
    [
        ("depth-tree", {"history": (0, 2**31)}, "history is not from 1 to 100,000 moves long"),
        ("depth-tree", {"history": (0, 0)}, "history is not from 1 to 100,000 moves long"),
        ("pattern", {"cover": (0, 7)}, "level or cover does not exist"),
        ("pattern", {"cover": (0, -1)}, "level or cover does not exist"),
        ("pattern", {"level": (0, 2**62)}, "level or cover does not exist"),
        ("pattern", {"level": (0, -1)}, "level or cover does not exist"),
        ("pattern", {"cap": (0, 2**62)}, "depths outside 1 to"),
        ("pattern", {"cap": (0, 0)}, "depths outside 1 to"),
        ("subgoals", {"first": (slice(1, 3), [2**31 - 1, -(2**31) + 1000])}, "have no subgoal"),
    ],
)
def test_numbers_that_no_builder_writes_are_refused(kind, arrays, sentence, grid, tmp_path):
    changed(kind, **arrays).save(tmp_path / "odd.db")
    with pytest.raises(DatabaseError, match=f"cannot be used: .*{sentence}"):
        load(tmp_path / "odd.db", map=grid)


def test_subgoals_in_no_region_are_refused(tmp_path):
    rooms = andante.generate("rooms", 12, 12, size=5, seed=1)
    known = build("pattern(level=1, aim=entry)", rooms, threads=1)
    known.save(tmp_path / "sound.db")
    load(tmp_path / "sound.db", map=rooms)
    named = known.arrays.subgoal.max()
    owner = known.arrays.owner.copy()
    owner[np.searchsorted(known.arrays.run, named, "right") - 1] = -1
    Database(known.kind, known.fingerprint, known.parameters, known.arrays._replace(owner=owner)).save(
        tmp_path / "odd.db"
    )
    with pytest.raises(DatabaseError, match="refers to states that are in no region"):
        load(tmp_path / "odd.db", map=rooms)


def test_another_versions_file_is_refused(file, grid):
    whole = bytearray(file.read_bytes())
    struct.pack_into("<I", whole, 8, 1)
    file.write_bytes(whole)
    with pytest.raises(DatabaseError, match="is of version 1 and this Andante reads version 2; build it again"):
        load(file, map=grid)
    file.write_bytes(whole[:32])  # version 1 had a shorter header
    with pytest.raises(DatabaseError, match="is of version 1"):
        read_header(file)


# --- the rest -------------------------------------------------------------------------------------------------------


def test_the_header_can_be_read_without_the_map(file):
    header = read_header(file)
    assert header.kind in SMALL
    assert header.file_bytes == file.stat().st_size
    assert [array.name for array in header.arrays] == list(kind_named(header.kind).dtypes)


def test_saving_is_all_or_nothing(grid, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    database = build("moves", grid)
    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        database.save(tmp_path / "never.moves")
    assert list(tmp_path.iterdir()) == []


def test_saving_to_a_bad_place_is_an_error(grid, tmp_path):
    with pytest.raises(OutputError, match="cannot write"):
        build("moves", grid).save(tmp_path / "no" / "such" / "folder")


def test_databases_for_any_map_serve_all_maps(grid, tmp_path):
    known = build("moves", grid)
    database = Database(known.kind, None, {}, known.arrays)
    database.save(tmp_path / "any")
    assert load(tmp_path / "any", map=grid).fingerprint is None
    assert database.serves(andante.generate("empty", 5, 5).graph)


def test_an_agent_gets_the_database_of_its_map(grid):
    other = andante.generate("rooms", 12, 12, seed=1)
    databases = [build("subgoals(records=2)", grid), build("moves", other), build("moves", grid)]
    assert pick(databases, "moves", grid.graph) is databases[2]
    with pytest.raises(AlgorithmError, match="for other maps; build one with 'andante build moves MAP'"):
        pick(databases[:2], "moves", grid.graph)
    with pytest.raises(AlgorithmError, match="this algorithm needs a database of kind 'moves', and none was given"):
        pick([], "moves", grid.graph)


def test_other_objects_than_databases_are_refused_in_a_sentence():
    grid = andante.generate("empty", 6, 6)
    problem = grid.problem((0, 0), (5, 5))
    one = build("moves", grid)
    assert andante.run("cpd", problem, databases=one).solved  # a single database need not be in a list
    with pytest.raises(AlgorithmError, match="results of andante.build or andante.load, got 'empty.moves'"):
        andante.run("cpd", problem, databases=["empty.moves"])
    with pytest.raises(AlgorithmError, match=r"load, got 'empty.moves'"):
        andante.run("cpd", problem, databases="empty.moves")
    with pytest.raises(AlgorithmError, match="load, got 5"):
        andante.run("cpd", problem, databases=5)


def test_the_error_says_what_to_build_for_an_agent_that_plans_between_regions():
    grid = andante.generate("rooms", 32, 32, seed=1)
    with pytest.raises(AlgorithmError, match=r'andante build "pattern\(base=2, level=3\)" MAP'):
        andante.Agent("dprlrta(level=2)", grid)


READER = """
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words) {
    FILE *stream = fopen(words[1], "rb");
    static char file[1 << 20];
    size_t length = fread(file, 1, sizeof file, stream);
    const struct head *head = (const void *)file;
    if (memcmp(head->magic, "andante\\n", 8) || head->version != 2 || head->bytes != length) return 1;
    printf("%s %.32s\\n", head->kind, head->map);
    const int64_t *numbers = array_of(file, words[2]);
    for (int i = 0; i < atoi(words[3]); i++) printf("%lld\\n", (long long)numbers[i]);
    return 0;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_program_in_the_docs_reads_a_file(grid, tmp_path):
    """C programs can read database files, and the docs show how."""
    page = (Path(__file__).parents[2] / "docs/explanation/database-files.md").read_text()
    source = page.split("```c\n")[1].split("```")[0] + READER
    (tmp_path / "reader.c").write_text(source)
    program = tmp_path / "reader"
    subprocess.run(
        [
            "cc",
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Wno-unused-parameter",
            "-Werror",
            "-o",
            program,
            tmp_path / "reader.c",
        ],
        check=True,
    )
    database = built("moves")
    database.save(tmp_path / "room.moves")
    first = database.arrays.first
    printed = subprocess.run(
        [program, tmp_path / "room.moves", "first", str(len(first))], check=True, capture_output=True, text=True
    ).stdout.split()
    assert printed[:2] == ["moves", grid.fingerprint]
    assert [int(number) for number in printed[2:]] == first.tolist()
