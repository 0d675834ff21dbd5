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

    Every message is acknowledged first: a job whose dispatch or report is lost is found by its
    shard. Raises ``MissingBinding``, and what stops the whole event.
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
                "message %s of queue %r is no dispatch of a job and is dropped: %s. "
                "If the queue carries other messages, too, override queue() and pass on the rest",
                message.id,
                batch.queue,
                fault,
            )
    batch.ackAll()
    bound(env, settings.env.shard, "shard")
    if jobs:
        await Batch(env, registry, settings, now_ms).run(jobs)
