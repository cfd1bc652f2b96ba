"""Unpacking: only the requested files, only into the folder, only up to a size."""

import zipfile

import pytest

from andante.datasets import archives
from andante.datasets.archives import unpack
from andante.errors import DatasetError


def packed(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, data in members.items():
            pack.writestr(name, data)
    return path


@pytest.fixture
def target(tmp_path):
    folder = tmp_path / "target"
    folder.mkdir()
    return folder


def test_members_are_written_without_their_folders_and_others_are_skipped(tmp_path, target):
    members = {"a.map": "A", "deep/b.map": "B", "read.me": "no", "__MACOSX/._a.map": "no", "deep/": ""}
    pack = packed(tmp_path / "a.zip", members)
    assert unpack(pack, target, ".map") == 2
    assert {file.name: file.read_text() for file in target.iterdir()} == {"a.map": "A", "b.map": "B"}


@pytest.mark.parametrize("name", ["../out.map", "a/../../out.map", "/out.map", "..\\out.map", "C:\\out.map"])
def test_a_member_that_points_outside_is_refused(tmp_path, target, name):
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as pack:
        pack.writestr("good.map", "good")
        pack.writestr(name, "out")
    with pytest.raises(DatasetError, match=r"refusing evil\.zip: its member .* points outside"):
        unpack(tmp_path / "evil.zip", target, ".map")
    assert list(target.iterdir()) == []
    assert not (tmp_path / "out.map").exists()


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path, target):
    pack = packed(tmp_path / "bomb.zip", {"a.map": b"." * 10_000_000})
    assert pack.stat().st_size < 20_000
    with pytest.raises(DatasetError, match="it would unpack to 10,000,000 bytes, more than 1,000,000"):
        unpack(pack, target, ".map", limit=1_000_000)
    assert list(target.iterdir()) == []


def test_an_archive_of_too_many_files_is_refused(tmp_path, target, monkeypatch):
    monkeypatch.setattr(archives, "MAX_MEMBERS", 1)
    with pytest.raises(DatasetError, match="contains 2 files, more than the 1 allowed"):
        unpack(packed(tmp_path / "many.zip", {"a.map": "A", "b.map": "B"}), target, ".map")


def test_two_files_of_one_name_are_refused(tmp_path, target):
    with pytest.raises(DatasetError, match=r"contains two files named a\.map"):
        unpack(packed(tmp_path / "twice.zip", {"x/a.map": "A", "y/a.map": "B"}), target, ".map")


def test_a_file_that_is_not_an_archive_is_refused(tmp_path, target):
    page = tmp_path / "page.zip"
    page.write_text("<html>moved</html>")
    with pytest.raises(DatasetError, match=r"page\.zip is not a valid zip archive"):
        unpack(page, target, ".map")


def test_a_damaged_archive_is_refused(tmp_path, target):
    pack = packed(tmp_path / "hurt.zip", {"a.map": bytes(range(256)) * 40})
    data = bytearray(pack.read_bytes())
    data[60] ^= 255
    pack.write_bytes(data)
    with pytest.raises(DatasetError, match=r"hurt\.zip is not a valid zip archive"):
        unpack(pack, target, ".map")


def test_a_member_that_needs_more_memory_than_available_is_refused(tmp_path, target, monkeypatch):
    pack = packed(tmp_path / "huge.zip", {"a.map": b"..."})

    def opened(self, member):  # as for LZMA with a dictionary of 4 GiB, on a small machine
        raise MemoryError

    monkeypatch.setattr(zipfile.ZipFile, "open", opened)
    with pytest.raises(DatasetError, match=r"huge\.zip is not a valid zip archive \(MemoryError\)"):
        unpack(pack, target, ".map")


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_is_reported_for_every_compression(tmp_path, target, method):
    pack = tmp_path / "hurt.zip"
    with zipfile.ZipFile(pack, "w", method) as writer:
        writer.writestr("a.map", bytes(range(256)) * 40)
    whole = pack.read_bytes()
    for place in range(0, len(whole), 1 + len(whole) // 100):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        pack.write_bytes(damaged)
        for file in target.iterdir():
            file.unlink()
        try:
            unpack(pack, target, ".map")
        except DatasetError as error:
            assert "hurt.zip" in str(error)


@pytest.mark.parametrize("name", ["a" * 300 + ".map", "€" * 80 + ".map", "line\nbreak.map", "bell\a.map"])
def test_invalid_file_names_are_refused(tmp_path, target, name):
    with pytest.raises(DatasetError, match=r"refusing evil\.zip: .* is not a valid file name"):
        unpack(packed(tmp_path / "evil.zip", {"good.map": "good", name: "bad"}), target, ".map")
    assert list(target.iterdir()) == []


def test_a_name_in_another_encoding_is_refused(tmp_path, target):
    pack = packed(tmp_path / "evil.zip", {"ä.map": "A"})  # flagged as UTF-8
    pack.write_bytes(pack.read_bytes().replace("ä".encode(), b"\xff\xff"))
    with pytest.raises(DatasetError, match=r"evil\.zip is not a valid zip archive"):
        unpack(pack, target, ".map")
