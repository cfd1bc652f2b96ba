"""Ladders: the best agent under each of several limits on planning (Bulitko et al. 2008, Table 4)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from andante.errors import ParameterError, expect
from andante.selection.advise import ANY_COST, STATE, advise, at_rest, check_folder, question_of
from andante.selection.answer import Advice
from andante.selection.journal import Journal
from andante.selection.requirements import AdviceError, Requirements
from andante.world.grid import Grid


@dataclass(frozen=True)
class Rung:
    """One limit on the states expanded before any move, and its result."""

    limit: int
    advice: Advice | None
    reason: str = ""  # for finding no agent


def ladder(
    maps: Grid | Sequence[Grid],
    limits: Sequence[int],
    requirements: Requirements = Requirements(),  # noqa: B008 (frozen)
    *,
    minutes: float | None = None,
    folder: str | os.PathLike[str] | None = None,
    **options: Any,
) -> list[Rung]:
    """Return the best agent under each of these limits; other requirements apply to all, ``options`` as in `advise`.

    Limits share their results: every trial is run once, every database is built once, and agents that did well under
    one limit enter the race under the next. The ``minutes`` are divided equally among all limits.

    >>> import andante
    >>> grid = andante.generate("rooms", 24, 24, seed=1)
    >>> rungs = ladder([grid], [0, 9], Requirements(memory_bytes=0), problems=20, candidates=30)
    >>> [rung.advice is not None for rung in rungs], rungs[0].reason.startswith("no agent keeps to at most 0 states")
    ([False, True], True)
    """
    if requirements.expansions is not None:
        raise ParameterError(
            "the limits of a ladder are on the states expanded; leave expansions out of its requirements"
        )
    expect(limits, Sequence, "the limits of a ladder are a list of whole numbers", ParameterError)
    if not limits:
        raise ParameterError("a ladder needs at least one limit on the states expanded before any move")
    grids = at_rest(maps)
    share = None if minutes is None else minutes / len(limits)
    with ExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory()) if folder is None else folder)
        journal = Journal(home / STATE)
        rungs: list[Rung] = []
        questions = {limit: replace(requirements, expansions=limit) for limit in limits}
        rooms = {limit: None if folder is None else home / f"at-most-{limit}" for limit in limits}
        for limit, room in rooms.items():  # all of them before any work
            if room is not None:
                check_folder(room, question_of(grids, questions[limit], options.get("optimal_cost", ANY_COST)))
        for limit, asked in questions.items():
            try:
                also = [one.candidate for rung in rungs if rung.advice for one in rung.advice.ranking]
                found = advise(grids, asked, minutes=share, folder=rooms[limit], journal=journal, also=also, **options)
                rungs.append(Rung(limit, found))
            except AdviceError as error:
                rungs.append(Rung(limit, None, str(error)))
        return rungs
