"""``readable.pipeTo(writable)``: chunks from one stream to another, at the slower one's pace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.promise import promise_of, rejected
from tsumugi_emulator.javascript.strings import truthy
from tsumugi_emulator.javascript.web.members import member
from tsumugi_emulator.javascript.web.streams import END, ReadableStream, as_js_chunk
from tsumugi_emulator.javascript.web.writable import WritableStream

if TYPE_CHECKING:
    from tsumugi_emulator.javascript.futures import PyodideFuture
    from tsumugi_emulator.javascript.web.abort import AbortSignal


def pipe_to(source: ReadableStream, target: Any, options: Any) -> PyodideFuture:
    """Both streams stay locked until the pipe ends."""
    if not isinstance(target, WritableStream):
        return rejected(
            type_error(
                "Failed to execute 'pipeTo' on 'ReadableStream': parameter 1 is not of type "
                "'WritableStream'."
            )
        )
    if source._locked:
        return rejected(type_error("This ReadableStream is currently locked to a reader."))
    if target._locked:
        return rejected(type_error("This WritableStream is currently locked to a writer."))
    source._check_owner()
    source._lock()
    target._locked = True
    return promise_of(_pipe(source, target, options))


async def _pipe(source: ReadableStream, target: WritableStream, options: Any) -> None:
    signal: AbortSignal | None = member(options, "signal")
    try:
        await _copy(source, target, signal)
    except _SourceFailed as failure:
        if not truthy(member(options, "preventAbort")):
            await target._abort(failure.error)
        raise failure.error from None
    except Exception as error:
        if not truthy(member(options, "preventCancel")) and source._state == "readable":
            await source._cancel(error)
        if signal is not None and signal.aborted and not truthy(member(options, "preventAbort")):
            await target._abort(error)
        raise
    else:
        if not truthy(member(options, "preventClose")):
            await target._end()
    finally:
        source._locked = False
        target._locked = False


class _SourceFailed(Exception):
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


async def _copy(source: ReadableStream, target: WritableStream, signal: AbortSignal | None) -> None:
    last: PyodideFuture | None = None
    while True:
        if signal is not None:
            signal.throwIfAborted()
        await target._when_ready()
        try:
            chunk = await source._read(raw=True)
        except Exception as error:
            raise _SourceFailed(error) from error
        if chunk is END:
            break
        last = target._write(as_js_chunk(chunk))
    if last is not None:
        await last
