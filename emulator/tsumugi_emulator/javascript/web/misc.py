"""Small globals: ``performance``, ``navigator``, ``structuredClone``, ``DOMException``, sizes."""

from __future__ import annotations

import time
from typing import Any

from tsumugi_emulator.javascript.buffers import bytes_of
from tsumugi_emulator.javascript.clone import structured_clone as clone
from tsumugi_emulator.javascript.errors import DOM_EXCEPTION, js_error
from tsumugi_emulator.javascript.functions import JsClass, JsFunction
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.promise import as_exception
from tsumugi_emulator.javascript.standard import namespace
from tsumugi_emulator.javascript.strings import to_number
from tsumugi_emulator.javascript.values import JsObject
from tsumugi_emulator.javascript.web.members import member
from tsumugi_emulator.javascript.web.uncaught import report_uncaught

#: Observed in the runtime: ``performance.now()`` is epoch milliseconds (verified row j4).
performance = namespace(
    "Performance", {"now": lambda: time.time_ns() // 1_000_000, "timeOrigin": 0}
)

navigator = namespace("Navigator", {"userAgent": "Cloudflare-Workers", "language": "en"})

structured_clone = JsFunction(lambda value=None, _options=None: clone(value), "structuredClone", 1)

DOMExceptionClass = DOM_EXCEPTION


def _report_error(error: Any = None) -> None:
    report_uncaught(as_exception(error))


report_error = JsFunction(_report_error, "reportError", 1)


def _refuse_eval(*_args: Any) -> Any:
    raise js_error("EvalError", "Code generation from strings disallowed for this context")


eval_ = JsFunction(_refuse_eval, "eval", 1)

#: The global scope has no address.
origin = "null"

cloudflare = JsObject(
    {"compatibilityFlags": JsObject(dict.fromkeys(sorted(MODE.compatibility_flags), True))}
)


def _strategy(name: str, size: Any) -> JsClass:
    def construct(init: Any = None) -> JsObject:
        mark = to_number(member(init, "highWaterMark"))
        return JsObject({"highWaterMark": mark, "size": JsFunction(size, "size")})

    return JsClass(name, construct)


CountQueuingStrategyClass = _strategy("CountQueuingStrategy", lambda _chunk=None: 1)
ByteLengthQueuingStrategyClass = _strategy(
    "ByteLengthQueuingStrategy", lambda chunk=None: len(bytes_of(chunk) or b"")
)


def _ignore_listener(*_args: Any) -> None:
    """Service-worker syntax has no meaning in a Python Worker: nothing would ever call it."""


add_event_listener = JsFunction(_ignore_listener, "addEventListener", 2)
