"""How many Workers and objects a chain of calls has passed: one that never ends is stopped.

The depth is kept in the context of each event, and travels with every call it makes. Production's
text; its limit is not documented, and 16 is what is observed. Beside it the Workers that one
request has called in all are counted, over all its chains. Not here: making calls.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

from tsumugi_emulator.javascript.errors import js_error
from tsumugi_emulator.javascript.mode import MODE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tsumugi_emulator.javascript.io_context import IoContext

#: So many Workers and objects may stand behind each other.
MAX_DEPTH = 16
DEPTH_TEXT = (
    "Subrequest depth limit exceeded. This request recursed through Workers too many times. This "
    "can happen e.g. if you have a Worker or Durable Object that calls other Workers or objects "
    "recursively."
)
#: So many Workers may one request invoke, the first of them included (Service bindings: limits).
MAX_INVOCATIONS = 32
INVOCATIONS_TEXT = (
    f"one request has invoked Workers more than {MAX_INVOCATIONS} times over service bindings. "
    "Cloudflare documents that further calls fail (--strict fails them here): do more with each "
    "call, or let a queue take the work."
)
#: Tells the depth of a request to an address of this machine, which may be a Worker's.
HEADER = "cf-ew-via"
_LOOPBACK = tuple(
    f"{scheme}://{host}"
    for scheme in ("http", "https", "ws", "wss")
    for host in ("localhost", "127.", "[::1]")
)

_DEPTH: ContextVar[int] = ContextVar("tsumugi_depth", default=0)


def deeper() -> int:
    """The depth of a call that is made now.

    Raises:
        JsException: production's error for a call that is too deep.
    """
    depth = _DEPTH.get() + 1
    if depth > MAX_DEPTH:
        raise js_error("Error", DEPTH_TEXT)
    return depth


#: Make a depth that of the running task and all it starts.
descend = _DEPTH.set


class Invocations:
    """Of one request: shared by all events of this process that belong to it."""

    __slots__ = ("count",)

    def __init__(self, count: int = 1) -> None:
        self.count = count


def invoke(caller: IoContext, place: Callable[[], str]) -> Invocations | None:
    """Count a call of a service; what its event counts with.

    None for objects, whose calls belong to many requests. ``place`` is for a warning.

    Raises:
        JsException: with ``--strict``, for one too many.
    """
    if caller.gate is not None:
        return None
    counted = caller.invocations
    if counted is None:
        counted = caller.invocations = Invocations()
    counted.count += 1
    if counted.count > MAX_INVOCATIONS:
        if MODE.strict:
            raise js_error("Error", DEPTH_TEXT)
        if counted.count == MAX_INVOCATIONS + 1:
            caller.warn(place() + INVOCATIONS_TEXT)
    return counted


def header_for(url: str) -> list[tuple[str, str]]:
    """The header of a request to ``url``, if it may come back to a Worker here.

    Raises:
        JsException: as ``deeper``.
    """
    return [(HEADER, str(deeper()))] if url.startswith(_LOOPBACK) else []


def depth_of(headers: Iterable[tuple[str, str]]) -> int:
    """What a request says of its own depth; nonsense counts as none."""
    for name, value in headers:
        if name == HEADER:
            known = value.isascii() and value.isdecimal() and len(value) <= len(str(MAX_DEPTH))
            return min(int(value), MAX_DEPTH) if known else 0
    return 0
