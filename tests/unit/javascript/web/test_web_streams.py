"""Streams: back-pressure, readers, tee, pipes, transforms."""

from __future__ import annotations

import asyncio
import gzip
from typing import TYPE_CHECKING, Any

import js
import pytest
from pyodide.ffi import JsException, create_proxy, to_js
from tsumugi_emulator.javascript.web.streams import ReadableStream
from workers import Response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from web_event import Event


def counted(chunks: list[bytes], asked: list[bytes]) -> AsyncIterator[bytes]:
    async def generate() -> AsyncIterator[bytes]:
        for chunk in chunks:
            asked.append(chunk)
            yield chunk

    return generate()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_a_source_is_asked_only_when_something_reads(event: Event) -> None:
    async def handler() -> None:
        asked: list[bytes] = []
        stream = ReadableStream._from_source(counted([b"a", b"b"], asked))
        await settle()
        assert asked == []
        reader = stream.getReader()
        assert (await reader.read()).value.to_bytes() == b"a"
        await settle()
        assert asked == [b"a"]
        assert (await reader.read()).value.to_bytes() == b"b"
        last = await reader.read()
        assert (last.done, last.value) == (True, None)

    event.run(handler)


def test_python_iterates_chunks_as_typed_arrays(event: Event) -> None:
    async def handler() -> None:
        stream = ReadableStream._from_source(counted([b"a", b"b"], []))
        assert [chunk.to_bytes() async for chunk in stream] == [b"a", b"b"]

    event.run(handler)


def test_chunks_for_the_wire_pass_untouched(event: Event) -> None:
    async def handler() -> None:
        chunk = b"same object"
        stream = ReadableStream._from_source(counted([chunk], []))
        seen = [part async for part in stream._chunks()]
        assert len(seen) == 1
        assert seen[0] is chunk

    event.run(handler)


def test_a_stream_has_one_reader_at_a_time(event: Event) -> None:
    async def handler() -> None:
        stream = ReadableStream._from_bytes(b"x")
        reader = stream.getReader()
        assert stream.locked
        with pytest.raises(JsException, match="currently locked to a reader"):
            stream.getReader()
        with pytest.raises(JsException, match="currently locked to a reader"):
            await stream.cancel()
        reader.releaseLock()
        with pytest.raises(JsException, match="reader has been released"):
            await reader.read()
        assert (await stream.getReader().read()).value.to_bytes() == b"x"

    event.run(handler)


def test_cancelling_closes_the_source(event: Event) -> None:
    async def handler() -> None:
        closed = []

        async def generate() -> AsyncIterator[bytes]:
            try:
                while True:
                    yield b"x"
            finally:
                closed.append(True)

        stream = ReadableStream._from_source(generate())
        reader = stream.getReader()
        await reader.read()
        await reader.cancel("enough")
        assert closed == [True]
        assert (await reader.read()).done

    event.run(handler)


def test_an_error_of_the_source_reaches_the_reader(event: Event) -> None:
    async def handler() -> None:
        async def generate() -> AsyncIterator[bytes]:
            yield b"x"
            raise JsException("Error", "Network connection lost.")

        response = Response(ReadableStream._from_source(generate()))
        with pytest.raises(OSError, match=r"Network connection lost\."):
            await response.text()

    event.run(handler)


def test_an_underlying_source_in_python_is_pulled_on_demand(event: Event) -> None:
    async def handler() -> None:
        pulls = []

        @create_proxy
        async def pull(controller: Any) -> None:
            pulls.append(controller.desiredSize)
            if len(pulls) == 3:
                controller.close()
            else:
                controller.enqueue(to_js(b"%d" % len(pulls)))

        stream = js.ReadableStream.new(pull=pull)
        await settle()
        assert len(pulls) == 1  # the default strategy reads one chunk ahead
        assert await Response(stream).text() == "12"

    event.run(handler)


def test_start_may_enqueue_and_errors_reach_the_consumer(event: Event) -> None:
    async def handler() -> None:
        def start(controller: Any) -> None:
            controller.enqueue(to_js(b"a"))
            controller.error("broken")

        reader = js.ReadableStream.new(start=create_proxy(start)).getReader()
        with pytest.raises(JsException, match="broken"):
            await reader.read()

    event.run(handler)


def test_a_bare_callback_is_dead_when_the_stream_pulls(event: Event) -> None:
    async def handler() -> None:
        bare = js.ReadableStream.new(pull=lambda controller: controller.close())
        with pytest.raises(OSError, match="automatically destroyed"):
            await Response(bare).text()

    event.run(handler)


def test_tee_gives_both_branches_everything(event: Event) -> None:
    async def handler() -> None:
        asked: list[bytes] = []
        first, second = ReadableStream._from_source(counted([b"a", b"b"], asked)).tee()
        assert await Response(first).text() == "ab"
        assert asked == [b"a", b"b"]
        assert await Response(second).text() == "ab"

    event.run(handler)


def test_a_cloned_streaming_response_is_read_twice(event: Event) -> None:
    async def handler() -> None:
        response = Response(ReadableStream._from_source(counted([b"a", b"b"], [])))
        copy = response.clone()
        assert await asyncio.gather(response.text(), copy.text()) == ["ab", "ab"]

    event.run(handler)


def test_a_write_waits_until_its_chunk_is_read(event: Event) -> None:
    async def handler() -> None:
        pair = js.TransformStream.new()
        writer = pair.writable.getWriter()
        written = writer.write(to_js(b"x"))
        await settle()
        assert not written.done()
        read = await pair.readable.getReader().read()
        assert read.value.to_bytes() == b"x"
        await written

    event.run(handler)


def test_reads_that_wait_are_served_by_writes(event: Event) -> None:
    async def handler() -> None:
        pair = js.TransformStream.new()
        reader, writer = pair.readable.getReader(), pair.writable.getWriter()
        reads = [reader.read(), reader.read(), reader.read()]
        await writer.write("any value")
        await writer.write(to_js([1]))
        await writer.close()
        results = [await read for read in reads]
        assert results[0].value == "any value"
        assert results[1].value.to_py() == [1]
        assert results[2].done
        await writer.closed

    event.run(handler)


def test_cancelling_the_readable_side_fails_the_writer(event: Event) -> None:
    async def handler() -> None:
        pair = js.TransformStream.new()
        writer = pair.writable.getWriter()
        waiting = writer.write(to_js(b"x"))
        await pair.readable.cancel(js.Error.new("gone"))
        with pytest.raises(JsException, match="gone"):
            await waiting
        with pytest.raises(JsException, match="gone"):
            await writer.write(to_js(b"y"))

    event.run(handler)


def test_aborting_the_writer_fails_the_reader(event: Event) -> None:
    async def handler() -> None:
        pair = js.TransformStream.new()
        reader = pair.readable.getReader()
        read = reader.read()
        await pair.writable.getWriter().abort(js.Error.new("stop"))
        with pytest.raises(JsException, match="stop"):
            await read

    event.run(handler)


def test_a_transformer_in_python_transforms(event: Event) -> None:
    async def handler() -> None:
        async def transform(chunk: Any, controller: Any) -> None:
            controller.enqueue(to_js(chunk.to_bytes().upper()))

        def flush(controller: Any) -> None:
            controller.enqueue(to_js(b"!"))

        transformer = {"transform": create_proxy(transform), "flush": create_proxy(flush)}
        pair = js.TransformStream.new(to_js(transformer))
        source = ReadableStream._from_source(counted([b"a", b"b"], []))
        assert await Response(source.pipeThrough(pair)).text() == "AB!"

    event.run(handler)


def test_pipe_to_writes_every_chunk_and_closes(event: Event) -> None:
    async def handler() -> None:
        seen: list[Any] = []
        sink = {
            "write": create_proxy(lambda chunk, controller: seen.append(chunk.to_bytes())),
            "close": create_proxy(lambda: seen.append("closed")),
        }
        target = js.WritableStream.new(to_js(sink))
        await ReadableStream._from_source(counted([b"a", b"b"], [])).pipeTo(target)
        assert seen == [b"a", b"b", "closed"]
        assert not target.locked

    event.run(handler)


def test_a_failing_sink_cancels_the_pipe(event: Event) -> None:
    async def handler() -> None:
        def write(chunk: Any, controller: Any) -> None:
            raise ValueError("disk full")

        target = js.WritableStream.new(to_js({"write": create_proxy(write)}))
        with pytest.raises(ValueError, match="disk full"):
            await ReadableStream._from_source(counted([b"a", b"b"], [])).pipeTo(target)

    event.run(handler)


def test_a_fixed_length_stream_holds_its_promise(event: Event) -> None:
    async def handler() -> None:
        pair = js.FixedLengthStream.new(2)
        writer = pair.writable.getWriter()
        reading = asyncio.ensure_future(Response(pair.readable).text())
        await writer.write(to_js(b"ab"))
        await writer.close()
        assert await reading == "ab"
        short = js.FixedLengthStream.new(2)
        with pytest.raises(JsException, match="did not see all expected bytes"):
            await short.writable.getWriter().close()

    event.run(handler)


def test_a_byob_reader_fills_the_view_it_is_given(event: Event) -> None:
    async def handler() -> None:
        reader = ReadableStream._from_bytes(b"abcde").getReader(mode="byob")
        sizes = []
        while not (result := await reader.read(js.Uint8Array.new(2))).done:
            sizes.append(result.value.to_bytes())
        assert sizes == [b"ab", b"cd", b"e"]

    event.run(handler)


def test_an_iterable_becomes_a_stream_but_texts_make_no_body(event: Event) -> None:
    async def handler() -> None:
        stream = js.ReadableStream.from_(to_js(["a", "b"]))
        assert [chunk async for chunk in stream] == ["a", "b"]
        with pytest.raises(OSError, match="did not return bytes"):
            await Response(js.ReadableStream.from_(to_js(["a"]))).text()

    event.run(handler)


def test_text_and_compression_streams(event: Event) -> None:
    async def handler() -> None:
        text = js.ReadableStream.from_(to_js(["é", "x"]))
        encoded = text.pipeThrough(js.TextEncoderStream.new())
        packed = encoded.pipeThrough(js.CompressionStream.new("gzip"))
        data = await Response(packed).bytes()
        assert gzip.decompress(data) == "éx".encode()
        halves = js.ReadableStream.from_(to_js([data[:5], data[5:]]))
        plain = halves.pipeThrough(js.DecompressionStream.new("gzip"))
        decoded = plain.pipeThrough(js.TextDecoderStream.new())
        assert "".join([part async for part in decoded]) == "éx"

    event.run(handler)


def test_a_used_stream_is_no_body(event: Event) -> None:
    async def handler() -> None:
        stream = ReadableStream._from_bytes(b"x")
        assert await Response(stream).text() == "x"
        with pytest.raises(JsException, match="disturbed"):
            Response(stream)

    event.run(handler)


def test_a_read_from_the_network_is_pending_io_and_others_are_not(event: Event) -> None:
    async def handler() -> None:
        gate = asyncio.Event()

        async def generate() -> AsyncIterator[bytes]:
            await gate.wait()
            yield b"x"

        reading = ReadableStream._from_source(generate()).getReader().read()
        js.TransformStream.new().readable.getReader().read()
        await settle()
        assert event.context.pending == 1
        gate.set()
        await reading
        await settle()
        assert event.context.pending == 0

    event.run(handler)
