"""The composition root: one object that builds every service, starts them in order, stops them.

Usable in-process (tests, ``tsumugi dev``). It decides nothing about queues, requests or reloads;
it connects who does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.child_services import ChildServices
from tsumugi_emulator.clock import Clock, SystemClock
from tsumugi_emulator.queues.broker import Broker
from tsumugi_emulator.queues.lock import StateLock
from tsumugi_emulator.queues.log_lines import log_line
from tsumugi_emulator.queues.messages import (
    Batch,
    BatchResult,
    ConsumerSettings,
    QueueSettings,
)
from tsumugi_emulator.queues.store import QueueStore
from tsumugi_emulator.worker.lending import TerminalLender
from tsumugi_emulator.worker.spawn import WarmOptions
from tsumugi_emulator.worker.supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tsumugi_emulator.config.model import QueueConsumer, WorkerConfig
    from tsumugi_emulator.queues.events import BrokerEvent
    from tsumugi_emulator.worker.frames import Ready
    from tsumugi_emulator.worker.supervisor import Blueprint


@dataclass(frozen=True, slots=True)
class WorkerBlueprint:
    """A configuration as a child receives it."""

    config: WorkerConfig
    strict: bool
    colour: bool

    @property
    def options(self) -> WarmOptions:
        compatibility = self.config.compatibility
        return WarmOptions(compatibility.python_version, compatibility.flags, self.strict)

    def boot_message(self) -> dict[str, Any]:
        config = self.config
        return {
            "name": config.name,
            "main": str(config.main),
            "project": str(config.path.parent),
            "colour": self.colour,
            "vars": {name: json.dumps(value) for name, value in config.vars.items()},
            "producers": [[p.binding, p.queue, p.delivery_delay_s] for p in config.producers],
            "unsupported": [[binding.binding, binding.kind] for binding in config.unsupported],
        }


class Emulator:
    """One Worker with its queues on one state directory."""

    def __init__(
        self,
        state_directory: Path,
        log: Callable[[str, str], None],
        *,
        clock: Clock | None = None,
        strict: bool = False,
        colour: bool = False,
        on_lend_terminal: Callable[[bool], None] = lambda _lent: None,
    ) -> None:
        """``on_lend_terminal(True)`` must leave the terminal to a debugger, until ``False``."""
        self._state = state_directory
        self._log = log
        self._clock = clock or SystemClock()
        self._strict = strict
        self._colour = colour
        self._lock: StateLock | None = None
        self._store: QueueStore | None = None
        #: What the child that serves was started with; not what may have been loaded in vain since.
        self._serving: WorkerConfig | None = None
        self._closing = False
        self._terminal = TerminalLender(on_lend_terminal)
        self.broker: Broker = None  # type: ignore[assignment]  # set by open()
        self.supervisor: Supervisor = None  # type: ignore[assignment]

    def open(self) -> None:
        """Take the state directory and open its stores.

        Raises:
            StateInUseError: another emulator holds the directory.
        """
        self._lock = StateLock.acquire(self._state)
        self._store = QueueStore.open(self._state)
        self.broker = Broker(
            self._store,
            self._clock,
            events=self._tell,
            time_stands_still=lambda: self._terminal.lent,
        )
        services = ChildServices(self.broker, self._log, self._terminal)
        self.supervisor = Supervisor(
            services, on_current=self._serve, on_gone=self._suspend, log=self._log
        )

    async def load(self, config: WorkerConfig) -> bool:
        """Serve ``config`` from now on; False when its code does not load."""
        return await self.supervisor.replace(self._blueprint(config))

    async def close(self) -> None:
        """Stop children, then the broker; what was in flight is retried at the next start."""
        self._closing = True
        if self.supervisor is not None:
            await self.supervisor.stop()
        if self.broker is not None:
            await self.broker.stop(limit_ms=0)
        if self._store is not None:
            self._store.close()
        if self._lock is not None:
            self._lock.release()

    def _tell(self, event: BrokerEvent) -> None:
        # That children end while the emulator closes is no news.
        if not self._closing:
            self._log(*log_line(event))

    def _blueprint(self, config: WorkerConfig) -> WorkerBlueprint:
        return WorkerBlueprint(config, self._strict, self._colour)

    # -- Queues follow the child ------------------------------------------------------------------

    def _serve(self, blueprint: Blueprint, ready: Ready) -> None:
        assert isinstance(blueprint, WorkerBlueprint)
        config = self._serving = blueprint.config
        names = {producer.queue for producer in config.producers}
        names |= {consumer.queue for consumer in config.consumers}
        self.broker.configure(
            queues=[QueueSettings(name) for name in sorted(names)],
            consumers=[_consumer_settings(consumer) for consumer in config.consumers],
        )
        if config.consumers and "queue" not in ready.handlers:
            queues = ", ".join(f'"{consumer.queue}"' for consumer in config.consumers)
            self._log(
                "error",
                f'Worker "{config.name}" consumes {queues} but it has no queue handler; '
                "add `async def queue(self, batch, env=None, ctx=None)` to class Default. "
                "Messages wait meanwhile.",
            )
            self._suspend()
            return
        for consumer in config.consumers:
            self.broker.attach(consumer.queue, self._deliver)

    def _suspend(self) -> None:
        for consumer in self._serving.consumers if self._serving else ():
            self.broker.detach(consumer.queue)

    async def _deliver(self, batch: Batch) -> BatchResult:
        process = self.supervisor.serving
        if process is None:
            raise RuntimeError("the Worker is being started again")
        messages = [
            (m.id, m.timestamp_ms, m.attempts, m.content_type, m.body) for m in batch.messages
        ]
        metrics = batch.metrics
        figures = (
            metrics.backlog_count,
            metrics.backlog_bytes,
            metrics.oldest_message_timestamp_ms,
        )
        result = await process.queue(batch.queue, messages, figures)
        if result.error:
            self._log("error", f'Handler of queue "{batch.queue}" failed\n{result.error}')
        return BatchResult(
            outcome=result.outcome,
            ack_all=result.ack_all,
            retry_all=result.retry_all,
            retry_all_delay_s=result.retry_all_delay_s,
            explicit_acks=tuple(result.explicit_acks),
            retries=dict(result.retries),
        )


def _consumer_settings(consumer: QueueConsumer) -> ConsumerSettings:
    return ConsumerSettings(
        queue=consumer.queue,
        max_batch_size=consumer.max_batch_size,
        max_batch_timeout_s=consumer.max_batch_timeout_s,
        max_retries=consumer.max_retries,
        dead_letter_queue=consumer.dead_letter_queue,
        max_concurrency=consumer.max_concurrency,
        retry_delay_s=consumer.retry_delay_s or 0,
    )
