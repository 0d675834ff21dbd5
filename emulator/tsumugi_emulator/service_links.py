"""The supervisor's side of calls between Workers: finds the child to call and passes frames on.

It numbers each link for both ends and reads nothing that a link carries. Calls of a Worker that is
starting wait for it, in order.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tsumugi_emulator.worker.frames import FrameError
from tsumugi_emulator.worker.link_frames import Connect, Disconnect, Relay, Splice
from tsumugi_emulator.worker.supervisor import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.worker.process import WorkerProcess

#: How long a call waits for a Worker that is starting.
START_WAIT_S = 30.0
#: So many Workers stand behind each other at most (``javascript.depth``).
MAX_CHAIN = 16
#: What production says when the other side has gone away.
LOST_TEXT = "Network connection lost."


class Backend(Protocol):
    async def current(self, *, wait_s: float) -> WorkerProcess: ...

    @property
    def serving(self) -> WorkerProcess | None: ...


class End(NamedTuple):
    """One end of a link."""

    process: WorkerProcess
    link: int


class ServiceLinks:
    """All links between children."""

    def __init__(self, find: Callable[[str], Backend | None]) -> None:
        """``find`` knows the Workers by name."""
        self._find = find
        #: Numbers of links that the supervisor opens in a child; a child's own are positive.
        self._numbers = itertools.count(-1, -1)
        self._other_end: dict[End, End] = {}
        #: Sockets of a link that are those of another one of the same child.
        self._spliced: dict[End, dict[int, tuple[End, int]]] = {}
        #: Per Worker that is starting: who calls it, with what has followed the call.
        self._waiting: dict[str, dict[End, list[Any]]] = {}
        self._waits: dict[End, list[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, frame: Any, process: WorkerProcess) -> None:
        end = End(process, frame.link)
        match frame:
            case Relay():
                self._pass_on(end, frame)
            case Connect():
                self._connect(end, frame)
            case Disconnect():
                self._pass_on(end, frame)
                self._forget(end)
            case Splice():
                onto = (End(process, frame.onto_link), frame.onto_socket)
                self._spliced.setdefault(end, {})[frame.socket] = onto
            case _:
                raise FrameError(f"a supervisor does not take {type(frame).__name__}")

    def source(self, process: WorkerProcess, link: int, socket: int) -> tuple[End, int] | None:
        """Where a socket that came over a link comes from: the end of a link, and its number there.

        Children it only passes through are skipped. None if a link on the way is gone.
        """
        end = self._other_end.get(End(process, link))
        for _ in range(MAX_CHAIN):
            onto = None if end is None else self._spliced.get(end, {}).get(socket)
            if onto is None:
                break
            near, socket = onto
            end = self._other_end.get(near)
        return None if end is None else (end, socket)

    def gone(self, process: WorkerProcess) -> None:
        """A child has ended: so have its links."""
        for end in [end for end in self._other_end if end.process is process]:
            other = self._other_end[end]
            self._forget(end)
            other.process.send(Disconnect(other.link, LOST_TEXT))
        for end in [end for end in self._waits if end.process is process]:
            self._give_up(end)

    # -- Connecting -----------------------------------------------------------------------------

    def _connect(self, caller: End, frame: Connect) -> None:
        worker = frame.worker
        backend = self._find(worker)
        if backend is None:
            caller.process.send(Disconnect(caller.link, not_running_text(worker)))
            return
        process = backend.serving
        if process is not None and worker not in self._waiting:
            self._join(caller, process, frame)
            return
        self._waits[caller] = [frame]
        queue = self._waiting.get(worker)
        if queue is not None:
            queue[caller] = self._waits[caller]
            return
        self._waiting[worker] = {caller: self._waits[caller]}
        task = asyncio.get_running_loop().create_task(self._wait_for(worker, backend))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _wait_for(self, worker: str, backend: Backend) -> None:
        process: WorkerProcess | None = None
        reason = ""
        try:
            process = await backend.current(wait_s=START_WAIT_S)
        except Unavailable as error:
            last = str(error).rstrip().rpartition("\n")[2]
            reason = f'The Worker "{worker}" failed to start: {last}'
        finally:
            waiting = self._waiting.pop(worker, {})
        for caller, sent in waiting.items():
            self._waits.pop(caller, None)
            if process is None:
                caller.process.send(Disconnect(caller.link, reason))
                continue
            self._join(caller, process, sent[0])
            for frame in sent[1:]:
                self._pass_on(caller, frame)

    def _join(self, caller: End, process: WorkerProcess, frame: Connect) -> None:
        callee = End(process, next(self._numbers))
        self._other_end[caller], self._other_end[callee] = callee, caller
        process.call(frame._replace(link=callee.link))

    def _pass_on(self, end: End, frame: Relay | Disconnect) -> None:
        other = self._other_end.get(end)
        if other is not None:
            other.process.send(frame._replace(link=other.link))
        elif end in self._waits:
            if isinstance(frame, Disconnect):
                self._give_up(end)
            else:
                self._waits[end].append(frame)

    def _give_up(self, caller: End) -> None:
        """It does not wait any more."""
        sent = self._waits.pop(caller)
        self._waiting[sent[0].worker].pop(caller, None)

    def _forget(self, end: End) -> None:
        other = self._other_end.pop(end, None)
        if other is not None:
            self._other_end.pop(other, None)
            self._spliced.pop(end, None)
            self._spliced.pop(other, None)
            for one in (end, other):
                if one.link < 0:
                    one.process.linked -= 1


def not_running_text(worker: str) -> str:
    return (
        f'The Worker "{worker}" is not running here. Start it beside this one: add '
        f'"-c path/to/{worker}/wrangler.jsonc" to the command, after the -c of the primary Worker.'
    )
