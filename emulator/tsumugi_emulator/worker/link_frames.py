"""Frames of links: one link is one call from a child to another Worker's child. Pure.

``Connect``, ``Relay`` and ``Disconnect`` pass through the supervisor, which numbers a link for each
end; what a ``Relay`` carries is between the children (``links.MESSAGES``). ``Splice`` is for the
supervisor itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Connect(NamedTuple):
    """Call a method, or ``fetch`` where ``method`` is None.

    ``args`` is a packed array; nothing at all reads the method as a property.

    ``target`` is ("entrypoint", name or None, props) or ("object", namespace, id, name or None).
    """

    link: int
    worker: str
    target: tuple[Any, ...]
    method: str | None
    args: bytes
    #: See ``javascript.depth``; so many Workers the request has invoked, 0 where nobody counts.
    depth: int = 0
    invocations: int = 0


class Relay(NamedTuple):
    """Something for the other end: the code of a message, and its fields."""

    link: int
    message: tuple[Any, ...]


class Disconnect(NamedTuple):
    """The link is over: the caller needs it no more, or its other end is not there any more."""

    link: int
    reason: str


class Splice(NamedTuple):
    """``socket`` of ``link`` is ``onto_socket`` of ``onto_link``: it only passes through here."""

    link: int
    socket: int
    onto_link: int
    onto_socket: int


class StubCall(NamedTuple):
    """Call a function that was passed over this link; ``id`` is the caller's to choose."""

    id: int
    stub: int
    args: bytes
    depth: int


class RpcResult(NamedTuple):
    """How call ``id`` ended (0 is the link's own): a value, or an error's name, text and traits.

    ``broken`` says that the object which was called is reset and stays so for this caller;
    ``invocations`` is what ``Connect`` brought and the callee's own (``javascript.depth``).
    """

    id: int
    value: bytes | None
    error: tuple[str, str, list[str]] | None
    broken: bool
    invocations: int
