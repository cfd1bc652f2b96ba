"""The papers of the register as BibTeX."""

import re
from dataclasses import replace

import pytest

import andante
from andante.errors import AlgorithmError
from andante.report.papers import bibtex, papers_of, read_bibtex

NEEDED = {"article": {"journal"}, "inproceedings": {"booktitle"}, "misc": {"howpublished"}}


def test_every_algorithm_has_its_papers():
    for entry in andante.algorithms():
        papers = papers_of(entry)
        assert len(papers) == len(entry.card.paper.split(";"))
        for paper in papers:
            kind = re.match(r"@(\w+)\{", paper.text)[1]
            assert {"author", "title", "year"} | NEEDED[kind] <= set(paper.fields)
            assert paper.fields["year"] in entry.card.paper
            assert paper.text.count("{") == paper.text.count("}")
            assert paper.text.isascii()
            if "doi" in paper.fields:
                assert re.fullmatch(r"10\.\d{4,5}/\S+", paper.fields["doi"])


def test_no_entry_is_unused_or_duplicated():
    text = bibtex(andante.algorithms())
    keys = [paper.key for paper in read_bibtex(text)]
    assert len(set(keys)) == len(keys)
    from importlib.resources import files

    assert sorted(keys) == sorted(
        re.findall(r"@\w+\{(\S+),", files("andante.report").joinpath("papers.bib").read_text())
    )


def test_external_algorithms_bring_their_own_entries():
    entry = andante.find("lrta")
    foreign = replace(entry, card=replace(entry.card, paper="Nobody 1901"))
    with pytest.raises(AlgorithmError, match="no BibTeX entry for 'Nobody 1901', the paper of lrta"):
        papers_of(foreign)
    own = "@misc{nobody1901,\n  author = {Nobody, A.},\n  title = {Nothing},\n  year = {1901},\n}"
    (paper,) = papers_of(replace(foreign, card=replace(foreign.card, bibtex=own)))
    assert (paper.key, paper.fields["author"], paper.citations) == ("nobody1901", "Nobody, A.", {"Nobody 1901"})
    with pytest.raises(AlgorithmError, match="has no entry of the form"):
        papers_of(replace(foreign, card=replace(foreign.card, bibtex="Nobody (1901)")))
