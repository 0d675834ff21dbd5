"""The supervisor's side of WebSockets: it holds the connections, children come and go.

A connection belongs to the child that accepted it and ends with it, unless its object hibernates:
then its events go to whichever child serves. Not here: the protocol (``server``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.socket_frames import SocketClose, SocketCredit, SocketMessage

if TYPE_CHECKING:
    from collections.abc import Callable

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
    """One connection and whoever reads it: a :class:`~tsumugi_emulator.web_socket_connection.Receiver`."""

    def __init__(
        self,
        socket_id: int,
        process: WorkerProcess,
        connection: Connection,
        sockets: SocketServices,
    ) -> None:
        self.id = socket_id
        self.process = process
        self.connection = connection
        self._sockets = sockets
        self._room = WINDOW
        #: Sent to the client and not yet credited, by child.
        self._owed: dict[WorkerProcess, int] = {}
        self.target: Target | None = None
        self._closed_in = False
        self.closed_out = False

    # -- Receiver ---------------------------------------------------------------------------------

    def on_message(self, data: str | bytes) -> None:
        self._room -= len(data)
        if self._room <= 0:
            self.connection.set_reading(False)
        self._deliver(SocketMessage(self.id, data, self.target))

    def on_close(self, code: int, reason: str, error: str) -> None:
        self._closed_in = True
        self._deliver(SocketClose(self.id, code, reason, error, self.target))
        if code == 0 or self.closed_out:
            self._sockets.forget(self)

    def on_drained(self) -> None:
        owed, self._owed = self._owed, {}
        for process, size in owed.items():
            process.send(SocketCredit(self.id, size))

    def _deliver(self, frame: Any) -> None:
        self.process.send(frame)

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
            self.connection.drop()
            self._sockets.forget(self)
            return
        self.closed_out = True
        self.connection.close(frame.code, frame.reason)
        if self._closed_in:
            self._sockets.forget(self)

    def credit(self, size: int) -> None:
        was_full = self._room <= 0
        self._room += size
        if was_full and self._room > 0:
            self.connection.set_reading(True)


class SocketServices:
    """The connections of one Worker."""

    def __init__(self, serving: Callable[[], WorkerProcess | None]) -> None:
        self._serving = serving
        self._open: dict[int, OpenSocket] = {}

    def open(self, socket_id: int, process: WorkerProcess, connection: Connection) -> OpenSocket:
        """``process`` has accepted a connection; its frames about it may come from now on."""
        made = self._open[socket_id] = OpenSocket(socket_id, process, connection, self)
        return made

    def forget(self, socket: OpenSocket) -> None:
        self._open.pop(socket.id, None)

    def take(self, frame: Any, process: WorkerProcess) -> None:
        socket = self._open.get(frame.id)
        if socket is None:
            return  # it ended meanwhile
        match frame:
            case SocketMessage(data=data):
                socket.send(data, process)
            case SocketClose():
                socket.close(frame)
            case SocketCredit(size=size):
                socket.credit(size)
            case _:
                raise frames.FrameError(f"a supervisor does not take {type(frame).__name__}")

    def gone(self, process: WorkerProcess) -> None:
        """The process has ended, and with it what only it knew of."""
        for socket in list(self._open.values()):
            if socket.process is process:
                socket.connection.drop()
                self.forget(socket)
