"""What ``send()`` and ``close()`` of a WebSocket make of their arguments, with the runtime's texts.

Not here: when a socket may send or close (``websocket``).
"""

from __future__ import annotations

from typing import Any

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.errors import DOMException
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.strings import to_int32, to_string
from tsumugi_emulator.javascript.values import PyProxy
from tsumugi_emulator.javascript.web.socket_pipe import LOST_CODE, Close
from tsumugi_emulator.javascript.web.unicode import utf8

#: What fits a control frame beside the code (RFC 6455, 5.5).
MAX_REASON_BYTES = 123
#: A Close frame without a code.
NO_CODE = 1005
_RESERVED_CODES = frozenset({1004, NO_CODE, LOST_CODE, 1015})


def replies_to_close() -> bool:
    """Whether the runtime answers Close frames by itself (since 2026-04-07)."""
    return MODE.flag("web_socket_auto_reply_to_close")


def text_of(message: Any) -> str:
    if isinstance(message, PyProxy) and isinstance(message._obj, bytes | bytearray | memoryview):
        event = io_context.current()
        if event is not None:
            kind = type(message._obj).__name__
            event.warn(
                f"{io_context.user_line()}send() of {kind} sends its repr as text, as in "
                "production; to send the bytes write send(to_js(data))"
            )
    return utf8(to_string(message)).decode()


def close_of(code: Any, reason: Any) -> Close:
    """A Close frame from the arguments of ``close()``.

    Raises:
        JsException: the standard's and the runtime's rules for them.
    """
    number = NO_CODE if code is None else to_int32(code)
    if code is not None and (not 1000 <= number < 5000 or number in _RESERVED_CODES):
        raise DOMException(f"Invalid WebSocket close code: {number}.", "InvalidAccessError")
    if reason is None:
        return Close(number, "")
    if code is None:
        raise DOMException(
            "If you specify a WebSocket close reason, you must also specify a code.",
            "InvalidAccessError",
        )
    data = utf8(to_string(reason))
    if len(data) > MAX_REASON_BYTES:
        raise DOMException(
            f"WebSocket close reason must not be longer than {MAX_REASON_BYTES} bytes.",
            "SyntaxError",
        )
    return Close(number, data.decode())
