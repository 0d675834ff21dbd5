"""Errors of asynchronous functions: JavaScript shows them at ``await``, not at the call."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.errors import JsException
from tsumugi_emulator.javascript.promise import rejected

if TYPE_CHECKING:
    from collections.abc import Callable


def rejecting(method: Callable[..., Any]) -> Callable[..., Any]:
    """Turn what a promise-returning host method raises into a rejection."""

    @wraps(method)
    def call(*args: Any) -> Any:
        try:
            return method(*args)
        except JsException as error:
            return rejected(error)

    return call
