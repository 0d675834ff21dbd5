"""Callbacks in Python that the runtime awaits: what JavaScript catches when they fail."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.rpc_values import python_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


async def awaited(callback: Callable[..., Any], *args: Any) -> Any:
    """What ``callback`` returns, or what that resolves to.

    Raises:
        JsException: PythonError with the traceback.
    """
    try:
        result = callback(*args)
    except Exception as error:
        raise python_failure(error, at_once=True) from error
    if asyncio.iscoroutine(result):
        return await as_promised(result)
    return await result if asyncio.isfuture(result) else result


async def as_promised(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """A coroutine as JavaScript's promise of it: even JavaScript's own errors arrive wrapped.

    Raises:
        JsException: PythonError with the traceback.
    """
    try:
        return await coroutine
    except Exception as error:
        raise python_failure(error) from error
