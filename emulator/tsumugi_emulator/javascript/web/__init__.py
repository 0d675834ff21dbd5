"""The web platform's globals. ``WEB_GLOBALS`` says which module defines which name of ``js``."""

from __future__ import annotations

_HERE = "tsumugi_emulator.javascript.web"

#: ``js.<name>`` -> ``module:attribute`` of the JavaScript value. Loaded on first use.
WEB_GLOBALS: dict[str, str] = {
    "AbortController": f"{_HERE}.abort:AbortControllerClass",
    "AbortSignal": f"{_HERE}.abort:AbortSignalClass",
    "addEventListener": f"{_HERE}.misc:add_event_listener",
    "atob": f"{_HERE}.encoding:atob",
    "Blob": f"{_HERE}.blob:BlobClass",
    "btoa": f"{_HERE}.encoding:btoa",
    "ByteLengthQueuingStrategy": f"{_HERE}.misc:ByteLengthQueuingStrategyClass",
    "clearInterval": f"{_HERE}.timers:clear_interval",
    "clearTimeout": f"{_HERE}.timers:clear_timeout",
    "CompressionStream": f"{_HERE}.transforms:CompressionStreamClass",
    "Cloudflare": f"{_HERE}.misc:cloudflare",
    "console": f"{_HERE}.console:console",
    "CountQueuingStrategy": f"{_HERE}.misc:CountQueuingStrategyClass",
    "Crypto": f"{_HERE}.crypto:CryptoClass",
    "crypto": f"{_HERE}.crypto:crypto",
    "CryptoKey": f"{_HERE}.crypto_keys:CryptoKeyClass",
    "CustomEvent": f"{_HERE}.events:CustomEventClass",
    "DecompressionStream": f"{_HERE}.transforms:DecompressionStreamClass",
    "DOMException": f"{_HERE}.misc:DOMExceptionClass",
    "eval": f"{_HERE}.misc:eval_",
    "Event": f"{_HERE}.events:EventClass",
    "EventTarget": f"{_HERE}.events:EventTargetClass",
    "fetch": f"{_HERE}.fetch:fetch",
    "File": f"{_HERE}.blob:FileClass",
    "FixedLengthStream": f"{_HERE}.transform:FixedLengthStreamClass",
    "FormData": f"{_HERE}.form_data:FormDataClass",
    "Headers": f"{_HERE}.headers:HeadersClass",
    "IdentityTransformStream": f"{_HERE}.transform:IdentityTransformStreamClass",
    "navigator": f"{_HERE}.misc:navigator",
    "origin": f"{_HERE}.misc:origin",
    "performance": f"{_HERE}.misc:performance",
    "queueMicrotask": f"{_HERE}.timers:queue_microtask",
    "ReadableStream": f"{_HERE}.streams:ReadableStreamClass",
    "ReadableStreamBYOBReader": f"{_HERE}.stream_readers:ReadableStreamBYOBReaderClass",
    "ReadableStreamDefaultReader": f"{_HERE}.stream_readers:ReadableStreamDefaultReaderClass",
    "reportError": f"{_HERE}.misc:report_error",
    "Request": f"{_HERE}.request:RequestClass",
    "Response": f"{_HERE}.response:ResponseClass",
    "scheduler": f"{_HERE}.timers:scheduler",
    "setInterval": f"{_HERE}.timers:set_interval",
    "setTimeout": f"{_HERE}.timers:set_timeout",
    "structuredClone": f"{_HERE}.misc:structured_clone",
    "SubtleCrypto": f"{_HERE}.crypto:SubtleCryptoClass",
    "TextDecoder": f"{_HERE}.encoding:TextDecoderClass",
    "TextDecoderStream": f"{_HERE}.transforms:TextDecoderStreamClass",
    "TextEncoder": f"{_HERE}.encoding:TextEncoderClass",
    "TextEncoderStream": f"{_HERE}.transforms:TextEncoderStreamClass",
    "TransformStream": f"{_HERE}.transform:TransformStreamClass",
    "URL": f"{_HERE}.url:URLClass",
    "URLSearchParams": f"{_HERE}.search_params:URLSearchParamsClass",
    "WritableStream": f"{_HERE}.writable:WritableStreamClass",
    "WritableStreamDefaultWriter": f"{_HERE}.writable:WritableStreamDefaultWriterClass",
}

#: Names production has and this emulator does not (verified reference, row j1).
NOT_EMULATED = frozenset(
    {
        "EventSource",
        "HTMLRewriter",
        "Intl",
        "MessageChannel",
        "Proxy",
        "URLPattern",
        "WebAssembly",
        "WebSocket",
        "WebSocketPair",
        "WebSocketRequestResponsePair",
        "caches",
    }
)
