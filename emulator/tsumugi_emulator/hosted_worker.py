"""One Worker as the emulator hosts it: its children, its queue batches, its cron triggers.

Several of these share one broker. Not here: sockets and which Workers there are (``emulator``).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.child_services import ChildServices
from tsumugi_emulator.cron.expression import parse
from tsumugi_emulator.cron.scheduler import CronScheduler
from tsumugi_emulator.object_services import ObjectServices
from tsumugi_emulator.objects_message import (
    OBJECTS_DIRECTORY,
    namespaces,
    objects_message,
)
from tsumugi_emulator.queues.events import DeliveryFailed
from tsumugi_emulator.queues.messages import BatchResult
from tsumugi_emulator.services_message import elsewhere_message, site_of
from tsumugi_emulator.socket_services import SocketServices
from tsumugi_emulator.stored_message import stored_message
from tsumugi_emulator.worker.process import ChildDiedError
from tsumugi_emulator.worker.spawn import WarmOptions
from tsumugi_emulator.worker.supervisor import Supervisor, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tsumugi_emulator.assets.site import Site
    from tsumugi_emulator.clock import Clock
    from tsumugi_emulator.config.model import WorkerConfig
    from tsumugi_emulator.queues.broker import Broker
    from tsumugi_emulator.queues.events import BrokerEvent
    from tsumugi_emulator.queues.messages import Batch
    from tsumugi_emulator.service_links import ServiceLinks
    from tsumugi_emulator.worker.frames import Ready
    from tsumugi_emulator.worker.lending import TerminalLender
    from tsumugi_emulator.worker.spawn import Pyodide
    from tsumugi_emulator.worker.supervisor import Blueprint

#: How long what needs the Worker waits while it is starting.
START_WAIT_S = 30.0


@dataclass(frozen=True, slots=True)
class Shared:
    """What all Workers of an emulator have in common."""

    broker: Broker
    clock: Clock
    log: Callable[[str, str], None]
    tell: Callable[[BrokerEvent], None]
    terminal: TerminalLender
    links: ServiceLinks
    #: The configurations of all Workers, by name.
    find_config: Callable[[str], WorkerConfig | None]
    #: The state directory, absolute.
    state: Path
    strict: bool = False
    colour: bool = False
    #: Fire cron triggers by themselves.
    fire_crons: bool = True
    #: Whether more than one Worker runs.
    are_several: Callable[[], bool] = lambda: False
    #: The Pyodide that runs a Worker's Python; None is CPython.
    find_pyodide: Callable[[WorkerConfig], Pyodide | None] = lambda _config: None


@dataclass(frozen=True, slots=True)
class WorkerBlueprint:
    """A configuration as a child receives it."""

    config: WorkerConfig
    state: Path
    strict: bool
    colour: bool
    #: The configurations of all Workers, by name.
    find: Callable[[str], WorkerConfig | None]
    #: What runs its Python; None is CPython.
    pyodide: Pyodide | None = None

    @property
    def options(self) -> WarmOptions:
        compatibility = self.config.compatibility
        return WarmOptions(
            compatibility.python_version, compatibility.flags, self.strict, self.pyodide
        )

    def boot_message(self) -> dict[str, Any]:
        config = self.config
        return {
            "name": config.name,
            "main": str(config.main),
            "project": str(config.path.parent),
            "colour": self.colour,
            "vars": {name: json.dumps(value) for name, value in config.vars.items()},
            # Their delays are the queues' (ADR-0084).
            "producers": [[p.binding, p.queue] for p in config.producers],
            "unsupported": [[binding.binding, binding.kind] for binding in config.unsupported],
            "elsewhere": elsewhere_message(config, self.find),
            "stored": stored_message(config.resources, self.state),
            "objects": objects_message(config, self.state),
        }


class HostedWorker:
    def __init__(
        self, shared: Shared, on_change: Callable[[], None], config: WorkerConfig | None = None
    ) -> None:
        """``on_change`` runs when another configuration, or other code, has begun to serve."""
        self._shared = shared
        #: What it is meant to serve, from before its code is loaded.
        self.config = config
        #: Static assets that are served before it.
        self.site: Site | None = None
        #: What its code exports: names of entrypoints.
        self.entrypoints: frozenset[str] = frozenset()
        self._on_change = on_change
        self._objects = ObjectServices(
            shared.state / OBJECTS_DIRECTORY, shared.clock, lambda: self.supervisor.serving
        )
        self.sockets = SocketServices(shared.clock, lambda: self.supervisor.serving, self._log)
        self.sockets.source = shared.links.source
        self._objects.on_grant = self.sockets.granted
        services = ChildServices(
            shared.broker,
            self._log,
            shared.terminal,
            self._objects,
            self.sockets,
            shared.links,
        )
        self.supervisor = Supervisor(
            services, on_current=self._serve, on_gone=self._gone, log=self._log
        )
        #: What the child that serves was started with; not what may have been loaded in vain since.
        self.serving: WorkerConfig | None = None
        self._crons = CronScheduler(shared.clock, self._fire)

    def _log(self, level: str, text: str) -> None:
        """A line for the terminal; with several Workers it says whose."""
        if self.config is not None and self._shared.are_several():
            text = f"[{self.config.name}] {text}"
        self._shared.log(level, text)

    async def load(self, config: WorkerConfig) -> bool:
        """Serve ``config`` from now on; False when its code does not load."""
        self.config = config
        self.site = site_of(config)
        shared = self._shared
        blueprint = WorkerBlueprint(
            config,
            shared.state,
            shared.strict,
            shared.colour,
            shared.find_config,
            shared.find_pyodide(config),
        )
        return await self.supervisor.replace(blueprint)

    async def is_up(self) -> bool:
        """Whether it serves, once it is known to load or not to load."""
        try:
            await self.supervisor.current(wait_s=START_WAIT_S)
        except Unavailable:
            return False
        return True

    async def close(self) -> None:
        """Stop the children; what was in flight is retried at the next start."""
        self._crons.stop()
        # Or what dies with the children would be delivered again, to children already dead.
        self._suspend()
        await self.supervisor.stop()
        self._objects.close()

    # -- Triggers follow the child ----------------------------------------------------------------

    def _serve(self, blueprint: Blueprint, ready: Ready) -> None:
        assert isinstance(blueprint, WorkerBlueprint)
        config = self.serving = blueprint.config
        self.entrypoints = frozenset(ready.entrypoints)
        self._on_change()
        served = namespaces(config, ready.object_classes)
        self._objects.serve(served)
        self.sockets.serve(served)
        if config.consumers and "queue" not in ready.handlers:
            queues = ", ".join(f'"{consumer.queue}"' for consumer in config.consumers)
            self._missing_handler(
                f"consumes {queues}", "queue", "batch", "Messages wait meanwhile."
            )
            self._suspend()
        else:
            ready_for_batches = "queue" in ready.handlers
            self._shared.broker.serve(config.name, self._deliver if ready_for_batches else None)
        if config.crons and "scheduled" not in ready.handlers:
            crons = ", ".join(f'"{cron}"' for cron in config.crons)
            self._missing_handler(f"has the cron triggers {crons}", "scheduled", "controller", "")
            self._crons.stop()
        elif self._shared.fire_crons:
            self._crons.configure(parse(text) for text in config.crons)

    def _missing_handler(self, what: str, name: str, argument: str, meanwhile: str) -> None:
        worker = self.serving.name if self.serving else ""
        self._log(
            "error",
            f'Worker "{worker}" {what} but it has no {name} handler; add '
            f"`async def {name}(self, {argument}, env=None, ctx=None)` to class Default. "
            f"{meanwhile}".rstrip(),
        )

    def _gone(self) -> None:
        """No child serves."""
        self._objects.suspend()
        self._suspend()

    def _suspend(self) -> None:
        if self.serving is not None:
            self._shared.broker.serve(self.serving.name, None)

    # -- Queues -----------------------------------------------------------------------------------

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
        try:
            result = await process.queue(batch.queue, messages, figures)
        except ChildDiedError as error:
            self._shared.tell(DeliveryFailed(batch.queue, str(error)))
            return BatchResult("exception")
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

    # -- Cron -------------------------------------------------------------------------------------

    async def scheduled(self, cron: str, time_ms: int) -> tuple[str, bool]:
        """Run the scheduled handler: its outcome ("ok" or "exception"), and noRetry."""
        try:
            process = await self.supervisor.current(wait_s=START_WAIT_S)
            outcome, no_retry, report = await process.scheduled(cron, time_ms)
        except (ChildDiedError, Unavailable) as error:
            outcome, no_retry, report = "exception", False, str(error)
        if report:
            self._log("error", f'Handler of cron "{cron}" failed\n{report}')
        return outcome, no_retry

    async def _fire(self, cron: str, time_ms: int) -> None:
        started_ms = self._shared.clock.now_ms()
        outcome, _ = await self.scheduled(cron, time_ms)
        duration_ms = self._shared.clock.now_ms() - started_ms
        self._log("info", f'CRON "{cron}" {outcome} ({duration_ms}ms)')
