"""The two tools that are compared, as commands: start one on a copy of its Worker, stop it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from benchmarks import wire

if TYPE_CHECKING:
    from types import TracebackType

HERE = Path(__file__).resolve().parent
WRANGLER = HERE / "node_modules" / "wrangler" / "bin" / "wrangler.js"

#: Longer than any tool takes to start, even on a busy machine.
START_LIMIT_S = 60.0
STOP_LIMIT_S = 10.0


@dataclass(frozen=True, slots=True)
class Tool:
    """How to run one of the compared tools."""

    name: str
    command: tuple[str, ...]
    worker: str
    version_file: str
    version_text: str
    #: Messages it takes without a consumer keeping up; 0 means any number.
    outstanding: int


TSUMUGI = Tool(
    name="tsumugi",
    command=(sys.executable, "-c", "from tsumugi_emulator.cli.main import main; main()", "dev"),
    worker="python",
    version_file="version.py",
    version_text='VERSION = "{}"\n',
    outstanding=0,
)

PEER = Tool(
    name="wrangler",
    command=("node", str(WRANGLER), "dev", "--inspector-port", "0"),
    worker="javascript",
    version_file="version.js",
    version_text='export const VERSION = "{}";\n',
    outstanding=5_000,
)


def peer_is_ready() -> bool:
    """Whether wrangler can run; installs it on first use when Node and npm are present."""
    if shutil.which("node") is None:
        return False
    if WRANGLER.exists():
        return True
    npm = shutil.which("npm")
    if npm is None:
        return False
    arguments = ["install", "--no-package-lock", "--no-audit", "--no-fund"]
    done = subprocess.run([npm, *arguments], cwd=HERE, stdout=sys.stderr, check=False)
    return done.returncode == 0 and WRANGLER.exists()


class Running:
    """A tool from spawn to exit, on its own copy of the Worker and its own state."""

    def __init__(self, tool: Tool, state: Path | None = None) -> None:
        """With ``state``, on what another run left, and for the next one to go on with."""
        self.tool = tool
        self.port = wire.free_port()
        self._directory = tempfile.TemporaryDirectory(prefix="benchmark-")
        root = Path(self._directory.name)
        self._project = root / "project"
        shutil.copytree(HERE / "workers" / tool.worker, self._project)
        self._log = (root / "output.log").open("wb")
        self._started = time.perf_counter()
        self._process = subprocess.Popen(
            [
                *tool.command,
                "--config", str(self._project / "wrangler.jsonc"),
                "--port", str(self.port),
                "--ip", "127.0.0.1",
                "--persist-to", str(state or root / "state"),
            ],
            cwd=self._project,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_until_ready(self) -> float:
        """Seconds from the spawn to the first HTTP 200."""
        wire.wait_for(self.port, "/", limit_s=START_LIMIT_S)
        return time.perf_counter() - self._started

    def save_version(self, version: str) -> None:
        """Save other code: ``/version`` answers ``version`` once it serves."""
        path = self._project / self.tool.version_file
        path.write_text(self.tool.version_text.format(version))

    def __enter__(self) -> Self:
        try:
            self.wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        if error is not None:
            log = Path(self._log.name).read_text(errors="replace")
            print(f"--- {self.tool.name} ---\n{log[-2000:]}", file=sys.stderr)
        self.stop()

    def stop(self) -> None:
        """Interrupt the tool, then end whatever it left running."""
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            self._process.send_signal(signal.SIGINT)
            self._process.wait(STOP_LIMIT_S)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._log.close()
        self._directory.cleanup()


def _environment() -> dict[str, str]:
    # No questions, no telemetry, no request for a sample `cf` object over the network.
    quiet = {"CI": "1", "WRANGLER_SEND_METRICS": "false", "CLOUDFLARE_CF_FETCH_ENABLED": "false"}
    # Without it every start would compile what a user's machine compiles once.
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, **quiet, "NO_COLOR": "1"}
