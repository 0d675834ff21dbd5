"""One R2 bucket: objects with metadata, checksums and conditions. No JavaScript values.

An object is replaced, never changed; whoever reads the old one while it is replaced may lose it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from tsumugi_emulator.storage.bodies import CHUNK_BYTES, Bodies, Piece
from tsumugi_emulator.storage.files import connect, transaction
from tsumugi_emulator.storage.kv import successor
from tsumugi_emulator.storage.r2_rules import MAX_KEY_BYTES, Condition, R2Error
from tsumugi_emulator.storage.r2_schema import BODIES_IN_USE, OBJECT_COLUMNS, TABLES

if TYPE_CHECKING:
    import contextlib
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from tsumugi_emulator.clock import Clock

#: Names as `R2Checksums` has them, and as messages do.
ALGORITHMS = {
    "md5": "MD5",
    "sha1": "SHA-1",
    "sha256": "SHA-256",
    "sha384": "SHA-384",
    "sha512": "SHA-512",
}
_PAGE = 256


class Description(NamedTuple):
    """What a writer says about an object."""

    http: Mapping[str, str | int]
    custom: Mapping[str, str]
    storage_class: str = "Standard"


class StoredObject(NamedTuple):
    key: str
    version: str
    size: int
    etag: str
    uploaded_ms: int
    http: dict[str, str | int]
    custom: dict[str, str]
    checksums: dict[str, str]
    storage_class: str
    body: int


class Listing(NamedTuple):
    objects: list[StoredObject]
    #: What keys have in common up to the delimiter, each once.
    prefixes: list[str]
    #: Where to go on; None after the last page.
    cursor: str | None


class NewBody(NamedTuple):
    """A body that is written and belongs to no object yet."""

    number: int
    size: int
    digests: dict[str, bytes]


class BodyWriter:
    """Takes a body in pieces of any size and hashes it on the way."""

    def __init__(self, store: R2Store, algorithm: str | None) -> None:
        self._store = store
        self._number = store.bodies.begin(now_ms=store.clock.now_ms())
        self._written = 0
        self._waiting = bytearray()
        self._hashes = {name: hashlib.new(name) for name in {"md5", algorithm or "md5"}}

    def write(self, data: bytes) -> None:
        for digest in self._hashes.values():
            digest.update(data)
        self._waiting += data
        if len(self._waiting) >= CHUNK_BYTES:
            self._flush(len(self._waiting) // CHUNK_BYTES * CHUNK_BYTES)

    def _flush(self, size: int) -> None:
        with self._store.transaction():
            data = bytes(self._waiting[:size])
            self._store.bodies.append(self._number, data, at=self._written)
        del self._waiting[:size]
        self._written += size

    def finish(self) -> NewBody:
        self._flush(len(self._waiting))
        digests = {name: digest.digest() for name, digest in self._hashes.items()}
        return NewBody(self._number, self._written, digests)


class R2Store:
    """Use ``open``."""

    def __init__(self, db: sqlite3.Connection, clock: Clock) -> None:
        self.db = db
        self.clock = clock
        for table in TABLES:
            db.execute(table)
        self.bodies = Bodies(db)
        with self.transaction():
            self.bodies.remove_abandoned(BODIES_IN_USE, now_ms=clock.now_ms())

    @classmethod
    def open(cls, path: Path, *, clock: Clock) -> R2Store:
        return cls(connect(path), clock)

    def close(self) -> None:
        self.db.close()

    def transaction(self) -> contextlib.AbstractContextManager[None]:
        """All or nothing; inside another one, part of that."""
        return transaction(self.db)

    # -- Reading ----------------------------------------------------------------------------------

    def head(self, key: str) -> StoredObject | None:
        row = self.db.execute(
            f"SELECT {OBJECT_COLUMNS} FROM objects WHERE key = ?", (encoded_key(key),)
        ).fetchone()
        return None if row is None else _object(row)

    def pieces(self, stored: StoredObject, *, offset: int, length: int) -> list[Piece]:
        return self.bodies.pieces(stored.body, offset=offset, length=length)

    def list(
        self,
        *,
        prefix: str = "",
        delimiter: str = "",
        limit: int,
        cursor: str | None = None,
        start_after: str = "",
    ) -> Listing:
        """Keys in byte order. Those that share a prefix up to the delimiter count as one."""
        stem, separator = prefix.encode(), delimiter.encode()
        start = max(_decoded(cursor), stem, start_after.encode() + b"\0" if start_after else b"")
        objects: list[StoredObject] = []
        prefixes: list[str] = []
        for row in self._walk(start, stem, separator):
            if len(objects) + len(prefixes) == limit:
                place = base64.b64encode(row[0]).decode()
                return Listing(objects, prefixes, place)
            group = _group(row[0], stem, separator)
            if group is None:
                objects.append(_object(row))
            else:
                prefixes.append(group.decode("utf-8", "replace"))
        return Listing(objects, prefixes, None)

    def _walk(self, start: bytes, stem: bytes, separator: bytes) -> Iterator[tuple[bytes, ...]]:
        """Rows from ``start``, only the first of each group."""
        end = successor(stem)
        while True:
            rows = self.db.execute(
                f"SELECT {OBJECT_COLUMNS} FROM objects"
                " WHERE key >= :start AND (:end IS NULL OR key < :end) ORDER BY key LIMIT :page",
                {"start": start, "end": end, "page": _PAGE},
            ).fetchall()
            for row in rows:
                if row[0] < start:
                    continue
                yield row
                group = _group(row[0], stem, separator)
                following = row[0] + b"\0" if group is None else successor(group)
                if following is None:
                    return
                start = following
            if len(rows) < _PAGE:
                return

    # -- Writing ----------------------------------------------------------------------------------

    def writer(self, algorithm: str | None = None) -> BodyWriter:
        return BodyWriter(self, algorithm)

    def put(
        self,
        key: str,
        content: bytes | NewBody,
        description: Description,
        *,
        condition: Condition | None = None,
        checksum: tuple[str, bytes] | None = None,
    ) -> StoredObject | None:
        """Durable when it returns; None if the condition does not hold.

        Raises:
            R2Error: the content has another checksum.
        """
        encoded_key(key)
        with self.transaction():
            if isinstance(content, bytes):
                writer = self.writer(checksum[0] if checksum else None)
                writer.write(content)
                body = writer.finish()
            else:
                body = content
            if checksum is not None:
                _check(body, *checksum)
            digests = {name: digest.hex() for name, digest in sorted(body.digests.items())}
            etag = digests["md5"]
            return self.replace(key, body.number, body.size, etag, digests, description, condition)

    def replace(
        self,
        key: str,
        body: int,
        size: int,
        etag: str,
        checksums: Mapping[str, str],
        description: Description,
        condition: Condition | None = None,
    ) -> StoredObject | None:
        """Make ``body`` the object; the one it replaces is gone. Within a transaction."""
        stored = self.head(key)
        known = None if stored is None else (stored.etag, stored.uploaded_ms)
        if condition is not None and not condition.holds(known):
            self.bodies.remove(body)
            return None
        if stored is not None:
            self.bodies.remove(stored.body)
        row = (
            key.encode(), secrets.token_hex(16), size, etag, self.clock.now_ms(),
            json.dumps(dict(description.http)), json.dumps(dict(description.custom)),
            json.dumps(dict(checksums)), description.storage_class, body,
        )  # fmt: skip
        self.db.execute(f"INSERT OR REPLACE INTO objects VALUES ({','.join('?' * len(row))})", row)
        return _object(row)

    def delete(self, keys: Sequence[str]) -> None:
        with self.transaction():
            for key in keys:
                stored = self.head(key)
                if stored is not None:
                    self.bodies.remove(stored.body)
                    self.db.execute("DELETE FROM objects WHERE key = ?", (key.encode(),))


def encoded_key(key: str) -> bytes:
    """The key as it is stored.

    Raises:
        R2Error: it is too long.
    """
    encoded = key.encode("utf-8", "replace")
    if len(encoded) > MAX_KEY_BYTES:
        raise R2Error(10020)
    return encoded


def _object(row: tuple[Any, ...]) -> StoredObject:
    key, version, size, etag, uploaded_ms, http, custom, checksums, storage_class, body = row
    return StoredObject._make(
        (
            key.decode(), version, size, etag, uploaded_ms, json.loads(http), json.loads(custom),
            json.loads(checksums), storage_class, body,
        )
    )  # fmt: skip


def _group(key: bytes, stem: bytes, separator: bytes) -> bytes | None:
    if not separator:
        return None
    at = key.find(separator, len(stem))
    return None if at < 0 else key[: at + len(separator)]


def _decoded(cursor: str | None) -> bytes:
    try:
        return base64.b64decode(cursor or "", validate=True)
    except (binascii.Error, ValueError):
        return b""


def _check(body: NewBody, algorithm: str, expected: bytes) -> None:
    actual = body.digests[algorithm]
    if actual == expected:
        return
    name = ALGORITHMS[algorithm]
    raise R2Error(
        10037,
        f"The {name} checksum you specified did not match what we received.\n"
        f"You provided a {name} checksum with value: {expected.hex()}\n"
        f"Actual {name} was: {actual.hex()}",
    )
