"""The least HTTP a measurement needs: one request on one connection, answered whole.

Not here: load with many connections (``load``).
"""

from __future__ import annotations

import http.client
import json
import socket
import time
from typing import Any

#: How often a tool that does not answer yet is asked again.
POLL_S = 0.002


def get(port: int, path: str, *, timeout_s: float = 120.0) -> tuple[int, bytes]:
    """Status and body.

    Raises:
        OSError: nobody listens, or the answer did not come in time.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read()
    except http.client.HTTPException as error:
        raise OSError(str(error)) from error
    finally:
        connection.close()


def get_json(port: int, path: str, *, timeout_s: float = 120.0) -> Any:
    """The answer to a request that must succeed.

    Raises:
        RuntimeError: any other status than 200.
    """
    status, body = get(port, path, timeout_s=timeout_s)
    if status != 200:
        raise RuntimeError(f"{path} answered {status}: {body[:200]!r}")
    return json.loads(body)


def wait_for(port: int, path: str, *, limit_s: float, body: bytes | None = None) -> None:
    """Ask until the answer is 200 (and ``body``, if given).

    Raises:
        TimeoutError: it did not come.
    """
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        try:
            status, answer = get(port, path, timeout_s=limit_s)
        except OSError:
            pass
        else:
            if status == 200 and body in (None, answer):
                return
        time.sleep(POLL_S)
    raise TimeoutError(f"port {port} did not answer {path} as expected within {limit_s} s")


def free_port() -> int:
    """A port nobody listens on at this moment."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port
