"""``PyodideFuture``: an asyncio future that also speaks ``then``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class PyodideFuture(asyncio.Future[Any]):
    """``pyodide.webloop.PyodideFuture``: a future that also speaks ``then``."""

    def then(self, onfulfilled: Any = None, onrejected: Any = None) -> PyodideFuture:
        result = PyodideFuture(loop=self.get_loop())

        async def chain() -> Any:
            try:
                value = await self
            except Exception as error:
                if onrejected is None:
                    raise
                outcome = onrejected(error)
            else:
                outcome = value if onfulfilled is None else onfulfilled(value)
            return (
                await outcome
                if asyncio.isfuture(outcome) or asyncio.iscoroutine(outcome)
                else outcome
            )

        settle_with(result, chain())
        return result

    def catch(self, onrejected: Any) -> PyodideFuture:
        return self.then(None, onrejected)

    def finally_(self, onfinally: Callable[[], Any]) -> PyodideFuture:
        result = PyodideFuture(loop=self.get_loop())

        async def chain() -> Any:
            try:
                return await self
            finally:
                outcome = onfinally()
                if asyncio.isfuture(outcome) or asyncio.iscoroutine(outcome):
                    await outcome

        settle_with(result, chain())
        return result


PyodideFuture.__module__ = "pyodide.webloop"


def settle_with(future: asyncio.Future[Any], source: Awaitable[Any]) -> None:
    """Make ``future`` end as ``source`` does."""

    def copy(done: asyncio.Future[Any]) -> None:
        if future.done():
            return
        if done.cancelled():
            future.cancel()
        elif (error := done.exception()) is not None:
            future.set_exception(error)
        else:
            future.set_result(done.result())

    asyncio.ensure_future(source).add_done_callback(copy)
