"""The benchmark's sets: fetched from a folder or a server, complete and verified or not at all."""

import functools
import threading
import warnings
import zipfile
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from andante.datasets import movingai as sets
from andante.datasets.fingerprints import from_text
from andante.errors import DatasetError, MapError
from andante.world.grid import Grid

MAP = "type octile\nheight 2\nwidth 3\nmap\n...\n.@.\n"
SCENARIO = "version 1\n0\tmaps/room/{0}.map\t3\t2\t0\t0\t2\t0\t2\n0\tmaps/room/{0}.map\t3\t2\t0\t0\t1\t1\t0\n"


def pack(folder, names=("alcove", "hall"), text=MAP):
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / "room-map.zip", "w") as maps:
        for name in names:
            maps.writestr(f"{name}.map", text)
    with zipfile.ZipFile(folder / "room-scen.zip", "w") as scenarios:
        for name in names:
            scenarios.writestr(f"{name}.map.scen", SCENARIO.format(name))
    return folder


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Set up an empty cache, with no source in the environment and no proxy for the local machine."""
    monkeypatch.setattr(sets, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.delenv("ANDANTE_MOVINGAI", raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    return tmp_path / "cache" / "movingai"


@pytest.fixture
def source(tmp_path):
    return pack(tmp_path / "archives")


@pytest.fixture
def fetched(cache, source):
    with pytest.warns(sets.UnverifiedSet, match="has no fingerprints for the set room"):
        return sets.fetch("room", source)


def listing(folder):
    return sorted(file.name for file in folder.iterdir())


# --- from a folder --------------------------------------------------------------------------------------------------


def test_a_set_is_fetched_from_a_folder(cache, fetched):
    assert listing(fetched) == ["alcove.map", "alcove.map.scen", "hall.map", "hall.map.scen"]
    assert listing(cache) == ["room", "room.fingerprints.txt"]
    assert sets.set_named("room").fetched
    assert len(sets.map_names("room")) == 2
    assert not sets.set_named("maze").fetched


def test_maps_and_problems_are_read_from_it(fetched):
    assert sets.map_names("room") == ["alcove", "hall"]
    grid = sets.load_map("room/hall")
    assert (grid.name, grid.width, grid.height, grid.rule) == ("hall", 3, 2, "octile")
    assert sets.load_map("room", "hall.map", rule="cardinal").rule == "cardinal"
    [problem] = sets.problems("room/hall")  # the other one ends in a blocked cell
    assert problem.listed_cost == 2.0
    [hall] = [each for each in sets.maps("room") if str(each) == "room/hall"]
    assert hall.problems(grid)[0].grid is grid
    assert len(hall.problems(keep_all=True)) == 2


def test_the_environment_names_the_source(cache, source, monkeypatch):
    monkeypatch.setenv("ANDANTE_MOVINGAI", str(source))
    with pytest.warns(sets.UnverifiedSet, match="accepts what .*archives provides"):
        assert len(sets.map_names("room")) == 2


def test_archives_may_be_laid_out_as_on_the_site(cache, tmp_path):
    pack(tmp_path / "mirror" / "room")
    with pytest.warns(sets.UnverifiedSet):
        sets.fetch("room", tmp_path / "mirror")
    assert sets.map_names("room") == ["alcove", "hall"]


def test_a_fetched_set_needs_no_source_any_more(fetched, tmp_path):
    assert sets.fetch("room", tmp_path / "absent") == fetched


def test_the_first_fingerprints_are_compared_from_then_on(cache, fetched, source, tmp_path):
    def gone():
        for file in fetched.iterdir():
            file.unlink()
        fetched.rmdir()

    gone()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sets.fetch("room", source)  # the same contents again, no warning
    gone()
    with pytest.raises(DatasetError, match="does not have the published set room: hall is missing"):
        sets.fetch("room", pack(tmp_path / "less", names=["alcove"]))
    with pytest.raises(DatasetError, match="the map alcove differs, the map hall differs"):
        sets.fetch("room", pack(tmp_path / "other", text=MAP.replace("@", "T")))
    assert listing(cache) == ["room.fingerprints.txt"]


def test_line_ends_do_not_change_a_set(fetched, tmp_path):
    for file in fetched.iterdir():
        file.unlink()
    fetched.rmdir()
    again = sets.fetch("room", pack(tmp_path / "windows", text=MAP.replace("\n", "\r\n")))
    assert again == fetched
    assert sets.map_names("room") == ["alcove", "hall"]


def test_a_file_that_was_changed_in_the_cache_is_refused(fetched):
    (fetched / "hall.map").write_text(MAP.replace("@", "."))
    with pytest.raises(DatasetError, match=r"hall\.map has changed since it was fetched; delete the folder"):
        sets.load_map("room/hall")
    (fetched / "hall.map.scen").unlink()
    with pytest.raises(DatasetError, match=r"cannot read .*hall\.map\.scen: No such file"):
        sets.maps("room")[1].problems(sets.load_map("room/alcove"))


def test_a_lost_record_is_made_again(cache, fetched):
    (cache / "room.fingerprints.txt").unlink()
    assert sets.load_map("room/hall").name == "hall"
    assert (cache / "room.fingerprints.txt").exists()


def test_a_bad_map_in_a_set_is_named_by_its_file(cache, tmp_path):
    with pytest.warns(sets.UnverifiedSet):
        sets.fetch("room", pack(tmp_path / "bad", text=MAP.replace("@", "?")))
    with pytest.raises(MapError, match=r"movingai/room/hall\.map, line 6, column 2: found '\?'"):
        sets.load_map("room/hall")


def test_a_published_set_with_other_contents_is_refused(cache, tmp_path):
    folder = pack(tmp_path / "fake")
    (folder / "room-map.zip").rename(folder / "bgmaps-map.zip")
    with pytest.raises(DatasetError, match=r"does not have the published set bgmaps: .* is missing, .* 119 more"):
        sets.fetch("bgmaps", folder)
    assert listing(cache) == []


def test_an_interrupted_fetch_leaves_nothing(cache, source, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sets, "_verify", interrupt)
    with pytest.raises(KeyboardInterrupt):
        sets.fetch("room", source)
    assert listing(cache) == []


def test_a_second_process_uses_what_the_first_has_fetched(cache, source, monkeypatch):
    def meanwhile(*_):
        (cache / "room").mkdir()
        (cache / "room" / "theirs.map").write_text(MAP)

    monkeypatch.setattr(sets, "_verify", meanwhile)
    assert listing(sets.fetch("room", source)) == ["theirs.map"]


def test_missing_files_are_reported(cache, source, tmp_path):
    with pytest.raises(DatasetError, match=r"there is no maze-map\.zip in .*; give a folder that holds it"):
        sets.fetch("maze", source)
    with zipfile.ZipFile(tmp_path / "maze-map.zip", "w") as empty:
        empty.writestr("readme.txt", "nothing here")
    with pytest.raises(DatasetError, match=r"maze-map\.zip from .* contains no \.map files"):
        sets.fetch("maze", tmp_path)


def test_a_cache_that_cannot_be_written_is_reported(cache, source):
    cache.parent.write_text("a file where the folder should be")
    with pytest.raises(DatasetError, match=r"cannot store the set room in .*; set ANDANTE_CACHE"):
        sets.fetch("room", source)


def test_unknown_names_get_a_suggestion(fetched):
    with pytest.raises(DatasetError, match="there is no benchmark set 'rooms'; did you mean 'room'"):
        sets.fetch("rooms")
    with pytest.raises(DatasetError, match="the set room has no map 'halll'; did you mean 'hall'"):
        sets.load_map("room/halll")
    with pytest.raises(DatasetError, match="'room' does not name a map"):
        sets.load_map("room")
    with pytest.raises(DatasetError, match="the set bgmaps has no scenarios"):
        sets.BenchmarkMap("bgmaps", "AR0011SR").problems()


# --- derived sets ---------------------------------------------------------------------------------------------------


@pytest.fixture
def halls(monkeypatch):
    """Register a set derived from the set room, with the left half of each of its maps."""
    room = sets.set_named("room")
    half = sets.BenchmarkSet(
        "half", "left halves", False, room, lambda grid: Grid(grid.terrain[:, :2], name=grid.name, rule=grid.rule)
    )
    monkeypatch.setattr(sets, "_SETS", (*sets._SETS, half))
    return half


def test_a_derived_set_is_computed_from_the_published_one(cache, source, halls):
    assert not halls.fetched
    with pytest.warns(sets.UnverifiedSet, match="has no fingerprints for the set room"):
        folder = sets.fetch("half", source)
    assert folder == cache / "room"
    assert listing(cache) == ["room", "room.fingerprints.txt"]
    assert (halls.fetched, halls.verified) == (True, False)
    assert sets.map_names("half") == ["alcove", "hall"]
    assert [str(each) for each in sets.maps("half")] == ["half/alcove", "half/hall"]
    grid = sets.load_map("half/hall", rule="cardinal")
    assert (grid.name, grid.width, grid.height, grid.rule) == ("hall", 2, 2, "cardinal")
    assert sets.load_map("room/hall").width == 3
    with pytest.raises(DatasetError, match="the set half has no map 'halll'; did you mean 'hall'"):
        sets.load_map("half/halll")


def test_a_derived_set_has_no_scenarios(halls, fetched):
    with pytest.raises(
        DatasetError, match="the set half has no scenarios; draw problems on its maps with random_problems"
    ):
        sets.problems("half/hall")


def test_a_derived_set_is_checked_with_the_fingerprints_of_the_published_one(halls, fetched):
    (fetched / "hall.map").write_text(MAP.replace("@", "."))
    with pytest.raises(DatasetError, match=r"room/hall\.map has changed since it was fetched"):
        sets.load_map("half/hall")


def test_fingerprints_are_of_published_sets_only(halls, source):
    assert list(from_text(sets.fingerprint_archives(source), "printed")) == ["room"]


def test_missing_files_of_a_derived_set_are_reported(cache, halls, tmp_path):
    with pytest.raises(DatasetError, match=r"there is no room-map\.zip in "):
        sets.fetch("half", tmp_path)


# --- from a server --------------------------------------------------------------------------------------------------


class Files(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Trouble(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(503)

    def log_message(self, *_):
        pass


@pytest.fixture
def serve():
    servers = []

    def start(handler):
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_set_is_fetched_from_a_mirror_with_progress(cache, tmp_path, serve):
    pack(tmp_path / "mirror" / "room")
    address = serve(functools.partial(Files, directory=tmp_path / "mirror"))
    news = []
    with pytest.warns(sets.UnverifiedSet):
        folder = sets.fetch("room", address + "/", progress=lambda *each: news.append(each))
    assert len(listing(folder)) == 4
    assert listing(cache) == ["room", "room.fingerprints.txt"]
    assert {what for what, _, _ in news} == {"downloading room-map.zip", "downloading room-scen.zip"}
    assert all(0 < done <= total for _, done, total in news)


def test_a_mirror_may_be_one_folder(cache, tmp_path, serve, source):
    with pytest.warns(sets.UnverifiedSet):
        sets.fetch("room", serve(functools.partial(Files, directory=source)))


def test_a_mirror_without_the_set_is_reported(cache, tmp_path, serve):
    with pytest.raises(DatasetError, match=r"there is no room-map\.zip at http://127"):
        sets.fetch("room", serve(functools.partial(Files, directory=tmp_path)))
    assert listing(cache) == []


def test_a_server_error_is_reported(cache, serve):
    with pytest.raises(DatasetError, match=r"cannot download .*room-map\.zip \(the server answered 503\)"):
        sets.fetch("room", serve(Trouble))


def test_an_endless_download_is_refused(cache, serve, source, monkeypatch):
    monkeypatch.setattr("andante.datasets.download._MAX_ARCHIVE_BYTES", 100)
    with pytest.raises(DatasetError, match=r"refusing room-map\.zip: it is larger than 100 bytes"):
        sets.fetch("room", serve(functools.partial(Files, directory=source)))
    assert listing(cache) == []


def test_without_a_network_the_error_says_what_to_do(cache, monkeypatch):
    monkeypatch.setattr(sets, "SITE", "http://127.0.0.1:9")
    advice = (
        r"put room-map\.zip and room-scen\.zip into a folder and name that folder with --from or in ANDANTE_MOVINGAI"
    )
    with pytest.raises(DatasetError, match=rf"cannot download .* \(no connection, .*\); without a network, {advice}"):
        sets.fetch("room")


# --- the published sets ---------------------------------------------------------------------------------------------


def test_the_repository_contains_fingerprints_of_five_sets():
    known = {each.published.name for each in sets.sets() if each.verified}
    assert known == {"bg512", "bgmaps", "dao", "sc1", "wc3maps512"}


def test_fingerprints_are_printed_for_the_archives_in_a_folder(source, capsys):
    sets.main(["fingerprint", str(source)])
    printed = from_text(capsys.readouterr().out, "printed")
    assert {name: list(maps) for name, maps in printed.items()} == {"room": ["alcove", "hall"]}
    with pytest.raises(SystemExit, match="usage"):
        sets.main(["fingerprint"])


def test_every_set_has_its_own_name():
    names = [each.name for each in sets.sets()]
    assert sorted(set(names)) == names


def test_the_fingerprints_in_the_repository_are_those_of_the_archives(movingai):
    assert from_text(sets.fingerprint_archives(movingai), "printed") == sets._known()


def test_the_test_bed_has_342_maps(movingai):
    bed = sets.testbed(source=movingai)
    assert len(bed) == len(set(bed)) == 342
    counts = {name: sum(each.set == name for each in bed) for name in ("bg512", "dao", "sc1", "wc3maps512")}
    assert counts == {"bg512": 75, "dao": 156, "sc1": 75, "wc3maps512": 36}
    assert len(sets.map_names("bgmaps", source=movingai)) == 120


@pytest.mark.deep
@pytest.mark.compiled
def test_the_test_bed_has_493297_problems(movingai):
    counts = dict.fromkeys(("bg512", "dao", "sc1", "wc3maps512"), 0)
    for each in sets.testbed(source=movingai):
        counts[each.set] += len(each.problems())
    assert counts == {"bg512": 93_160, "dao": 159_252, "sc1": 198_230, "wc3maps512": 42_655}
    assert sum(counts.values()) == 493_297


def test_the_maps_of_bulitko_et_al_2007_have_its_state_counts(movingai):
    names = ("AR0012SR", "AR0013SR", "AR0014SR")
    assert [sets.load_map("bgmaps", name, source=movingai).free_cells for name in names] == [6176, 5672, 5852]
