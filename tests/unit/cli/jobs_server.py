"""A jobs API that answers what a test says, on a real socket; and commands run against it."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

from click.testing import CliRunner
from tsumugi_emulator.cli.commands import cli

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


class Asked(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: Any


class JobsServer:
    """``answers`` is what comes next: (status, body) each, the last one again and again."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answers: list[tuple[int, Any]] = [(200, {})]
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                body = self.rfile.read(length)
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.asked.append(
                    Asked(self.command, self.path, headers, json.loads(body) if body else None)
                )
                several = len(outer.answers) > 1
                status, told = outer.answers.pop(0) if several else outer.answers[0]
                data = told.encode() if isinstance(told, str) else json.dumps(told).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PATCH = answer

            def log_message(self, *_arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Ran(NamedTuple):
    code: int
    out: str
    error: str


class Terminal:
    """Runs commands in a project directory; they write to the real descriptors."""

    def __init__(self, directory: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.directory = directory
        self._capfd = capfd

    def jobs(self, *arguments: str, typed: str = "") -> Ran:
        self._capfd.readouterr()
        result = CliRunner().invoke(cli, ["jobs", *arguments], input=typed)
        shown = self._capfd.readouterr()
        return Ran(result.exit_code, shown.out, shown.err + result.output)


CONFIG = {
    "name": "api",
    "main": "src/entry.py",
    "compatibility_date": "2026-09-08",
    "compatibility_flags": ["python_workers"],
}
