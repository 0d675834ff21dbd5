from __future__ import annotations
from typing import Any
from tsumugi_emulator.javascript.values import JsClass
AbortControllerClass = JsClass("AbortController", None)
AbortSignalClass = JsClass("AbortSignal", None)
def abort_signal_any(*_a: Any) -> Any:
    raise NotImplementedError
