"""Multipart uploads of one bucket: parts until they become an object. No JavaScript values."""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import TYPE_CHECKING

from tsumugi_emulator.storage.r2 import Description, NewBody, StoredObject, encoded_key
from tsumugi_emulator.storage.r2_rules import MIN_PART_BYTES, R2Error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsumugi_emulator.storage.r2 import R2Store

#: Number, etag, size, body.
type Part = tuple[int, str, int, int]


class Uploads:
    def __init__(self, store: R2Store) -> None:
        self._store = store
        self._db = store.db

    def create(self, key: str, description: Description) -> str:
        """The new upload's id."""
        identity = secrets.token_urlsafe(96)
        self._db.execute(
            "INSERT INTO uploads (id, key, http, custom, storage_class) VALUES (?, ?, ?, ?, ?)",
            (
                identity,
                encoded_key(key),
                json.dumps(dict(description.http)),
                json.dumps(dict(description.custom)),
                description.storage_class,
            ),
        )
        return identity

    def put_part(self, key: str, upload: str, number: int, content: bytes | NewBody) -> str:
        """Keep a part, instead of an earlier one with its number; its etag.

        Raises:
            R2Error: the upload is over, or there never was one.
        """
        store = self._store
        with store.transaction():
            if self._description(key, upload) is None:
                raise R2Error(10024)
            if isinstance(content, bytes):
                writer = store.writer()
                writer.write(content)
                content = writer.finish()
            for (body,) in self._db.execute(
                "SELECT body FROM parts WHERE upload = ? AND number = ?", (upload, number)
            ).fetchall():
                store.bodies.remove(body)
            etag = content.digests["md5"].hex()
            self._db.execute(
                "INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?)",
                (upload, number, etag, content.size, content.number),
            )
            return etag

    def complete(self, key: str, upload: str, parts: Sequence[tuple[int, str]]) -> StoredObject:
        """The object made of these (number, etag) in this order.

        Raises:
            R2Error: a part is missing, too small or of another size than the rest.
        """
        store = self._store
        with store.transaction():
            description = self._description(key, upload)
            if description is None:
                raise R2Error(10024 if self._exists(key, upload) else 10001)
            if len({number for number, _ in parts}) != len(parts):
                raise R2Error(10001)
            kept = self._parts(upload)
            chosen = [kept.get(number) for number, _ in parts]
            found = [part for part in chosen if part is not None]
            if [(number, etag) for number, etag, _, _ in found] != list(parts):
                raise R2Error(10025)
            _check_sizes(found)
            body = store.bodies.join(
                [(part[3], part[2]) for part in found], now_ms=store.clock.now_ms()
            )
            self._end(upload)
            digest = hashlib.md5(b"".join(bytes.fromhex(part[1]) for part in found))
            etag = f"{digest.hexdigest()}-{len(found)}"
            size = sum(part[2] for part in found)
            stored = store.replace(key, body, size, etag, {}, description)
            assert stored is not None  # nothing is asked of the object it replaces
            return stored

    def abort(self, key: str, upload: str) -> None:
        """Forget the parts; an upload that is over already stays as it is.

        Raises:
            R2Error: there never was such an upload.
        """
        with self._store.transaction():
            if not self._exists(key, upload):
                raise R2Error(10001)
            self._end(upload)

    def _exists(self, key: str, upload: str) -> bool:
        row = self._db.execute(
            "SELECT 1 FROM uploads WHERE id = ? AND key = ?", (upload, encoded_key(key))
        ).fetchone()
        return row is not None

    def _description(self, key: str, upload: str) -> Description | None:
        """What the object will be; None unless the upload is going on."""
        row = self._db.execute(
            "SELECT http, custom, storage_class FROM uploads WHERE id = ? AND key = ? AND NOT over",
            (upload, encoded_key(key)),
        ).fetchone()
        return None if row is None else Description(json.loads(row[0]), json.loads(row[1]), row[2])

    def _parts(self, upload: str) -> dict[int, Part]:
        rows = self._db.execute(
            "SELECT number, etag, size, body FROM parts WHERE upload = ?", (upload,)
        )
        return {row[0]: row for row in rows}

    def _end(self, upload: str) -> None:
        for _, _, _, body in self._parts(upload).values():
            self._store.bodies.remove(body)
        self._db.execute("DELETE FROM parts WHERE upload = ?", (upload,))
        self._db.execute("UPDATE uploads SET over = 1 WHERE id = ?", (upload,))


def _check_sizes(parts: Sequence[Part]) -> None:
    sizes = [size for _, _, size, _ in parts]
    if any(size < MIN_PART_BYTES for size in sizes[:-1]):
        raise R2Error(10011)
    if len(set(sizes[:-1])) > 1 or (len(sizes) > 1 and sizes[-1] > sizes[0]):
        raise R2Error(10048)
