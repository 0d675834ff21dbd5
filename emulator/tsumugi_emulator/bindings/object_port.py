"""The seam between the objects Workers hold and whoever runs Durable Objects for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from tsumugi_emulator.javascript.futures import PyodideFuture
    from tsumugi_emulator.javascript.web.request import Request


class ObjectAddress(NamedTuple):
    #: The namespace's key: whose ids they are and where their files lie.
    namespace: str
    object_id: str
    #: What the object was addressed by, if it was by a name.
    name: str | None = None


class Route(Protocol):
    """One stub's way to its object: calls arrive in order, and it stays broken once it broke."""

    def call(self, method: str, args: list[Any] | None) -> PyodideFuture:
        """Call a method with JavaScript values, or read it without; the promise of the result."""

    def takes_plain(self, name: str) -> bool:
        """Whether there is such a method, and ``call_plain`` reaches it."""

    def call_plain(self, method: str, args: list[Any]) -> PyodideFuture:
        """Call with plain values of Python, as ``rpc_plain.across`` gives them.

        The result is one as well, or a JavaScript value where it is not plain.
        """

    def fetch(self, request: Request) -> PyodideFuture: ...


class ObjectPort(Protocol):
    def route(self, address: ObjectAddress) -> Route: ...
