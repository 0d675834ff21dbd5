"""Take a batch of the queue: acknowledge it whatever happens, and run the jobs in it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from tsumugi.jobs.consumer.batch import Batch
from tsumugi.jobs.consumer.deliveries import Dispatched, read_dispatch
from tsumugi.jobs.stubs import bare, bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi.jobs.registry import Registry
    from tsumugi.jobs.settings import Settings
    from tsumugi.queues import MessageBatch

_log = logging.getLogger("tsumugi.jobs")


async def consume(
    batch: MessageBatch[object],
    env: Any,
    *,
    registry: Registry,
    settings: Settings,
    now_ms: Callable[[], int],
) -> None:
    """Perform the jobs of a batch and report them. The queue's own retries are not used.

    Every dispatch is acknowledged first: a job whose dispatch or report is lost is found by its
    shard. What is no dispatch is somebody else's: the queue's retries and its dead letter queue are
    for it (ADR-0288). Raises ``MissingBinding``, and what stops the whole event.
    """
    jobs: list[Dispatched] = []
    batch = bare(batch)
    messages = batch.messages
    for place in range(len(messages)):  # an iterator would be one more crossing for each
        message = messages[place]
        try:
            jobs.append(read_dispatch(message.body))
        except Exception as fault:  # Malformed, and whatever a body that cannot be read raises
            _log.error(
                "message %s of queue %r is no dispatch of a job and goes back to the queue, in the "
                "end to its dead letter queue: %s. If this Worker consumes other messages, too, "
                "override queue() and pass only those of jobs on",
                message.id,
                batch.queue,
                fault,
            )
            message.retry()
    batch.ackAll()  # the rest
    bound(env, settings.env.shard, "shard")
    if jobs:
        await Batch(env, registry, settings, now_ms).run(jobs)
