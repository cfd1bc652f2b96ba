"""The essence of a source, the part that can affect machine code: all but comments, docstrings and blank lines.

Kernels are cached under a hash of the sources they can reach (`kernel.cache`). Without this, a changed word in a
comment would compile half of the package again.
"""

from __future__ import annotations

import ast
import codecs
import functools
import hashlib
import io
import tokenize
from collections.abc import Iterator
from contextlib import suppress
from types import CodeType

from andante.errors import OutputError
from andante.files import cache_folder, write_whole

_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def essence(text: bytes) -> bytes:
    r"""Return a source without comments, docstrings and blank lines; unchanged if it is not Python.

    >>> essence(b'def f(x):\n    "Return x."\n\n    return x  # the same\n')
    b'def f(x):\n    return x'
    """
    if b"\f" in text or text.startswith(codecs.BOM_UTF8):  # rare, and parsers count their columns differently
        return text
    text = text.replace(b"\r\n", b"\n")
    try:
        lines = text.decode().split("\n")
        spans = sorted([*_docstrings(text), *_comments(text)], reverse=True)
    except (SyntaxError, ValueError, tokenize.TokenError):
        return text
    for (first, begin), (last, end) in spans:
        kept = lines[first][:begin] + lines[last][end:]
        lines[first : last + 1] = [kept]
    if _has_long_strings("\n".join(lines).encode()):  # blank lines and spaces inside them count
        return "\n".join(lines).encode()
    return "\n".join(line.rstrip() for line in lines if line.strip()).encode()


def _docstrings(text: bytes) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield where docstrings begin and end: line and column, from 0."""
    lines = text.split(b"\n")

    def column(line: int, offset: int) -> int:  # positions in a tree count bytes
        return len(lines[line - 1][:offset].decode())

    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            one = node.body[0]
            last, end = one.end_lineno or one.lineno, one.end_col_offset or one.col_offset
            yield (one.lineno - 1, column(one.lineno, one.col_offset)), (last - 1, column(last, end))


def _comments(text: bytes) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield where comments begin and end: line and column, from 0."""
    for token in tokenize.tokenize(io.BytesIO(text).readline):
        if token.type == tokenize.COMMENT:
            (first, begin), (last, end) = token.start, token.end
            yield (first - 1, begin), (last - 1, end)


def _has_long_strings(text: bytes) -> bool:
    """Return whether a string extends over several lines."""
    kinds = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}  # the latter since Python 3.12
    tokens = tokenize.tokenize(io.BytesIO(text).readline)
    return any(token.type in kinds and token.start[0] != token.end[0] for token in tokens)


@functools.cache
def essence_digest(text: bytes) -> bytes:
    """Return a hash of a source's essence; it is kept in the cache folder, because parsing takes milliseconds."""
    file = cache_folder() / "sources" / hashlib.sha256(text).hexdigest()[:40]
    with suppress(OSError):
        kept = file.read_bytes()
        if len(kept) == hashlib.sha256().digest_size:
            return kept
    digest = hashlib.sha256(essence(text)).digest()
    with suppress(OSError, OutputError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, digest)
    return digest


def code_digest(code: CodeType) -> str:
    """Return a short hash of what a function's bytecode does, independent of its place in the file."""
    digest = hashlib.sha256()
    _add(code, digest)
    return digest.hexdigest()[:12]


def _add(code: CodeType, digest: hashlib._Hash) -> None:
    digest.update(code.co_code)
    digest.update(repr((code.co_names, code.co_varnames, code.co_freevars)).encode())
    for number, constant in enumerate(code.co_consts):
        if isinstance(constant, CodeType):
            _add(constant, digest)
        elif isinstance(constant, frozenset):
            digest.update(repr(sorted(map(repr, constant))).encode())
        elif number > 0 or not isinstance(constant, str | None):  # the first one is the docstring, or None without it
            digest.update(repr(constant).encode())
