"""The line to Node: what the host asks of it, what it asks of the host, and when it is at rest.

Node blocks while a call of its is answered; meanwhile the host may call back, and is answered at
once. Everything else is answered by a frame of its own. Not here: what calls do (``calls``).
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import itertools
import select
from collections import deque
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.errors import JsException
from tsumugi_emulator.pyodide_runtime.protocol import Decoder, Hear, Say, encode
from tsumugi_emulator.pyodide_runtime.scopes import GLOBAL, Scopes

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from tsumugi_emulator.worker.gates import Gate
    from tsumugi_emulator.worker.loop import WorkerLoop

READ_BYTES = 256 * 1024


class NodeLink:
    def __init__(self, loop: WorkerLoop, calls: socket.socket, events: socket.socket) -> None:
        self._loop = loop
        self._calls = calls
        self._events = events
        self._decoder = Decoder()
        self._inbox: deque[list[Any]] = deque()
        self._outbox = bytearray()
        self._numbers = itertools.count(1)
        self._futures: dict[int, asyncio.Future[tuple[bool, Any]]] = {}
        #: How many calls of Node's are being answered: it waits for each.
        self._depth = 0
        self._sent = 0
        self._seen_idle = -1
        self._seen_quiet = -1
        self._waiting_gates: list[Gate] = []
        #: What is to happen after the code that runs in Node now, by the number of a Ping.
        self._after_turn: dict[int, tuple[contextvars.Context, Callable[[], None]]] = {}
        self.scopes = Scopes(lambda name, kind: self.tell(Hear.END, name, kind))
        #: Answers a call: scope, place, operation, target, name, arguments.
        self.on_call: Callable[[str, str, int, str, list[Any]], Any]
        self.give_error: Callable[[BaseException], Any]
        #: Takes the frames that are answered by nothing here.
        self.on_frame: Callable[[list[Any]], None]
        self.on_close: Callable[[], None] = lambda: None

    def open(self) -> None:
        self._calls.setblocking(False)
        self._events.setblocking(False)
        self._loop.add_reader(self._calls, self._readable)

    # -- Saying ---------------------------------------------------------------------------------

    def tell(self, kind: Hear, *content: Any) -> None:
        """Something nobody answers."""
        self._event([int(kind), *content])

    def _event(self, frame: list[Any]) -> None:
        self._sent += 1
        if not self._outbox:
            self._loop.at_turn_end(self._flush)
        self._outbox += encode(frame)

    def _flush(self) -> None:
        while self._outbox:
            try:
                count = self._events.send(self._outbox)
            except BlockingIOError:
                self._loop.add_writer(self._events, self._writable)
                return
            except OSError:
                self._outbox.clear()  # its end is noticed where it is read
                return
            del self._outbox[:count]

    def _writable(self) -> None:
        self._loop.remove_writer(self._events)
        self._flush()

    async def invoke(self, kind: str, *content: Any) -> tuple[bool, Any]:
        """Let Node do something in the running event: whether it succeeded, and with what.

        Cancelling it cancels the task there, and what it ends with is still the outcome.
        """
        number = self.start(kind, *content)
        future: asyncio.Future[tuple[bool, Any]] = self._loop.create_future()
        self._futures[number] = future
        while True:
            try:
                return await asyncio.shield(future)
            except asyncio.CancelledError:
                self.tell(Hear.CANCEL, number)

    def start(self, kind: str, *content: Any) -> int:
        """Let Node do something in the running event; the number its answer will have."""
        number = next(self._numbers)
        self._event([int(Hear.INVOKE), number, self.scopes.name(), kind, *content])
        return number

    def invoke_now(self, kind: str, *content: Any) -> tuple[bool, Any]:
        """Let Node do something that does not wait, and wait for that."""
        number = next(self._numbers)
        frame = [int(Hear.INVOKE), number, self.scopes.name(), kind, *content]
        if self._depth:
            self._answer(frame)  # it waits for an answer of this process
        else:
            self._event(frame)
            self._flush_all()
        return self._await(number)

    def _flush_all(self) -> None:
        while self._outbox:
            select.select([], [self._events], [])
            self._flush()

    def _answer(self, frame: list[Any]) -> None:
        data = memoryview(encode(frame))
        while data:
            try:
                data = data[self._calls.send(data) :]
            except BlockingIOError:
                select.select([], [self._calls], [])
            except OSError:
                return

    @property
    def node_waits(self) -> bool:
        """Whether Node waits for an answer at this moment."""
        return self._depth > 0

    # -- Hearing --------------------------------------------------------------------------------

    def _readable(self) -> None:
        if self._receive():
            self._take_all()

    def _take_all(self) -> None:
        while self._inbox:
            try:
                self._take(self._inbox.popleft())
            except Exception as error:  # one frame must not keep the others
                self._loop.call_exception_handler({"message": str(error), "exception": error})

    def _receive(self) -> bool:
        try:
            data = self._calls.recv(READ_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(self._calls)
            self.on_close()
            return False
        self._inbox.extend(self._decoder.feed(data))
        return True

    def _await(self, number: int) -> tuple[bool, Any]:
        """Block until Node has answered, and answer what it asks meanwhile."""
        while True:
            while self._inbox:
                frame = self._inbox.popleft()
                if frame[0] == Say.RESULT and frame[1] == number:
                    if self._inbox:  # read together: nothing else will tell of it
                        self._loop.call_soon(self._take_all)
                    return frame[2], frame[3]
                self._take(frame)
            select.select([self._calls], [], [])
            self._receive()

    def _take(self, frame: list[Any]) -> None:
        kind, *content = frame
        if kind == Say.CALL:
            self._called(*content)
        elif kind == Say.RESULT:
            number, ok, value = content
            future = self._futures.pop(number, None)
            if future is not None and not future.done():
                future.set_result((ok, value))
        elif kind == Say.IDLE:
            self._seen_idle = content[0]
        elif kind == Say.PONG and content[0] in self._after_turn:
            context, deliver = self._after_turn.pop(content[0])
            context.run(deliver)
        elif kind == Say.QUIET:
            self.on_frame(frame)
            self._quiet(content[0])
        else:
            self.on_frame(frame)

    def _called(self, where: str, operation: str, target: int, name: str, args: Any) -> None:
        scope, _, place = where.partition("\n")
        self._depth += 1
        try:
            context = self.scopes.context(scope)
            answer = [True, context.run(self.on_call, place, operation, target, name, args)]
        except BaseException as error:
            if not isinstance(error, Exception):
                self._depth -= 1
                raise
            answer = [False, self.give_error(error)]
        self._answer([int(Hear.REPLY), *answer])
        self._depth -= 1

    # -- Rest -----------------------------------------------------------------------------------

    @property
    def is_busy(self) -> bool:
        """Whether code may be runnable in Node, or on its way there."""
        return self._seen_quiet != self._sent

    @property
    def is_waiting(self) -> bool:
        """Whether anything may happen in Node without this process."""
        return self._seen_idle != self._sent

    def _quiet(self, seen: int) -> None:
        self._seen_quiet = seen
        if self.is_busy:
            return
        gates, self._waiting_gates = self._waiting_gates, []
        for gate in gates:
            gate.check_soon()

    def after_turn(self, deliver: Callable[[], None]) -> None:
        """Call when the code that runs in Node, if any, has returned: nothing interrupts it.

        Listeners that it is about to add must not miss what happens meanwhile.
        """
        if not self.is_busy:
            deliver()
            return
        number = next(self._numbers)
        self._after_turn[number] = (contextvars.copy_context(), deliver)
        self.tell(Hear.PING, number)

    def holds_back(self, gate: Gate) -> bool:
        """Whether code of the gate's object may still be runnable; the gate is told when not."""
        if self.is_busy:
            self._waiting_gates.append(gate)
        return self.is_busy

    def close(self) -> None:
        for sock in (self._calls, self._events):
            with contextlib.suppress(OSError):
                sock.close()


__all__ = ["GLOBAL", "JsException", "NodeLink"]
