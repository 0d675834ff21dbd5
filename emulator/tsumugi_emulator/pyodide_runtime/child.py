"""The child as a host of Pyodide: it starts Node, becomes a Worker with it, and ends with it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.pyodide_runtime.boot import Node, NodeRuntime, package_of
from tsumugi_emulator.pyodide_runtime.calls import Calls
from tsumugi_emulator.pyodide_runtime.launch import start_node
from tsumugi_emulator.pyodide_runtime.node_link import NodeLink
from tsumugi_emulator.pyodide_runtime.protocol import Hear, Say
from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.child import Child
from tsumugi_emulator.worker.events import dropped_text

if TYPE_CHECKING:
    import socket

    from tsumugi_emulator.worker.loop import WorkerLoop
    from tsumugi_emulator.worker.spawn import WarmOptions

EXIT_NODE_DIED = 71
#: How long the process of a socket that closed may take to be gone.
REAP_S = 1.0


class NodeChild(Child):
    def __init__(self, loop: WorkerLoop, env: Any, options: WarmOptions) -> None:
        super().__init__(loop, env)
        self._node = start_node(options)
        link = NodeLink(loop, self._node.calls, self._node.events)
        link.on_frame = self._on_node_frame
        link.on_close = self._on_node_close
        self._link = link
        self._calls = Calls(link, loop)
        self._calls.package = package_of(options, Path.cwd())
        self._runtime = NodeRuntime(Node(link, self._calls, options))
        self._warm = False
        #: A Boot frame that came before Pyodide was loaded.
        self._waiting: frames.Boot | None = None
        self._handlers[frames.Ping] = lambda _frame: link.tell(Hear.PING, 0)

    async def connect(self, sock: socket.socket) -> None:
        await self._open_channel(sock)
        self._link.open()

    def _boot(self, frame: frames.Boot) -> None:
        if self._warm:
            self._become(frame)
        else:
            self._waiting = frame

    # -- Node -----------------------------------------------------------------------------------

    def _on_node_frame(self, frame: list[Any]) -> None:
        kind, *content = frame
        match kind:
            case Say.SETTLED:
                self._calls.settle(*content)
            case Say.QUIET:
                self._calls.cancel_timers(content[1])
            case Say.LOG:
                self._log(*content)
            case Say.RELEASE:
                for number, count in content[0]:
                    self._calls.handles.release(number, count)
            case Say.WARM:
                self._on_warm(content[0])
            case Say.PONG:
                self._channel.send(frames.Pong())
            case Say.EXITED:
                self._exit(content[0])

    def _on_warm(self, _version: str) -> None:
        self._warm = True
        self._channel.send(frames.Warm())
        if self._waiting is not None:
            self._boot(self._waiting)

    def _log(self, level: str, text: str) -> None:
        if level == "dropped":
            event, _, place = text.partition("\n")
            level, text = "warning", dropped_text(self._calls.shown(place), event)
        self._channel.send(frames.Log(level, text))

    def _on_node_close(self) -> None:
        """Nothing runs any more: the supervisor starts another child."""
        try:
            code = self._node.popen.wait(REAP_S)
        except Exception:
            self._node.popen.kill()
            code = self._node.popen.wait()
        ended = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"exited with {code}"
        self._channel.send(frames.Log("error", f"The Node process with Pyodide {ended}"))
        self._exit(EXIT_NODE_DIED)

    def _exit(self, code: int) -> None:
        self._channel.flush()
        os._exit(code)
