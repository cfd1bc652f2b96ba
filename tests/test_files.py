"""Files are written completely or not at all, links are followed, devices are kept, and errors are found early."""

import os
import stat
from pathlib import Path

import pytest

from andante.errors import InputError, OutputError
from andante.files import FileTooLargeError, check_place, json_checksum, listed, make_folder, read_at_most, write_whole

TOO_LONG = "a" * 5000


def test_a_link_is_kept_and_its_target_is_written(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "file", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(Path("real", "file"))
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert not target.is_symlink()
    assert [file.name for file in target.parent.iterdir()] == ["file"]


def test_a_link_to_a_missing_file_creates_its_target(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "new")
    write_whole(tmp_path / "link", b"data")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "new").read_bytes() == b"data"


@pytest.mark.skipif(os.name == "nt", reason="there are no such permissions")
def test_a_file_that_is_overwritten_keeps_its_permissions(tmp_path):
    (file := tmp_path / "rows.csv").write_text("old")
    file.chmod(0o600)
    write_whole(file, b"new")
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("new", 0o600)


def test_links_in_a_circle_are_an_error(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OutputError, match="cannot write .*a: "):
        write_whole(tmp_path / "a", b"data")
    assert (tmp_path / "a").is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        check_place(pipe)
        write_whole(pipe, b"through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


def test_a_file_that_the_process_prints_to_is_not_replaced(tmp_path):
    """This happens in ``andante compare --csv /dev/stdout > file``."""
    file, printed = tmp_path / "file", os.dup(1)
    with file.open("wb") as stream:
        os.dup2(stream.fileno(), 1)
    try:
        os.write(1, b"before ")
        write_whole("/dev/stdout", b"data ")
        write_whole(file, b"more ")
        os.write(1, b"after")
    finally:
        os.dup2(printed, 1)
        os.close(printed)
    assert file.read_bytes() == b"before data more after"


def test_the_longest_names_can_be_written(tmp_path):
    for name in ("a" * 255, "€" * 85):  # 255 bytes each
        write_whole(tmp_path / name, b"data")
        assert (tmp_path / name).read_bytes() == b"data"


@pytest.mark.parametrize("name", [TOO_LONG, f"{TOO_LONG}/file", "nul\0", "absent/file"])
def test_impossible_names_are_refused(tmp_path, name):
    for do in (lambda path: write_whole(path, b""), check_place):
        with pytest.raises(OutputError, match="cannot write "):
            do(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_place_of_a_file_is_reported_before_any_work(tmp_path):
    with pytest.raises(OutputError, match="it is a folder"):
        check_place(tmp_path)


def denied(*_args, **_options):
    raise PermissionError(13, "Permission denied")


def test_a_folder_that_cannot_be_written_to_is_reported_before_any_work(tmp_path, monkeypatch):
    make_folder(tmp_path)
    check_place(tmp_path / "file")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(Path, "open", denied)  # chmod is not enough, because root may write everywhere
    with pytest.raises(OutputError, match="cannot write to .*: Permission denied"):
        make_folder(tmp_path)
    with pytest.raises(OutputError, match="cannot write .*file: Permission denied"):
        check_place(tmp_path / "file")


def test_folders_that_cannot_be_read_do_not_count_as_empty(tmp_path, monkeypatch):
    (tmp_path / "b").touch()
    (tmp_path / "a").touch()
    assert listed(tmp_path) == ["a", "b"]
    monkeypatch.setattr(os, "listdir", denied)
    with pytest.raises(InputError, match="cannot read the folder .*: Permission denied"):
        listed(tmp_path)


def test_no_more_is_read_than_allowed(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    assert read_at_most(tmp_path / "file", 5) == b"12345"
    with pytest.raises(FileTooLargeError, match="it has more than 4 bytes"):
        read_at_most(tmp_path / "file", 4)
    if Path("/dev/zero").exists():
        with pytest.raises(FileTooLargeError):
            read_at_most("/dev/zero", 1000)


def test_checksums_do_not_change_so_that_files_stay_readable():
    data = {"b": [1, 2.5, None], "a": "é"}
    assert json_checksum(data, digits=16) == "fc10ba9755cfc69c"  # as in the manifest of a store
    assert json_checksum(data, digits=32) == "fc10ba9755cfc69ce6c336075dcaa7be"  # as in the journal of advise
    in_traces = "84afbf1d4853005f9dd0c81cb1819b53ce86978340764c062160f6e8356665de"
    assert json_checksum(data, compact=True) == in_traces
    assert json_checksum({"file": Path("a")}) == json_checksum({"file": "a"})
