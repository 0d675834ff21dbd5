"""Run a queue handler on a fake batch and read what became of it. No queue, no clock, no wait.

The call and the verdict follow production: three positional arguments, every ``waitUntil``
awaited, and for each message its own decision, else the batch's, else the handler's outcome.
"""

# ruff: noqa: N802
from __future__ import annotations

import asyncio
import inspect
import warnings
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tsumugi.testing.batch import FakeBatch


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
            result = await asyncio.gather(self._pending.pop(0), return_exceptions=True)
            if isinstance(result[0], BaseException) and failure is None:
                failure = result[0]
        if failure is not None:
            raise failure


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """What a handler did to a batch, message by message.

    ``retried`` maps ids to the delay in seconds; None means that no call named one and the
    consumer's ``retry_delay`` applies. ``error`` is what escaped the handler, or a ``waitUntil``:
    it retries every message that was not settled before. ``warnings`` are the decisions that
    came too late to count, in the order they were made.
    """

    acked: list[str]
    retried: dict[str, int | None]
    error: BaseException | None
    warnings: list[str]


async def run_queue_handler(
    handler: Any, batch: FakeBatch, *, env: object = None, ctx: FakeContext | None = None
) -> BatchOutcome:
    """Run ``handler`` on ``batch`` once and resolve every message as production does.

    ``handler`` is an entrypoint class with a ``queue`` method, an instance of one, or a function
    that takes the batch. A class is instantiated with ``ctx`` and ``env`` and its method called
    with ``(batch, None, None)``, like the runtime does, so ``queue(self, batch)`` fails here too.
    A function gets as many of ``(batch, env, ctx)`` as it takes. ``env`` is an object with the
    bindings as attributes, or a mapping of them.

    What the handler raises is the outcome's ``error``, not an exception of this function; only
    ``KeyboardInterrupt``, ``SystemExit`` and a cancellation of the test itself pass through.
    Tasks that the handler leaves running are cancelled with a ``RuntimeWarning``: production
    drops them.
    """
    context = FakeContext() if ctx is None else ctx
    before = asyncio.all_tasks()
    error: BaseException | None = None
    try:
        call = _call_of(handler, _namespace(env), context)
        _check_result(await _finished(call(batch)))
        await context.settle()
    except asyncio.CancelledError as cancelled:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        error = cancelled
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as failure:  # whatever escapes fails the batch
        error = failure
    batch.decisions.closed = True
    await _drop_tasks(asyncio.all_tasks() - before)
    return _outcome(batch, error)


def _outcome(batch: FakeBatch, error: BaseException | None) -> BatchOutcome:
    decided = batch.decisions
    acked: list[str] = []
    retried: dict[str, int | None] = {}
    for message in batch.messages:
        if message.id in decided.retried:
            delay_s = decided.retried[message.id]
            retried[message.id] = decided.retry_all_delay_s if delay_s is None else delay_s
        elif message.id in decided.acked or decided.ack_all:
            acked.append(message.id)
        elif decided.retry_all or error is not None:
            retried[message.id] = decided.retry_all_delay_s
        else:
            acked.append(message.id)
    return BatchOutcome(acked, retried, error, list(decided.warnings))


def _namespace(env: object) -> object:
    if env is None:
        return SimpleNamespace()
    return SimpleNamespace(**env) if isinstance(env, dict) else env


def _call_of(handler: Any, env: object, ctx: FakeContext) -> Callable[[object], Any]:
    worker = handler
    if isinstance(handler, type):
        if not hasattr(handler, "queue"):
            raise TypeError(f"Method queue does not exist on {handler.__name__}")
        entrypoint: Callable[..., Any] = handler
        worker = entrypoint(ctx, env)
    if hasattr(worker, "queue"):
        return lambda batch: worker.queue(batch, None, None)
    given = (env, ctx)[: _extra_arguments(handler)]
    return lambda batch: handler(batch, *given)


def _extra_arguments(function: Callable[..., object]) -> int:
    signature = inspect.signature(function)
    for count in (2, 1):
        try:
            signature.bind(None, *([None] * count))
        except TypeError:
            continue
        return count
    return 0


async def _finished(result: Any) -> Any:
    if inspect.isasyncgen(result):
        raise TypeError(
            "the handler contains a yield: production would acknowledge the batch without "
            "running a line of it"
        )
    return await result if inspect.isawaitable(result) else result


def _check_result(result: object) -> None:
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        raise TypeError(f"Awaitable {type(result)} cannot be sent over RPC: await it instead")
    if isinstance(result, tuple | bytearray):
        raise TypeError(f"{type(result)} cannot be sent over RPC: return None from a handler")


async def _drop_tasks(tasks: set[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
        warnings.warn(
            f"{task.get_coro()!r} was still running when the queue handler returned: production "
            "drops it. Await it, or hand it to self.ctx.waitUntil().",
            RuntimeWarning,
            stacklevel=3,
        )
    await asyncio.gather(*tasks, return_exceptions=True)
