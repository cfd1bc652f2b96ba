"""The store: a folder with a manifest and Parquet parts, to which finished jobs are appended.

    manifest.json             a description of the store, with hashes of the tables and its own checksum
    NAME.parquet              a table of the store's creator
    parts/ROWS-HASH.parquet   rows

A part is written under a temporary name, moved into place when complete, and flushed to disk. Its name contains a hash
of its bytes, so a part damaged by a power cut is detected. A part contains complete jobs. So jobs that were finished
before a kill are in the store, and the rest is run again. Small parts are merged into larger ones from time to time:
the larger one appears first, then the small ones are deleted. A kill in between leaves some rows twice, and `scan`
counts them once.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import andante
from andante.errors import OutputError
from andante.files import json_checksum
from andante.store.identity import KEY, TIMES
from andante.store.made import on_day, today, united
from andante.store.parts import (
    DIGITS,
    Part,
    StoreError,
    as_parquet,
    damage,
    digest_of,
    locked,
    polars,
    read_parquet,
    write_flushed,
)

if TYPE_CHECKING:
    import polars as pl

#: Columns by name, all of the same length.
Columns = Mapping[str, npt.NDArray[Any] | Sequence[Any]]

FORMAT = 3

_CHECKSUM = "checksum"
_KEYS: dict[str, type] = {"andante": str, "created": str, "about": dict, "tables": dict}  # beside format and checksum
_MADE = "made_with"  # a key that stores of earlier versions do not have
_MANIFEST, _PARTS, _DAMAGED, _LOCK = "manifest.json", "parts", "damaged", "lock"
_FANOUT = 64  # this many parts of about the same size are merged into one


def _sealed(manifest: Mapping[str, Any]) -> bytes:
    """Return the bytes of a manifest, with a checksum of everything else in it."""
    rest = {name: value for name, value in manifest.items() if name != _CHECKSUM} | {"format": FORMAT}
    return json.dumps({**rest, _CHECKSUM: _checksum(rest)}, indent=1, allow_nan=False).encode()


def _checksum(manifest: Mapping[str, Any]) -> str:
    """Return a hash of a manifest's contents without its checksum; layout and the order of names do not matter."""
    rest = {name: value for name, value in manifest.items() if name != _CHECKSUM}
    return json_checksum(rest, digits=DIGITS)


def as_kept(value: Any) -> Any:
    """Return plain data as it is read from a manifest: tuples become lists, and numbers outside JSON become None.

    >>> as_kept({"optimal_cost": (0.0, float("inf"))})
    {'optimal_cost': [0.0, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): as_kept(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_kept(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Store:
    """Result rows in a folder.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = Store.create(f"{folder}/rows", {"title": "an example"})
    ...     store.append({"id": ["a", "b"], "set": ["s", "s"], "repeat": [0, 0], "job": [7, 7], "cost": [1.5, 2.0]})
    ...     store.finished_jobs().tolist(), store.frame()["cost"].sum(), store.about["title"]
    ([7], 3.5, 'an example')
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._manifest = self._read_manifest()
        self._schema: Mapping[str, Any] | None = None  # of the rows, once there are any
        self._sound: set[str] = set()  # names of the parts known to be undamaged

    @classmethod
    def create(
        cls,
        folder: str | os.PathLike[str],
        about: Mapping[str, Any],
        tables: Mapping[str, Columns | pl.DataFrame] | None = None,
        made_with: Sequence[Mapping[str, Any]] = (),
    ) -> Store:
        """Create and return a new, empty store.

        ``about`` is any data of the store's creator, stored as JSON (see `as_kept`). ``tables`` are stored beside the
        rows. For ``made_with`` see `note`.
        """
        home = Path(folder)
        cls.refuse_taken(home)
        files = {name: as_parquet(_frame(columns)) for name, columns in (tables or {}).items()}
        manifest = {
            "andante": andante.__version__,
            "created": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            "about": as_kept(about),
            "tables": {name: digest_of(data) for name, data in files.items()},
            _MADE: as_kept(list(made_with)),
        }
        try:
            (home / _PARTS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot create a store in {home}: {error.strerror or error}") from error
        for name, data in files.items():
            write_flushed(home / f"{name}.parquet", data)
        write_flushed(home / _MANIFEST, _sealed(manifest))
        return cls(home)

    @staticmethod
    def refuse_taken(folder: str | os.PathLike[str]) -> None:
        """Raise `StoreError` if the folder already contains a store, or rows without a manifest."""
        home = Path(folder)
        if (home / _MANIFEST).exists():
            raise StoreError(f"{home} already contains a store; resume it, or choose another folder")
        if next((home / _PARTS).glob("*.parquet"), None) is not None:
            raise StoreError(
                f"{home} contains rows but no {_MANIFEST} that describes them; restore it from a copy, or choose "
                "another folder (the rows are left unchanged)"
            )

    @staticmethod
    def exists(folder: str | os.PathLike[str]) -> bool:
        """Return whether there is a store in this folder."""
        return (Path(folder) / _MANIFEST).is_file()

    def _read_manifest(self) -> dict[str, Any]:
        file = self.folder / _MANIFEST
        damage = StoreError(
            f"{file} is damaged; restore it from a copy, or start a new store (the rows in {_PARTS} are left unchanged)"
        )
        try:
            found = json.loads(file.read_bytes())
            checksum = _checksum(found) if isinstance(found, dict) else ""
        except OSError as error:
            raise StoreError(f"{self.folder} is not a store: it has no {_MANIFEST}") from error
        except (ValueError, RecursionError) as error:
            raise damage from error
        if not isinstance(found, dict):
            raise damage
        if found.get("format") != FORMAT:
            raise StoreError(
                f"{self.folder} has format {found.get('format')!s:.20}, but this version of Andante, "
                f"{andante.__version__}, reads format {FORMAT}; read it with the version that wrote it"
            )
        if found.get(_CHECKSUM) != checksum:
            raise damage
        if not all(isinstance(found.get(name), kind) for name, kind in _KEYS.items()):
            raise damage
        made = found.get(_MADE, [])
        if not isinstance(made, list) or not all(isinstance(one, dict) for one in made):
            raise damage
        if not all(name.isidentifier() and isinstance(digest, str) for name, digest in found["tables"].items()):
            raise damage  # never look for a table outside this folder
        return found

    def __repr__(self) -> str:
        return f"<Store {self.folder}, {len(self.parts())} parts>"

    @property
    def about(self) -> dict[str, Any]:
        """The data that the store's creator stored with it."""
        about: dict[str, Any] = self._manifest["about"]
        return about

    @property
    def version(self) -> str:
        """The version of Andante that created the store."""
        return str(self._manifest["andante"])

    @property
    def tables(self) -> dict[str, str]:
        """The names of the tables stored beside the rows, with hashes of their files."""
        tables: dict[str, str] = self._manifest["tables"]
        return tables

    @property
    def made_with(self) -> list[dict[str, Any]]:
        """The origin of the rows: processor, system, versions, commit and days of the processes that added some.

        Stores of earlier versions do not have the days; the day on which they were created is used instead.
        """
        created = str(self._manifest["created"]).partition(" ")[0]
        return [on_day(one, created) for one in self._manifest.get(_MADE, [])]

    def note(self, made: Mapping[str, Any]) -> None:
        """Add the origin of today's rows to the manifest if it is new; only within `writing`."""
        before = self.made_with
        now = united([*before, on_day(as_kept(made), today())])
        if now != before:
            self._manifest = {**self._manifest, _MADE: now}
            write_flushed(self.folder / _MANIFEST, _sealed(self._manifest))

    def table(self, name: str) -> pl.DataFrame:
        """Return a table stored beside the rows."""
        file = self.folder / f"{name}.parquet"
        try:
            data = file.read_bytes()
        except OSError as error:
            raise StoreError(f"{self.folder} has lost its {name} table; start a new store") from error
        if digest_of(data) != self.tables.get(name):
            raise damage(file, self.folder)
        return read_parquet(data, file, self.folder)

    # --- writing ------------------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other processes from writing within this block, after cleaning up files of a killed process."""
        with locked(self.folder / _LOCK, self.folder):
            self._clear()
            yield

    def append(self, columns: Columns) -> None:
        """Add complete jobs; when this returns, a part with these rows is on disk."""
        self._write_part(self._fitted(_frame(columns)))
        self._put_together()

    def _fitted(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows with their columns in the order and of the types of the rows in the store."""
        if self._schema is None and (parts := self.parts()):
            self._schema = self._rows(parts[0]).schema
        if self._schema is None:
            self._schema = frame.schema
        odd = sorted(set(self._schema) ^ set(frame.columns))
        if odd:
            raise StoreError(
                f"these rows do not fit into {self.folder}: they differ in the column {odd[0]!r}; start a new store"
            )
        fitted: pl.DataFrame = frame.select(list(self._schema)).cast(polars().Schema(self._schema))
        return fitted

    def adopt(self, part: Part) -> None:
        """Add a part of another store unchanged."""
        write_flushed(self.folder / _PARTS / part.path.name, part.read())

    def _write_part(self, frame: pl.DataFrame) -> Path:
        data = as_parquet(frame)
        path = self.folder / _PARTS / f"{len(frame):010d}-{digest_of(data)}.parquet"
        write_flushed(path, data)
        return path

    def _put_together(self) -> None:
        """Merge parts of about the same size when there are many of them."""
        by_size: dict[int, list[Part]] = {}
        for part in self.parts():
            by_size.setdefault(int(math.log(max(part.rows, 1), _FANOUT)), []).append(part)
        for group in by_size.values():
            if len(group) >= _FANOUT:
                frame = polars().concat([self._rows(part) for part in group])
                compared = [name for name in frame.columns if name not in TIMES]  # rows that disagree are both kept
                whole = self._write_part(frame.unique(compared, keep="first", maintain_order=True))
                for part in group:
                    if part.path != whole:  # a part with all rows of the group has the same bytes, and so the same name
                        part.path.unlink(missing_ok=True)

    def _clear(self) -> None:
        """Move damaged parts aside, and remove unfinished files."""
        for leftover in [*self.folder.glob(".*.part"), *(self.folder / _PARTS).glob(".*.part")]:
            leftover.unlink(missing_ok=True)
        for part in self.parts():
            if part.whole:
                self._sound.add(part.path.name)
            else:
                (self.folder / _DAMAGED).mkdir(exist_ok=True)
                part.path.rename(self.folder / _DAMAGED / part.path.name)

    # --- reading ------------------------------------------------------------------------------------------------------

    def parts(self) -> list[Part]:
        """Return the files of rows."""
        try:
            names = sorted(os.listdir(self.folder / _PARTS))
        except OSError as error:
            raise StoreError(f"{self.folder} has lost its {_PARTS} folder; restore it from a copy") from error
        found = []
        for name in names:
            rows, _, digest = name.removesuffix(".parquet").partition("-")
            if name.endswith(".parquet") and rows.isdecimal():  # "²" is a digit, but not a number
                found.append(Part(self.folder / _PARTS / name, int(rows), digest))
        return found

    def whole_parts(self) -> list[Part]:
        """Return the files of rows; raise `StoreError` if one of them is damaged."""
        parts = self.parts()
        for part in parts:
            if part.path.name not in self._sound and not part.whole:
                if os.path.lexists(part.path):
                    raise damage(part.path, self.folder)
                return self.whole_parts()  # it has just been merged with others
            self._sound.add(part.path.name)
        return parts

    def _rows(self, part: Part) -> pl.DataFrame:
        return read_parquet(part.read(), part.path, self.folder)

    @property
    def damaged(self) -> int:
        """The number of parts that were moved aside as damaged."""
        return len(list((self.folder / _DAMAGED).glob("*.parquet")))

    def scan(self) -> pl.LazyFrame:
        """Return all rows, each counted once, as a lazy frame to query with Polars."""
        return _once(self.scan_all())

    def scan_all(self) -> pl.LazyFrame:
        """Return all rows of all parts, including those that a kill or a merge left twice."""
        files = [part.path for part in self.whole_parts()]
        if not files:
            raise StoreError(f"{self.folder} has no rows yet")
        frame: pl.LazyFrame = polars().scan_parquet(files)
        return frame

    def frame(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return all rows, each counted once, with all columns or only the given ones."""
        return self._found(lambda rows: _once(rows) if columns is None else _once(rows).select(columns))

    def finished_jobs(self) -> npt.NDArray[np.int64]:
        """Return the numbers of the jobs whose rows are in the store, in order."""
        if not self.parts():
            return np.zeros(0, np.int64)
        numbers = self._found(lambda rows: rows.select("job").unique())["job"].to_numpy()
        return np.sort(numbers.astype(np.int64))

    def jobs_without(self, jobs: Sequence[int], ids: Sequence[str]) -> list[int]:
        """Return the jobs that have no row in the store; ``ids`` contains the id of one row of each job."""
        wanted = polars().DataFrame({"job": jobs, "id": ids}, schema={"job": polars().Int64, "id": polars().String})
        if len(wanted) and self.parts():
            here = self._found(lambda rows: rows.select(polars().col("job").cast(polars().Int64), "id").unique())
            wanted = wanted.join(here, on=["job", "id"], how="anti")
        return sorted(set(wanted["job"].to_list()))

    def __len__(self) -> int:
        """Return the number of rows, each counted once."""
        if not self.parts():
            return 0
        return int(self._found(lambda rows: _once(rows).select(polars().len())).item())

    def _found(self, query: Callable[[pl.LazyFrame], pl.LazyFrame]) -> pl.DataFrame:
        """Return the result of a query on all rows, repeating it if parts were merged meanwhile."""
        while True:
            try:
                return query(self.scan_all()).collect()
            except FileNotFoundError:
                continue
            except polars().exceptions.PolarsError as error:
                raise StoreError(
                    f"cannot read the rows of {self.folder}: some of its parts are not rows of a campaign, or are rows "
                    "of different campaigns; move those parts to another folder"
                ) from error


def _once(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows, each counted once."""
    return rows.unique(list(KEY), keep="first", maintain_order=True)


def _frame(columns: Columns | pl.DataFrame) -> pl.DataFrame:
    frame: pl.DataFrame = polars().DataFrame(dict(columns) if isinstance(columns, Mapping) else columns)
    return frame
