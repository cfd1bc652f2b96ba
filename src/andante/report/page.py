"""Pages: one HTML file with advice, replays, tables and plots that needs only a browser."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import NamedTuple

import andante
from andante.episode.crowdresult import CrowdResult
from andante.episode.crowdtrace import CrowdTrace
from andante.episode.trace import Trace
from andante.files import write_whole
from andante.measures import MEASURES, Comparison, Over, Row, Summary, problem_mismatch
from andante.measures.advice import LIMITS
from andante.report.crowd import crowd_lead, crowd_lines
from andante.report.dominance import on_average
from andante.report.figure import inline_svg
from andante.report.gallery import Picture, about_problems, dominance, plots
from andante.report.ground import Ground
from andante.report.results import Results
from andante.report.table import Column, columns, counted, lead
from andante.report.verdicts import caption, head, lines, sentences

_ADVICE = "Which agent to use"


class Answer(NamedTuple):
    """The agent to use, in words and as a line of Python."""

    wanted: str  # a sentence about the limits
    sentences: Sequence[str]  # the first says which agent to use
    code: str
    agents: Sequence[str] = ()  # their names are code in the sentences


def write_page(
    path: str | os.PathLike[str],
    *,
    title: str,
    rows: Iterable[Row],
    traces: Sequence[Trace] = (),
    crowd: CrowdResult | None = None,
    answer: Answer | None = None,
    notes: Sequence[str] = (),
    over: Over = "maps",
    penalty: float | None = None,
    playground: str | None = None,
) -> None:
    """Write the page for these rows, with replays of the traces and of a crowd, completely or not at all.

    It starts with the ``answer`` or, without one, with the agents that the rows recommend under several limits.
    ``notes`` are sentences at its end. Errors and intervals are ``over`` maps or problems, and agents are compared on
    the problems that all solved or, with a ``penalty`` for trials that did not arrive, on all. ``playground`` is a
    link to a page in which the same agents walk.
    """
    text = page(
        title=title,
        rows=rows,
        traces=traces,
        crowd=crowd,
        answer=answer,
        notes=notes,
        over=over,
        penalty=penalty,
        playground=playground,
    )
    write_whole(path, text.encode())


def page(
    *,
    title: str,
    rows: Iterable[Row],
    traces: Sequence[Trace] = (),
    crowd: CrowdResult | None = None,
    answer: Answer | None = None,
    notes: Sequence[str] = (),
    over: Over = "maps",
    penalty: float | None = None,
    playground: str | None = None,
) -> str:
    """Return the text of the page that `write_page` writes."""
    table = list(rows)
    ground = Ground.of_rows(table, penalty, over)
    fault = problem_mismatch(ground.summaries)
    body = [
        _answer(answer) if answer else "" if fault else _advice(ground),
        _replay(traces),
        _playground(playground) if playground else "",
        _crowd("Crowd", crowd) if crowd else "",
        _numbers(ground),
        _compared(ground.comparison),
        "" if fault else _plots(ground),
        _notes(notes),
    ]
    words = " ".join(filter(None, (lead(table), fault and f"{fault}.")))
    return _composed(title, words, body, traces, crowd.trace if crowd else None)


def results_page(
    results: Results,
    *,
    x: str,
    y: str,
    measures: Sequence[str] = (),
    notes: Sequence[str] = (),
    over: Over = "maps",
    penalty: float | None = None,
) -> str:
    """Return the page of a store: advice, numbers, plots, and the agents that are dominated in ``x`` and ``y``.

    ``measures`` are the columns of the table; by default, the usual ones. If agents were run on different problems, the
    page shows only their numbers, and says why.
    """
    ground = Ground.of_results(results, penalty, over)
    alike = not results.incomparable
    body = [
        _advice(ground) if alike else "",
        _numbers(ground, measures),
        _compared(ground.comparison),
        _plots(ground) if alike else "",
        _dominance(ground, x, y) if alike else "",
        _notes(notes),
    ]
    return _composed(results.title, results.lead, body)


def crowd_page(run: CrowdResult, *, title: str, notes: Sequence[str] = ()) -> str:
    """Return the page of a crowd: its replay, if it was recorded, and its numbers."""
    return _composed(title, crowd_lead(run), [_crowd("Replay", run), _notes(notes)], crowd=run.trace)


def _composed(
    title: str, lead: str, body: Sequence[str], traces: Sequence[Trace] = (), crowd: CrowdTrace | None = None
) -> str:
    return Template(_static("page.html")).substitute(
        title=escape(title),
        lead=escape(lead),
        version=andante.__version__,
        style="".join(map(_static, ["colours.css", "page.css", *(["replay.css"] if traces or crowd else [])])),
        body="\n".join(filter(None, body)),
        scripts=_scripts(traces, crowd),
    )


def _static(name: str) -> str:
    return files("andante.report").joinpath("static", name).read_text("utf-8")


# --- sections -------------------------------------------------------------------------------------------------------


def _advice(ground: Ground) -> str:
    said = [f"<li>{_with_code(str(choice), choice.best)}</li>" for choice in ground.choices(LIMITS)]
    return _section(_ADVICE, f'<ul class="advice">{"".join(said)}</ul>') if said else ""


def _answer(answer: Answer) -> str:
    first, *more = [_with_names(sentence, answer.agents) for sentence in answer.sentences]
    rest = "".join(f'<p class="words">{sentence}</p>' for sentence in more)
    code = f"<pre><code>{escape(answer.code)}</code></pre>"
    return _section(_ADVICE, f'{_words([answer.wanted])}<ul class="advice"><li>{first}</li></ul>{code}{rest}')


def _with_names(sentence: str, agents: Sequence[str]) -> str:
    """Return the sentence as HTML, with the names of agents set as code."""
    text = escape(sentence)
    if not agents:
        return text
    names = "|".join(re.escape(escape(name)) for name in sorted(agents, key=len, reverse=True))
    return re.sub(rf"(?<!\S)({names})(?=[:,;. ]|$)", r"<code>\1</code>", text)


def _with_code(sentence: str, summary: Summary | None) -> str:
    """Return the sentence as HTML, with the agent's name set as code."""
    text, name = escape(sentence), escape(summary.name) if summary else ""
    return text.replace(f" use {name}:", f" use <code>{name}</code>:", 1)


def _replay(traces: Sequence[Trace]) -> str:
    return _section("Replay", _player("replay")) if traces else ""


def _playground(link: str) -> str:
    text = "watch the agents think on this map, and draw walls while they walk"
    return _section("Playground", f'<p class="words"><a href="{escape(link)}">Open the playground</a>: {text}.</p>')


def _player(name: str) -> str:
    without = '<noscript><p class="words">The replay needs JavaScript; the rest of this page does not.</p></noscript>'
    return f'<div class="replay" id="{name}"></div>{without}'


def _crowd(title: str, run: CrowdResult) -> str:
    """Return the section of a crowd; if it has a title, it begins with a sentence about the crowd."""
    words = "" if title == "Replay" else _words([crowd_lead(run)])
    lines = "".join(
        f'<tr><th scope="row" title="{escape(line.about)}">{escape(line.title)}</th><td>{escape(line.text)}</td></tr>'
        for line in crowd_lines(run)
    )
    meanings = "".join(f"<dt>{escape(line.title)}</dt><dd>{escape(line.about)}</dd>" for line in crowd_lines(run))
    return _section(
        title,
        f"{words}{_player('crowd') if run.trace else ''}"
        '<div class="scroll" tabindex="0" role="region" aria-label="Numbers of the crowd">'
        f'<table class="facts"><tbody>{lines}</tbody></table></div>'
        f'<details><summary>What the lines mean</summary><dl class="words">{meanings}</dl></details>',
    )


def _numbers(ground: Ground, measures: Sequence[str] = ()) -> str:
    summaries = ground.summaries
    if not summaries:
        return ""
    shown = columns(summaries, measures)
    best = [ground.best(c.measure, c.statistic) if c.measure is not None else frozenset() for c in shown]
    words = caption(summaries)
    if any(best):
        words += " Highlighted: the best of a column, and all that are not clearly worse."
    top = "".join(_head(column) for column in shown)
    body = "".join(
        f"<tr>{''.join(_cell(s, c, c is shown[0], s.name in b) for c, b in zip(shown, best, strict=True))}</tr>"
        for s in summaries
    )
    meanings = "".join(f"<dt>{escape(c.title)}</dt><dd>{escape(c.about)}</dd>" for c in shown[1:])
    return _section(
        "Numbers",
        f"{_table('Numbers', top, body)}"
        f'<p class="words">{escape(words)}</p>'
        f'<details><summary>What the columns mean</summary><dl class="words">{meanings}</dl></details>',
    )


def _table(label: str, top: str, body: str) -> str:
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
        f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _compared(comparison: Comparison | None) -> str:
    """Return the section about which agents are better than others."""
    if comparison is None or len(comparison.solved) < 2:
        return ""
    shown = ""
    if comparison.problems and len(comparison.agents) > 1:
        top = "".join(f'<th scope="col">{escape(title)}</th>' for title in head(comparison))
        rows = [
            "".join(
                [f'<th scope="row"><code>{escape(line[0])}</code></th>', *(f"<td>{escape(c)}</td>" for c in line[1:])]
            )
            for line in lines(comparison)
        ]
        shown = _table("Differences", top, "".join(f"<tr>{row}</tr>" for row in rows))
    return _section("Which agents are better", f"{shown}{_words(sentences(comparison))}")


def _head(column: Column) -> str:
    unit = f"<small>{escape(column.unit)}</small>" if column.unit else ""
    return f'<th scope="col" title="{escape(column.about)}">{escape(column.title)}{unit}</th>'


def _cell(summary: Summary, column: Column, is_name: bool, is_best: bool) -> str:
    text = escape(column.cell(summary))
    if is_name:
        return f'<th scope="row"><code>{text}</code></th>'
    return f'<td class="best">{text}</td>' if is_best else f"<td>{text}</td>"


def _plots(ground: Ground) -> str:
    drawn = plots(ground)
    return _section("Plots", _figures(drawn)) if drawn else ""


def _figures(drawn: Sequence[Picture]) -> str:
    figures = [
        f"<figure>{inline_svg(one.figure, one.words)}<figcaption>{escape(one.words)}</figcaption></figure>"
        for one in drawn
    ]
    return f'<div class="plots">{"".join(figures)}</div>'


def _dominance(ground: Ground, x: str, y: str) -> str:
    summaries = ground.common
    standings = on_average(summaries, x, y)
    if not standings:
        return ""
    free = [one.summary.name for one in standings if one.dominated_by is None]
    titles = f"{MEASURES[x].title.lower()} and {MEASURES[y].title.lower()}"
    words = f"Of {counted(len(standings), 'agent')}, {len(free)} are not dominated by another in {titles}, on average."
    if absent := len(ground.summaries) - len(standings):
        words += f" {counted(absent, 'agent')} without a number for some of the problems are left out."
    words = f"{words} {about_problems(ground)}".strip()
    names = "".join(f"<li><code>{escape(name)}</code></li>" for name in free)
    drawn = _figures([dominance(ground, x, y)])
    return _section("Dominance", f'<p class="words">{escape(words)}</p><ul>{names}</ul>{drawn}')


def _notes(notes: Sequence[str]) -> str:
    return _section("Notes", _words(notes)) if notes else ""


def _words(sentences: Iterable[str]) -> str:
    return "".join(f'<p class="words">{escape(sentence)}</p>' for sentence in sentences)


def _section(title: str, content: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n{content}\n</section>"


# --- scripts --------------------------------------------------------------------------------------------------------


def _scripts(traces: Sequence[Trace], crowd: CrowdTrace | None) -> str:
    documents = [("trace", trace.to_json()) for trace in traces]
    modules, starts = ["draw.js", "player.js"], []
    if traces:
        modules.append("walks.js")
        starts.append(
            "mountTraces(document.getElementById('replay'), "
            "Array.from(document.querySelectorAll('script.trace'), (script) => JSON.parse(script.textContent)));"
        )
    if crowd:
        documents.append(("crowd", crowd.to_json()))
        modules.append("crowd.js")
        starts.append(
            "mountCrowd(document.getElementById('crowd'), "
            "JSON.parse(document.querySelector('script.crowd').textContent));"
        )
    if not starts:
        return ""
    # "<" is written as a JSON escape, so that nothing in a trace can end its script element.
    data = [f'<script type="application/json" class="{kind}">{_harmless(json)}</script>' for kind, json in documents]
    code = "\n".join([*map(_module, modules), *starts])
    return "\n".join([*data, f'<script type="module">\n{code}\n</script>'])


def _module(name: str) -> str:
    """Return a module without its imports and exports, to be combined with the modules it imports in one script.

    Modules inside a page cannot import each other by name. Their top-level names must differ.
    """
    return re.sub(r"^(import .*\n|export )", "", _static(name), flags=re.MULTILINE)


def _harmless(json: str) -> str:
    return json.replace("<", "\\u003c")
