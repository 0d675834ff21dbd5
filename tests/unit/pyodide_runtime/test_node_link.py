"""The line to Node, with a thread in Node's place: who waits for whom; nothing is left unread."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.javascript.errors import js_error
from tsumugi_emulator.pyodide_runtime.node_link import NodeLink
from tsumugi_emulator.pyodide_runtime.protocol import Decoder, Hear, Say, encode
from tsumugi_emulator.worker.loop import WorkerLoop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TIMEOUT_S = 5


class NodeInAThread:
    """Node's ends of the sockets."""

    def __init__(self, calls: socket.socket, events: socket.socket) -> None:
        self._calls, self._events = calls, events
        self._decoders = {calls: Decoder(), events: Decoder()}
        self._frames: dict[socket.socket, list[Any]] = {calls: [], events: []}
        for sock in (calls, events):
            sock.settimeout(TIMEOUT_S)

    def say(self, *frames: list[Any]) -> None:
        self._calls.sendall(b"".join(encode(list(map(_plain, frame))) for frame in frames))

    def reply(self) -> list[Any]:
        return self._next(self._calls)

    def event(self) -> list[Any]:
        return self._next(self._events)

    def _next(self, sock: socket.socket) -> list[Any]:
        frames = self._frames[sock]
        while not frames:
            frames += self._decoders[sock].feed(sock.recv(65536))
        found: list[Any] = frames.pop(0)
        return found


def _plain(part: Any) -> Any:
    return int(part) if isinstance(part, int) and not isinstance(part, bool) else part


@pytest.fixture
def loop() -> Iterator[WorkerLoop]:
    loop = WorkerLoop()
    yield loop
    loop.close()


@pytest.fixture
def node(loop: WorkerLoop) -> Iterator[NodeInAThread]:
    pairs = [socket.socketpair() for _ in range(2)]
    (calls, their_calls), (events, their_events) = pairs
    link = NodeLink(loop, calls, events)
    link.on_frame = lambda _frame: None
    link.on_call = lambda _place, operation, _target, _name, args: [operation, *args]
    link.give_error = str
    made = NodeInAThread(their_calls, their_events)
    made.link = link  # type: ignore[attr-defined]
    loop.call_soon(link.open)
    yield made
    for pair in pairs:
        for sock in pair:
            sock.close()


def beside(loop: WorkerLoop, behave: Callable[[], Any]) -> Any:
    """Run the loop until Node's thread has done what it does; its result."""
    done: asyncio.Future[Any] = loop.create_future()

    def run() -> None:
        try:
            result = behave()
        except BaseException as error:
            loop.call_soon_threadsafe(done.set_exception, error)
        else:
            loop.call_soon_threadsafe(done.set_result, result)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        return loop.run_until_complete(done)
    finally:
        thread.join(TIMEOUT_S)


def call(*args: Any) -> list[Any]:
    return [Say.CALL, "\n", "echo", 0, "", list(args)]


def test_a_call_is_answered(loop: WorkerLoop, node: NodeInAThread) -> None:
    def behave() -> list[Any]:
        node.say(call(1, "two"))
        return node.reply()

    assert beside(loop, behave) == [Hear.REPLY, True, ["echo", 1, "two"]]


def test_what_a_call_raises_is_its_answer(loop: WorkerLoop, node: NodeInAThread) -> None:
    def refuse(*_call: Any) -> None:
        raise js_error("TypeError", "no")

    node.link.on_call = refuse  # type: ignore[attr-defined]

    def behave() -> list[Any]:
        node.say(call())
        return node.reply()

    assert beside(loop, behave) == [Hear.REPLY, False, "TypeError: no"]


def test_a_call_read_together_with_an_awaited_answer_is_answered(
    loop: WorkerLoop, node: NodeInAThread
) -> None:
    answers: list[Any] = []
    link: NodeLink = node.link  # type: ignore[attr-defined]
    loop.call_soon(lambda: answers.append(link.invoke_now("construct")))

    def behave() -> list[Any]:
        _, number, _, kind = node.event()
        assert kind == "construct"
        node.say([Say.RESULT, number, True, "made"], call("after"))
        return node.reply()

    assert beside(loop, behave) == [Hear.REPLY, True, ["echo", "after"]]
    assert answers == [(True, "made")]


def test_the_host_answers_calls_while_it_waits_for_an_answer(
    loop: WorkerLoop, node: NodeInAThread
) -> None:
    answers: list[Any] = []
    link: NodeLink = node.link  # type: ignore[attr-defined]
    loop.call_soon(lambda: answers.append(link.invoke_now("construct")))

    def behave() -> list[Any]:
        number = node.event()[1]
        node.say(call("during"))
        reply = node.reply()
        node.say([Say.RESULT, number, True, "made"])
        return reply

    assert beside(loop, behave) == [Hear.REPLY, True, ["echo", "during"]]
    loop.run_until_complete(asyncio.sleep(0))
    assert answers == [(True, "made")]


def test_a_callback_reaches_node_while_node_waits(loop: WorkerLoop, node: NodeInAThread) -> None:
    link: NodeLink = node.link  # type: ignore[attr-defined]
    link.on_call = lambda *_call: link.invoke_now("callback", 7)[1]

    def behave() -> tuple[Any, Any]:
        node.say(call())
        _, number, _, kind, argument = node.reply()  # where it reads while it waits
        node.say([Say.RESULT, number, True, f"{kind} {argument}"])
        return node.reply(), number

    reply, _ = beside(loop, behave)
    assert reply == [Hear.REPLY, True, "callback 7"]


def test_cancelling_what_node_runs_asks_it_to_stop_and_takes_what_it_ends_with(
    loop: WorkerLoop, node: NodeInAThread
) -> None:
    link: NodeLink = node.link  # type: ignore[attr-defined]
    running: list[asyncio.Task[Any]] = []
    loop.call_soon(lambda: running.append(loop.create_task(link.invoke("event"))))

    def behave() -> list[Any]:
        number = node.event()[1]
        loop.call_soon_threadsafe(lambda: running[0].cancel())
        cancelled = node.event()
        node.say([Say.RESULT, number, True, "cleaned up"])
        return [*cancelled[:1], cancelled[1] == number]

    assert beside(loop, behave) == [Hear.CANCEL, True]
    assert loop.run_until_complete(running[0]) == (True, "cleaned up")


def test_what_comes_from_outside_waits_for_the_turn_that_runs(
    loop: WorkerLoop, node: NodeInAThread
) -> None:
    link: NodeLink = node.link  # type: ignore[attr-defined]
    delivered: list[str] = []
    loop.call_soon(lambda: link.start("event"))  # Node is busy from now on
    loop.call_soon(lambda: link.after_turn(lambda: delivered.append("open")))

    def behave() -> list[str]:
        assert node.event()[0] == Hear.INVOKE
        kind, number = node.event()
        assert kind == Hear.PING
        node.say(call("listen"))  # the turn goes on
        node.reply()
        before = list(delivered)
        node.say([Say.PONG, number], call())
        node.reply()
        return [*before, "then", *delivered]

    assert beside(loop, behave) == ["then", "open"]
