"""``tsumugi dev`` as a person runs it: a real process, real files, a real port or terminal.

Nothing here sleeps for a fixed time: every wait ends with what it waits for, or fails after a
bound, showing the output so far.
"""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WORKERS = Path(__file__).parent / "workers"
TSUMUGI = [sys.executable, "-c", "from tsumugi_emulator.cli.main import main; main()"]
#: Makes standard input the controlling terminal of a new session, as a terminal emulator does.
ON_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
#: ``pyodide``: every session runs its Workers in real Pyodide (CONTRIBUTING says how).
RUNTIME = os.environ.get("TSUMUGI_TEST_RUNTIME", "cpython")
#: For tests that ask the Worker which process it is in.
needs_process_ids = pytest.mark.skipif(
    RUNTIME == "pyodide", reason="os.getpid() is 42 in Pyodide, as in production"
)
#: For sockets that go straight to the last of several Workers.
needs_moving_sockets = pytest.mark.skipif(
    RUNTIME == "pyodide", reason="A Worker in Pyodide keeps the sockets it passes on (ADR-0236)"
)
#: For Workers whose packages are compiled: a deployment vendors them (ADR-0214).
needs_compiled_packages = pytest.mark.skipif(
    RUNTIME == "pyodide", reason="Pyodide refuses packages that are compiled for CPython"
)
#: How much longer a start or a reload may take.
SLOWNESS = 1 if RUNTIME == "cpython" else 20
#: Generous: machines under load are slow, and a test that passes never waits for it.
WITHIN_S = 10.0 if RUNTIME == "cpython" else 90.0
POLL_S = 0.01
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def eventually(check: Callable[[], Any], what: str, within_s: float = WITHIN_S) -> Any:
    """The first true value of ``check()``."""
    deadline = time.monotonic() + within_s
    while True:
        began = time.monotonic()
        if value := check():
            return value
        ended = time.monotonic()
        assert ended < deadline, f"{what}: not within {within_s:g} s"
        # Whom a check keeps busy has as long for what it waits for.
        threading.Event().wait(max(POLL_S, ended - began))


class Project:
    """The files of one Worker in a directory of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    @classmethod
    def of_worker(cls, name: str, directory: Path, **config: Any) -> Project:
        """A copy of tests/integration/workers/<name>, configured with ``config`` on top."""
        project = cls(directory)
        shutil.copytree(WORKERS / name / "src", directory / "src")
        base = json.loads((WORKERS / name / "wrangler.json").read_text())
        project.configure(**{**base, **config})
        return project

    def configure(self, **fields: Any) -> None:
        base = {
            "name": "test-worker",
            "main": "src/entry.py",
            "compatibility_date": "2026-11-01",
            "compatibility_flags": ["python_workers"],
        }
        self.write("wrangler.json", json.dumps(base | fields, indent=2))

    def write(self, name: str, text: str) -> Path:
        """Save a file as editors do: the old or the new content, never a half."""
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{path.name}.new")
        new.write_text(text, encoding="utf-8")
        new.replace(path)
        return path

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.directory / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))


class Dev:
    """A running ``tsumugi dev``."""

    def __init__(
        self,
        project: Project,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        port: int | None = 0,
        terminal: bool = False,
        stdin: Any = subprocess.DEVNULL,
    ) -> None:
        self.project = project
        self._wanted_port = port
        self._text = ""
        self._news = threading.Condition()
        command = [*TSUMUGI, "dev", *arguments]
        if "--runtime" not in arguments:
            command += ["--runtime", RUNTIME]
        if port is not None:
            command += ["--port", str(port)]
        if "--api-port" not in arguments:
            command += ["--api-port", "0"]
        environ = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "NO_COLOR"))}
        options: dict[str, Any] = {
            "cwd": project.directory,
            "env": environ
            | {
                "TERM": "xterm",
                "PYTHONWARNINGS": "default",
                # Emulators of one user find each other: those of one test only.
                "XDG_RUNTIME_DIR": str(project.directory.parent / "runtime"),
            }
            | dict(env or {}),
        }
        self._keyboard: int | None = None
        if terminal:
            self._keyboard, screen = pty.openpty()
            command = [sys.executable, "-c", ON_TERMINAL, *command]
            self.process = subprocess.Popen(
                command, stdin=screen, stdout=screen, stderr=screen, **options
            )
            os.close(screen)
            source = self._keyboard
        else:
            self.process = subprocess.Popen(
                command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                process_group=0,
                **options,
            )
            assert self.process.stdout is not None
            source = self.process.stdout.fileno()
        self._reader = threading.Thread(target=self._read, args=(source,), daemon=True)
        self._reader.start()
        self._client: httpx.Client | None = None
        self._client_lock = threading.Lock()
        self._children: set[int] = set()

    def _read(self, source: int) -> None:
        while True:
            try:
                data = os.read(source, 65536)
            except OSError:  # what a terminal says when nobody is on the other side any more
                data = b""
            with self._news:
                self._text += data.decode("utf-8", "replace").replace("\r\n", "\n")
                self._news.notify_all()
            if not data:
                return

    # -- What it prints ---------------------------------------------------------------------------

    @property
    def output(self) -> str:
        with self._news:
            return self._text

    def count(self, text: str) -> int:
        return self.output.count(text)

    def mark(self) -> int:
        """A place in the output, for ``wait_for(after=...)``."""
        return len(self.output)

    def wait_for(
        self, pattern: str, *, times: int = 1, after: int = 0, within_s: float = WITHIN_S
    ) -> re.Match[str]:
        """Wait until ``pattern`` was printed so many times; the last match of these."""
        found: list[re.Match[str]] = []

        def enough() -> bool:
            found[:] = re.finditer(pattern, self._text[after:])
            return len(found) >= times

        with self._news:
            met = self._news.wait_for(enough, within_s)
            assert met, f"{pattern!r} was not printed {times} time(s) but:\n{self._text}"
        return found[times - 1]

    # -- What it answers --------------------------------------------------------------------------

    def ready(self) -> Dev:
        self.wait_for(r"Ready on \S*http://\S+")
        return self

    def wait_until_it_listens(self) -> None:
        """For those that do not say so."""
        eventually(self._listens, "it listens")

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._wanted_port or 0)) == 0

    @property
    def url(self) -> str:
        if self._wanted_port and "http://" not in self.output:
            return f"http://127.0.0.1:{self._wanted_port}"
        return ANSI.sub("", self.wait_for(r"http://[^\s\x1b]+")[0])

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def client(self) -> httpx.Client:
        with self._client_lock:
            if self._client is None:
                self._client = httpx.Client(base_url=self.url, timeout=WITHIN_S, trust_env=False)
            return self._client

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.client.get(path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.client.post(path, **options)

    # -- Its processes ----------------------------------------------------------------------------

    def children(self) -> set[int]:
        """Worker processes alive now."""
        alive = children_of(self.process.pid)
        self._children |= alive.union(*map(children_of, alive))  # with Node, if there is one
        return {child for child in alive if not is_checker(child)}

    def serving_child(self) -> int:
        """The process that answers requests; the Worker must serve its pid at /pid.

        In Pyodide every process says 42. There it is the oldest: a spare is started after it, and
        one of older code must have ended.
        """
        if RUNTIME == "pyodide":
            return min(self.children(), key=started_at)
        return int(self.get("/pid").text)

    @property
    def keyboard(self) -> int:
        assert self._keyboard is not None, "not started on a terminal"
        return self._keyboard

    def type(self, keys: str) -> None:
        os.write(self.keyboard, keys.encode())

    def echoes(self) -> bool:
        """Whether the terminal shows what is typed, line by line, as a shell expects it."""
        modes = termios.tcgetattr(self.keyboard)[3]
        return bool(modes & termios.ECHO) and bool(modes & termios.ICANON)

    def stop(self, number: int = signal.SIGINT) -> int:
        """Ask it to stop; its exit code. Fails if it leaves a process behind."""
        self.children()
        self.process.send_signal(number)
        return self.wait()

    def kill(self) -> None:
        """As the out-of-memory killer does. Fails if a process survives it."""
        self.children()
        self.process.kill()
        self.wait()

    def wait(self) -> int:
        try:
            code = self.process.wait(WITHIN_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"did not exit but printed:\n{self.output}") from None
        eventually(lambda: all(map(is_gone, self._children)), "its children are gone")
        return code

    def close(self) -> None:
        """Leave nothing behind, whatever the test found."""
        if self._client is not None:
            self._client.close()
        self.children()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for child in self._children:
            if not is_gone(child):
                os.kill(child, signal.SIGKILL)
        self._reader.join(WITHIN_S)
        if self._keyboard is not None:
            os.close(self._keyboard)
        elif self.process.stdout is not None:
            self.process.stdout.close()


def free_port() -> int:
    """A port that was free a moment ago; for options that must name one."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


def children_of(pid: int) -> set[int]:
    """Processes alive now that it started."""
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return set()
    return {int(child) for child in listed.split() if not is_gone(int(child))}


def is_gone(pid: int) -> bool:
    fields = stat_of(pid)
    return not fields or fields[0] == "Z"


def started_at(pid: int) -> int:
    """When it started, in ticks of the machine's clock."""
    fields = stat_of(pid)
    return int(fields[19]) if fields else 0


def stat_of(pid: int) -> list[str]:
    """What the kernel says of a process from its state on; nothing of one that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def is_checker(pid: int) -> bool:
    """Whether it only checks the code, and ends by itself."""
    try:
        return b"check.background" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def run_tsumugi(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """A command that ends by itself."""
    return subprocess.run(
        [*TSUMUGI, *arguments],
        cwd=cwd,
        env=os.environ | env,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        stdin=subprocess.DEVNULL,
        check=False,
    )
