"""WebSockets of a Worker: a pair, one end of which a client talks to."""

from __future__ import annotations

import pytest
from socket_harness import SOCKET_FLAGS, sockets_child
from tsumugi_emulator.worker import frames

ECHO = """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        client, server = WebSocketPair.new().object_values()
        server.accept({options})
        server.binaryType = "arraybuffer"

        def on_message(event):
            server.send(event.data)

        def on_close(event):
            print("closed", event.code, event.reason, event.wasClean, server.readyState)
            {closing}

        server.addEventListener("message", create_proxy(on_message))
        server.onclose = on_close
        return upgraded(client)
"""


def echo(options: str = "", closing: str = "") -> str:
    return ECHO.replace("{options}", options).replace("{closing}", closing)


def test_text_and_bytes_come_back_as_they_were() -> None:
    with sockets_child(echo()) as child:
        client = child.connect()
        assert client.says("hello", b"\x00\xff").hears(2) == ["hello", b"\x00\xff"]


def test_messages_keep_their_order() -> None:
    with sockets_child(echo()) as child:
        sent = [str(number) for number in range(100)]
        assert child.connect().says(*sent).hears(100) == sent


def test_what_is_sent_before_the_response_arrives_after_it() -> None:
    program = """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        client, server = WebSocketPair.new()
        server.accept()
        server.send("first")
        await asyncio.sleep(0)
        server.send("second")
        return upgraded(client)
"""
    with sockets_child(program) as child:
        assert child.connect().hears(2) == ["first", "second"]


def test_a_close_is_answered_with_the_same_code(capsys: pytest.CaptureFixture[str]) -> None:
    with sockets_child(echo()) as child:
        client = child.connect()
        client.closes(4001, "bye")
        assert client.hears_close() == (4001, "bye")
        child.loop.run_until_idle()
        assert capsys.readouterr().out == "closed 4001 bye True 3\n"
        assert child.active_events == 0


def test_a_close_without_a_code_is_answered_without_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with sockets_child(echo()) as child:
        client = child.connect()
        client.closes(1005)
        assert client.hears_close() == (1005, "")
        assert capsys.readouterr().out == "closed 1005  True 3\n"


def test_before_the_flag_code_answers_a_close_itself(capsys: pytest.CaptureFixture[str]) -> None:
    flags = SOCKET_FLAGS - {"web_socket_auto_reply_to_close"}
    with sockets_child(echo(closing='server.close(4002, "mine")'), flags=flags) as child:
        client = child.connect()
        client.closes(4001, "yours")
        assert client.hears_close() == (4002, "mine")
        assert capsys.readouterr().out == "closed 4001 yours True 2\n"


def test_before_the_flag_a_close_nobody_answers_ends_without_a_close_frame() -> None:
    flags = SOCKET_FLAGS - {"web_socket_auto_reply_to_close"}
    with sockets_child(echo(), flags=flags) as child:
        client = child.connect()
        client.closes(4001)
        assert client.is_dropped()
        assert client.close_frame is None


def test_a_half_open_socket_answers_when_its_code_does(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with sockets_child(echo("allowHalfOpen=True", 'server.close(4002, "done")')) as child:
        client = child.connect()
        client.closes(4001)
        assert client.hears_close() == (4002, "done")
        assert capsys.readouterr().out == "closed 4001  True 2\n"


def test_a_client_that_vanishes_is_a_close_that_was_not_clean(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with sockets_child(echo()) as child:
        client = child.connect()
        assert child.active_events == 1
        client.vanishes()
        child.loop.run_until_idle()
        assert capsys.readouterr().out == (
            "closed 1006 WebSocket disconnected without sending Close frame. False 2\n"
        )
        assert child.active_events == 0


def test_a_client_that_breaks_the_protocol_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    program = echo().replace(
        "server.onclose",
        'server.onerror = lambda event: print("error", event.message)\n        server.onclose',
    )
    with sockets_child(program) as child:
        child.connect().breaks_the_protocol("Message is too large")
        child.loop.run_until_idle()
        assert capsys.readouterr().out == "error Error: Message is too large\n"
        assert child.active_events == 0


def test_the_worker_closes_and_the_client_answers(capsys: pytest.CaptureFixture[str]) -> None:
    program = echo().replace("server.send(event.data)", 'server.close(4003, "enough")')
    with sockets_child(program) as child:
        client = child.connect()
        client.says("x")
        assert client.hears_close() == (4003, "enough")
        assert child.active_events == 1, "the client has not answered yet"
        client.closes(4003, "enough")
        child.loop.run_until_idle()
        assert child.active_events == 0
        assert capsys.readouterr().out == "closed 4003 enough True 3\n"


def test_the_event_lives_as_long_as_its_socket_is_open() -> None:
    program = """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        client, server = WebSocketPair.new()
        server.accept()
        arrived = asyncio.Queue()
        server.onmessage = lambda event: arrived.put_nowait(event.data)

        async def answer():
            while True:
                server.send("late: " + await arrived.get())

        asyncio.ensure_future(answer())
        return upgraded(client)
"""
    with sockets_child(program) as child:
        client = child.connect()
        child.loop.run_until_idle()
        assert client.says("a").hears() == ["late: a"]
        assert child.active_events == 1
        assert child.logs == [], "waiting for a client is no hang"


def test_a_pair_nobody_has_the_other_end_of_hangs_as_in_production() -> None:
    program = """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        client, server = WebSocketPair.new()
        server.accept()
        await asyncio.Event().wait()
"""
    with sockets_child(program) as child:
        answer = child.upgrade()
        assert isinstance(answer, frames.Failed)
        assert "had hung and would never generate a response" in answer.summary


def test_a_socket_nobody_accepts_is_dropped_when_the_event_ends() -> None:
    program = """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        client, server = WebSocketPair.new()
        return upgraded(client)
"""
    with sockets_child(program) as child:
        assert child.connect().is_dropped()


def test_async_listeners_run_in_the_event_of_the_socket() -> None:
    program = echo().replace(
        "def on_message(event):\n            server.send(event.data)",
        "async def on_message(event):\n            await asyncio.sleep(0)\n"
        "            server.send(event.data)",
    )
    with sockets_child(program) as child:
        assert child.connect().says("x").hears() == ["x"]


def test_a_listener_that_was_only_lent_never_runs() -> None:
    program = echo().replace("create_proxy(on_message)", "on_message")
    with sockets_child(program) as child:
        child.connect().says("x")
        child.loop.run_until_idle()
        assert "borrowed proxy was automatically destroyed" in child.warnings[0]


def test_a_listener_that_fails_is_reported_and_the_socket_lives() -> None:
    program = echo().replace(
        "server.send(event.data)",
        'server.send(event.data)\n            raise ValueError("in the listener")',
    )
    with sockets_child(program) as child:
        client = child.connect()
        assert client.says("a", "b").hears(2) == ["a", "b"]
        assert "in the listener" in child.warnings[0]


@pytest.mark.parametrize(
    ("flags", "kind"),
    [
        (SOCKET_FLAGS, "Blob"),
        (SOCKET_FLAGS - {"websocket_standard_binary_type"}, "ArrayBuffer"),
    ],
)
def test_bytes_arrive_as_the_date_says(flags: frozenset[str], kind: str) -> None:
    program = """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        client, server = WebSocketPair.new()
        server.accept()
        server.onmessage = lambda event: server.send(event.data.constructor.name)
        return upgraded(client)
"""
    with sockets_child(program, flags=flags) as child:
        assert child.connect().says(b"x").hears() == [kind]


def test_a_slow_client_makes_the_child_wait() -> None:
    program = """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        client, server = WebSocketPair.new()
        server.accept()
        for _ in range(10):
            server.send("x" * 500_000)
        return upgraded(client)
"""
    with sockets_child(program) as child:
        client = child.upgrade_slowly()
        child.loop.run_until_idle()
        assert len(client.received) < 10
        client.reads_again()
        assert len(client.hears(10)) == 10


def test_a_slow_worker_makes_the_client_wait() -> None:
    program = """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        client, server = WebSocketPair.new()
        gate = asyncio.Event()

        async def accept_later():
            await asyncio.sleep(0.01)
            server.accept()
            server.onmessage = lambda event: server.send(str(len(event.data)))

        self.ctx.waitUntil(accept_later())
        return upgraded(client)
"""
    with sockets_child(program) as child:
        client = child.connect()
        client.says("x" * 2_000_000)
        assert not client.is_read
        assert client.hears() == ["2000000"]
        child.loop.run_until_idle()
        assert client.is_read


def test_a_response_with_a_socket_needs_a_request_to_upgrade() -> None:
    with sockets_child(echo()) as child:
        answer = child.fetch()
        assert isinstance(answer, frames.Failed)
        assert answer.summary.endswith(
            "Worker tried to return WebSocket in a response to a request which did not contain "
            'the header "Upgrade: websocket".'
        )


def test_a_worker_may_refuse_to_upgrade() -> None:
    program = """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response("members only", status=403)
"""
    with sockets_child(program) as child:
        answer = child.upgrade()
        assert (answer.status, answer.body) == (403, b"members only")


def test_response_headers_go_with_the_upgrade() -> None:
    program = """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        client, server = WebSocketPair.new()
        server.accept()
        headers = {"Sec-WebSocket-Protocol": "chat"}
        return Response(None, status=101, web_socket=client, headers=headers)
"""
    with sockets_child(program) as child:
        assert ("sec-websocket-protocol", "chat") in child.upgrade().headers


def test_a_child_that_dies_takes_its_sockets_along() -> None:
    with sockets_child(echo()) as child:
        client = child.connect()
        assert child.services is not None
        child.services.gone(child.process)
        assert client.dropped


def test_a_child_is_busy_as_long_as_a_connection_is_open() -> None:
    with sockets_child(echo()) as child:
        first, second = child.connect(), child.connect()
        assert child.process.linked == 2
        first.closes()
        second.vanishes()
        child.loop.run_until_idle()
        assert child.process.linked == 0
