"""The web platform's globals. ``WEB_GLOBALS`` says which module defines which name of ``js``."""

from __future__ import annotations

_HERE = "tsumugi_emulator.javascript.web"

#: ``js.<name>`` -> ``module:attribute`` of the JavaScript value. Loaded on first use.
WEB_GLOBALS: dict[str, str] = {
    "AbortController": f"{_HERE}.abort:AbortControllerClass",
    "AbortSignal": f"{_HERE}.abort:AbortSignalClass",
    "Headers": f"{_HERE}.headers:HeadersClass",
    "ReadableStream": f"{_HERE}.streams:ReadableStreamClass",
    "Request": f"{_HERE}.request:RequestClass",
    "Response": f"{_HERE}.response:ResponseClass",
    "URL": f"{_HERE}.url:URLClass",
    "URLSearchParams": f"{_HERE}.search_params:URLSearchParamsClass",
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
