"""Start a child process. Imports almost nothing, so that it can run before everything else does."""

from __future__ import annotations

import socket
import subprocess
import sys
from typing import NamedTuple

LENGTH_BYTES = 4


class Pyodide(NamedTuple):
    """A Pyodide to run the Worker's code in, and the Node that runs it."""

    node: str
    node_options: tuple[str, ...]
    node_version: str
    #: The folder of the npm package.
    folder: str
    version: str


class WarmOptions(NamedTuple):
    """What a child must know before it loads the SDK; a reload that changes them starts cold."""

    python_version: str
    flags: frozenset[str]
    strict: bool
    #: None is CPython: the child itself.
    pyodide: Pyodide | None = None

    def to_json(self) -> bytes:
        import json

        return json.dumps({**self._asdict(), "flags": sorted(self.flags)}).encode()

    @classmethod
    def from_json(cls, data: bytes) -> WarmOptions:
        import json

        version, flags, strict, found = json.loads(data).values()
        pyodide = None
        if found is not None:
            node, options, *rest = found
            pyodide = Pyodide(node, tuple(options), *rest)
        return cls(version, frozenset(flags), strict, pyodide)


class Started(NamedTuple):
    """A child that loads what does not depend on any configuration, and waits for its options."""

    popen: subprocess.Popen[bytes]
    channel: socket.socket
    #: The child exits when this end closes, that is, at the latest with this process.
    lifeline: socket.socket


class Spawned(NamedTuple):
    """A running child nobody talks to yet."""

    started: Started
    options: WarmOptions

    def kill(self) -> None:
        self.started.popen.kill()
        self.started.popen.wait()


def start() -> Started:
    ours, theirs = socket.socketpair()
    lifeline, held = socket.socketpair()
    descriptors = (theirs.fileno(), held.fileno())
    popen = subprocess.Popen(
        [
            sys.executable,
            "-P",  # the current directory is not the Worker's import root
            "-m",
            "tsumugi_emulator.worker.child",
            *map(str, descriptors),
        ],
        pass_fds=descriptors,
    )
    theirs.close()
    held.close()
    return Started(popen, ours, lifeline)


def configure(started: Started, options: WarmOptions) -> Spawned:
    """Let the child load the SDK."""
    data = options.to_json()
    started.channel.sendall(len(data).to_bytes(LENGTH_BYTES) + data)
    return Spawned(started, options)


def spawn(options: WarmOptions) -> Spawned:
    return configure(start(), options)


def receive_options(channel: socket.socket) -> WarmOptions | None:
    """The child's side of ``configure``; None when there is nobody to configure it any more."""
    length = int.from_bytes(_receive(channel, LENGTH_BYTES))
    data = _receive(channel, length)
    return WarmOptions.from_json(data) if data else None


def _receive(channel: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count and (piece := channel.recv(count - len(data))):
        data += piece
    return data
