"""What a WebSocket refuses, with the runtime's texts; pairs whose both ends are in one Worker."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import pytest
from socket_harness import SOCKET_FLAGS, sockets_child

NOT_ACCEPTED = (
    "TypeError: You must call one of accept() or state.acceptWebSocket() on this WebSocket before "
    "sending messages."
)


def run(code: str, *, flags: frozenset[str] = SOCKET_FLAGS, strict: bool = False) -> Any:
    """What ``code`` returns in a handler that has the two ends ``a`` and ``b`` of a pair."""
    program = f"""
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(repr(await self.main()))

    async def main(self):
        a, b = WebSocketPair.new()
{textwrap.indent(textwrap.dedent(code), "        ")}
"""
    with sockets_child(program, flags=flags, strict=strict) as child:
        return ast.literal_eval(child.text())


def test_a_pair_has_its_sockets_by_index_and_by_iteration() -> None:
    assert run("""
        pair = WebSocketPair.new()
        first, second = pair
        values = pair.object_values()
        return [
            getattr(pair, "0").js_id == first.js_id == values[0].js_id,
            getattr(pair, "1").js_id == second.js_id == values[1].js_id,
            list(pair.object_keys()), len(values), pair.constructor.name, first.constructor.name,
        ]
    """) == [True, True, ["0", "1"], 2, "WebSocketPair", "WebSocket"]


def test_a_new_socket_is_open_and_has_no_address() -> None:
    assert run("""
        return [a.readyState, a.url is None or not a.url, a.protocol, a.extensions,
                WebSocket.OPEN, WebSocket.CLOSED, a.CLOSING, WebSocket.READY_STATE_CONNECTING]
    """) == [1, True, "", "", 1, 3, 2, 0]


def test_nothing_is_sent_or_closed_before_accept() -> None:
    assert run("return [refusal(a.send, 'x'), refusal(a.close)]") == [NOT_ACCEPTED, NOT_ACCEPTED]


def test_nothing_is_sent_after_close_and_a_second_close_is_ignored() -> None:
    assert run("""
        a.accept()
        a.close(1000, "bye")
        return [refusal(a.send, "x"), refusal(a.close, 1000), a.readyState]
    """) == ["TypeError: Can't call WebSocket send() after close().", "None", 2]


@pytest.mark.parametrize("code", [0, 999, 1004, 1005, 1006, 1015, 5000, 70000])
def test_codes_that_no_close_frame_may_have_are_refused(code: int) -> None:
    assert run(f"a.accept()\nreturn refusal(a.close, {code})") == (
        f"InvalidAccessError: Invalid WebSocket close code: {code}."
    )


def test_a_reason_needs_a_code_and_fits_a_control_frame() -> None:
    assert run("""
        from js import undefined
        a.accept()
        return [refusal(a.close, undefined, "why"), refusal(a.close, 1000, "ö" * 62),
                refusal(a.close, 4999, "ö" * 61)]
    """) == [
        "InvalidAccessError: If you specify a WebSocket close reason, you must also specify a "
        "code.",
        "SyntaxError: WebSocket close reason must not be longer than 123 bytes.",
        "None",
    ]


def test_what_is_no_text_and_no_bytes_is_sent_as_its_string() -> None:
    assert run("""
        a.accept(); b.accept()
        got = []
        b.onmessage = lambda event: got.append(event.data)
        for value in (1, 1.5, True, to_js([1, 2]), to_js({"a": 1})):
            a.send(value)
        await asyncio.sleep(0.01)
        return [*got, refusal(a.send, None)]
    """) == [
        "1", "1.5", "true", "1,2", "[object Object]",
        "TypeError: Failed to execute 'send' on 'WebSocket': parameter 1 is not of type "
        "'ArrayBuffer or ArrayBufferView or string'.",
    ]  # fmt: skip


def test_python_bytes_are_sent_as_their_repr_and_a_warning_says_so() -> None:
    program = """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        client, server = WebSocketPair.new()
        server.accept()
        server.send(b"raw")
        server.send(to_js(b"raw"))
        return upgraded(client)
"""
    with sockets_child(program) as child:
        assert child.connect().hears(2) == ["b'raw'", b"raw"]
        assert "send() of bytes sends its repr as text" in child.warnings[0]


def test_both_ends_may_be_in_one_worker() -> None:
    assert run("""
        a.accept(); b.accept()
        got = asyncio.Queue()
        b.onmessage = lambda event: b.send("re: " + event.data)
        a.onmessage = lambda event: got.put_nowait(event.data)
        b.onclose = lambda event: got.put_nowait((event.code, event.reason, event.wasClean))
        a.onclose = lambda event: got.put_nowait("and a")
        a.send("one"); a.send("two")
        heard = [await got.get(), await got.get()]
        a.close(4000, "done")
        return [*heard, await got.get(), await got.get(), a.readyState, b.readyState]
    """) == ["re: one", "re: two", (4000, "done", True), "and a", 3, 3]


def test_messages_wait_for_the_other_end_to_accept() -> None:
    assert (
        run("""
        a.accept()
        a.send("early")
        got = asyncio.Queue()
        b.onmessage = lambda event: got.put_nowait(event.data)
        b.accept()
        return await got.get()
    """)
        == "early"
    )


def test_listeners_come_in_order_and_can_be_removed() -> None:
    assert run("""
        a.accept(); b.accept()
        got = []
        one = create_proxy(lambda event: got.append("one"))
        two = create_proxy(lambda event: got.append("two"))
        once = create_proxy(lambda event: got.append("once"))
        b.addEventListener("message", one)
        b.addEventListener("message", two)
        b.addEventListener("message", once, once=True)
        b.addEventListener("message", one)
        a.send("x")
        await asyncio.sleep(0.01)
        b.removeEventListener("message", one)
        a.send("x")
        await asyncio.sleep(0.01)
        return got
    """) == ["one", "two", "once", "two"]


def test_an_accepted_socket_cannot_be_returned() -> None:
    program = """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        client, server = WebSocketPair.new()
        client.accept()
        return upgraded(client)
"""
    with sockets_child(program) as child:
        assert child.upgrade().summary.endswith(
            "TypeError: Can't return WebSocket in a Response after calling accept()."
        )


def test_a_socket_given_away_is_over_for_who_gave_it() -> None:
    program = """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        client, server = WebSocketPair.new()
        server.accept()
        async def later():
            await asyncio.sleep(0.001)
            server.send(refusal(client.accept))
        self.ctx.waitUntil(later())
        return upgraded(client)
"""
    with sockets_child(program) as child:
        assert child.connect().hears() == [
            "TypeError: Can't accept() WebSocket that was already used in a response."
        ]


def test_a_response_with_a_socket_has_status_101() -> None:
    assert run("""
        def respond(status):
            return Response(None, status=status, web_socket=b).status
        return [refusal(respond, 200), refusal(respond, 101)]
    """) == ["RangeError: Responses with a WebSocket must have status code 101.", "101"]


def test_an_attachment_is_a_copy_of_limited_size() -> None:
    assert run("""
        a.accept()
        value = to_js({"n": 1})
        a.serializeAttachment(value)
        value.n = 2
        b.serializeAttachment(to_js("x" * 10))
        return [
            a.deserializeAttachment().n, b.deserializeAttachment(),
            refusal(a.serializeAttachment, {"a": 1}),
            refusal(a.serializeAttachment, "x" * 16384)[:70],
            a.deserializeAttachment().n,
        ]
    """) == [
        1,
        "x" * 10,
        "DataCloneError: [object Object] could not be cloned.",
        "Error: A WebSocket 'attachment' cannot be larger than 16384 bytes.'att",
        1,
    ]


def test_a_socket_belongs_to_the_event_that_accepted_it() -> None:
    program = """
KEPT = []
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if KEPT:
            return Response(refusal(KEPT[0].send, "x"))
        client, server = WebSocketPair.new()
        server.accept()
        KEPT.append(server)
        return upgraded(client)
"""
    with sockets_child(program, strict=True) as child:
        child.connect()
        assert "(I/O type: Native)" in child.text()


def test_no_pair_is_made_at_import() -> None:
    program = """
WHEN_IMPORTED = refusal(WebSocketPair.new)
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(WHEN_IMPORTED)
"""
    with sockets_child(program) as child:
        assert "Disallowed operation called within global scope" in child.text()


def test_events_can_be_made_by_hand() -> None:
    assert run("""
        from js import CloseEvent, ErrorEvent, MessageEvent
        message = MessageEvent.new("message", data="x")
        close = CloseEvent.new("close", code=4000, reason="r", wasClean=True)
        error = ErrorEvent.new("error", message="m")
        return [message.type, message.data, close.code, close.reason, close.wasClean,
                CloseEvent.new("close").code, error.message, error.type]
    """) == ["message", "x", 4000, "r", True, 0, "m", "error"]
