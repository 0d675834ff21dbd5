"""``pyodide.http.pyfetch`` as Python 3.14's Pyodide has it, over the installed pyodide-py.

The installed package is older: it does not know ``fetcher`` and wraps every error of a bad URL.
"""

from __future__ import annotations

from asyncio import CancelledError
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.errors import JsException
from tsumugi_emulator.javascript.mode import MODE

if TYPE_CHECKING:
    from tsumugi_emulator.javascript.values import JsObject


async def pyfetch(
    request: Any, /, *, signal: Any = None, fetcher: Any = None, **options: Any
) -> Any:
    """Fetch, and fail with ``pyodide.http.AbortError`` for whatever goes wrong on the way.

    Raises:
        JsException: TypeError, when the URL does not parse (an AbortError before 3.14).
    """
    # Imported on first use: a Worker that fetches nothing starts without all this.
    import js
    from pyodide.ffi import to_js
    from pyodide.http import AbortError, FetchResponse

    from tsumugi_emulator.javascript.web.abort import AbortController, abort_signal_any
    from tsumugi_emulator.javascript.web.fetch import fetch as js_fetch

    controller = AbortController()
    own: Any = controller._signal
    combined = abort_signal_any(js.Array.of(signal, own)) if signal else own
    init: JsObject = to_js(options | {"signal": combined}, dict_converter=js.Object.fromEntries)
    if isinstance(request, str):
        try:
            request = js.Request.new(request, init)
        except JsException as error:
            if MODE.has_bigint_type:
                raise
            raise AbortError(error) from None
    try:
        response = await (fetcher or js_fetch)(request, init)
    except CancelledError as error:
        if error.args:
            controller._signal._abort(JsException("AbortError", "\n".join(map(str, error.args))))
        raise
    except JsException as error:
        raise AbortError(error) from None
    return FetchResponse(request.url, response, controller, combined)


def replace_pyfetch() -> None:
    """Put it where ``workers`` imports it from. Call it before ``workers`` is imported."""
    import pyodide.http

    pyodide.http.pyfetch = pyfetch
