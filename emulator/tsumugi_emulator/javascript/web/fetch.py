"""``fetch``: requests to the outside, over httpx with HTTP/1.1 and kept-alive connections.

Cloudflare's own option ``cf`` has no meaning here and is ignored.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import depth, io_context
from tsumugi_emulator.javascript.errors import connection_lost, js_error, type_error
from tsumugi_emulator.javascript.functions import JsFunction
from tsumugi_emulator.javascript.futures import PyodideFuture, settle_with
from tsumugi_emulator.javascript.promise import promise_of, rejected
from tsumugi_emulator.javascript.values import jsnull
from tsumugi_emulator.javascript.web.headers import Headers
from tsumugi_emulator.javascript.web.members import member
from tsumugi_emulator.javascript.web.request import USED_TEXT, Request
from tsumugi_emulator.javascript.web.response import NULL_BODY_STATUSES, Response
from tsumugi_emulator.javascript.web.streams import ReadableStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

    from tsumugi_emulator.javascript.io_context import IoContext
    from tsumugi_emulator.javascript.web.abort import AbortSignal


#: The runtime follows this many redirects (Fetch standard, HTTP-redirect fetch).
MAX_REDIRECTS = 20

#: Set by the connection or the runtime, not by the caller.
_NOT_THE_CALLERS = frozenset(
    {
        "connection", "content-length", "host", "keep-alive", "transfer-encoding", "upgrade",
        depth.HEADER,
    }
)  # fmt: skip

#: The running loop and its client. A client's connections belong to one loop.
_client: list[tuple[asyncio.AbstractEventLoop, httpx.AsyncClient]] = []

#: Connections being closed: the loop itself keeps no task alive.
_closing: set[asyncio.Future[None]] = set()


def _fetch(source: Any = None, init: Any = None) -> PyodideFuture:
    """Every error, also of the arguments, is the promise's."""
    fetcher = member(init, "fetcher")
    if isinstance(fetcher, JsFunction):
        # An older pyfetch passes a service binding's fetch along as an option.
        answer: PyodideFuture = fetcher._call(source, init)
        return answer
    try:
        request = _request_of(source, init)
        event = io_context.require()
        signal = request._signal
        if signal is not None and signal._aborted:
            raise signal._error()
    except Exception as error:
        return rejected(error)
    future = _arriving(promise_of(_abortable(request, event, signal)), event)
    event.track(future)
    return future


def _arriving(answer: PyodideFuture, event: IoContext) -> PyodideFuture:
    """The answer as input to its event: a Durable Object takes it when it is its turn."""
    if event.gate is None:
        return answer
    arrived = PyodideFuture(loop=answer.get_loop())
    resume = event.resumer()
    answer.add_done_callback(lambda _: resume(lambda: settle_with(arrived, answer)))
    return arrived


fetch = JsFunction(_fetch, "fetch", 1)


def _request_of(source: Any, init: Any) -> Request:
    if isinstance(source, Request) and (init is None or init is jsnull):
        if source._is_used():
            raise type_error(USED_TEXT)
        return source
    return Request._construct(source, init)


async def _abortable(request: Request, event: IoContext, signal: AbortSignal | None) -> Response:
    """Send, unless and until the signal aborts."""
    sending = asyncio.ensure_future(_send(request, event))

    def stop() -> None:
        sending.cancel()

    if signal is not None:
        signal._on_abort.append(stop)
    try:
        return await sending
    except asyncio.CancelledError:
        if signal is not None and signal._aborted:
            raise signal._error() from None
        raise
    finally:
        if signal is not None and stop in signal._on_abort:
            signal._on_abort.remove(stop)


async def _send(request: Request, event: IoContext) -> Response:
    if _wants_upgrade(request):
        from tsumugi_emulator.javascript.web.websocket_client import fetch_upgrade

        return await fetch_upgrade(request)
    import httpx

    try:
        reply = await _exchange(request)
    except (httpx.UnsupportedProtocol, httpx.InvalidURL):
        raise type_error(f"Fetch API cannot load: {request._url}") from None
    except httpx.TooManyRedirects:
        raise js_error("Error", "Too many redirects.") from None
    except httpx.StreamError:
        raise type_error(
            "A request with a one-time-use body (it was initialized from a stream, not a buffer) "
            "encountered a redirect requiring the body to be retransmitted. To avoid this error in "
            "the future, construct this request from a buffer-like body initializer."
        ) from None
    except httpx.TransportError:
        raise connection_lost() from None
    return await _response_of(request, reply, event)


def _wants_upgrade(request: Request) -> bool:
    return any(
        name == "upgrade" and value.lower() == "websocket"
        for name, value in request._headers._pairs
    )


async def _exchange(request: Request) -> httpx.Response:
    client = _client_of_loop()
    body = request._body
    request._body_used = body is not None
    headers = [pair for pair in request._headers._pairs if pair[0] not in _NOT_THE_CALLERS]
    headers += depth.header_for(request._url)
    content: bytes | AsyncIterator[bytes] | None = body if isinstance(body, bytes) else None
    if isinstance(body, ReadableStream):
        content = body._chunks()
        if body._expected_length is not None:
            headers.append(("content-length", str(body._expected_length)))
    outgoing = client.build_request(
        request._method, request._url.partition("#")[0], headers=headers, content=content
    )
    return await client.send(outgoing, stream=True, follow_redirects=request._redirect == "follow")


def _client_of_loop() -> httpx.AsyncClient:
    import httpx

    loop = asyncio.get_running_loop()
    if _client and _client[0][0] is loop:
        return _client[0][1]
    client = httpx.AsyncClient(
        timeout=None,  # fetch has no time limit of its own
        max_redirects=MAX_REDIRECTS,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=100),
    )
    client.headers["accept-encoding"] = "gzip"
    for name in ("accept", "user-agent"):
        del client.headers[name]
    _client[:] = [(loop, client)]
    return client


def open_connections() -> int:
    """Sockets the client holds on the running loop, in use or kept for the next request."""
    pools = [
        getattr(client._transport, "_pool", None)
        for loop, client in _client
        if loop is asyncio.get_running_loop()
    ]
    return sum(len(pool.connections) for pool in pools if pool is not None)


async def close_client() -> None:
    """Close the running loop's idle connections."""
    if _client and _client[0][0] is asyncio.get_running_loop():
        await _client.pop()[1].aclose()


async def _response_of(request: Request, reply: httpx.Response, event: IoContext) -> Response:
    pairs = [(name.lower(), value) for name, value in reply.headers.multi_items()]
    bodiless = request._method == "HEAD" or reply.status_code in NULL_BODY_STATUSES
    body: ReadableStream | None = None
    if bodiless:
        await reply.aclose()
    else:
        body = ReadableStream._from_source(_chunks_of(reply, request._signal))
        length = reply.headers.get("content-length", "")
        if length.isdigit() and not _is_compressed(reply):
            body._expected_length = int(length)
        event.on_end.append(lambda: _abandon(reply))
    response = Response(body, Headers._from_pairs(pairs, immutable=True))
    response._status = reply.status_code
    response._status_text = reply.reason_phrase
    response._url = str(reply.url)
    response._redirected = bool(reply.history)
    return response


def _abandon(reply: httpx.Response) -> None:
    """Close the connection of a body the event ended without reading."""
    if not reply.is_closed:
        task = asyncio.ensure_future(reply.aclose())
        _closing.add(task)
        task.add_done_callback(_closing.discard)


def _is_compressed(reply: httpx.Response) -> bool:
    encoding: str = reply.headers.get("content-encoding", "")
    return encoding.lower() == "gzip"


async def _chunks_of(reply: httpx.Response, signal: AbortSignal | None) -> AsyncIterator[bytes]:
    import httpx

    try:
        # Only gzip is undone; what else a server says of its content is for the Worker.
        async for chunk in reply.aiter_bytes() if _is_compressed(reply) else reply.aiter_raw():
            if signal is not None and signal._aborted:
                raise signal._error()
            yield chunk
    except httpx.DecodingError:
        raise js_error("Error", "Decompression failed.") from None
    except (httpx.TransportError, httpx.StreamError):
        raise connection_lost() from None
    finally:
        await reply.aclose()


__all__ = ["close_client", "fetch", "open_connections"]
