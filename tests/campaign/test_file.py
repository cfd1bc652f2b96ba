"""Campaign files: what they may contain, and errors that name the line of a mistake."""

import math
from pathlib import Path

import pytest

from andante.campaign import CampaignError, read_campaign
from andante.campaign.settings import full_notation, sample
from andante.datasets import movingai
from andante.errors import ParameterError
from andante.notation import expand, parse
from tests.campaign.samples import ROOMS


def test_a_campaign_is_read(written):
    campaign = read_campaign(written())
    assert (campaign.title, campaign.seed, campaign.problems["rooms"].count) == ("Lookahead in rooms", 1, 20)
    (run,) = campaign.runs
    assert [str(entry) for entry in run.entries(0)] == ["lrta", "lrta(depth=3)", "rta"]
    assert run.limits.suboptimality == 1000
    assert run.limits.cost == math.inf


def test_the_scale_chooses_between_two_values(written):
    assert read_campaign(written(), "quick").problems["rooms"].count == 5


def test_lists_of_values_in_databases_are_tried_one_after_another(written):
    new = "databases = ['pattern(level=[1, 2], cap=[5, 9])', 'moves']\nlimits ="
    (run,) = read_campaign(written(replace={"limits =": new})).runs
    shelves = [[order.text for order in shelf] for shelf in run.shelves()]
    given = [parse(text).arguments for text, _ in shelves]
    assert [(one["level"], one["cap"]) for one in given] == [(1, 5), (1, 9), (2, 5), (2, 9)]
    assert {moves for _, moves in shelves} == {"moves"}


SAMPLE = "sample = { of = 'family', %s }\nlimits ="


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ('"rta"', '"rtaa(lookahead=3)", "lrtaa"', 10, "there is no algorithm 'lrtaa'; did you mean"),
        ("depth=", "dept=", 10, "lrta has no parameter 'dept'; did you mean 'depth'?"),
        ("[1, 3]", "[1, 300]", 10, "depth must be a whole number in [1, 100], got 300"),
        ("rooms(width", "roms(width", 5, "there is no kind of map 'roms'; did you mean 'rooms'?"),
        ('"rooms(width=24, height=24, seed=[1..3])"', '"doa"', 5, "there is no benchmark set 'doa'; did you mean"),
        ('"rooms(width=24, height=24, seed=[1..3])"', '"absent.map"', 5, "there is no map"),
        ("count =", "cuont =", 6, "[problems.rooms] does not accept 'cuont'; did you mean 'count'?"),
        ('problems = ["rooms"]', 'problems = ["room"]', 9, "there are no problems 'room'; did you mean 'rooms'?"),
        ("suboptimality =", "suboptimalty =", 11, "does not accept 'suboptimalty'; did you mean 'suboptimality'?"),
        ("suboptimality = 1000", "suboptimality = 0", 11, "must be above 0"),
        ("limits =", "limit =", 11, "[run 1] does not accept 'limit'; did you mean 'limits'?"),
        ("seed = 1\n", "seed = 'x'\n", 2, "seed must be a whole number, not 'x'"),
        ("count = { quick = 5, full = 20 }", "count = 0", 6, "count must be at least 1"),
        ("count = { quick = 5, full = 20 }", "count = 5\nupscale = [true, true]", 7, "upscale must be [width, height]"),
        ("limits =", "databases = ['moves(x=1)']\nlimits =", 11, "building moves has no parameter 'x'"),
        ("limits =", "max_trials = 5\nlimits =", 11, "max_trials needs converge = true"),
        ("seed = 1\n", "seed = -1\n", 2, "seed must be at least 0, not -1"),
        ("count =", "seed = -2\ncount =", 6, "seed must be at least 0, not -2"),
        ("limits =", SAMPLE % "count = 0", 11, "count must be at least 1, not 0"),
        ("limits =", SAMPLE % "seed = 3", 11, "a sample needs a 'count'"),
        ("limits =", SAMPLE % "count = 2, keep = { v = 0.5 }", 11, "family has no parameter 'v' to draw"),
        ("limits =", SAMPLE % "count = 2, keep = { w = 2 }", 11, "the chance that w keeps its default must be in"),
        ("limits =", SAMPLE % "count = 2, keep = { ties = 0.5 }", 11, "family has no parameter 'ties' to draw"),
        ("limits =", SAMPLE % "count = 2, seed = -3", 11, "seed must be at least 0, not -3"),
        ("limits =", SAMPLE % "count = 2, ranges = { v = [1, 2] }", 11, "has no parameter 'v' to draw"),
        ("limits =", SAMPLE % "count = 2, ranges = { da = [0, 1] }", 11, "it takes no range"),
        *(
            (
                "limits =",
                SAMPLE % f"count = 2, ranges = {{ w = {ends} }}",
                11,
                "the range of w must be [low, high] with",
            )
            for ends in ("5", "[1, 2, 3]", "['a', 'b']", "[5, 2]", "[true, 2]", "[1, inf]", "[-1, 5]", "'ab'")
        ),
        (
            "limits =",
            "sample = { of = 'lrta', count = 2, ranges = { depth = [1.5, 3] } }\nlimits =",
            11,
            "range of depth",
        ),
        ('"rta"', '"cpd"', 10, "cpd needs a database of kind 'moves', but the run has none"),
        ('"rta"', '"lrta", "dlrta"', 10, "dlrta needs a database of kind 'pattern', but the run has none"),
        (
            "limits =",
            "sample = { of = 'knn(depth=1, candidates=5)', count = 1 }\nlimits =",
            11,
            "needs a database of kind 'subgoals'",
        ),
        ('"rta"]', '"cpd"]\nsight = 5\ndatabases = ["moves"]', 10, "cpd has to know its map, but the run has a sight"),
        ("limits =", "databases = ['depth-tree']\nlimits =", 11, "is built from training maps; add training"),
        ("limits =", "training = ['maze:16x16:1']\nlimits =", 11, "training is for databases that serve any map"),
        ("limits =", "databases = ['depth-tree']\ntraining = ['dou']\nlimits =", 12, "there is no benchmark set 'dou'"),
    ],
)
def test_a_mistake_is_reported_with_its_line(written, old, new, line, sentence):
    path = written(replace={old: new})
    with pytest.raises(CampaignError) as refusal:
        read_campaign(path)
    assert f"{path}, line {line}: " in str(refusal.value)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_misspelt_map_of_a_set_is_reported_with_its_line_if_the_set_is_in_the_cache(written, monkeypatch):
    path = written(replace={'"rooms(width=24, height=24, seed=[1..3])"': '"dao/arenaa"'})
    monkeypatch.setattr(movingai.BenchmarkSet, "fetched", False)
    assert read_campaign(path).problems["rooms"].maps == ("dao/arenaa",)  # nothing is fetched to find out
    monkeypatch.setattr(movingai.BenchmarkSet, "fetched", True)
    monkeypatch.setattr(movingai, "map_names", lambda name: ["arena", "den011d"])
    with pytest.raises(CampaignError, match="line 5: the set dao has no map 'arenaa'; did you mean 'arena'"):
        read_campaign(path)


def test_a_file_that_is_not_toml_or_does_not_exist_is_refused(tmp_path, written):
    with pytest.raises(CampaignError, match="is not TOML: .*line 1"):
        read_campaign(written("title ="))
    with pytest.raises(CampaignError, match="cannot read"):
        read_campaign(tmp_path / "absent.toml")
    with pytest.raises(CampaignError, match="there is no scale 'slow'"):
        read_campaign(written(ROOMS), "slow")


def test_the_smallest_scale_uses_quick_values_where_it_has_none(written):
    text = ROOMS.replace("seed = 1\n", "seed = { quick = 1, full = 2 }\n")
    path = written(text.replace("{ quick = 5, full = 20 }", "{ smoke = 2, quick = 5, full = 20 }"))
    found = {scale: read_campaign(path, scale) for scale in ("smoke", "quick", "full")}
    assert [one.problems["rooms"].count for one in found.values()] == [2, 5, 20]
    assert [one.seed for one in found.values()] == [1, 1, 2]


def test_some_problems_in_full_and_others_not(written):
    campaign = read_campaign(written(TWO_SETS), "quick+large")
    assert [one.count for one in campaign.problems.values()] == [1, 20]
    assert [run.batches for run in campaign.runs] == [1, 4, 1]
    with pytest.raises(CampaignError, match="there are no problems 'lage' to run in full; did you mean 'large'"):
        read_campaign(written(TWO_SETS), "quick+lage")
    with pytest.raises(
        CampaignError, match=r"only the scale .quick. accepts problems to run in full; write quick\+large, or full"
    ):
        read_campaign(written(TWO_SETS), "full+large")
    with pytest.raises(CampaignError, match="problems must be a list, not 5"):
        read_campaign(written(TWO_SETS.replace('problems = ["small"]', "problems = 5")), "quick+large")


TWO_SETS = """
[problems.small]
maps = ["empty(width=8, height=8)"]
count = { quick = 1, full = 2 }

[problems.large]
maps = ["empty(width=16, height=16)"]
count = { quick = 10, full = 20 }

[[run]]
problems = ["small"]
algorithms = ["rta"]
batches = { quick = 1, full = 4 }

[[run]]
problems = ["large"]
algorithms = ["rta"]
batches = { quick = 1, full = 4 }

[[run]]
algorithms = ["rta"]
batches = { quick = 1, full = 4 }
"""


def test_lists_of_values_make_all_combinations():
    assert expand("a(x=[1, 3..4], y=[b(z=1, w=2), c])") == [
        "a(x=1, y=b(z=1, w=2))",
        "a(x=1, y=c)",
        "a(x=3, y=b(z=1, w=2))",
        "a(x=3, y=c)",
        "a(x=4, y=b(z=1, w=2))",
        "a(x=4, y=c)",
    ]
    with pytest.raises(ParameterError, match="a list without values"):
        expand("a(x=[])")


def test_settings_that_would_fill_the_memory_are_refused():
    assert len(expand("lrta(depth=[1..100000])")) == 100_000
    with pytest.raises(ParameterError, match="900,000 settings of up to 9[0-9][0-9] characters"):
        expand("lrta(" + "a" * 900 + "=[1..900000])")


@pytest.mark.parametrize("most", [2**63, 1e300, 10**400], ids=["64 bits", "a float", "400 digits"])
def test_a_range_of_whole_numbers_is_limited_to_64_bits(most):
    with pytest.raises(ParameterError, match="the range of candidates must be"):
        sample("knn", 1, 0, {"candidates": [1, most]})
    assert 1 <= sample("knn", 1, 0, {"candidates": [1, 2**63 - 1]})[0].params.candidates < 2**63


def test_a_large_sample_is_read_without_drawing_all_of_it(tmp_path, monkeypatch):
    counts = []

    def counting(text, count, *rest):
        counts.append(count)
        return sample(text, count, *rest)

    monkeypatch.setattr("andante.campaign.file.sample", counting)
    file = tmp_path / "campaign.toml"
    file.write_text(ROOMS + "\n[[run]]\nsample = { of = 'family', count = 300_000, seed = 2 }")
    assert read_campaign(file).runs[1].sample.count == 300_000
    assert max(counts) <= 100


def test_a_sample_is_drawn_from_the_parameters_own_ranges():
    drawn = sample("family(da=true)", 50, seed=3, ranges={"w": [1, 2]})
    assert len({full_notation(entry) for entry in drawn}) == 50
    assert all(entry.params.da and 1 <= entry.params.w <= 2 and 1 <= entry.params.wc <= 10 for entry in drawn)
    assert [str(entry) for entry in drawn] == [str(e) for e in sample("family(da=true)", 50, 3, {"w": [1, 2]})]
    with pytest.raises(ParameterError, match="the range of quota is unbounded"):
        sample("lrts", 1, 0, {})


def test_readings_of_a_paper_are_drawn_only_on_request():
    drawn = sample("family", 50, seed=3, ranges={})
    assert {(entry.params.ties, entry.params.share, entry.params.seed) for entry in drawn} == {(0, 0, 0)}
    assert {entry.params.share for entry in sample("family(share=ceil)", 5, seed=3, ranges={})} == {1}
    assert len({entry.params.seed for entry in sample("family", 50, seed=3, ranges={"seed": [0, 9]})}) == 10


def test_a_parameter_keeps_its_default_with_the_given_probability():
    drawn = sample("family", 400, seed=3, ranges={}, keep={"w": 0.5, "b": 1.0, "da": 0.0})
    kept = sum(entry.params.w == 1 for entry in drawn)
    assert 150 < kept < 250  # five standard deviations from one half
    assert all(entry.params.b == 1 for entry in drawn)
    assert all(entry.params.wc > 1 for entry in drawn)
    assert {entry.params.da for entry in drawn} == {False, True}
    assert sample("family", 9, 3, {}, {}) == sample("family", 9, 3, {})


# --- malicious files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = " + "9" * 5000, "has a whole number of more than 64 bits"),
        ("x = 0x" + "f" * 5000, "more than 64 bits"),
        ("x = 9223372036854775808", "more than 64 bits"),
        ("x = [{ y = -9223372036854775809 }]", "more than 64 bits"),
        ("x = " + "[" * 50_000 + "]" * 50_000, "nested too deeply"),
        ("x = " + "{ x = " * 5_000 + "1" + " }" * 5_000, "nested too deeply"),
        ("x = " + "[" * 40 + "]" * 40, "nested too deeply"),
        ("[" + "a." * 300_000 + "a]", "nested too deeply"),
        ('"a" . ' * 100_000 + "a = 1", "nested too deeply"),
        ("[[" + ".".join("abcdefghijklmnopqrstuvwxyz" * 2) + "]]", "nested too deeply"),
        ("#" * 2**20 + "#", "more than 1,048,576 bytes"),
        ("\0", "is not TOML: "),
    ],
)
def test_toml_is_read_within_bounds(text, sentence, tmp_path):
    file = tmp_path / "odd.toml"
    file.write_text(text)
    with pytest.raises(CampaignError, match=sentence) as refusal:
        read_campaign(file)
    assert len(str(refusal.value)) < 1000


def test_a_file_without_an_end_is_not_read():
    if not Path("/dev/zero").exists():
        pytest.skip("needs a file without an end")
    with pytest.raises(CampaignError, match="cannot read /dev/zero: it has more than"):
        read_campaign("/dev/zero")


def test_long_words_are_not_long_keys(tmp_path):
    """The search for deep keys takes time in proportion to the length of the text, not to its square."""
    file = tmp_path / "long.toml"
    for text in (
        "# " + "x" * 10**6,
        "# " + "'x" * 10**4,
        'x = "' + "a.b, " * 10**4 + '"',
        "x = [" + "1.5, " * 10**4 + "]",
    ):
        file.write_text(text)
        with pytest.raises(CampaignError, match="has no 'problems'"):
            read_campaign(file)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("lrta(depth=[1..1000000000])", "describes more than 1,000,000 settings"),
        ("lrta(depth=[-999999999999999999..999999999999999999])", "describes more than 1,000,000 settings"),
        ("lrta(depth=[1..999999], x=[1, 2])", "describes more than 1,000,000 settings"),
        ("x(" + "[1, 2]" * 10_000 + ")", "describes more than 1,000,000 settings"),
        ("x([1..100], " + "y" * 5000 + ")", "characters; the limit is 1,000"),
        ("x([1..100, " + "y" * 5000 + "])", "characters; the limit is 1,000"),
        ("x([2..1])", "a list without values"),
        ("x([,])", "a list without values"),
    ],
)
def test_settings_are_counted_before_they_are_made(text, sentence):
    with pytest.raises(ParameterError, match=sentence) as refusal:
        expand(text)
    assert len(str(refusal.value)) < 1100


def test_commas_within_brackets_belong_to_a_value():
    assert expand("a(by=[b(x=1, y=2), c])") == ["a(by=b(x=1, y=2))", "a(by=c)"]
    assert expand("a(x=[" + "1, " * 200 + "1])") == ["a(x=1)"] * 201
    assert len(expand("a(x=[" + "," * 300_000 + "1])")) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("limits =", "batches = 1000000000000\nlimits ="),
        ("limits =", SAMPLE % "count = 1000000000000" + " "),
        ("limits =", "databases = ['pattern(cap=[1..1000])', 'subgoals(seed=[1..1000])']\nlimits ="),
    ],
)
def test_a_run_that_cannot_be_listed_is_refused(written, old, new):
    with pytest.raises(
        CampaignError, match=r"the run has [\d,]+ settings on batches of problems, but at most 1,000,000"
    ):
        read_campaign(written(replace={old: new}))


@pytest.mark.parametrize(("right", "wrong"), [("[problems.rooms]", "[problem.rooms]"), ("[[run]]", "[[runs]]")])
def test_a_missing_name_is_looked_up_among_misspelt_ones(written, right, wrong):
    name, meant = (text.strip("[]").removesuffix(".rooms") for text in (right, wrong))
    with pytest.raises(CampaignError, match=rf"line \d+: a campaign has no '{name}'; did you mean that by '{meant}'\?"):
        read_campaign(written(replace={right: wrong}))
