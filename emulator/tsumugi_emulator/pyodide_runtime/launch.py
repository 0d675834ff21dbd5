"""Start the Node process: its sockets, its arguments, the files it shows to Pyodide."""

from __future__ import annotations

import json
import socket
import subprocess
from importlib.metadata import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tsumugi_emulator.worker.spawn import WarmOptions

_EMULATOR = Path(__file__).parent.parent
_HOST = _EMULATOR / "pyodide_host"

#: What of the emulator runs inside Pyodide too: how a module becomes a Worker, and reports.
_SHARED = (
    "__init__.py",
    "paths.py",
    "javascript/mode.py",
    "worker/__init__.py",
    "worker/imports.py",
    "worker/program.py",
    "worker/recursion.py",
    "worker/unhandled.py",
    "tracebacks.py",
)
#: Its real content would bring the emulated boundary along.
_EMPTY = ("javascript/__init__.py",)

#: What Pyodide calls itself in production, where npm's package is of another build.
PRODUCTION_VERSIONS = {"3.12": "0.26.0a2", "3.13": "0.28.2", "3.14": "314.0.5"}


class NodeProcess(NamedTuple):
    popen: subprocess.Popen[bytes]
    calls: socket.socket
    events: socket.socket
    #: Node ends when this end closes.
    lifeline: socket.socket


def start_node(options: WarmOptions) -> NodeProcess:
    assert options.pyodide is not None, "whoever starts it has found it"
    pairs = [socket.socketpair() for _ in range(3)]
    theirs = [far.fileno() for _, far in pairs]
    settings = {
        "package": options.pyodide.folder,
        "python": options.python_version,
        "version": PRODUCTION_VERSIONS[options.python_version],
        "flags": sorted(options.flags),
        "own": _own_files(),
        "sdk": _sdk_files(),
    }
    popen = subprocess.Popen(
        [
            options.pyodide.node,
            *options.pyodide.node_options,
            str(_HOST / "main.mjs"),
            *map(str, theirs),
            json.dumps(settings),
        ],
        pass_fds=theirs,
        stdin=subprocess.DEVNULL,
    )
    for _, far in pairs:
        far.close()
    return NodeProcess(popen, *(near for near, _ in pairs))


def _own_files() -> list[list[str]]:
    shared = [[str(_EMULATOR / path), f"tsumugi_emulator/{path}"] for path in _SHARED]
    empty = [[str(_EMULATOR / "worker/__init__.py"), f"tsumugi_emulator/{path}"] for path in _EMPTY]
    packages = ("tsumugi_pyodide", "_cloudflare")
    own = [[str(_HOST / "python" / name), name] for name in packages]
    return [*shared, *empty, *own]


def _sdk_files() -> list[list[str]]:
    """The real SDK's files, from where they are to where they go below site-packages."""
    found = files("workers-runtime-sdk") or []
    return [
        [str(path.locate()), str(path)]
        for path in found
        if path.suffix in (".py", ".js") and ".dist-info" not in str(path)
    ]
