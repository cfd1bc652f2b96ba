"""A share of a campaign: the jobs that one of several independent processes runs.

It is meant for job arrays of a queue. Each process plans the whole campaign, which gives the same plan everywhere, and
runs its share of the jobs into a separate store. The stores are merged afterwards.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from andante.errors import ParameterError
from andante.store import Outline


@dataclass(frozen=True)
class Share:
    """Share ``number`` out of ``of``, counted from 1.

    >>> str(Share.read("3/16"))
    '3/16'
    """

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> Share:
        """Return the share that a text such as ``3/16`` names."""
        found = re.fullmatch(r"\s*([0-9]{1,6})\s*/\s*([0-9]{1,6})\s*", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise ParameterError(f"a part is written K/N with K from 1 to N, such as 3/16, not {text!r:.40}")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def of_jobs(self, order: npt.NDArray[np.int64], outline: Outline) -> npt.NDArray[np.int64]:
        """Return this share of the jobs, which are given in the order in which they would be run.

        Shares are stretches of that order with about the same number of trials, so each has jobs of few maps and needs
        few databases. Jobs without trials at the end of the order belong to the last share.
        """
        trials = np.array([outline.trials_of(number) for number in order.tolist()], np.float64)
        middle = np.cumsum(trials) - trials / 2
        share = np.minimum(np.floor(middle * self.of / max(trials.sum(), 1.0)), self.of - 1)
        mine: npt.NDArray[np.int64] = order[share == self.number - 1]
        return mine
