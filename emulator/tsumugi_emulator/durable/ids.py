"""Ids of Durable Objects: 64 hex digits whose second half proves the namespace. Pure.

An id is 16 bytes that name the object and 16 that sign them with the namespace's key, as the
runtime's local ids are: an id of another namespace is recognised without looking anything up. Each
jurisdiction has a key of its own, so that an id tells the jurisdiction it belongs to (ADR-0307).
"""

from __future__ import annotations

import hashlib
import hmac

#: Bytes that name the object; as many sign them.
HALF = 16
HEX_DIGITS = 4 * HALF

#: Where objects can be kept (Durable Objects: data location).
JURISDICTIONS = ("eu", "fedramp", "fedramp-high", "us")

BAD_TEXT = "Invalid Durable Object ID: must be 64 hex digits"
FOREIGN_TEXT = "Durable Object ID is not valid for this namespace."


class BadId(ValueError):
    """The text is no id of this namespace; the message is production's."""


def namespace_key(worker: str, class_name: str) -> str:
    """What ids and files of a class are filed under. A rename of the class keeps its old key."""
    return f"{worker}-{class_name}"


def from_name(namespace: str, name: str, jurisdiction: str | None = None) -> str:
    key = _key(namespace, jurisdiction)
    return _signed(key, hmac.digest(key, name.encode("utf-8", "surrogatepass"), "sha256")[:HALF])


def from_random(namespace: str, random: bytes, jurisdiction: str | None = None) -> str:
    """A new id from 16 random bytes."""
    return _signed(_key(namespace, jurisdiction), random[:HALF])


def from_text(namespace: str, text: str) -> str:
    """The id a text holds, in lower case.

    Raises:
        BadId: it is not 64 hex digits, or signed for another namespace.
    """
    try:
        raw = bytes.fromhex(text) if len(text) == HEX_DIGITS and " " not in text else b""
    except ValueError:
        raw = b""
    if len(raw) != 2 * HALF:
        raise BadId(BAD_TEXT)
    jurisdiction_of(namespace, text.lower())
    return text.lower()


def jurisdiction_of(namespace: str, object_id: str) -> str | None:
    """Where an object of ``namespace`` is kept; None says that it may be anywhere.

    Raises:
        BadId: the id is signed for another namespace.
    """
    base = bytes.fromhex(object_id)[:HALF]
    for jurisdiction in (None, *JURISDICTIONS):
        signed = _signed(_key(namespace, jurisdiction), base)
        if hmac.compare_digest(signed, object_id):
            return jurisdiction
    raise BadId(FOREIGN_TEXT)


def _key(namespace: str, jurisdiction: str | None) -> bytes:
    place = "" if jurisdiction is None else f"\0{jurisdiction}"
    return hashlib.sha256(f"{namespace}{place}".encode()).digest()


def _signed(key: bytes, base: bytes) -> str:
    return (base + hmac.digest(key, base, "sha256")[:HALF]).hex()
