"""`andante algorithms`: the list of algorithms, and their cards."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import typer

from andante.cli.shared import JSON_OPTION, err, out, print_items, print_json, print_lines, with_bold
from andante.errors import AlgorithmError
from andante.notation import write

app = typer.Typer(add_completion=False)

#: The claims of cards, as a letter and in words.
CLAIMS = {
    "real_time": ("R", "real-time"),
    "complete": ("C", "complete"),
    "two_way": ("2", "complete only where moves can be reversed"),
    "optimal": ("O", "optimal"),
    "converges": ("V", "convergent"),
    "senses": ("D", "able to discover its map"),
    "living": ("L", "able to follow a map that changes"),
    "pursues": ("P", "able to pursue a goal that moves"),
}


@app.command()
def algorithms(
    name: str = typer.Argument(None, help="Show only this one, with its parameters."),
    bibtex: bool = typer.Option(False, "--bibtex", help="Print BibTeX entries for the papers of the algorithms."),
    as_json: bool = JSON_OPTION,
) -> None:
    """List the algorithms, or one of them with its parameters."""
    from andante.agent import algorithms as register
    from andante.agent import find

    chosen = [find(name)] if name else list(register())
    if bibtex:
        from andante.report.papers import bibtex as as_bibtex

        # One algorithm of a user's own without an entry must not hide the papers of all others.
        cited = chosen if name else [entry for entry in chosen if not _lacks_entry(entry)]
        typer.echo(as_bibtex(cited), nl=False)
    elif as_json:
        print_json([_as_data(entry) for entry in chosen])
    elif name:
        _print_card(chosen[0])
    else:
        _print_table(chosen)


def _lacks_entry(entry: Any) -> bool:
    """Return whether an algorithm has no BibTeX entry for its paper; if so, print a warning."""
    from andante.report.papers import papers_of

    try:
        papers_of(entry)
    except AlgorithmError as error:
        err.print(f"left out: {error}", soft_wrap=True, markup=False)
        return True
    return False


def _as_data(entry: Any) -> dict[str, Any]:
    parameters = [
        {"name": p.name, "about": p.about, "allowed": p.allowed, "default": write(p.word(p.default))}
        for p in entry.parameters
    ]
    return {**asdict(entry.card), "parameters": parameters}


def _print_table(entries: list[Any]) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("name", "algorithm", "claims", "database"):
        table.add_column(column, no_wrap=True)
    table.add_column("parameters")
    for entry in entries:
        parameters = ", ".join(p.name for p in entry.parameters)
        table.add_row(entry.card.name, entry.card.title, _letters(entry), ", ".join(entry.needs), parameters)
    out.print(table)
    print_lines(
        [
            "\nClaims: " + ", ".join(f"{letter} {word}" for letter, word in CLAIMS.values()) + ".",
            "Pass a database that an algorithm needs with --database FILE; 'andante build KIND MAP' writes the file.",
            "'andante algorithms NAME' shows more about one of them.",
        ]
    )


def _letters(entry: Any) -> str:
    """Return a letter for every claim, each in its own column."""
    return "".join(letter if getattr(entry.card, claim) else "." for claim, (letter, _) in CLAIMS.items())


def _claims(entry: Any) -> str:
    return ", ".join(word for claim, (_, word) in CLAIMS.items() if getattr(entry.card, claim))


def _order(entry: Any, kind: str) -> str:
    """Return the database to build for an agent, in the notation."""
    from andante.offline import builders

    order = builders()[kind].orders_for(entry.params)[0] if kind in builders() else kind
    return order if order == kind else f'"{order}"'


def _print_links(entry: Any) -> None:
    """Print the addresses of the papers that have one."""
    from andante.errors import AlgorithmError
    from andante.report.papers import papers_of

    try:
        papers = papers_of(entry)
    except AlgorithmError:  # an algorithm that is not part of Andante may have none
        return
    for paper in papers:
        if paper.link:
            out.print(paper.link, soft_wrap=True, markup=False)


def _print_card(entry: Any) -> None:
    card = entry.card
    out.print(with_bold(card.title, f" ({card.name}): {card.paper}"))
    out.print(card.summary)
    _print_links(entry)
    out.print(f"claims to be: {_claims(entry) or 'nothing in particular'}")
    for kind in entry.needs:
        out.print(
            f"needs a database of kind {kind!r}: build it with 'andante build {_order(entry, kind)} MAP', "
            "and pass it with --database FILE",
            soft_wrap=True,
        )
    print_items((f"{p.name} = {write(p.word(p.default))}", f"{p.about}; {p.allowed}") for p in entry.parameters)
    if card.examples:
        out.print("settings worth trying: " + ", ".join(card.examples))
