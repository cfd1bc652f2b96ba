"""Taking database files apart and putting them together again, with lengths and checksum that match the changes."""

import struct
import zlib

from andante.databases.header import ALIGNMENT, MAGIC

HEAD = struct.Struct("<8sIIQII24s32sQ")
ENTRY = struct.Struct("<24s4sI3QQ")
FIELDS = ("name", "dtype", "sides", "a", "b", "c", "offset")


def taken_apart(whole: bytes) -> tuple[dict, bytes]:
    """Return a file's header, ready to be changed, and the arrays after it; offsets count from their beginning."""
    _, version, _, _, arrays, text_bytes, kind, fingerprint, stale = HEAD.unpack_from(whole)
    rows = [ENTRY.unpack_from(whole, HEAD.size + ENTRY.size * i) for i in range(arrays)]
    text = whole[HEAD.size + ENTRY.size * arrays :][:text_bytes]
    begin = _aligned(HEAD.size + ENTRY.size * arrays + text_bytes)
    table = [dict(zip(FIELDS, row, strict=True)) for row in rows]
    for row in table:
        row["offset"] -= begin
    head = {"version": version, "kind": kind, "map": fingerprint, "stale": stale, "text": text, "arrays": table}
    return head, whole[begin:]


def put_together(head: dict, body: bytes) -> bytes:
    """Return a file with this header; ``count`` and ``text_bytes`` are its statements about them, if not the truth."""
    table, text = head["arrays"], head["text"]
    begin = _aligned(HEAD.size + ENTRY.size * len(table) + len(text))
    rows = [ENTRY.pack(*({**row, "offset": (row["offset"] + begin) % 2**64}[name] for name in FIELDS)) for row in table]
    rest = (b"".join(rows) + text).ljust(begin - HEAD.size, b"\0") + body
    count, length = head.get("count", len(table)), head.get("text_bytes", len(text))
    names = (count, length, head["kind"], head["map"], head["stale"])
    blank = HEAD.pack(MAGIC, head["version"], 0, HEAD.size + len(rest), *names)
    return HEAD.pack(MAGIC, head["version"], zlib.crc32(blank + rest), HEAD.size + len(rest), *names) + rest


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT
