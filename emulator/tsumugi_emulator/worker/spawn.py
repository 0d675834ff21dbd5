"""Start a child process. Imports almost nothing, so that it can run before everything else does."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WarmOptions:
    """What a child must know before it loads the SDK; a reload that changes them starts cold."""

    python_version: str
    flags: frozenset[str]
    strict: bool

    def to_json(self) -> str:
        return json.dumps(
            {
                "python_version": self.python_version,
                "flags": sorted(self.flags),
                "strict": self.strict,
            }
        )


@dataclass(frozen=True, slots=True)
class Spawned:
    """A running child nobody talks to yet."""

    popen: subprocess.Popen[bytes]
    channel: socket.socket
    #: The child exits when this end closes, that is, at the latest with this process.
    lifeline: socket.socket
    options: WarmOptions


def spawn(options: WarmOptions) -> Spawned:
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
            options.to_json(),
        ],
        pass_fds=descriptors,
    )
    theirs.close()
    held.close()
    return Spawned(popen, ours, lifeline, options)
