"""Lease ids: opaque to those who hold them, impossible to guess. Pure: the key is an argument.

An id says which delivery of which message it is for and carries a signature over that and the
queue. Nothing needs to be stored for it, and an id for another queue, or of no queue, is none.
"""

from __future__ import annotations

import binascii
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b

from .messages import LeaseRef

KEY_BYTES = 32
_PLACE_BYTES = 8
_ID_BYTES = 16
_SIGNATURE_BYTES = 18
_TEXT_LENGTH = (_PLACE_BYTES + _ID_BYTES + _SIGNATURE_BYTES) * 4 // 3


class LeaseIds:
    """The lease ids of one queue. Those made for another ``purpose`` are none."""

    def __init__(self, key: bytes, queue_id: str, *, purpose: bytes = b"lease") -> None:
        self._signing = blake2b(
            queue_id.encode(), key=key, digest_size=_SIGNATURE_BYTES, person=purpose
        )

    def make(self, place: int, message_id: str) -> str:
        content = place.to_bytes(_PLACE_BYTES) + bytes.fromhex(message_id)
        return urlsafe_b64encode(content + self._signature(content)).decode("ascii")

    def read(self, text: str) -> LeaseRef | None:
        """What an id stands for; None if it was not made here."""
        if len(text) != _TEXT_LENGTH:
            return None
        try:
            data = urlsafe_b64decode(text.encode("ascii"))
        except (UnicodeEncodeError, binascii.Error):
            return None
        content, signature = data[:-_SIGNATURE_BYTES], data[-_SIGNATURE_BYTES:]
        if not hmac.compare_digest(signature, self._signature(content)):
            return None
        return LeaseRef(int.from_bytes(content[:_PLACE_BYTES]), content[_PLACE_BYTES:].hex())

    def _signature(self, content: bytes) -> bytes:
        signing = self._signing.copy()
        signing.update(content)
        return signing.digest()
