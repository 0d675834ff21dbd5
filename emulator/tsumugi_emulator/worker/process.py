"""One worker child as the supervisor sees it: a process, its channel, what it is working on.

Every question asked of the child is answered: by its frame, or by :class:`ChildDiedError` when
the process goes away. Not here: when to start or replace a child (``supervisor``).
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import signal
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.channel import Channel
from tsumugi_emulator.worker.lifeline import BORROW
from tsumugi_emulator.worker.link_frames import Connect, Disconnect, Relay, Splice
from tsumugi_emulator.worker.socket_frames import SOCKET_FRAMES
from tsumugi_emulator.worker.spawn import spawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.worker.spawn import Spawned, WarmOptions


#: How long a handler that is out of time may take to stop before its process is killed.
CANCEL_GRACE_S = 0.5


#: Production's default limit of CPU time: code that has not let its event loop turn for so long is
#: ended there too.
HOLD_LIMIT_S = 30.0
#: How often that is looked at while there is work in flight.
PING_EVERY_S = 5.0


#: Of requests, batches and WebSockets. A WebSocket may outlive its process: no two share a number.
_ids = itertools.count(1)


class ChildDiedError(Exception):
    """The worker process ended while it was working on this."""


class FetchSink(Protocol):
    """Receives the frames of one request's answer, in order."""

    def on_frame(self, frame: frames.Frame) -> None: ...

    def on_death(self, error: ChildDiedError) -> None: ...


class Operator(Protocol):
    """Answers the operations a child asks for."""

    def sends(self, frame: frames.Sends, process: WorkerProcess) -> None: ...

    def metrics(self, frame: frames.QueueMetrics, process: WorkerProcess) -> None: ...

    def log(self, level: str, text: str) -> None: ...

    def objects(self, frame: frames.Frame, process: WorkerProcess) -> None:
        """A frame about the child's Durable Objects."""

    def sockets(self, frame: Any, process: WorkerProcess) -> None:
        """A frame about a WebSocket."""

    def links(self, frame: frames.Frame, process: WorkerProcess) -> None: ...

    def gone(self, process: WorkerProcess) -> None:
        """The process has ended; nothing it held is held any more."""

    def borrow_terminal(self, process: WorkerProcess) -> None: ...

    def give_terminal_back(self, process: WorkerProcess) -> None: ...


class WorkerProcess:
    """A child from spawn to exit."""

    def __init__(self, spawned: Spawned) -> None:
        self._popen = spawned.started.popen
        self._lifeline = spawned.started.lifeline
        self._channel: Channel = None  # type: ignore[assignment]  # set by adopt()
        self.operator: Operator | None = None
        self._debugging = False
        self._sinks: dict[int, FetchSink] = {}
        self._futures: dict[int, asyncio.Future[Any]] = {}
        self._booted: asyncio.Future[frames.Ready | frames.BootFailed] | None = None
        self._watchdog: asyncio.TimerHandle | None = None
        self._unanswered_since: float | None = None
        self._end_reason: str | None = None
        self.options = spawned.options
        self.warm = asyncio.Event()
        self.exited = asyncio.Event()
        #: Calls of other Workers, and WebSockets, that it works on.
        self.linked = 0
        self.on_exit: Callable[[WorkerProcess], None] | None = None

    @classmethod
    async def adopt(cls, spawned: Spawned) -> WorkerProcess:
        """Talk to a child that was spawned."""
        process = cls(spawned)
        process._channel = await Channel.open(
            spawned.started.channel, process._on_frame, process._on_close
        )
        process._lifeline.setblocking(False)
        asyncio.get_running_loop().add_reader(process._lifeline, process._on_lifeline)
        return process

    @classmethod
    async def start(cls, options: WarmOptions) -> WorkerProcess:
        return await cls.adopt(spawn(options))

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def alive(self) -> bool:
        return not self.exited.is_set()

    @property
    def busy(self) -> int:
        """Requests, batches, calls of other Workers and WebSockets in flight."""
        return len(self._sinks) + len(self._futures) + self.linked

    # -- Asking ---------------------------------------------------------------------------------

    async def boot(
        self, worker: dict[str, Any], operator: Operator
    ) -> frames.Ready | frames.BootFailed:
        """Make the child become a Worker.

        Raises:
            ChildDiedError: the process ended while importing the user's code.
        """
        self.operator = operator
        self._booted = asyncio.get_running_loop().create_future()
        self._channel.send(frames.Boot(worker))
        return await self._booted

    def fetch(
        self, sink: FetchSink, method: str, url: str, headers: Any, body: bytes, *, more: bool
    ) -> int:
        """Start a request; its answer arrives at ``sink``. Returns its id for body frames."""
        request_id = next(_ids)
        if not self.alive:
            sink.on_death(self._death())
            return request_id
        self._sinks[request_id] = sink
        self._watch_loop()
        self._channel.send(frames.Fetch(request_id, method, url, headers, body, more))
        return request_id

    def call(self, frame: Connect) -> None:
        """Begin a call of another Worker; ``linked`` counts it until its link is over."""
        self.linked += 1
        self._watch_loop()
        self._channel.send(frame)

    def forget(self, request_id: int) -> None:
        """The request's answer is complete or no longer wanted."""
        self._sinks.pop(request_id, None)

    def send(self, frame: frames.Frame) -> None:
        self._channel.send(frame)

    async def drain(self) -> None:
        """Wait until the child reads what was sent to it."""
        await self._channel.drain()

    async def queue(
        self, queue: str, messages: Any, metrics: tuple[int, int, int]
    ) -> frames.QueueResult:
        """Deliver a batch and wait for what its handler decided.

        Cancelling it asks the handler to stop; a child that cannot even do that is killed.

        Raises:
            ChildDiedError: the process ended first.
        """
        batch_id = next(_ids)
        question = frames.Queue(batch_id, queue, messages, *metrics)
        answer = asyncio.ensure_future(self._ask(batch_id, question))
        try:
            result: frames.QueueResult = await asyncio.shield(answer)
        except asyncio.CancelledError:
            self._channel.send(frames.Cancel(batch_id))
            try:
                async with asyncio.timeout(CANCEL_GRACE_S):
                    result = await asyncio.shield(answer)
            except TimeoutError:
                self.kill()
                raise
        return result

    async def scheduled(self, cron: str, time_ms: int) -> tuple[str, bool, str]:
        """Run the scheduled handler: outcome, noRetry, traceback."""
        event_id = next(_ids)
        done = await self._ask(event_id, frames.Scheduled(event_id, cron, time_ms))
        outcome, no_retry, report = done.result
        return outcome, no_retry, report

    async def alarm(
        self, namespace: str, object_id: str, scheduled_ms: int, retry_count: int
    ) -> None:
        """Run an object's alarm; its outcome is recorded when this returns.

        Raises:
            ChildDiedError: the process ended first.
        """
        event_id = next(_ids)
        await self._ask(
            event_id, frames.Alarm(event_id, namespace, object_id, scheduled_ms, retry_count)
        )

    async def _ask(self, question: int, frame: frames.Frame) -> Any:
        if not self.alive:
            raise self._death()
        future = asyncio.get_running_loop().create_future()
        self._futures[question] = future
        self._watch_loop()
        self._channel.send(frame)
        try:
            return await future
        finally:
            self._futures.pop(question, None)

    # -- Ending ---------------------------------------------------------------------------------

    def retire(self) -> None:
        """Let the child finish what it has and exit by itself."""
        self._channel.send(frames.Drain())

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._popen.send_signal(signal.SIGKILL)

    async def stop(self) -> None:
        """End the process now: nothing it holds is worth waiting for."""
        if self.alive:
            self.kill()
            await self.exited.wait()

    # -- Code that never waits --------------------------------------------------------------------

    def _watch_loop(self) -> None:
        """See to it that the child's event loop turns as long as there is work in flight."""
        if self._watchdog is None:
            loop = asyncio.get_running_loop()
            self._watchdog = loop.call_later(PING_EVERY_S, self._check_loop)

    def _check_loop(self) -> None:
        self._watchdog = None
        now = asyncio.get_running_loop().time()
        if self._unanswered_since is None:
            if not self.busy or not self.alive:
                return
            self._unanswered_since = now
            self._channel.send(frames.Ping())
        elif self._debugging:
            self._unanswered_since = now  # time stands still in a debugger
        elif now - self._unanswered_since >= HOLD_LIMIT_S:
            self._end_reason = (
                f"the Worker's code did not let its event loop turn for {HOLD_LIMIT_S:.0f} s, "
                "longer than production's limit of CPU time, and was ended"
            )
            self.kill()
            return
        self._watch_loop()

    # -- The terminal -----------------------------------------------------------------------------

    @property
    def debugging(self) -> bool:
        """Whether a debugger in the child has, or waits for, the terminal."""
        return self._debugging

    def grant_terminal(self) -> None:
        with contextlib.suppress(OSError):
            self._lifeline.send(b"!")

    def _on_lifeline(self) -> None:
        try:
            said = self._lifeline.recv(64)
        except BlockingIOError:
            return
        except OSError:
            said = b""
        if not said:  # the process is ending: _reap does the rest
            asyncio.get_running_loop().remove_reader(self._lifeline)
            return
        for byte in said:
            self._debugging = byte == ord(BORROW)
            if self.operator is not None:
                if self._debugging:
                    self.operator.borrow_terminal(self)
                else:
                    self.operator.give_terminal_back(self)

    def _cut_lifeline(self) -> None:
        asyncio.get_running_loop().remove_reader(self._lifeline)
        self._lifeline.close()
        self._debugging = False
        if self.operator is not None:
            self.operator.give_terminal_back(self)

    # -- Hearing --------------------------------------------------------------------------------

    def _on_frame(self, frame: frames.Frame) -> None:
        kind = type(frame)
        if kind is frames.Sends:
            self.operator.sends(frame, self)  # type: ignore[union-attr, arg-type]
        elif kind in (frames.Response, frames.StreamChunk, frames.StreamCredit, frames.Failed):
            self._to_sink(frame)
        elif kind in (frames.QueueResult, frames.OperationDone):
            future = self._futures.get(frame.id)  # type: ignore[union-attr]
            if future is not None and not future.done():
                future.set_result(frame)
        elif kind in SOCKET_FRAMES:
            self.operator.sockets(frame, self)  # type: ignore[union-attr]
        else:
            self._on_rare_frame(frame)

    def _to_sink(self, frame: Any) -> None:
        sink = self._sinks.get(frame.id)
        if sink is not None:
            sink.on_frame(frame)

    def _on_rare_frame(self, frame: frames.Frame) -> None:
        match frame:
            case Relay() | Connect() | Disconnect() | Splice():
                self.operator.links(frame, self)  # type: ignore[union-attr]
            case frames.QueueMetrics():
                self.operator.metrics(frame, self)  # type: ignore[union-attr]
            case frames.Log(level=level, text=text):
                self.operator.log(level, text)  # type: ignore[union-attr]
            case frames.AcquireObject() | frames.ReleaseObject() | frames.AlarmSet():
                self.operator.objects(frame, self)  # type: ignore[union-attr]
            case frames.StreamAbort():
                self._to_sink(frame)
            case frames.Pong():
                self._unanswered_since = None
            case frames.Warm():
                self.warm.set()
            case frames.Ready() | frames.BootFailed():
                if self._booted is not None and not self._booted.done():
                    self._booted.set_result(frame)
            case _:
                raise frames.FrameError(f"a supervisor does not take {type(frame).__name__}")

    def _on_close(self) -> None:
        asyncio.get_running_loop().create_task(self._reap())

    async def _reap(self) -> None:
        # The socket closes a moment before the process is a zombie; never block the loop on it.
        for _ in range(self._REAP_TRIES):
            if self._popen.poll() is not None:
                break
            await asyncio.sleep(self._REAP_PAUSE_S)
        else:
            self.kill()
            self._popen.wait()
        self.exited.set()
        self.warm.set()
        self._cut_lifeline()
        if self._watchdog is not None:
            self._watchdog.cancel()
        error = self._death()
        for future in self._futures.values():
            if not future.done():
                future.set_exception(error)
        sinks, self._sinks = list(self._sinks.values()), {}
        for sink in sinks:
            sink.on_death(error)
        if self._booted is not None and not self._booted.done():
            self._booted.set_exception(error)
        if self.on_exit is not None:
            self.on_exit(self)
        if self.operator is not None:
            self.operator.gone(self)

    _REAP_TRIES = 200
    _REAP_PAUSE_S = 0.005

    def _death(self) -> ChildDiedError:
        if self._end_reason is not None:
            return ChildDiedError(self._end_reason)
        code = self._popen.returncode
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return ChildDiedError(
                    f"the worker process was killed by {signal.Signals(-code).name}"
                )
        return ChildDiedError(f"the worker process exited with code {code}")
