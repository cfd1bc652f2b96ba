"""Kinds of databases: their arrays, checks of these, and a register of all kinds."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from andante.errors import DatabaseError, did_you_mean
from andante.world.graph import Graph

B = TypeVar("B", bound=type[tuple[Any, ...]])
States = npt.NDArray[np.int64]


class Kind(NamedTuple):
    """A kind of database: its arrays, and the check of these."""

    name: str
    about: str
    bundle: type[tuple[Any, ...]]  # a NamedTuple of arrays, with the properties ``records`` and ``entries``
    fault: Callable[[Any, Graph], str | None]  # why arrays cannot be used with a graph; None if they can
    covers: Callable[[Any, Graph, States], npt.NDArray[np.bool_]] | None = None  # which goals it serves; None: all

    def __repr__(self) -> str:
        return f"<Kind {self.name}: {self.about}>"

    @property
    def dtypes(self) -> dict[str, np.dtype[Any]]:
        """The names and types of the arrays, as the bundle declares them."""
        return {name: np.dtype(get_args(get_args(hint)[1])[0]) for name, hint in get_type_hints(self.bundle).items()}


_kinds: dict[str, Kind] = {}


def kind(
    name: str,
    about: str,
    fault: Callable[[Any, Graph], str | None],
    covers: Callable[[Any, Graph, States], npt.NDArray[np.bool_]] | None = None,
) -> Callable[[B], B]:
    """Register the decorated bundle, a NamedTuple of arrays, as the contents of databases called ``name``.

    It must have the properties ``records`` and ``entries``, as described at `Database`.
    ``fault(bundle, graph)`` returns a clause that says why kernels must not use these arrays on that graph, or None.
    ``covers(bundle, graph, goals)`` returns for each goal whether the database serves it, for kinds that may be built
    for some goals only.
    """

    def enrol(bundle: B) -> B:
        _kinds[name] = Kind(name, about, bundle, fault, covers)
        return bundle

    return enrol


def kinds() -> dict[str, Kind]:
    """Return all kinds of databases by name, including external ones.

    >>> "moves" in kinds()
    True
    """
    import_module("andante.databases")
    import_module("andante.agents")  # external algorithms may define their own kinds
    return dict(sorted(_kinds.items()))


def kind_named(name: str) -> Kind:
    """Return the kind of database with this name."""
    known = kinds()
    if name not in known:
        raise DatabaseError(f"there is no kind of database {name!r}; {did_you_mean(name, known)}")
    return known[name]
