"""A gate that Workers wait at, whichever process and runtime they are in: all of them can fetch."""

from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Gate:
    """A server that answers every request when the gate is opened, and at once from then on."""

    def __init__(self) -> None:
        self._opened = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self._opened))
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/"

    def open(self) -> None:
        self._opened.set()

    def close(self) -> None:
        self.open()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _handler(opened: threading.Event) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            opened.wait()
            with contextlib.suppress(OSError):  # who waited may have been killed
                self.send_response(204)
                self.end_headers()

        def log_message(self, *_args: Any) -> None:
            pass

    return Handler
