"""Write files generated from the code: the reference pages, and the stub that lets editors complete parameters.

``python tools/reference.py`` writes ``docs/reference/*.md`` and ``src/andante/settings.pyi``; `make docs` calls it, and
a test fails if they are out of date.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from enum import IntEnum
from functools import cached_property
from math import isfinite
from pathlib import Path
from types import FunctionType
from typing import Any

import andante
from andante.markdown import markdown_table, plain

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / "docs" / "reference"
CODE_WIDTH = 88  # of a line of code that the site shows without scrolling
CLAIMS = {
    "real_time": "real-time",
    "complete": "complete",
    "optimal": "optimal",
    "converges": "converges to an optimal path",
    "senses": "discovers its map",
    "living": "follows a map that changes",
    "pursues": "pursues a goal that moves",
}
VERBS = (
    "solve",
    "compare",
    "crowd",
    "algorithms",
    "advise",
    "choose",
    "maps list",
    "maps show",
    "maps generate",
    "maps scene",
    "maps fetch",
    "build",
    "databases list",
    "databases show",
    "export",
    "play",
    "campaign run",
    "campaign resume",
    "campaign status",
    "campaign report",
    "store check",
    "store merge",
    "store export",
    "study",
    "warmup",
    "demo",
)


def algorithms_page() -> str:
    """Return the page of all registered cards."""
    entries = andante.algorithms()
    lines = [
        "# Algorithms",
        "",
        "Written from the register by `tools/reference.py`. An algorithm is named in the notation",
        "`name(parameter=value, ...)` everywhere: in Python, on the command line, in tables. `andante.check_algorithm`",
        "tests what it claims.",
        "",
        "`andante algorithms --bibtex` prints all papers for a bibliography, `andante algorithms lrta --bibtex` those",
        "of one algorithm.",
        "",
    ]
    table = []
    for entry in entries:
        card = entry.card
        claims = ", ".join(word for claim, word in CLAIMS.items() if getattr(card, claim))
        if card.two_way:
            claims = claims.replace("complete", "complete where moves can be reversed")
        table.append([f"[`{card.name}`](#{card.name})", plain(card.title), claims, _cited(entry)])
    head = ["name", "algorithm", "claims", "paper"]
    lines.append(markdown_table(head, table, left=head))
    for entry in entries:
        lines += ["", *_section(entry)]
    return "\n".join(lines) + "\n"


def _cited(entry: Any) -> str:
    """Return the papers of an algorithm, with links to those that have a DOI."""
    from andante.report.papers import papers_of

    cited = entry.card.paper.split("; ")
    links = [paper.link.replace("(", "%28").replace(")", "%29") for paper in papers_of(entry)]
    return "; ".join(
        f"[{plain(text)}]({link})" if link else plain(text) for text, link in zip(cited, links, strict=True)
    )


def _section(entry: Any) -> Iterator[str]:
    from andante.notation import write

    yield f"## {plain(entry.card.title)} {{ #{entry.card.name} }}"
    yield ""
    yield f"{plain(entry.card.summary)} ({_cited(entry)}; `{entry.card.name}`)"
    page = entry.step.__module__.rpartition(".")[2].replace("_", "-")
    if (ROOT / "docs" / "algorithms" / f"{page}.md").exists():
        yield ""
        yield f"[More about it](../algorithms/{page}.md)"
    if entry.parameters:
        yield ""
        head = ["parameter", "default", "description", "allowed"]
        fields = [[f"`{p.name}`", f"`{write(p.word(p.default))}`", plain(p.about), p.allowed] for p in entry.parameters]
        yield markdown_table(head, fields, left=head)
    if entry.card.examples:
        yield ""
        yield "Settings worth trying: " + ", ".join(f"`{text}`" for text in entry.card.examples) + "."


def commands_page() -> str:
    """Return the page with the help of every command."""
    os.environ.update({"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"})
    from typer.testing import CliRunner

    from andante.cli import app

    lines = [
        "# Commands",
        "",
        "Written from `--help` by `tools/reference.py`.",
        "",
        "Exit codes: 0 for success; 1 if the agent did not arrive, or for an error, printed on standard error;",
        "2 for a wrong call; 130 for an interrupt.",
    ]
    for verb in VERBS:
        shown = CliRunner().invoke(app, [*verb.split(), "--help"], prog_name="andante", terminal_width=100).output
        text = "\n".join(line.rstrip() for line in shown.strip().split("\n"))
        lines += ["", f"## andante {verb}", "", "```text", text, "```"]
    return "\n".join(lines) + "\n"


def python_page() -> str:
    """Return the page of all public names, with signatures and docstrings."""
    lines = [
        "# Python",
        "",
        "Every public name with its types, written from the code by `tools/reference.py`. All names are in the module",
        "`andante`.",
    ]
    for name in andante.__all__:
        thing = getattr(andante, name)
        if not callable(thing):
            continue
        lines += ["", f"## {name}", "", *_signature(name, thing), *_docstring(thing)]
        if inspect.isclass(thing) and not issubclass(thing, Exception | IntEnum):
            lines += _members(name, thing)
    return "\n".join(lines) + "\n"


def _signature(name: str, thing: Any) -> list[str]:
    if inspect.isclass(thing) and issubclass(thing, Exception | IntEnum):
        return []
    signature = inspect.signature(thing)
    if inspect.isclass(thing):
        signature = signature.replace(return_annotation=inspect.Signature.empty)
    return ["```text", _broken(f"{name}{_words(signature)}"), "```", ""]


def _broken(call: str) -> str:
    """Return a call with each parameter on a separate line, if it is too long for one line."""
    if len(call) <= CODE_WIDTH:
        return call
    opening, closing = call.index("("), call.rindex(")")
    lines, depth = [""], 0
    for character in call[opening + 1 : closing]:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            lines.append("")
        else:
            lines[-1] += character
    return "\n    ".join([call[: opening + 1], *(f"{line.strip()}," for line in lines)]) + "\n" + call[closing:]


def _words(signature: object) -> str:
    """Return a signature or a type as people write it: without modules, quotes and addresses."""
    words = str(signature)
    for parameter in signature.parameters.values() if isinstance(signature, inspect.Signature) else ():
        if isinstance(parameter.default, andante.Limits) and parameter.default == andante.Limits():
            words = words.replace(repr(parameter.default), "Limits()")
    words = re.sub(r"<[^>]*>", "...", words).replace("'", "")
    return re.sub(r"\b(?:andante|numpy|np|collections\.abc|typing|pathlib)\.(?:[a-z_]+\.)*(?=[A-Za-z])", "", words)


def _docstring(thing: Any) -> list[str]:
    """Return the docstring, with its examples as code."""
    lines: list[str] = []
    is_code = False
    for line in (inspect.getdoc(thing) or "").replace("``", "`").split("\n"):
        if line.startswith(">>>") and not is_code:
            lines.append("```python")
            is_code = True
        elif not line and is_code:
            lines += ["", "```"]
            is_code = False
            continue
        lines.append(line)
    return [*lines, "", "```"] if is_code else lines


def _members(name: str, thing: Any) -> list[str]:
    """Return the public fields, properties and methods with their types; of bases only if they are not public."""
    found = _fields(name, thing)
    bases = [one for one in thing.__mro__[:0:-1] if one.__module__.startswith("andante.") and not _is_public(one)]
    for member, value in {name: value for one in (*bases, thing) for name, value in vars(one).items()}.items():
        described = value.func if isinstance(value, cached_property) else value
        if member.startswith("_") or not isinstance(described, FunctionType | property | classmethod):
            continue
        text = " ".join((inspect.getdoc(described) or "").partition("\n\n")[0].replace("``", "`").split())
        found.append(f"- `{name}.{member}{_called(value)}`: {text}")
    return ["", *found] if found else []


def _called(member: Any) -> str:
    """Return how a method is called and what it returns, or the type of a property."""
    if isinstance(member, property | cached_property):
        getter = member.fget if isinstance(member, property) else member.func
        kind = inspect.signature(getter).return_annotation if getter is not None else inspect.Signature.empty
        return "" if kind is inspect.Signature.empty else f": {_words(kind)}"
    signature = inspect.signature(member.__func__ if isinstance(member, classmethod) else member)
    return _words(signature.replace(parameters=list(signature.parameters.values())[1:]))


def _fields(name: str, thing: Any) -> list[str]:
    """Return the fields of a record with their types and comments."""
    if not (is_dataclass(thing) or hasattr(thing, "_fields")):
        return []
    found, above = [], ""
    for line in inspect.getsource(thing).split("\n"):
        comment = re.fullmatch(r"    #:? (.*)", line)
        if comment:
            above = f"{above} {comment[1]}".strip()
            continue
        field = re.fullmatch(r"    ([a-z]\w*): ([^=#]+?)(?: = [^#]*?)?(?:  # (.*))?", line)
        if field:
            said = field[3] or above
            found.append(f"- `{name}.{field[1]}: {_words(field[2])}`" + (f": {said}" if said else ""))
        above = ""
    return found


def _is_public(kind: type) -> bool:
    return kind.__name__ in andante.__all__


def settings_stub() -> str:
    """Return ``settings.pyi``: one function per algorithm, its parameters with their types and defaults."""
    lines = [
        "# Written by tools/reference.py from the parameters of every algorithm.",
        "from typing import Literal",
        "",
        "from andante.agent import Algorithm",
        "",
    ]
    for entry in andante.algorithms():
        name = entry.card.name.replace("-", "_")
        given = ", ".join(f"{p.name}: {_type(p)} = {_default(p)}" for p in entry.parameters)
        lines.append(f"def {name}({f'*, {given}' if given else ''}) -> Algorithm: ...")
    return "\n".join(lines) + "\n"


def _type(parameter: Any) -> str:
    if issubclass(parameter.kind, IntEnum):
        words = ", ".join(f'"{word.name.lower()}"' for word in parameter.kind)
        name = f"Literal[{words}]"
    else:
        name = parameter.kind.__name__
    return f"{name} | None" if parameter.optional else name


def _default(parameter: Any) -> str:
    """Return the default as a stub writes it; infinity has no literal."""
    word = parameter.word(parameter.default)
    if isinstance(word, str):
        return f'"{word}"'
    return "..." if isinstance(word, float) and not isfinite(word) else repr(word)


PAGES = {
    HOME / "algorithms.md": algorithms_page,
    HOME / "commands.md": commands_page,
    HOME / "python.md": python_page,
    ROOT / "src" / "andante" / "settings.pyi": settings_stub,
}


def main() -> None:
    """Write all files, or with ``--check`` fail if any is out of date."""
    pages = {path: page() for path, page in PAGES.items()}
    stale = [path for path, text in pages.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv:
        if stale:
            sys.exit(f"out of date: {', '.join(path.name for path in stale)}; run 'python tools/reference.py'")
        return
    HOME.mkdir(parents=True, exist_ok=True)
    for path in stale:
        path.write_text(pages[path], encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
