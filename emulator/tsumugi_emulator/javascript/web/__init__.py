"""The web platform's globals. ``WEB_GLOBALS`` says which module defines which name of ``js``."""

from __future__ import annotations

_HERE = "tsumugi_emulator.javascript.web"

#: ``js.<name>`` -> ``module:attribute`` of the JavaScript value. Loaded on first use.
WEB_GLOBALS: dict[str, str] = {
    "AbortController": f"{_HERE}.abort:AbortControllerClass",
    "AbortSignal": f"{_HERE}.abort:AbortSignalClass",
}

#: Names production has and this emulator does not (verified reference, row j1).
NOT_EMULATED = frozenset(
    {
        "CompressionStream",
        "DecompressionStream",
        "EventSource",
        "HTMLRewriter",
        "Intl",
        "MessageChannel",
        "URLPattern",
        "WebAssembly",
        "WebSocket",
        "WebSocketPair",
        "WebSocketRequestResponsePair",
        "caches",
    }
)
