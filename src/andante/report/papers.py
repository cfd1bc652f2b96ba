"""The papers that cards name, as BibTeX.

A card names its papers as a text cites them ("Korf 1990; Bulitko & Lee 2006"). ``papers.bib`` has an entry for each
paper of the registered algorithms, which is found by its authors and year. An algorithm that is not part of Andante
brings its own entries, ``Card(bibtex=...)``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from andante.agent import Algorithm
from andante.errors import AlgorithmError

_ENTRY = re.compile(r"@\w+\{(\S+),\n.*?\n\}\n", re.DOTALL)
_FIELD = re.compile(r"^  (\w+) = \{(.*)\},$", re.MULTILINE)
_ACCENT = re.compile(r"\{\\\W ?(\w)\}|\{\\\w (\w)\}")
_AFTER = re.compile(r"^Andante, after ")


class Paper(NamedTuple):
    """An entry of a bibliography."""

    key: str
    text: str  # in BibTeX
    fields: dict[str, str]

    @property
    def link(self) -> str:
        """The address of the paper; empty if it has no DOI."""
        return f"https://doi.org/{self.fields['doi']}" if "doi" in self.fields else ""

    @property
    def citations(self) -> set[str]:
        """The forms in which a text may cite it: with all authors or, if there are more than two, with the first."""
        names = [_plain(name.partition(",")[0]) for name in self.fields["author"].split(" and ")]
        every = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} & {names[-1]}"
        short = [f"{names[0]} et al."] if len(names) > 2 else []
        return {f"{who} {self.fields['year']}" for who in [every, *short]}


def papers_of(entry: Algorithm) -> list[Paper]:
    """Return the papers of an algorithm, in the order of its card.

    >>> from andante.agent import find
    >>> [paper.key for paper in papers_of(find("cpd"))]
    ['botea2011ultra', 'strasser2014fast', 'chiari2019cutting']
    """
    if entry.card.bibtex:
        return read_bibtex(entry.card.bibtex)
    known = {citation: paper for paper in _known() for citation in paper.citations}
    found = []
    for cited in map(str.strip, _AFTER.sub("", entry.card.paper).split(";")):
        if _plain(cited) not in known:
            raise AlgorithmError(
                f"there is no BibTeX entry for {cited!r}, the paper of {entry.card.name}; its author can give one: "
                "Card(bibtex=...)"
            )
        found.append(known[_plain(cited)])
    return found


def bibtex(entries: Iterable[Algorithm]) -> str:
    """Return the papers of these algorithms as BibTeX, each once, in order of first appearance."""
    papers = {paper.key: paper.text for entry in entries for paper in papers_of(entry)}
    return "\n".join(papers.values())


def read_bibtex(text: str) -> list[Paper]:
    """Return the entries of a text that has a line for each field."""
    found = [
        Paper(match[1], match[0], dict(_FIELD.findall(match[0]))) for match in _ENTRY.finditer(f"{text.rstrip()}\n")
    ]
    if not found:
        raise AlgorithmError("a card's BibTeX has no entry of the form @article{key, ...} with a line for each field")
    return found


@cache
def _known() -> tuple[Paper, ...]:
    return tuple(read_bibtex(files("andante.report").joinpath("papers.bib").read_text("utf-8")))


def _plain(name: str) -> str:
    """Return a name without accents, in BibTeX or in Unicode.

    >>> _plain("Lu{\\\\v s}trek"), _plain("Hern{\\\\'a}ndez"), _plain("Hernández")
    ('Lustrek', 'Hernandez', 'Hernandez')
    """
    without = _ACCENT.sub(lambda match: match[1] or match[2], name)
    return "".join(sign for sign in unicodedata.normalize("NFKD", without) if not unicodedata.combining(sign))
