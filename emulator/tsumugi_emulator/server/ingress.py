"""HTTP in: an ASGI application that hands each request to the child and streams its answer.

One hop, no framework: this is the hot path of every request. Not here: the listening socket
(``server.listener``) and what the Worker does with the request.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.server.error_page import error_response
from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.streaming import WINDOW_BYTES
from tsumugi_emulator.worker.supervisor import Unavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from tsumugi_emulator.socket_services import SocketServices
    from tsumugi_emulator.worker.process import ChildDiedError, WorkerProcess

type Receive = Callable[[], Awaitable[dict[str, Any]]]
type Send = Callable[[dict[str, Any]], Awaitable[None]]

#: A request without a body is watched for its client's disconnect from then on.
WATCH_AFTER_S = 0.05
#: How long a request waits for a Worker that is starting.
START_WAIT_S = 30.0

#: What the runtime's URL parser changes: dot segments, backslashes, what is to be encoded.
_UNUSUAL = re.compile(r"""[\\"'<>^`{}]|/\.|%2[eE]""")

#: Never forwarded to the client: the server frames the body itself (RFC 9110, 7.6.1) and says when
#: it answered, as Cloudflare's does; an answer passed on from elsewhere has a date already.
OWN_HEADERS = frozenset({"connection", "date", "keep-alive", "transfer-encoding", "upgrade"})

#: What a client is told whose request was under way.
STOPPED = ("tsumugi dev was stopped", "The Worker had not answered this request yet.")
_CANCELLED = "asyncio.exceptions.CancelledError"


class ResponseCutError(Exception):
    """The answer cannot be completed: its connection must end, so that the client notices."""


class Backend(Protocol):
    async def current(self, *, wait_s: float) -> WorkerProcess: ...

    @property
    def serving(self) -> WorkerProcess | None: ...


class Ingress:
    def __init__(
        self, backend: Backend, log: Callable[[str, str], None], sockets: SocketServices
    ) -> None:
        self._backend = backend
        self._log = log
        self._sockets = sockets

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            await self._serve(scope, receive, send)

    async def _serve(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        process = self._backend.serving
        if process is None:
            try:
                process = await self._backend.current(wait_s=START_WAIT_S)
            except Unavailable as error:
                await error_response(scope, send, "The Worker failed to start", str(error))
                return
        if scope["type"] == "http":
            exchange = Exchange(process, scope, receive, send, self._log)
        else:
            from tsumugi_emulator.server.upgrade import Upgrade

            exchange = Upgrade(process, scope, receive, send, self._log, self._sockets)
        await exchange.run()


def request_url(scope: dict[str, Any], headers: list[tuple[str, str]]) -> str:
    host = next((value for name, value in headers if name == "host"), "localhost")
    path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
    query = scope["query_string"]
    if not path.startswith("/"):
        path = "/" + path.partition("://")[2].partition("/")[2]  # absolute-form request target
    url = f"{scope['scheme']}://{host}{path}"
    if query:
        url = f"{url}?{query.decode('latin-1')}"
    return _normalized(url) if _UNUSUAL.search(url) else url


def _normalized(url: str) -> str:
    from ada_url import URL  # most requests do not need it

    try:
        href: str = URL(url).href
    except ValueError:
        return url  # the host is no host, which is for the Worker to judge
    return href


class _Later:
    """A coroutine started after a delay, so that quick answers never pay for it."""

    __slots__ = ("_coro", "_task", "_timer")

    def __init__(self, coro: Coroutine[Any, Any, None], delay_s: float) -> None:
        self._coro = coro
        self._task: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._start)

    def _start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._coro)

    def cancel(self) -> None:
        self._timer.cancel()
        if self._task is None:
            self._coro.close()
        else:
            self._task.cancel()


class Exchange:
    """One request and its answer."""

    __slots__ = (
        "_answer",
        "_disconnected",
        "_log",
        "_process",
        "_queue",
        "_receive",
        "_request_id",
        "_room",
        "_scope",
        "_send",
        "_wake",
    )

    def __init__(
        self,
        process: WorkerProcess,
        scope: dict[str, Any],
        receive: Receive,
        send: Send,
        log: Callable[[str, str], None],
    ) -> None:
        self._process = process
        self._scope = scope
        self._receive = receive
        self._send = send
        self._log = log
        self._request_id = 0
        #: The first frame of the answer.
        self._answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        #: Body frames after it.
        self._queue: list[Any] = []
        self._wake: asyncio.Future[None] | None = None
        self._room = WINDOW_BYTES
        self._disconnected = False

    # -- FetchSink --------------------------------------------------------------------------------

    def on_frame(self, frame: Any) -> None:
        if isinstance(frame, frames.StreamCredit):
            self._room += frame.size
        elif not self._answer.done():
            self._answer.set_result(frame)
            return
        else:
            self._queue.append(frame)
        self._signal()

    def on_death(self, error: ChildDiedError) -> None:
        if not self._answer.done():
            self._answer.set_result(error)
        else:
            self._queue.append(frames.StreamAbort(self._request_id, str(error)))
            self._signal()

    def _signal(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def _wait(self) -> None:
        # One future for both who wait, for room and for frames: replacing it would forget one.
        if self._wake is None or self._wake.done():
            self._wake = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._wake)

    # -- The exchange -----------------------------------------------------------------------------

    async def run(self) -> None:
        scope = self._scope
        headers = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in scope["headers"]]
        body, more = b"", False
        if _has_body(headers):
            first = await self._receive()
            body, more = first.get("body", b""), first.get("more_body", False)
        self._request_id = self._process.fetch(
            self, scope["method"], request_url(scope, headers), headers, body, more=more
        )
        self._room -= len(body)
        watch = _Later(self._watch_client(more), 0.0 if more else WATCH_AFTER_S)
        try:
            await self._respond(await self._answer)
        except asyncio.CancelledError:
            # The listener stops, and its grace was not enough.
            if not self._answer.cancelled():
                raise
            await error_response(self._scope, self._send, *STOPPED, status=503)
        finally:
            watch.cancel()
            self._process.forget(self._request_id)

    async def _watch_client(self, more: bool) -> None:
        """Forward the rest of the request's body, then notice when the client goes away."""
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self._disconnected = True
                self._process.send(frames.StreamAbort(self._request_id, "The client disconnected."))
                self._signal()
                return
            if more:
                more = message.get("more_body", False)
                data = message.get("body", b"")
                self._room -= len(data)
                self._process.send(frames.StreamChunk(self._request_id, data, more))
                while self._room <= 0 and more:
                    await asyncio.sleep(0)
                    if self._room <= 0:
                        await self._wait()

    async def _respond(self, answer: Any) -> None:
        match answer:
            case frames.Response():
                await self._start(answer)
                if answer.more:
                    await self._stream()
            case frames.Failed(report=report, summary=summary):
                self._tell_failure(report, summary)
                await error_response(self._scope, self._send, summary, report)
            case error:
                await error_response(
                    self._scope,
                    self._send,
                    "Your Worker stopped during the request",
                    f"{error}. The request was not completed; the Worker is being started again.",
                    status=503,
                )

    def _tell_failure(self, report: str, summary: str) -> None:
        where = f"{self._scope['method']} {self._scope['path']}"
        if self._disconnected and summary == _CANCELLED:
            self._log("warn", f"{where} was cancelled: its client disconnected\n{report}")
        else:
            self._log("error", f"{where} failed\n{report}")

    async def _start(self, answer: frames.Response) -> None:
        headers = [
            (name.encode("latin-1"), value.encode("latin-1", "replace"))
            for name, value in answer.headers
            if name not in OWN_HEADERS
        ]
        if (
            not answer.more
            and answer.status not in (204, 304)
            and not _named(headers, b"content-length")
        ):
            headers.append((b"content-length", str(len(answer.body)).encode()))
        await self._send(
            {"type": "http.response.start", "status": answer.status, "headers": headers}
        )
        await self._send(
            {"type": "http.response.body", "body": answer.body, "more_body": answer.more}
        )

    async def _stream(self) -> None:
        while True:
            while not self._queue and not self._disconnected:
                await self._wait()
            if self._disconnected:
                return
            frame = self._queue.pop(0)
            if isinstance(frame, frames.StreamAbort):
                scope = self._scope
                where = f"{scope['method']} {scope['path']}"
                self._log("error", f"{where}: the response was cut short\n{frame.reason}")
                raise ResponseCutError(where)
            await self._send(
                {"type": "http.response.body", "body": frame.data, "more_body": frame.more}
            )
            if not frame.more:
                return
            self._process.send(frames.StreamCredit(self._request_id, len(frame.data)))


def _has_body(headers: list[tuple[str, str]]) -> bool:
    return any(
        name == "transfer-encoding" or (name == "content-length" and value != "0")
        for name, value in headers
    )


def _named(headers: list[tuple[bytes, bytes]], name: bytes) -> bool:
    return any(key == name for key, _ in headers)
