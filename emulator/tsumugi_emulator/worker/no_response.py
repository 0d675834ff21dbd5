"""A fetch handler that returned no Response: the runtime's error, and what returned what."""

from __future__ import annotations

import inspect
from typing import Any

from tsumugi_emulator.javascript.errors import JsException, type_error
from tsumugi_emulator.paths import shown
from tsumugi_emulator.tracebacks import is_machinery

NOT_A_RESPONSE = "Incorrect type for Promise: the Promise did not resolve to 'Response'."


def not_a_response(handler: Any, returned: Any) -> JsException:
    """Production's error says neither; a note of it, for reports only, does."""
    error = type_error(NOT_A_RESPONSE)
    function = inspect.unwrap(getattr(handler, "__func__", handler))
    code = getattr(function, "__code__", None)
    if code is not None and not is_machinery(code.co_filename):
        what = "None" if returned is None else f"an object of type {type(returned).__name__}"
        place = f"{shown(code.co_filename)}:{code.co_firstlineno}"
        error.add_note(f"{place}: {function.__qualname__}() returned {what}.")
    return error
