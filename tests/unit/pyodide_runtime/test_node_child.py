"""How the host process ends with its Node process, in whose place the test speaks."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.pyodide_runtime import child as child_module
from tsumugi_emulator.pyodide_runtime.child import EXIT_NODE_DIED, NodeChild
from tsumugi_emulator.pyodide_runtime.launch import NodeProcess
from tsumugi_emulator.pyodide_runtime.protocol import Say, encode
from tsumugi_emulator.worker.loop import WorkerLoop
from tsumugi_emulator.worker.spawn import Pyodide, WarmOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    type Ended = Callable[..., tuple[int, list[str]]]

OPTIONS = WarmOptions("3.14", frozenset(), False, Pyodide("node", (), "20", "/nowhere", "314.0.7"))


class Supervisor:
    """A channel to it; ``heard`` is what has left the process."""

    def __init__(self) -> None:
        self._outbox: list[Any] = []
        self.heard: list[Any] = []

    def send(self, frame: Any) -> None:
        self._outbox.append(frame)

    def flush(self) -> None:
        self.heard += self._outbox


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> Ended:
    """``ended(code, *frames)``: the exit code and last messages of a child whose Node did so."""

    def exit_process(code: int) -> None:
        raise SystemExit(code)  # goes through event loops

    def run(node_exits_with: int, *frames: list[Any]) -> tuple[int, list[str]]:
        pairs = [socket.socketpair() for _ in range(3)]
        node = pairs[0][1]
        popen = subprocess.Popen([sys.executable, "-c", f"raise SystemExit({node_exits_with})"])
        ends = NodeProcess(popen, *(near for near, _ in pairs))
        monkeypatch.setattr(child_module, "start_node", lambda _options: ends)
        monkeypatch.setattr(os, "_exit", exit_process)
        loop = WorkerLoop()
        child = NodeChild(loop, None, OPTIONS)
        supervisor: Any = Supervisor()
        child._channel = supervisor
        loop.call_soon(child._link.open)
        node.sendall(b"".join(map(encode, frames)))
        node.close()
        try:
            with pytest.raises(SystemExit) as exited:
                loop.run_forever()
        finally:
            loop.close()
            popen.wait()
            for sock in (sock for pair in pairs for sock in pair):
                sock.close()
        return int(str(exited.value.code)), [frame.text for frame in supervisor.heard]

    return run


def test_a_process_that_the_worker_ends_exits_with_the_code_it_names(ended: Ended) -> None:
    said = [[int(Say.LOG), "warn", "last words"], [int(Say.EXITED), 3]]
    assert ended(70, *said) == (3, ["last words"])


def test_a_node_process_that_ends_otherwise_is_told_of(ended: Ended) -> None:
    assert ended(70) == (EXIT_NODE_DIED, ["The Node process with Pyodide exited with 70"])
