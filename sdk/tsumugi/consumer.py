"""The consumer base class: routes a batch, settles each message by itself. Never decides policy.

What an outcome means is settlement.py's, which method runs is routes.py's (ADR-0031, ADR-0032).
"""

from __future__ import annotations

import asyncio
import functools
import logging
from typing import TYPE_CHECKING, Any, ClassVar

from tsumugi.delivery import Delivery, content_type_of
from tsumugi.routes import Route, route_for, routes_of
from tsumugi.settlement import Acknowledge, DeadLetter, RetryLater, settlement_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from workers import WorkerEntrypoint

    from tsumugi.queues import Message, MessageBatch, Queue

_log = logging.getLogger("tsumugi.consumer")


class _Consumer:
    """What :class:`QueueConsumer` adds to ``WorkerEntrypoint``."""

    env: Any
    ctx: Any
    _routes: ClassVar[Mapping[str, Route]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._routes = routes_of(cls)

    async def queue(
        self, batch: MessageBatch[object], env: object = None, ctx: object = None
    ) -> None:
        """Hand each message of the batch to the method that consumes its queue.

        Returns when every message is acknowledged or retried. Raises
        :class:`~tsumugi.UnknownQueue`, which fails the batch, when no method names the queue.
        """
        name, route = route_for(batch.queue, self._routes)
        run = _Run(batch.queue, route, getattr(self, name), self.env)
        if route.concurrency == 1:
            for message in batch.messages:
                await run.consume(message)
            return
        # A semaphore of this batch: one shared between events would hang in the runtime.
        slots = asyncio.Semaphore(route.concurrency)

        async def consume(message: Message[object]) -> None:
            async with slots:
                await run.consume(message)

        async with asyncio.TaskGroup() as tasks:
            for message in batch.messages:
                tasks.create_task(consume(message))


class _Run:
    """One batch in progress: the handler, its route and what is needed to settle a message."""

    def __init__(
        self, queue: str, route: Route, handler: Callable[..., Awaitable[None]], env: object
    ) -> None:
        self._queue = queue
        self._route = route
        self._handler = handler
        self._env = env

    async def consume(self, message: Message[object]) -> None:
        """Run the handler on one message and settle it; no failure reaches the other ones."""
        delivery: Delivery[object] = Delivery(message, message.body)
        error = await self._call(delivery)
        if delivery.settled:
            if error is not None:
                self._tell(message, "failed after it was settled by the handler", error)
            return
        try:
            await self._settle(message, error)
        except Exception as fault:
            self._tell(message, "could not be settled and is retried", fault)
            message.retry()

    async def _call(self, delivery: Delivery[object]) -> BaseException | None:
        try:
            if self._route.parse is not None:
                delivery.body = self._route.parse(delivery.body)
            if self._route.takes_message:
                await self._handler(delivery.body, delivery)
            else:
                await self._handler(delivery.body)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return error  # the handler awaited something cancelled: its failure, nobody else's
        except Exception as error:
            # From the handler's own lines on: how it was called tells nobody anything.
            return error.with_traceback(error.__traceback__ and error.__traceback__.tb_next)
        return None

    async def _settle(self, message: Message[object], error: BaseException | None) -> None:
        decision = settlement_of(error, attempts=message.attempts, retry=self._route.retry)
        match decision:
            case Acknowledge():
                message.ack()
            case RetryLater(delay_s, reason, unexpected):
                what = f"is retried in {delay_s} s: {reason}"
                self._tell(message, what, error if unexpected else None)
                message.retry(delaySeconds=delay_s)
            case DeadLetter(reason):
                await self._bury(message, reason)

    async def _bury(self, message: Message[object], reason: str) -> None:
        binding = self._route.dead_letter
        if binding is None:
            # Production has no call that dead-letters at once: use the attempts up quickly.
            what = f"can never succeed, retries are used up without delay: {reason}"
            self._tell(message, what, None)
            message.retry(delaySeconds=0)
            return
        self._tell(message, f"can never succeed, goes to {binding}: {reason}", None)
        target: Queue[object] = getattr(self._env, binding)
        await target.send(message.body, contentType=content_type_of(message.body))
        message.ack()  # only now: a message must not exist nowhere

    def _tell(self, message: Message[object], what: str, error: BaseException | None) -> None:
        where = f"message {message.id} of queue {self._queue!r} (attempt {message.attempts})"
        _log.warning("%s %s", where, what, exc_info=error)


if TYPE_CHECKING:

    class QueueConsumer(_Consumer, WorkerEntrypoint):  # type: ignore[misc]
        """A ``WorkerEntrypoint`` whose methods consume queues, message by message.

        ``class Default(QueueConsumer)`` is a complete queue Worker, and may define ``fetch`` and
        ``scheduled`` as any entrypoint. See :func:`tsumugi.consumes`.
        """


class _PlainEntrypoint:
    """Takes the place of ``workers.WorkerEntrypoint`` where no Workers runtime is loaded."""

    def __init__(self, ctx: Any, env: Any) -> None:
        self.ctx = ctx
        self.env = env


@functools.cache
def _consumer_on(entrypoint: type) -> type:
    doc = "A WorkerEntrypoint whose methods consume queues; see tsumugi.consumes."
    return type("QueueConsumer", (_Consumer, entrypoint), {"__module__": __name__, "__doc__": doc})


def _entrypoint() -> type:
    try:
        from workers import WorkerEntrypoint
    except ModuleNotFoundError as error:
        # Plain Python, as in unit tests. Anything else that is missing is a real fault.
        if error.name not in ("js", "workers"):
            raise
        return _PlainEntrypoint
    base: type = WorkerEntrypoint
    return base


def __getattr__(name: str) -> type:
    # Looked up at each import, because the runtime may be loaded later than this module: under
    # it the base must be the real WorkerEntrypoint, or the class is no entrypoint (ADR-0031).
    if name == "QueueConsumer":
        return _consumer_on(_entrypoint())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
