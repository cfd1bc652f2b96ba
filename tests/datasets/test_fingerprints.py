"""Files of fingerprints: they round-trip, and show the differences of a set."""

import pytest

from andante.datasets.fingerprints import Pair, differences, fingerprint, from_text, of_folder, to_text
from andante.errors import DatasetError

SETS = {"dao": {"arena": Pair("aa", "bb"), "the end": Pair("cc", "-")}, "sc1": {"Aftershock": Pair("dd", "ee")}}


def test_they_round_trip():
    assert from_text(to_text(SETS), "f") == SETS


def test_a_damaged_file_is_refused():
    for text in ("nonsense\n", "aa bb arena\n", "set dao\n"):
        with pytest.raises(DatasetError, match="f, line 1: not a line of a fingerprint file"):
            from_text(text, "f")
    with pytest.raises(DatasetError, match="f lists 1 of the 2 maps of dao"):
        from_text("set dao 2\naa bb arena\n", "f")


def test_a_folder_is_identified_by_its_contents(tmp_path):
    (tmp_path / "a.map").write_bytes(b"one\r\n")
    (tmp_path / "b.map").write_bytes(b"two\n")
    (tmp_path / "b.map.scen").write_bytes(b"three")
    expected = {"a": Pair(fingerprint(b"one"), "-"), "b": Pair(fingerprint(b"two"), fingerprint(b"three\n"))}
    assert of_folder(tmp_path) == expected


def test_differences_are_named():
    known = {"a": Pair("1", "2"), "b": Pair("3", "4"), "c": Pair("5", "6")}
    found = {"a": Pair("1", "2"), "b": Pair("x", "y"), "d": Pair("7", "8")}
    assert differences(found, known) == [
        "c is missing",
        "d does not belong to the set",
        "the map b differs",
        "the scenario of b differs",
    ]
    assert differences(known, known) == []
