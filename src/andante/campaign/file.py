"""Campaign files: what to run, as data.

    title = "Lookahead in rooms"
    seed = 1

    [problems.rooms]
    maps = ["rooms(width=64, height=64, seed=[1..3])"]
    count = 100

    [[run]]
    problems = ["rooms"]
    algorithms = ["lrta(depth=[1, 3, 5])", "rta"]
    limits = { suboptimality = 1000 }

Any value may be given for two scales, as ``{ quick = 10, full = 1000 }``. The scale ``quick+rooms`` uses the full
values for the problems ``rooms``. `docs/how-to/campaigns.md` describes all keys.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from andante.agent import Algorithm, find, find_all
from andante.campaign.maps import check_map
from andante.campaign.orders import BuildOrder
from andante.campaign.scenes import check_problems, check_run, is_scene_file
from andante.campaign.settings import sample
from andante.datafile import Lines, Table, read_tables
from andante.datasets.named import is_graph
from andante.episode.convergence import DEFAULT_MAX_TRIALS
from andante.episode.trial import DEFAULT_MOVE_CAP, Limits
from andante.errors import AndanteError, CampaignError, did_you_mean
from andante.measures import measure_and_statistic
from andante.notation import MOST_SETTINGS, expand
from andante.world.grid import ALL_RULES, RULES, costs_text, parse_costs

__all__ = ["Campaign", "CampaignError", "ProblemSet", "Run", "Sample", "read_campaign"]

SOURCES = ("random", "scenarios")
#: What only study files have; `andante.report.studyfile` reads it.
STUDY_PARTS = (
    "table",
    "best",
    "front",
    "amortization",
    "duel",
    "pairs",
    "correlation",
    "influence",
    "figure",
    "elsewhere",
)
STUDY_WORDS = ("about", "paper", "notes", "absent")

_DRAWN_TO_CHECK = 100


@dataclass(frozen=True)
class ProblemSet:
    """A set of problems: the maps, and how problems on them are chosen."""

    name: str
    maps: tuple[str, ...]
    source: str = "random"  # where the problems come from; or "scenarios"
    count: int | None = None  # problems per map; None: all of the scenario
    total: int | None = None  # problems on all maps together, drawn from the scenarios without replacement
    optimal_cost: tuple[float, float] = (0.0, math.inf)
    seed: int = 0
    upscale: tuple[int, int] | None = None
    scene: str = ""  # how the maps change: a scene to generate on each
    rule: str = RULES[0]  # which diagonal moves are legal on maps
    terrain: str = ""  # what cells of maps cost, by map character
    landmarks: int | None = None  # the number of landmarks whose distances are the heuristic of graphs

    @property
    def has_scenes(self) -> bool:
        """Whether the maps change."""
        return bool(self.scene) or any(map(is_scene_file, self.maps))

    @property
    def settings(self) -> dict[str, Any]:
        """All settings as plain data; ``scene``, ``rule``, ``terrain`` and ``landmarks`` only if they are given."""
        usual = {"scene": "", "rule": RULES[0], "terrain": "", "landmarks": None}
        return {key: value for key, value in asdict(self).items() if key not in usual or value != usual[key]}


@dataclass(frozen=True)
class Sample:
    """Settings of an algorithm to draw at random."""

    of: str
    count: int
    seed: int = 0
    ranges: dict[str, list[float]] = field(default_factory=dict)
    keep: dict[str, float] = field(default_factory=dict)  # the probability that a parameter keeps its default


@dataclass(frozen=True)
class Run:
    """A run of algorithms on sets of problems, under the same conditions.

    With ``batches``, everything is repeated with new problems and samples drawn for each batch.
    """

    problems: tuple[str, ...]
    algorithms: tuple[str, ...] = ()
    sample: Sample | None = None
    batches: int = 1
    limits: Limits = field(default_factory=Limits)
    max_trials: int = 1  # if more, trials are repeated until one learns nothing, at most this many
    sight: int | None = None
    databases: tuple[str, ...] = ()  # kinds with their parameters, built for every map
    training: tuple[str, ...] = ()  # maps to build those databases from that serve any map
    forget_goals: bool = False  # every move of a goal is a new problem

    @property
    def settings(self) -> dict[str, Any]:
        """All settings as plain data; ``forget_goals`` only if it is set."""
        return {key: value for key, value in asdict(self).items() if key != "forget_goals" or value}

    def entries(self, batch: int) -> list[Algorithm]:
        """Return the algorithms of one batch, each once, in the order of the file."""
        found = [entry for text in self.algorithms for entry in find_all(text)]
        if self.sample is not None:
            drawn = self.sample
            found += sample(drawn.of, drawn.count, drawn.seed + batch, drawn.ranges, drawn.keep)
        return list({str(entry): entry for entry in found}.values())

    def shelves(self) -> list[tuple[BuildOrder, ...]]:
        """Return the databases of the run, for each combination of the values in their lists."""
        return list(itertools.product(*(map(BuildOrder.of, expand(text)) for text in self.databases)))

    @cached_property
    def _kinds(self) -> frozenset[str]:
        return frozenset(order.name for order in self.shelves()[0])

    def fault(self, entry: Algorithm) -> str | None:
        """Return why an algorithm cannot be run under these conditions, or None if it can."""
        for kind in entry.needs:
            if kind not in self._kinds:
                return f"{entry} needs a database of kind {kind!r}, but the run has none; list it under databases"
        if self.sight is not None and (entry.needs or not entry.card.senses):
            return f"{entry} has to know its map, but the run has a sight; move it to a run without one"
        return None


@dataclass(frozen=True)
class Campaign:
    """The checked contents of a campaign file."""

    path: Path
    title: str
    seed: int
    scale: str
    problems: dict[str, ProblemSet]
    runs: tuple[Run, ...]
    measures: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that determines which trials are run, as plain data; a store is for one such set of settings."""
        problems = {name: one.settings for name, one in self.problems.items()}
        return {
            "scale": self.scale,
            "seed": self.seed,
            "problems": problems,
            "run": [run.settings for run in self.runs],
        }

    @property
    def has_scenes(self) -> bool:
        """Whether its problems are units of scenes."""
        return any(one.has_scenes for one in self.problems.values())


def read_campaign(path: str | os.PathLike[str], scale: str = "full") -> Campaign:
    """Read a campaign file; raise `CampaignError`, with the line, if something is wrong with it."""
    file = Path(path)
    data, lines = read_tables(file, scale)
    top = Table(data, "", file, lines)
    seed = _seed(top, 0)
    problems = _read_problem_sets(top, seed, lines)
    runs = _read_runs(top, problems, seed, lines)
    measures = top.take_texts("measures", ())
    for name in measures:
        _checked(top, "measures", name, measure_and_statistic)
    for words in STUDY_WORDS:
        top.take(words, str, "")
    for shown in STUDY_PARTS:
        top.take(shown, list, [])
    top.take("paper_count", int, 0)
    title = top.take("title", str, file.stem)
    top.finish()
    return Campaign(file, title, seed, scale, problems, tuple(runs), tuple(measures))


def _checked(table: Table, key: str, text: str, check: Callable[[str], Any]) -> Any:
    """Return ``check(text)``; if that fails, report the error with the line of the text."""
    try:
        return check(text)
    except CampaignError:
        raise
    except AndanteError as error:
        table.fail(str(error), key, text)


# --- problem sets ---------------------------------------------------------------------------------------------------


def _read_problem_sets(top: Table, seed: int, lines: Lines) -> dict[str, ProblemSet]:
    sets = top.take("problems", dict)
    found = {}
    for name, data in sets.items():
        if not isinstance(data, dict):
            top.fail(f"problems must be tables, [problems.NAME], but {name!r} is not a table", "problems", name)
        found[name] = _read_problem_set(Table(data, f"problems.{name}", top.path, lines), name, seed)
    if not found:
        top.fail("a campaign needs problems; add a table [problems.NAME]", "problems")
    if len({one.has_scenes for one in found.values()}) > 1:
        top.fail("problems are scenes in all sets or in none, because their rows have other measures", "problems")
    return found


def _read_problem_set(table: Table, name: str, seed: int) -> ProblemSet:
    maps = _read_maps(table, "maps")
    source = table.take("from", str, "random")
    if source not in SOURCES:
        table.fail(f"problems come from {' or '.join(SOURCES)}, not from {source!r}", "from")
    one = ProblemSet(
        name=name,
        maps=maps,
        source=source,
        count=_at_least(table, "count", 1),
        total=_at_least(table, "total", 1),
        optimal_cost=_pair(table, "optimal_cost", (0.0, math.inf)) or (0.0, math.inf),
        seed=_seed(table, seed),
        upscale=_size(table),
        scene=table.take("scene", str, ""),
        rule=_rule(table),
        terrain=_terrain(table),
        landmarks=_at_least(table, "landmarks", 1),
    )
    table.finish()
    _check_graphs(table, one)
    if one.has_scenes:
        _checked(table, "scene", one.scene, lambda _: check_problems(table, one))
        return one
    if source == "random" and (one.count is None or one.total is not None):
        table.fail("random problems need a 'count' of problems per map, and do not accept a 'total'", "total")
    if one.count is not None and one.total is not None:
        table.fail("'count' is per map and 'total' is for all maps together; give only one of them", "total")
    return one


def _rule(table: Table) -> str:
    rule = table.take("rule", str, RULES[0])
    if rule not in ALL_RULES:
        table.fail(f"there is no rule {rule!r} for moves; {did_you_mean(rule, ALL_RULES)}", "rule")
    return rule


def _terrain(table: Table) -> str:
    """Return the costs of cells in their normal form."""
    text = table.take("terrain", str, "")
    _checked(table, "terrain", text, parse_costs)
    return costs_text(parse_costs(text))


def _check_graphs(table: Table, one: ProblemSet) -> None:
    """Refuse keys for maps only if there are graphs, and the reverse."""
    graphs = [is_graph(each) for text in one.maps for each in expand(text)]
    if any(graphs) and (one.source == "scenarios" or one.upscale or one.scene):
        key = "from" if one.source == "scenarios" else "upscale" if one.upscale else "scene"
        table.fail(f"{key!r} is for maps, and there are graphs among these; put them into a separate set", key)
    for key in ("rule", "terrain"):
        if key in table and (any(graphs) or one.has_scenes):
            table.fail(f"{key!r} is for maps that do not change: graphs and scenes have their moves and costs", key)
    if one.landmarks is not None and not all(graphs):
        table.fail("'landmarks' is for graphs: the heuristic of a map is the distance between cells", "landmarks")


def _read_maps(table: Table, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
    maps = table.take_texts(key, default)
    for text in maps:
        _checked(table, key, text, lambda text: check_map(text, table.path.parent))
    return tuple(maps)


def _at_least(table: Table, key: str, least: int) -> int | None:
    value = table.take_or_none(key, int)
    if value is not None and value < least:
        table.fail(f"{key} must be at least {least}, not {value}", key)
    return value


def _seed(table: Table, default: int) -> int:
    seed = _at_least(table, "seed", 0)
    return default if seed is None else seed


def _pair(table: Table, key: str, default: tuple[float, float] | None) -> tuple[float, float] | None:
    values = table.take_or_none(key, list)
    if values is None:
        return default
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(values) != 2 or len(numbers) != 2 or not 0 <= numbers[0] < numbers[1]:
        table.fail(f"{key} must be [low, high] with 0 <= low < high, not {values!r}", key)
    return float(numbers[0]), float(numbers[1])


def _size(table: Table) -> tuple[int, int] | None:
    values = table.take_or_none("upscale", list)
    if values is None:
        return None
    if len(values) != 2 or not all(type(value) is int and value > 0 for value in values):
        table.fail(f"upscale must be [width, height], not {values!r}", "upscale")
    return values[0], values[1]


# --- runs -----------------------------------------------------------------------------------------------------------


def _read_runs(top: Table, sets: dict[str, ProblemSet], seed: int, lines: Lines) -> list[Run]:
    found = []
    for number, data in enumerate(top.take("run", list), 1):
        if not isinstance(data, dict):
            top.fail("runs must be tables, [[run]]", "run")
        found.append(_read_run(Table(data, f"run {number}", top.path, lines), sets, seed))
    return found


def _read_run(table: Table, sets: dict[str, ProblemSet], seed: int) -> Run:
    problems = table.take_texts("problems", sets)
    for name in problems:
        if name not in sets:
            table.fail(f"there are no problems {name!r}; {did_you_mean(name, sets)}", "problems", name)
    algorithms = table.take_texts("algorithms", ())
    entries = {text: _checked(table, "algorithms", text, find_all) for text in algorithms}
    converge = table.take("converge", bool, False)
    most = _at_least(table, "max_trials", 1)
    if most is not None and not converge:
        table.fail("max_trials needs converge = true", "max_trials")
    one = Run(
        problems=tuple(problems),
        algorithms=tuple(algorithms),
        sample=_read_sample(table, seed),
        batches=_at_least(table, "batches", 1) or 1,
        limits=_read_limits(table),
        max_trials=(most or DEFAULT_MAX_TRIALS) if converge else 1,
        sight=_at_least(table, "sight", 1),
        databases=tuple(table.take_texts("databases", ())),
        training=_read_maps(table, "training", ()),
        forget_goals=table.take("forget_goals", bool, False),
    )
    check_run(table, one, any(sets[name].has_scenes for name in one.problems))
    orders = {text: _checked(table, "databases", text, _orders) for text in one.databases}
    table.finish()
    if not one.algorithms and one.sample is None:
        table.fail("a run needs 'algorithms' or a 'sample'")
    _check_number(table, one, entries, orders)
    _check_training(table, one, orders)
    _check_algorithms(table, one, entries)
    return one


def _orders(text: str) -> list[BuildOrder]:
    return [BuildOrder.of(one) for one in expand(text)]


def _check_number(
    table: Table, run: Run, entries: dict[str, list[Algorithm]], orders: dict[str, list[BuildOrder]]
) -> None:
    """Refuse a run with more settings than can be listed, before listing any."""
    settings = sum(map(len, entries.values())) + (run.sample.count if run.sample is not None else 0)
    for factor in (*map(len, orders.values()), run.batches, len(run.problems)):
        settings *= max(1, factor)
    if settings > MOST_SETTINGS:
        table.fail(
            f"the run has {settings:,} settings on batches of problems, but at most {MOST_SETTINGS:,} can be listed; "
            "draw a sample, or use fewer batches",
            "batches" if "batches" in table else "",
        )


def _check_training(table: Table, run: Run, orders: dict[str, list[BuildOrder]]) -> None:
    """Require training maps for databases that serve any map, and refuse them for all others."""
    learned = [text for text, some in orders.items() if any(order.serves_any_map for order in some)]
    if learned and not run.training:
        table.fail(
            f"{learned[0]} serves any map and is built from training maps; add training = [...], maps as in problems",
            "databases",
            learned[0],
        )
    if run.training and not learned:
        table.fail("training is for databases that serve any map, but the run has none of these", "training")


def _check_algorithms(table: Table, run: Run, entries: dict[str, list[Algorithm]]) -> None:
    """Refuse algorithms that cannot be run under the run's conditions.

    Only the first few of a sample are checked here. The plan draws and checks all of them, which takes longer.
    """
    for text, some in entries.items():
        for fault in filter(None, map(run.fault, some)):
            table.fail(fault, "algorithms", text)
    if run.sample is not None:
        few = replace(run, algorithms=(), sample=replace(run.sample, count=min(run.sample.count, _DRAWN_TO_CHECK)))
        for fault in filter(None, map(run.fault, few.entries(0))):
            table.fail(fault, "sample", run.sample.of)


def _read_sample(outer: Table, seed: int) -> Sample | None:
    if "sample" not in outer:
        return None
    table = outer.take_table("sample")
    of, count = table.take("of", str), _at_least(table, "count", 1)
    chosen, ranges, keep = _seed(table, seed), table.take("ranges", dict, {}), table.take("keep", dict, {})
    table.finish()
    if count is None:
        table.fail("a sample needs a 'count' of settings to draw", "of")
    _checked(table, "of", of, find)
    _checked(table, "ranges", "ranges" if ranges else of, lambda _: sample(of, 1, chosen, ranges))
    _checked(table, "keep", "keep" if keep else of, lambda _: sample(of, 1, chosen, ranges, keep))
    return Sample(of, count, chosen, ranges, keep)


def _read_limits(outer: Table) -> Limits:
    table = outer.take_table("limits")
    defaults = {"cost": math.inf, "moves": float(DEFAULT_MOVE_CAP), "expansions": math.inf, "suboptimality": math.inf}
    values = {name: table.take(name, float, value) for name, value in defaults.items()}
    table.finish()
    try:
        return Limits(**values)
    except AndanteError as error:
        table.fail(str(error))
