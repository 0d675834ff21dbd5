"""Lease ids: opaque to those who hold them, impossible to guess. Pure: the key is an argument.

An id says which delivery of which message it is for and carries a signature over that and the
queue. Nothing needs to be stored for it, and an id for another queue, or of no queue, is none.
"""

from __future__ import annotations

from hashlib import blake2b
from hmac import compare_digest

from .messages import LeaseRef

KEY_BYTES = 32
#: Hexadecimal, because a pull makes a hundred of these and an acknowledgement reads them.
_PLACE_DIGITS = 16
_CONTENT_DIGITS = _PLACE_DIGITS + 32
_SIGNATURE_BYTES = 16
_DIGITS = _CONTENT_DIGITS + 2 * _SIGNATURE_BYTES


class LeaseIds:
    """The lease ids of one queue. Those made for another ``purpose`` are none."""

    def __init__(self, key: bytes, queue_id: str, *, purpose: bytes = b"lease") -> None:
        self._signing = blake2b(
            queue_id.encode(), key=key, digest_size=_SIGNATURE_BYTES, person=purpose
        )

    def make(self, place: int, message_id: str) -> str:
        content = f"{place:016x}{message_id}"
        signing = self._signing.copy()
        signing.update(content.encode())
        return content + signing.hexdigest()

    def read(self, text: str) -> LeaseRef | None:
        """What an id stands for; None if it was not made here."""
        if len(text) != _DIGITS or not text.isascii():
            return None
        signing = self._signing.copy()
        signing.update(text[:_CONTENT_DIGITS].encode())
        if not compare_digest(text[_CONTENT_DIGITS:], signing.hexdigest()):
            return None
        return LeaseRef(int(text[:_PLACE_DIGITS], 16), text[_PLACE_DIGITS:_CONTENT_DIGITS])
