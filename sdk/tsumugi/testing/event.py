"""What one event needs: a context, its bindings, an event of the runtime. Knows no handler."""

from __future__ import annotations

import asyncio
import inspect
import sys
import warnings
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class FakeContext:
    """The ``ctx`` of an entrypoint: collects what is to outlive the handler."""

    def __init__(self) -> None:
        self._pending: list[asyncio.Future[Any]] = []

    def waitUntil(self, work: Awaitable[Any]) -> None:
        self._pending.append(asyncio.ensure_future(work))

    def passThroughOnException(self) -> None:
        """Accepted, as in the runtime; it concerns ``fetch`` alone."""

    async def settle(self) -> None:
        """Wait for all of it, also for what that work adds; the first failure is raised last."""
        failure: BaseException | None = None
        while self._pending:
            results = await asyncio.gather(self._pending.pop(0), return_exceptions=True)
            if isinstance(results[0], BaseException) and failure is None:
                failure = results[0]
        if failure is not None:
            raise failure


def bindings_of(env: object) -> object:
    """``env`` with bindings as attributes, whether it was given as an object or a mapping."""
    if env is None:
        return SimpleNamespace()
    return SimpleNamespace(**env) if isinstance(env, dict) else env


def instance_of(worker: Any, method: str, *, env: object, ctx: FakeContext) -> Any:
    """An instance of an entrypoint class, made as the runtime does; anything else as it is."""
    if not isinstance(worker, type):
        return worker
    if not hasattr(worker, method):
        raise TypeError(f"Method {method} does not exist on {worker.__name__}")
    entrypoint: Callable[..., Any] = worker
    return entrypoint(ctx, env)


def accepted(function: Callable[..., object], arguments: tuple[object, ...]) -> tuple[object, ...]:
    """As many of the arguments as ``function`` takes: how the runtime calls relaxed handlers."""
    signature = inspect.signature(function)
    for count in range(len(arguments), 0, -1):
        try:
            signature.bind(*arguments[:count])
        except TypeError:
            continue
        return arguments[:count]
    return ()


async def finished(result: Any) -> Any:
    """What a handler gives in the end."""
    if inspect.isasyncgen(result):
        raise TypeError(
            "the handler contains a yield: production would call it done (and acknowledge its "
            "batch) without running a line of it"
        )
    return await result if inspect.isawaitable(result) else result


def check_result(result: object) -> None:
    """Raises what the runtime raises for what a handler may not return."""
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        raise TypeError(f"Awaitable {type(result)} cannot be sent over RPC: await it instead")
    if isinstance(result, tuple | bytearray):
        raise TypeError(f"{type(result)} cannot be sent over RPC: return None from a handler")


async def drop_tasks(kind: str, tasks: set[asyncio.Task[Any]]) -> None:
    """Cancel what a handler left running, and say so."""
    for task in tasks:
        task.cancel()
        warnings.warn(
            f"{task.get_coro()!r} was still running when the {kind} handler returned: "
            "production drops it. Await it, or hand it to self.ctx.waitUntil().",
            RuntimeWarning,
            stacklevel=3,
        )
    await asyncio.gather(*tasks, return_exceptions=True)


async def in_event[T](kind: str, work: Callable[[], Awaitable[T]]) -> T:
    """Run ``work`` in a task of its own and, where a local runtime is loaded, as its event.

    A runtime ties responses, streams and sends to the event they are made in.
    """

    async def event() -> T:
        # By name, and only if it is there already: the SDK never imports the emulator (ADR-0034).
        runtime = sys.modules.get("tsumugi_emulator.javascript.io_context")
        if runtime is not None:
            runtime.enter(runtime.IoContext(kind, _warn))
        return await work()

    return await asyncio.create_task(event())


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=3)
