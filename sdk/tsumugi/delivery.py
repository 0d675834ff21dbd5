"""One delivered message on its way through a consumer, and what of it can be sent on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from tsumugi.queues import ContentType, Message

#: From here on the runtime turns an int into a BigInt, which JSON cannot carry.
_FIRST_BIG_INT = 2**53 - 1


class Delivery[T]:
    """A :class:`~tsumugi.Message` whose ``body`` is the validated one.

    It knows whether the handler settled the message itself, so that nothing is decided twice.
    """

    __slots__ = ("_message", "body", "settled")

    def __init__(self, message: Message[object], body: T) -> None:
        self._message = message
        self.body = body
        self.settled = False

    @property
    def id(self) -> str:
        return self._message.id

    @property
    def timestamp(self) -> datetime:
        return self._message.timestamp

    @property
    def attempts(self) -> int:
        return self._message.attempts

    def ack(self) -> None:
        self.settled = True
        self._message.ack()

    def retry(self, *, delaySeconds: int | None = None) -> None:
        self.settled = True
        if delaySeconds is None:
            self._message.retry()
        else:
            self._message.retry(delaySeconds=delaySeconds)


def content_type_of(body: object) -> ContentType:
    """The content type that sends a delivered body on unchanged.

    Queues does not tell a consumer how a body was encoded, so this is the most readable encoding
    that loses nothing: bytes as ``bytes``, what JSON can hold as ``json``, the rest as ``v8``.
    """
    if isinstance(body, bytes | memoryview):
        return "bytes"
    return "json" if _is_json(body) else "v8"


def _is_json(value: object) -> bool:
    match value:
        case None | str() | bool():
            return True
        case int():
            return abs(value) < _FIRST_BIG_INT
        case float():
            return math.isfinite(value)
        case dict():
            return all(isinstance(key, str) and _is_json(item) for key, item in value.items())
        case list():
            return all(_is_json(item) for item in value)
        case _:
            return False
