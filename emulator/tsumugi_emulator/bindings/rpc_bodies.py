"""Requests, responses and streams as they pass from one event to another in this process.

A body of bytes is shared. A stream is read in the event that made it and relayed, so that its
source runs where its code expects to, and the event lives until the last byte.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.errors import connection_lost, type_error
from tsumugi_emulator.javascript.web.request import USED_TEXT, Request
from tsumugi_emulator.javascript.web.response import Response
from tsumugi_emulator.javascript.web.streams import ReadableStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

BODIES = (Request, Response, ReadableStream)

#: Chunks read ahead of a slow reader.
RELAY_CHUNKS = 8

_END = object()


def hand_over(value: Any) -> Any:
    """The same request, response or stream for the other side; this side has used it up."""
    if isinstance(value, ReadableStream):
        return relay(value)
    return hand_over_request(value) if isinstance(value, Request) else hand_over_response(value)


def hand_over_request(source: Request) -> Request:
    if source._is_used():
        raise type_error(USED_TEXT)
    headers = list(source._headers._pairs)
    made = Request._from_wire(source._method, source._url, headers, _body(source), source._cf)
    made._redirect = source._redirect
    made._context = None
    return made


def hand_over_response(source: Response) -> Response:
    if source._is_used():
        raise type_error("Body has already been used. It can only be used once.")
    made = Response(_body(source), source._headers._copy())
    made._status, made._status_text = source._status, source._status_text
    made._cf, made._is_encoded = source._cf, source._is_encoded
    if source._web_socket is not None:
        made._web_socket = source._web_socket._handed_over()
    made._context = None
    return made


def _body(source: Any) -> Any:
    body = source._body
    if body is None or isinstance(body, bytes):
        return body
    source._body_used = True
    return relay(body)


def relay(stream: ReadableStream) -> ReadableStream:
    """A stream with the content of ``stream``, which is read in the running event."""
    event = io_context.require()
    chunks: asyncio.Queue[Any] = asyncio.Queue(RELAY_CHUNKS)

    async def read() -> None:
        try:
            async for chunk in stream._chunks():
                await chunks.put(chunk)
        except BaseException as error:
            await chunks.put(error)
        else:
            await chunks.put(_END)

    task = asyncio.ensure_future(read())
    event.wait_until.append(task)
    event.track(task)
    made = ReadableStream._from_source(_relayed(chunks, task))
    made._expected_length = stream._expected_length
    made._context = None
    return made


async def _relayed(chunks: asyncio.Queue[Any], reader: asyncio.Task[None]) -> AsyncIterator[bytes]:
    try:
        while (chunk := await _waited(chunks)) is not _END:
            if isinstance(chunk, asyncio.CancelledError):
                raise connection_lost()
            if isinstance(chunk, BaseException):
                raise chunk
            yield chunk
    finally:
        reader.cancel()


async def _waited(chunks: asyncio.Queue[Any]) -> Any:
    """The next chunk; waiting for it is pending I/O of the reader's event."""
    event = io_context.current()
    if event is None or not chunks.empty():
        return await chunks.get()
    event.begin()
    try:
        return await chunks.get()
    finally:
        event.finish()
