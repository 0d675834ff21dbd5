"""From a frame to the user's handler and back: requests, batches, cron ticks.

Argument and result conversion is the SDK's own. Rules: python-workers-runtime 1.3.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.port import Metrics
from tsumugi_emulator.bindings.queue_batch import QueueController, Settlement
from tsumugi_emulator.bindings.scheduled import ScheduledController
from tsumugi_emulator.javascript.depth import depth_of
from tsumugi_emulator.javascript.errors import JsException, type_error
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.wait_until import ExecutionContext
from tsumugi_emulator.javascript.web.request import Request
from tsumugi_emulator.javascript.web.response import Response as JsResponse
from tsumugi_emulator.javascript.web.streams import ReadableStream
from tsumugi_emulator.tracebacks import report, summary
from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.no_response import not_a_response
from tsumugi_emulator.worker.outgoing import LENGTH, outgoing
from tsumugi_emulator.worker.program import HANDLER_ARGUMENTS, relaxed_arguments
from tsumugi_emulator.worker.sockets import Sockets
from tsumugi_emulator.worker.streaming import IncomingStream, OutgoingStream, StreamError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tsumugi_emulator.javascript.io_context import IoContext
    from tsumugi_emulator.javascript.values import JsObject
    from tsumugi_emulator.worker.channel import Channel
    from tsumugi_emulator.worker.events import EventRun, Events
    from tsumugi_emulator.worker.program import Program


class Dispatcher:
    """Runs events of one loaded program."""

    def __init__(
        self,
        program: Program,
        env: JsObject,
        channel: Channel,
        events: Events,
        *,
        exports: Callable[[], Any] | None = None,
    ) -> None:
        """``exports`` makes ``ctx.exports``, if there is one."""
        self._program = program
        self._env = env
        self._channel = channel
        self._events = events
        self._exports = exports
        self._requests: dict[int, EventRun] = {}
        self._batches: dict[int, EventRun] = {}
        self._incoming: dict[int, IncomingStream] = {}
        self._outgoing: dict[int, OutgoingStream] = {}
        self.sockets = Sockets(channel)
        from workers import python_from_rpc, python_to_rpc

        self._to_python: Callable[[Any], Any] = python_from_rpc
        self._to_javascript: Callable[[Any], Any] = python_to_rpc
        self._fetch_arity: int | None = None

    def frame_handlers(self) -> dict[type, Callable[[Any], None]]:
        """Which frames this dispatcher takes, and with which method."""
        return {
            frames.Fetch: self.fetch,
            frames.Queue: self.queue,
            frames.Scheduled: self.scheduled,
            frames.Cancel: self.cancel,
            frames.StreamChunk: self.chunk,
            frames.StreamCredit: self.credit,
            frames.StreamAbort: self.abort,
            **self.sockets.frame_handlers(),
        }

    # -- Calling user code ----------------------------------------------------------------------

    async def _call(self, context: IoContext, name: str, argument: Any) -> Any:
        """Call a handler as the runtime does and convert its result to JavaScript."""
        if self._program.entrypoint is None:
            return await self._call_function(context, name, argument)
        instance = self._program.entrypoint(self._context(context), self._env)
        method = getattr(instance, name, None)
        if method is None:
            raise type_error(f"Method {name} does not exist")
        value = self._to_python(argument)
        if name == "fetch":
            result = method(*self._fetch_arguments(method, value))
        else:
            extra = self._program.arity.get(name, HANDLER_ARGUMENTS)
            result = method(*(value, None, None)[:extra])
        return await self._answer(name, method, result)

    def _context(self, event: IoContext) -> ExecutionContext:
        return ExecutionContext(event, None, self._exports)

    def _fetch_arguments(self, method: Any, request: Any) -> tuple[Any, ...]:
        if self._fetch_arity is None:
            self._fetch_arity = len(relaxed_arguments(method, (request, None, None)))
        return (request, None, None)[: self._fetch_arity]

    async def _call_function(self, context: IoContext, name: str, argument: Any) -> Any:
        """Legacy top-level ``on_*``: relaxed, raw arguments, the real env and ctx."""
        function = self._program.functions.get(name)
        if function is None:
            raise type_error(f"Method on_{name} does not exist")
        arguments = (argument, self._env, self._context(context))
        result = function(*relaxed_arguments(function, arguments))
        return await self._answer(name, function, result)

    async def _answer(self, name: str, handler: Any, result: Any) -> Any:
        if inspect.isawaitable(result):
            result = await result
        converted = self._to_javascript(result)
        if name == "fetch" and not isinstance(converted, JsResponse):
            raise not_a_response(handler, result)
        return converted

    # -- fetch ------------------------------------------------------------------------------------

    def fetch(self, frame: frames.Fetch) -> None:
        stream_id = frame.id
        incoming: IncomingStream | None = None
        if frame.more:
            # Before the handler's first step: its chunks may be in the same read as this frame.
            incoming = self._incoming[stream_id] = IncomingStream(stream_id, self._channel)
            incoming.feed(frame.body, more=True)

        async def handler(context: IoContext) -> Any:
            body: Any = frame.body or None
            if incoming is not None:
                body = ReadableStream._from_source(incoming.chunks(context))
                body._expected_length = _length_in(frame.headers)
            request = Request._from_wire(frame.method, frame.url, list(frame.headers), body)
            return await self._call(context, "fetch", request)

        def on_result(response: Any, error: BaseException | None) -> None:
            if error is not None:
                self._channel.send(frames.Failed(stream_id, report(error), summary(error)))
                return
            if response._web_socket is not None:
                self._upgrade(frame, response)
            else:
                self._respond(stream_id, response, frame.method)

        def on_end(_error: BaseException | None) -> None:
            self._requests.pop(stream_id, None)
            self._incoming.pop(stream_id, None)
            self._outgoing.pop(stream_id, None)

        self._requests[stream_id] = self._events.run(
            "fetch", handler, on_result, on_end, depth=depth_of(frame.headers)
        )

    def _upgrade(self, request: frames.Fetch, response: JsResponse) -> None:
        try:
            self.sockets.upgrade(self._requests[request.id], request, response)
        except JsException as error:
            self._channel.send(frames.Failed(request.id, report(error), summary(error)))

    def _respond(self, stream_id: int, response: JsResponse, method: str) -> None:
        headers, body, chunks = outgoing(response, method)
        status, text = response._status, response._status_text
        more = chunks is not None
        self._channel.send(frames.Response(stream_id, status, text, headers, body, more))
        if chunks is not None:
            run = self._requests[stream_id]
            task = asyncio.ensure_future(
                self._stream(chunks, response._body, run.context, stream_id)
            )
            run.context.tasks.discard(task)
            run.hold(task)

    async def _stream(
        self, chunks: AsyncIterator[bytes], body: Any, context: IoContext, stream_id: int
    ) -> None:
        outgoing = self._outgoing[stream_id] = OutgoingStream(stream_id, self._channel)
        try:
            async for chunk in chunks:
                context.begin()
                try:
                    await outgoing.send(chunk, more=True)
                finally:
                    context.finish()
            await outgoing.send(b"", more=False)
        except StreamError as error:
            with contextlib.suppress(JsException):  # the source has failed by itself
                await body._cancel(str(error))
        except BaseException as error:
            # Told here, with the request it belongs to, and not once more by the event.
            self._channel.send(frames.StreamAbort(stream_id, report(self._cause(stream_id, error))))

    def _cause(self, stream_id: int, error: BaseException) -> BaseException:
        run = self._requests.get(stream_id)
        return error if run is None else run.cause(error)

    def chunk(self, frame: frames.StreamChunk) -> None:
        incoming = self._incoming.get(frame.id)
        if incoming is not None:
            incoming.feed(frame.data, more=frame.more)

    def credit(self, frame: frames.StreamCredit) -> None:
        outgoing = self._outgoing.get(frame.id)
        if outgoing is not None:
            outgoing.credit(frame.size)

    def abort(self, frame: frames.StreamAbort) -> None:
        """The client disconnected: its body ends, its response has no reader."""
        if (incoming := self._incoming.get(frame.id)) is not None:
            incoming.abort(frame.reason)
        if (outgoing := self._outgoing.get(frame.id)) is not None:
            outgoing.abort(frame.reason)
        elif (run := self._requests.get(frame.id)) is not None:
            run.cancel()

    # -- queue ------------------------------------------------------------------------------------

    def queue(self, frame: frames.Queue) -> None:
        settlements: list[Settlement] = []

        async def handler(context: IoContext) -> Any:
            settlement = Settlement(context)
            settlements.append(settlement)
            metrics = Metrics(frame.backlog_count, frame.backlog_bytes, frame.oldest_timestamp_ms)
            batch = QueueController(settlement, frame.queue, frame.messages, metrics)
            return await self._call(context, "queue", batch)

        def settle(error: BaseException | None) -> None:
            self._batches.pop(frame.id, None)
            settlement = settlements[0] if settlements else None
            self._channel.send(_queue_result(frame.id, settlement, error))

        if MODE.flag("queue_consumer_no_wait_for_wait_until"):
            run = self._events.run("queue", handler, lambda _result, error: settle(error))
        else:
            run = self._events.run("queue", handler, lambda _result, _error: None, settle)
        self._batches[frame.id] = run

    def cancel(self, frame: frames.Cancel) -> None:
        """The batch ran out of time; what it settled so far is reported as usual."""
        run = self._batches.get(frame.id)
        if run is not None:
            run.give_up()

    # -- scheduled --------------------------------------------------------------------------------

    def scheduled(self, frame: frames.Scheduled) -> None:
        controller = ScheduledController(frame.cron, frame.scheduled_time_ms)

        async def handler(context: IoContext) -> Any:
            return await self._call(context, "scheduled", controller)

        def on_end(error: BaseException | None) -> None:
            text = "" if error is None else report(error)
            self._channel.send(
                frames.OperationDone(
                    frame.id, ["exception" if text else "ok", controller._no_retry, text], None
                )
            )

        self._events.run("scheduled", handler, lambda _result, _error: None, on_end)


def _queue_result(
    batch_id: int, settlement: Settlement | None, error: BaseException | None
) -> frames.QueueResult:
    outcome = "ok" if error is None else "exception"
    text = "" if error is None else report(error)
    if settlement is None:
        return frames.QueueResult(batch_id, outcome, False, False, None, [], [], text)
    return frames.QueueResult(
        batch_id,
        outcome,
        settlement.ack_all,
        settlement.retry_all,
        settlement.retry_all_delay_s,
        list(settlement.explicit_acks),
        list(settlement.retries.items()),
        text,
    )


def _length_in(headers: list[tuple[str, str]]) -> int | None:
    """What the client said of the length of a request's body."""
    text = next((value for name, value in headers if name == LENGTH), "")
    return int(text) if text.isdigit() else None
