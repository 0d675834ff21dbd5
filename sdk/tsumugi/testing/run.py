"""Run a queue handler on a fake batch and read what became of it. No queue, no clock, no wait.

The call and the verdict follow production: three positional arguments, every ``waitUntil``
awaited, and for each message its own decision, else the batch's, else the handler's outcome.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tsumugi.testing.event import (
    FakeContext,
    accepted,
    bindings_of,
    check_result,
    drop_tasks,
    finished,
    in_event,
    instance_of,
)

if TYPE_CHECKING:
    from tsumugi.testing.batch import FakeBatch


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

    async def event() -> BatchOutcome:
        bystanders = asyncio.all_tasks()
        error = await _failure(handler, batch, bindings_of(env), context)
        batch.decisions.closed = True
        await drop_tasks("queue", asyncio.all_tasks() - bystanders)
        return _outcome(batch, error)

    return await in_event("queue", event)


async def _failure(
    handler: Any, batch: FakeBatch, env: object, ctx: FakeContext
) -> BaseException | None:
    """Run the handler and its ``waitUntil`` work; what escapes them, which fails the batch."""
    try:
        worker = instance_of(handler, "queue", env=env, ctx=ctx)
        if hasattr(worker, "queue"):
            result = worker.queue(batch, None, None)
        else:
            result = worker(*accepted(worker, (batch, env, ctx)))
        check_result(await finished(result))
        await ctx.settle()
    except asyncio.CancelledError as cancelled:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return cancelled
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as failure:
        return failure
    return None


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
