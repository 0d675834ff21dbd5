"""A pipe of WebSocket messages: what one end sends arrives at the other, in order.

An end is read by whoever is attached to it: a ``WebSocket``, a connection, another pipe. Knows no
JavaScript, no network and no event loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Close(NamedTuple):
    """A Close frame; 1005 stands for one without a code."""

    code: int
    reason: str


class Lost(NamedTuple):
    """The connection ended without a Close frame."""


class Failed(NamedTuple):
    """The other side broke the protocol; the text says how."""

    text: str


type Item = str | bytes | Close | Lost | Failed

LOST_CODE = 1006
LOST_TEXT = "WebSocket disconnected without sending Close frame."


class End:
    __slots__ = (
        "_outside",
        "_reader",
        "_waiting",
        "number",
        "on_consumed",
        "on_moved",
        "on_outside",
        "other",
        "passage",
    )

    other: End

    def __init__(self) -> None:
        self._reader: Callable[[Item], None] | None = None
        #: What arrived before anybody read.
        self._waiting: list[Item] = []
        self._outside = False
        #: Of the connection this end is, if it is one that a client opened.
        self.number: int | None = None
        #: Runs when the other end turns out to be a connection that leaves the process.
        self.on_outside: Callable[[], None] | None = None
        #: Of the link and the socket whose messages this end brings, if it is from another process.
        self.passage: tuple[int, int] | None = None
        #: Runs when that process has the client for itself: nothing more comes from this end.
        self.on_moved: Callable[[], None] | None = None
        #: Told how many bytes of what this end sent the reader has taken.
        self.on_consumed: Callable[[int], None] | None = None

    @property
    def is_read(self) -> bool:
        return self._reader is not None

    @property
    def leads_outside(self) -> bool:
        """Whether what this end sends leaves the process."""
        return self.other._outside

    def send(self, item: Item) -> None:
        self.other._take(item)

    def attach(self, reader: Callable[[Item], None], *, outside: bool = False) -> None:
        """Read what arrives here; ``outside`` when ``reader`` takes it out of the process."""
        self._reader = reader
        if outside:
            self._outside = True
            if self.other.on_outside is not None:
                self.other.on_outside()
        waiting, self._waiting = self._waiting, []
        for item in waiting:
            reader(item)

    def consumed(self, item: Item) -> None:
        """The reader has taken ``item``."""
        if self.other.on_consumed is not None and isinstance(item, str | bytes):
            self.other.on_consumed(len(item))

    def _take(self, item: Item) -> None:
        if self._reader is None:
            self._waiting.append(item)
        else:
            self._reader(item)


def pipe() -> tuple[End, End]:
    one, other = End(), End()
    one.other, other.other = other, one
    return one, other
