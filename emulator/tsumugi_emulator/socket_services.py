"""The supervisor's side of WebSockets: it holds the connections, children come and go.

A connection belongs to the child that accepted it and ends with it, unless an object hibernates
with it: then its events go to whichever child serves. Not here: the protocol (``server``).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.socket_frames import (
    AutoResponse,
    ObjectAtWork,
    ObjectSockets,
    SocketAnswered,
    SocketAttachment,
    SocketClose,
    SocketCredit,
    SocketHibernates,
    SocketMessage,
    SocketMoved,
    SocketMoves,
    SocketPasses,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from tsumugi_emulator.clock import Clock
    from tsumugi_emulator.service_links import End
    from tsumugi_emulator.worker.process import WorkerProcess
    from tsumugi_emulator.worker.socket_frames import Target

#: Characters or bytes a child may have been given and not yet taken.
WINDOW = 1024 * 1024
#: Smaller credits are gathered.
CREDIT_STEP = WINDOW // 4


class Connection(Protocol):
    @property
    def writable(self) -> bool:
        """Whether the client keeps up with what is sent."""

    def send(self, data: str | bytes) -> None: ...

    def close(self, code: int, reason: str) -> None: ...

    def drop(self) -> None: ...

    def set_reading(self, on: bool) -> None: ...


class OpenSocket:
    """One connection; the ``Receiver`` of what its client sends."""

    def __init__(
        self,
        socket_id: int,
        process: WorkerProcess,
        connection: Connection,
        sockets: SocketServices,
    ) -> None:
        self.id = socket_id
        #: Who accepted it; of a hibernating one, who has its object or had it last.
        self.process = process
        process.linked += 1
        self.connection = connection
        self.services = sockets
        self._room = WINDOW
        #: Messages that children have been given and not handled yet.
        self._unhandled: dict[WorkerProcess, int] = {}
        #: Sent to the client and not yet credited, by child.
        self._owed: dict[WorkerProcess, int] = {}
        #: The object that hibernates with it.
        self.target: Target | None = None
        self.tags: list[str] = []
        self.attachment: bytes | None = None
        self.answered_ms: int | None = None
        #: The last event, until the object has seen it.
        self._closing: SocketClose | None = None
        self.closed_out = False
        #: Events while no child serves.
        self._waiting: deque[Any] = deque()
        #: The child it passed through, as long as something may come that way.
        self.leaving: WorkerProcess | None = None
        #: What its new child has sent meanwhile.
        self.held: list[tuple[Any, WorkerProcess]] = []

    def move(self, process: WorkerProcess, sockets: SocketServices) -> None:
        """It is another Worker's from now on."""
        self.leaving = self.process
        self.leaving.linked -= 1
        process.linked += 1
        self.process, self.services = process, sockets

    # -- Receiver ---------------------------------------------------------------------------------

    def on_message(self, data: str | bytes) -> None:
        if self.target is not None and self._answers(data):
            return
        self._room -= len(data)
        if self._room <= 0:
            self.connection.set_reading(False)
        self._deliver(SocketMessage(self.id, data, self.target))

    def on_close(self, code: int, reason: str, error: str) -> None:
        self._closing = SocketClose(self.id, code, reason, error, self.target)
        self._deliver(self._closing)
        if self.target is None and (code == 0 or self.closed_out):
            self.services.forget(self)

    def on_drained(self) -> None:
        owed, self._owed = self._owed, {}
        for process, size in owed.items():
            process.send(SocketCredit(self.id, size))

    def _answers(self, data: str | bytes) -> bool:
        """Answer for the object, which sleeps on."""
        assert self.target is not None, "an object hibernates with it"
        pair = self.services.auto_response(self.target)
        if pair is None or data != pair[0]:
            return False
        if not self.closed_out:
            self.connection.send(pair[1])
        self.answered_ms = self.services.clock.now_ms()
        self.process.send(SocketAnswered(self.id, self.answered_ms))
        return True

    def _deliver(self, frame: Any) -> None:
        process = self.process if self.target is None else self.services.serving()
        if process is None or self._waiting:
            self._waiting.append(frame)
        else:
            self._give(frame, process)

    def _give(self, frame: SocketMessage | SocketClose, process: WorkerProcess) -> None:
        if isinstance(frame, SocketMessage):
            self._unhandled[process] = self._unhandled.get(process, 0) + 1
        process.send(frame)

    # -- From the child ---------------------------------------------------------------------------

    def send(self, data: str | bytes, process: WorkerProcess) -> None:
        self.connection.send(data)
        size = self._owed.get(process, 0) + len(data)
        if size >= CREDIT_STEP and self.connection.writable:
            self._owed.pop(process, None)
            process.send(SocketCredit(self.id, size))
        else:
            self._owed[process] = size

    def close(self, frame: SocketClose) -> None:
        if frame.code == 0:
            self.end()
            return
        self.closed_out = True
        self.connection.close(frame.code, frame.reason)
        if self.target is None and self._closing is not None:
            self.services.forget(self)

    def end(self) -> None:
        """Nobody reads it any more."""
        if self._closing is None or not self.closed_out:
            self.connection.drop()
        self.services.forget(self)

    def handled(self, size: int, process: WorkerProcess) -> None:
        """``process`` has done with a message."""
        left = self._unhandled.pop(process, 0) - 1
        if left > 0:
            self._unhandled[process] = left
        self._credit(size)

    def _credit(self, size: int) -> None:
        was_full = self._room <= 0
        self._room += size
        if was_full and self._room > 0:
            self.connection.set_reading(True)

    # -- Children come and go ---------------------------------------------------------------------

    def flush(self) -> None:
        """A child serves."""
        process = self.services.serving()
        while process is not None and self._waiting:
            self._give(self._waiting.popleft(), process)

    def is_handled_by(self, process: WorkerProcess) -> bool:
        """Whether ``process`` has messages of it that it has not done with."""
        return self._unhandled.get(process, 0) > 0

    def lost(self, process: WorkerProcess, interrupted: Collection[tuple[str, str]]) -> bool:
        """A child has ended; what it had been told is lost, except that this is closing.

        A connection ends if its object was ``interrupted``: messages either way may be lost, and
        its client must not take them for handled, or for all there were (ADR-0305). Whether it did.
        """
        self._owed.pop(process, None)
        self._unhandled.pop(process, None)
        has_lost = self.target is not None and self.target[:2] in interrupted
        if self.target is None:
            if self.process is process:
                self.end()
            return False
        self._credit(max(0, WINDOW - self._room))
        is_closing = self._closing is not None
        if has_lost:
            self.break_off()
        if self._closing is not None and is_closing and not self._waiting:
            self._deliver(self._closing)
        return has_lost

    def break_off(self) -> None:
        """Something was lost: nobody may take what follows for all there was."""
        self._waiting.clear()
        self.connection.drop()
        if self._closing is None:
            self.on_close(0, "", "")


class SocketServices:
    """The connections of one Worker."""

    def __init__(
        self,
        clock: Clock,
        serving: Callable[[], WorkerProcess | None],
        log: Callable[[str, str], None],
    ) -> None:
        self.clock = clock
        self.serving = serving
        self._log = log
        self._open: dict[int, OpenSocket] = {}
        #: Passed on to other Workers, and not all of it yet.
        self._leaving: dict[int, OpenSocket] = {}
        #: Finds where a socket that came over a link comes from.
        self.source: Callable[[WorkerProcess, int, int], tuple[End, int] | None] = (
            lambda _process, _link, _socket: None
        )
        self._auto_responses: dict[tuple[str, str], tuple[str, str]] = {}
        #: Objects with connections, whose calls run.
        self._at_work: dict[tuple[str, str], WorkerProcess] = {}

    def open(self, socket_id: int, process: WorkerProcess, connection: Connection) -> OpenSocket:
        """``process`` has accepted a connection; its frames about it may come from now on."""
        made = self._open[socket_id] = OpenSocket(socket_id, process, connection, self)
        return made

    def forget(self, socket: OpenSocket) -> None:
        if self._open.pop(socket.id, None) is not None:
            socket.process.linked -= 1

    def auto_response(self, target: Target) -> tuple[str, str] | None:
        return self._auto_responses.get(target[:2])

    # -- Frames -----------------------------------------------------------------------------------

    def take(self, frame: Any, process: WorkerProcess) -> None:
        if isinstance(frame, AutoResponse):
            self._set_auto_response(frame)
            return
        if isinstance(frame, ObjectAtWork):
            self._set_at_work(frame, process)
            return
        socket = self._open.get(frame.id) or self._leaving.get(frame.id)
        if socket is None:
            return  # it ended meanwhile
        if socket.leaving not in (None, process) and isinstance(frame, SocketMessage | SocketClose):
            socket.held.append((frame, process))
        elif socket.leaving is process and isinstance(frame, SocketClose) and frame.code == 0:
            self._cut_on_the_way(socket)
        elif isinstance(frame, SocketPasses):
            self._pass_on(socket, frame, process)
        elif isinstance(frame, SocketMoved):
            self._moved(socket)
        else:
            self._apply(socket, frame, process)

    def _apply(self, socket: OpenSocket, frame: Any, process: WorkerProcess) -> None:
        match frame:
            case SocketMessage(data=data):
                socket.send(data, process)
            case SocketClose():
                socket.close(frame)
            case SocketCredit(size=size):
                socket.handled(size, process)
            case SocketHibernates(target=target, tags=tags):
                socket.target = target
                socket.tags = list(tags)
            case SocketAttachment(data=data):
                socket.attachment = data
            case _:
                raise frames.FrameError(f"a supervisor does not take {type(frame).__name__}")

    # -- Moving to another Worker ---------------------------------------------------------------

    def _pass_on(self, socket: OpenSocket, frame: SocketPasses, process: WorkerProcess) -> None:
        found = self.source(process, frame.link, frame.socket)
        if found is None or found[0].process.options.pyodide is not None:
            process.send(SocketMoves(frame.id, 0, 0))
            return
        far, number = found
        operator: Any = far.process.operator
        sockets: SocketServices = operator.web_sockets
        del self._open[frame.id]
        self._leaving[frame.id] = socket
        socket.move(far.process, sockets)
        sockets._open[frame.id] = socket
        far.process.send(SocketMoves(frame.id, far.link, number))

    def _moved(self, socket: OpenSocket) -> None:
        """Whatever came by the old way has come."""
        self._leaving.pop(socket.id, None)
        socket.leaving = None
        held, socket.held = socket.held, []
        for frame, process in held:
            socket.services.take(frame, process)

    def _cut_on_the_way(self, socket: OpenSocket) -> None:
        """Something that was to come by the old way never will."""
        self._leaving.pop(socket.id, None)
        socket.leaving = None
        socket.held.clear()
        socket.break_off()

    def _set_at_work(self, frame: ObjectAtWork, process: WorkerProcess) -> None:
        key = frame.target[:2]
        if frame.at_work:
            self._at_work[key] = process
        elif self._at_work.get(key) is process:
            del self._at_work[key]

    def _interrupted(self, process: WorkerProcess) -> set[tuple[str, str]]:
        """The objects that ``process`` was at work for when it ended."""
        found = {key for key, at_work in self._at_work.items() if at_work is process}
        for key in found:
            del self._at_work[key]
        for socket in self._open.values():
            if socket.target is not None and socket.is_handled_by(process):
                found.add(socket.target[:2])
        return found

    def _set_auto_response(self, frame: AutoResponse) -> None:
        key = frame.target[:2]
        if frame.request is None:
            self._auto_responses.pop(key, None)
        else:
            self._auto_responses[key] = (frame.request, frame.response)

    # -- Children come and go ---------------------------------------------------------------------

    def granted(self, process: WorkerProcess, namespace: str, object_id: str) -> None:
        """``process`` is about to get an object: it must know the object's connections."""
        known = (namespace, object_id)
        sockets = [s for s in self._open.values() if s.target and s.target[:2] == known]
        pair = self._auto_responses.get(known)
        if not sockets and pair is None:
            return
        for socket in sockets:
            socket.process.linked -= 1
            socket.process = process
            process.linked += 1
        told = [(s.id, s.tags, s.attachment, s.answered_ms, s.closed_out) for s in sockets]
        process.send(ObjectSockets((*known, None), told, pair))

    def serve(self, namespaces: Collection[str]) -> None:
        """A child serves objects of these namespaces."""
        for socket in list(self._open.values()):
            if socket.target is None:
                continue
            if socket.target[0] in namespaces:
                socket.flush()
            else:
                socket.end()

    def gone(self, process: WorkerProcess) -> None:
        """The process has ended, and with it what only it knew of."""
        for socket in list(self._leaving.values()):
            if socket.leaving is process:
                self._cut_on_the_way(socket)
        interrupted = self._interrupted(process)
        lost = [s.lost(process, interrupted) for s in list(self._open.values())].count(True)
        if lost:
            self._log(
                "warning",
                f"{lost} hibernating WebSocket{'s' * (lost > 1)} ended (1006) with the process, "
                "which was at work for their objects. In production all of them would end.",
            )
