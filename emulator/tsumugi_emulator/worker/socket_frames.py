"""What supervisor and child say to each other about WebSockets. Pure: no sockets.

The supervisor holds the connections; the Worker's code, and what it remembers of a connection, is
in the child. Part of ``frames``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

#: A Durable Object as frames name it: namespace, id, and its name if it has one.
type Target = tuple[str, str, str | None]


class SocketMessage(NamedTuple):
    """A WebSocket message, either direction; a connection has the id of its upgrade request.

    ``target`` is None, or the object that hibernates with it: (namespace, id, name).
    """

    id: int
    data: str | bytes
    target: Target | None


class SocketClose(NamedTuple):
    """No more messages come from this side.

    ``code`` is that of a Close frame; 0 when there was none, and then the connection is gone (or
    to be dropped). ``error`` says how the client broke the protocol, if it did.
    """

    id: int
    code: int
    reason: str
    error: str
    target: Target | None


class SocketCredit(NamedTuple):
    """The receiver of connection ``id`` has taken ``size`` characters or bytes."""

    id: int
    size: int


class SocketHibernates(NamedTuple):
    """From now on the events of connection ``id`` are those of an object."""

    id: int
    target: Target
    tags: list[str]


class SocketAttachment(NamedTuple):
    """What the Worker has attached to a hibernating connection."""

    id: int
    data: bytes


class SocketAnswered(NamedTuple):
    """Connection ``id`` was answered automatically at this time, without waking its object."""

    id: int
    time_ms: int


class AutoResponse(NamedTuple):
    """Answer ``request`` on an object's connections without waking it; None ends that."""

    target: Target
    request: str | None
    response: str


class ObjectAtWork(NamedTuple):
    """Whether calls of an object run that may have something to tell its hibernating connections.

    What their own messages start is not told: the supervisor knows of those.
    """

    target: Target
    at_work: bool


class ObjectSockets(NamedTuple):
    """Sent before an object is granted: its hibernating connections, and its automatic response.

    A connection is (id, tags, attachment, when it was last answered automatically, whether a Close
    frame was sent on it).
    """

    target: Target
    sockets: list[tuple[int, list[str], bytes | None, int | None, bool]]
    auto_response: tuple[str, str] | None


class SocketPasses(NamedTuple):
    """The child has answered connection ``id`` with a socket it got over a link: it is in the way.

    ``socket`` is the number of that socket at the link.
    """

    id: int
    link: int
    socket: int


class SocketMoves(NamedTuple):
    """Connection ``id`` is ``socket`` of ``link`` from now on: its client is the child's own.

    Link 0 refuses what ``SocketPasses`` asked for: the child stays in the way.
    """

    id: int
    link: int
    socket: int


class SocketMoved(NamedTuple):
    """Nothing more of socket or connection ``id`` comes this way: it goes straight from now on."""

    id: int


SocketFrame = (
    SocketMessage
    | SocketClose
    | SocketCredit
    | SocketHibernates
    | SocketAttachment
    | SocketAnswered
    | AutoResponse
    | ObjectAtWork
    | ObjectSockets
    | SocketPasses
    | SocketMoves
    | SocketMoved
)

SOCKET_FRAMES: tuple[type[Any], ...] = (
    SocketMessage,
    SocketClose,
    SocketCredit,
    SocketHibernates,
    SocketAttachment,
    SocketAnswered,
    AutoResponse,
    ObjectAtWork,
    ObjectSockets,
    SocketPasses,
    SocketMoves,
    SocketMoved,
)
