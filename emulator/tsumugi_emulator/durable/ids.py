"""Ids of Durable Objects: 64 hex digits whose second half proves the namespace. Pure.

An id is 16 bytes that name the object and 16 that sign them with the namespace's key, as the
runtime's local ids are: an id of another namespace is recognised without looking anything up.
"""

from __future__ import annotations

import hashlib
import hmac

#: Bytes that name the object; as many sign them.
HALF = 16
HEX_DIGITS = 4 * HALF

BAD_TEXT = "Invalid Durable Object ID: must be 64 hex digits"
FOREIGN_TEXT = "Durable Object ID is not valid for this namespace."


class BadId(ValueError):
    """The text is no id of this namespace; the message is production's."""


def namespace_key(worker: str, class_name: str) -> str:
    """What ids and files of a class are filed under. A rename of the class keeps its old key."""
    return f"{worker}-{class_name}"


def from_name(namespace: str, name: str) -> str:
    key = _key(namespace)
    return _signed(key, hmac.digest(key, name.encode("utf-8", "surrogatepass"), "sha256")[:HALF])


def from_random(namespace: str, random: bytes) -> str:
    """A new id from 16 random bytes."""
    return _signed(_key(namespace), random[:HALF])


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
    signed = _signed(_key(namespace), raw[:HALF])
    if not hmac.compare_digest(signed, text.lower()):
        raise BadId(FOREIGN_TEXT)
    return signed


def _key(namespace: str) -> bytes:
    return hashlib.sha256(namespace.encode()).digest()


def _signed(key: bytes, base: bytes) -> str:
    return (base + hmac.digest(key, base, "sha256")[:HALF]).hex()
