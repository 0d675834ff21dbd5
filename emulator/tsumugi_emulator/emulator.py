"""The composition root: one object that builds every service, starts them in order, stops them.

Usable in-process (tests, ``tsumugi dev``). It decides nothing about queues, requests or reloads;
it connects who does.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tsumugi_emulator.clock import Clock, SystemClock
from tsumugi_emulator.durable.alarm_index import AlarmIndex
from tsumugi_emulator.hosted_worker import HostedWorker, Shared
from tsumugi_emulator.objects_message import OBJECTS_DIRECTORY
from tsumugi_emulator.queues.broker import Broker
from tsumugi_emulator.queues.events import NoConsumer
from tsumugi_emulator.queues.lock import StateLock
from tsumugi_emulator.queues.log_lines import log_line
from tsumugi_emulator.queues.messages import ConsumerSettings, QueueSettings
from tsumugi_emulator.queues.store import QueueStore
from tsumugi_emulator.queues.tails import Tails
from tsumugi_emulator.service_links import ServiceLinks
from tsumugi_emulator.services_message import References
from tsumugi_emulator.worker.lending import TerminalLender

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tsumugi_emulator.config.model import QueueConsumer, WorkerConfig
    from tsumugi_emulator.queues.control import QueueControl
    from tsumugi_emulator.queues.events import BrokerEvent
    from tsumugi_emulator.queues.outbox import Outbox
    from tsumugi_emulator.worker.spawn import Pyodide
    from tsumugi_emulator.worker.supervisor import Supervisor


class Emulator:
    """Workers with their queues on one state directory. The first Worker is the primary one."""

    def __init__(
        self,
        state_directory: Path,
        log: Callable[[str, str], None],
        *,
        clock: Clock | None = None,
        strict: bool = False,
        colour: bool = False,
        fire_crons: bool = True,
        on_lend_terminal: Callable[[bool], None] = lambda _lent: None,
        find_pyodide: Callable[[WorkerConfig], Pyodide | None] = lambda _config: None,
    ) -> None:
        """``on_lend_terminal(True)`` must leave the terminal to a debugger, until ``False``."""
        self._state = state_directory
        self._log = log
        self._clock = clock or SystemClock()
        self._strict = strict
        self._colour = colour
        self._fire_crons = fire_crons
        self._find_pyodide = find_pyodide
        self._lock: StateLock | None = None
        self._store: QueueStore | None = None
        self._closing = False
        self._forwards = False
        self._terminal = TerminalLender(on_lend_terminal)
        self._tails = Tails()
        self.broker: Broker = None  # type: ignore[assignment]  # set by open()
        self._shared: Shared = None  # type: ignore[assignment]
        self.workers: list[HostedWorker] = []
        self._references = References()

    def open(self) -> None:
        """Take the state directory and open its stores.

        Raises:
            StateInUseError: another emulator holds the directory.
            sqlite3.Error: a store is damaged.
        """
        self._lock = StateLock.acquire(self._state)
        alarms = AlarmIndex.open_existing(self._state / OBJECTS_DIRECTORY)
        if alarms is not None:
            alarms.close()  # it can be used: whoever needs it opens it later
        self._store = QueueStore.open(self._state)
        self.broker = Broker(
            self._store,
            self._clock,
            events=self._tell,
            time_stands_still=lambda: self._terminal.lent,
            watched=self._tails.watched,
        )
        self._shared = Shared(
            broker=self.broker,
            clock=self._clock,
            log=self._log,
            tell=self._tell,
            terminal=self._terminal,
            links=ServiceLinks(self._find_backend),
            find_config=self._find_config,
            state=self._state.absolute(),
            strict=self._strict,
            colour=self._colour,
            fire_crons=self._fire_crons,
            are_several=lambda: len(self.workers) > 1,
            find_pyodide=self._find_pyodide,
        )

    def add_worker(self, config: WorkerConfig | None = None) -> HostedWorker:
        """A place for one more Worker; it serves once it is loaded.

        With ``config`` the other Workers know of it from now on.
        """
        worker = HostedWorker(self._shared, self._changed, config)
        self.workers.append(worker)
        return worker

    def _find(self, name: str) -> HostedWorker | None:
        named = (w for w in self.workers if w.config is not None and w.config.name == name)
        return next(named, None)

    def _find_config(self, name: str) -> WorkerConfig | None:
        found = self._find(name)
        return None if found is None else found.config

    def _find_backend(self, name: str) -> Supervisor | None:
        found = self._find(name)
        return None if found is None else found.supervisor

    def queue_control(self) -> QueueControl:
        """The queues as seen from outside the Workers."""
        from tsumugi_emulator.queues.control import QueueControl

        assert self._store is not None, "open() comes first"
        return QueueControl(self._store, self.broker, self._clock, tails=self._tails)

    def expect_forwarding(self, *, expected: bool) -> None:
        """Whether somebody will call ``outbox`` and tell what waits there, instead of this."""
        self._forwards = expected

    def outbox(self, on_waiting: Callable[[], None]) -> Outbox:
        """What Workers here send to queues that are consumed elsewhere."""
        from tsumugi_emulator.queues.outbox import Outbox

        assert self._store is not None, "open() comes first"
        self.broker.on_unconsumed = on_waiting
        self.expect_forwarding(expected=True)
        return Outbox(self._store, self.broker)

    async def close(self) -> None:
        """Stop children, then the broker; what was in flight is retried at the next start."""
        self._closing = True
        self._tails.close()
        await asyncio.gather(*(worker.close() for worker in self.workers))
        if self.broker is not None:
            await self.broker.stop(limit_ms=0)
        if self._store is not None:
            self._store.close()
        if self._lock is not None:
            self._lock.release()

    def _tell(self, event: BrokerEvent) -> None:
        # That children end while the emulator closes is no news.
        if self._closing:
            return
        self._tails.tell(event)
        # The forwarder says it, if the messages have to wait at all.
        if not (self._forwards and isinstance(event, NoConsumer) and self._sends_to(event.queue)):
            self._log(*log_line(event))

    def _sends_to(self, queue: str) -> bool:
        return any(
            producer.queue == queue for config in self._configs() for producer in config.producers
        )

    def _configs(self) -> list[WorkerConfig]:
        """What the Workers serve, or are starting to serve."""
        wanted = (worker.serving or worker.config for worker in self.workers)
        return [config for config in wanted if config is not None]

    def _changed(self) -> None:
        """A Worker has begun to serve."""
        self.configure_queues()
        for text in self._references.faults(self.workers):
            self._log("error", text)

    def configure_queues(self) -> None:
        """Tell the broker what the Workers produce and consume together.

        Also those that are still starting: their queues have a consumer, which is not there yet.
        """
        configs = self._configs()
        self.broker.configure(
            queues=queue_settings(configs),
            consumers=[
                _consumer_settings(consumer, config.name)
                for config in configs
                for consumer in config.consumers
            ],
            producers=producing_workers(configs),
        )


def queue_settings(configs: Iterable[WorkerConfig]) -> list[QueueSettings]:
    """The queues that are named, by name. A producer's delay is its queue's (ADR-0084)."""
    delays: dict[str, int] = {}
    for config in configs:
        for consumer in config.consumers:
            delays.setdefault(consumer.queue, 0)
        for producer in config.producers:
            delay_s = max(delays.get(producer.queue, 0), producer.delivery_delay_s or 0)
            delays[producer.queue] = delay_s
    return [QueueSettings(name, delivery_delay_s=delays[name]) for name in sorted(delays)]


def producing_workers(configs: Iterable[WorkerConfig]) -> dict[str, list[str]]:
    """The Workers that may send to a queue, by the queue's name."""
    workers: dict[str, list[str]] = {}
    for config in configs:
        for queue in sorted({producer.queue for producer in config.producers}):
            workers.setdefault(queue, []).append(config.name)
    return workers


def _consumer_settings(consumer: QueueConsumer, script: str) -> ConsumerSettings:
    return ConsumerSettings(
        queue=consumer.queue,
        max_batch_size=consumer.max_batch_size,
        max_batch_timeout_s=consumer.max_batch_timeout_s,
        max_retries=consumer.max_retries,
        dead_letter_queue=consumer.dead_letter_queue,
        max_concurrency=consumer.max_concurrency,
        retry_delay_s=consumer.retry_delay_s or 0,
        script=script,
    )
