"""API tokens of one state directory: made, listed, revoked, recognised. For local queues only.

Only hashes are kept, so a token is shown once. It is long and random: a plain hash of it cannot be
turned around. The file is read again when it changed, so that a token made or revoked by a command
holds for an emulator that runs.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FILE = "tokens.json"
READ, WRITE = "queues:read", "queues:write"
SCOPES = (READ, WRITE)
DEFAULT_NAME = "default"


@dataclass(frozen=True, slots=True)
class Token:
    id: str
    name: str
    scopes: tuple[str, ...]
    created_ms: int
    hash: str


class Tokens:
    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE
        self._seen: tuple[int, int] | None = None
        self._known: list[Token] = []
        #: For this process alone, beside those in the file.
        self._passing: list[Token] = []

    def all(self) -> list[Token]:
        self._refresh()
        return list(self._known)

    def create(self, name: str, scopes: Sequence[str], *, now_ms: int) -> tuple[Token, str]:
        """The token and its text, which is not kept."""
        token, text = _new(name, scopes, now_ms=now_ms)
        self._save([*self.all(), token])
        return token, text

    def create_default(self, *, now_ms: int) -> str | None:
        """The text of a first token; None if there was one before, even if it was revoked."""
        if self._path.exists():
            return None
        return self.create(DEFAULT_NAME, SCOPES, now_ms=now_ms)[1]

    def create_passing(self, name: str, *, now_ms: int) -> str:
        """A token that ends with this process."""
        token, text = _new(name, SCOPES, now_ms=now_ms)
        self._passing.append(token)
        return text

    def revoke(self, name_or_id: str) -> list[Token]:
        """Those that were revoked."""
        known = self.all()
        revoked = [token for token in known if name_or_id in (token.id, token.name)]
        if revoked:
            self._save([token for token in known if token not in revoked])
        return revoked

    def scopes_of(self, text: str) -> frozenset[str] | None:
        """What the token allows; None for one that is not known. Takes as long for either."""
        self._refresh()
        hashed = _hash(text)
        found: frozenset[str] | None = None
        for token in (*self._known, *self._passing):
            if hmac.compare_digest(hashed, token.hash):
                found = frozenset(token.scopes)
        return found

    def _refresh(self) -> None:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            self._seen, self._known = None, []
            return
        seen = (status.st_mtime_ns, status.st_ino)
        if seen != self._seen:
            self._known = _read(self._path)
            self._seen = seen

    def _save(self, tokens: list[Token]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_private(self._path, json.dumps([asdict(token) for token in tokens], indent=2))


def _read(path: Path) -> list[Token]:
    """None of a file that somebody broke: nobody gets in by it."""
    try:
        entries = json.loads(path.read_text("utf-8"))
        return [Token(**{**entry, "scopes": tuple(entry["scopes"])}) for entry in entries]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def write_private(path: Path, text: str) -> None:
    """Replace a file that only its owner may read."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    new.replace(path)


def _new(name: str, scopes: Sequence[str], *, now_ms: int) -> tuple[Token, str]:
    text = secrets.token_urlsafe(30)
    return Token(secrets.token_hex(16), name, tuple(scopes), now_ms, _hash(text)), text


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
