"""The queues API of a session of ``tsumugi dev``. Comes up after the Worker and goes down with it.

It listens on the loopback alone, wherever the Worker listens. ``dev.json`` in the state directory
tells the commands of this machine's user where, with a token that ends with the session.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.clock import SystemClock
from tsumugi_emulator.forwarding import Forwarder, HttpCarrier
from tsumugi_emulator.neighbours import Neighbours, directory as neighbours_directory
from tsumugi_emulator.running import ACCOUNT_ID, API_PATH, Running
from tsumugi_emulator.server.listener import Listener, PortsTakenError, listen
from tsumugi_emulator.tokens import Tokens

if TYPE_CHECKING:
    from pathlib import Path

    from tsumugi_emulator.cli.terminal import Terminal
    from tsumugi_emulator.emulator import Emulator
    from tsumugi_emulator.queues.control import QueueControl

LOOPBACK = "127.0.0.1"
DEFAULT_API_PORT = 8788


class QueuesApi:
    def __init__(
        self,
        emulator: Emulator,
        state: Path,
        terminal: Terminal,
        *,
        wanted_port: int | None,
        worker_url: str,
    ) -> None:
        self._emulator = emulator
        self._state = state
        self._terminal = terminal
        self._worker_url = worker_url
        self._wanted_port = DEFAULT_API_PORT if wanted_port is None else wanted_port
        self._is_port_given = wanted_port is not None
        self._listener: Listener | None = None
        self._running: Running | None = None
        self._control: QueueControl | None = None
        self._neighbours: Neighbours | None = None

    async def run(self) -> None:
        """Serve until cancelled; ``stop`` cleans up."""
        # Messages sent before it starts are told of by the forwarder, once, like later ones.
        self._emulator.expect_forwarding(expected=True)
        # In a thread: the loop serves the Worker meanwhile.
        app_module: Any = await asyncio.to_thread(
            importlib.import_module, "tsumugi_emulator.server.v4.app"
        )
        try:
            sock = listen(LOOPBACK, self._wanted_port)
        except (OSError, PortsTakenError) as error:
            self._emulator.expect_forwarding(expected=False)
            self._terminal.log("warn", f"No queues API: {error}")
            return
        port = sock.getsockname()[1]
        self._tell_another(port)
        now_ms = SystemClock().now_ms()
        tokens = Tokens(self._state)
        first_token = tokens.create_default(now_ms=now_ms)
        self._control = self._emulator.queue_control()
        analytics: Any = await asyncio.to_thread(
            importlib.import_module, "tsumugi_emulator.server.analytics_api"
        )
        app = app_module.build(
            self._control,
            tokens,
            self._terminal.log,
            analytics=analytics.analytics_sql(self._state, SystemClock()),
        )
        self._listener = Listener(app, sock, self._terminal.log)
        await self._listener.start()
        url = f"http://{LOOPBACK}:{port}{API_PATH}"
        passing = tokens.create_passing("commands", now_ms=now_ms)
        state = str(self._state)
        self._running = Running(os.getpid(), url, passing, state, self._worker_url)
        self._running.write(self._state)
        self._terminal.log("info", self._described(url, first_token))
        self._neighbours = Neighbours(neighbours_directory(os.environ), self._running)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listener.tick_in_background())
            group.create_task(self._forward(self._neighbours))

    def _tell_another(self, port: int) -> None:
        wanted = self._wanted_port
        if self._is_port_given and wanted not in (0, port):
            text = f"Port {wanted} is in use: the queues API listens on {port} instead."
            self._terminal.log("warn", text)

    async def _forward(self, neighbours: Neighbours) -> None:
        """Pass on what Workers here send to queues that another emulator consumes."""
        carrier = HttpCarrier()
        outbox = self._emulator.outbox(lambda: forwarder.wake())
        forwarder = Forwarder(outbox, neighbours, carrier, self._terminal.log)
        try:
            await forwarder.run()
        finally:
            await carrier.close()

    async def stop(self) -> None:
        if self._control is not None:
            self._control.tails.close()
        if self._neighbours is not None:
            self._neighbours.withdraw()
        if self._running is not None:
            with contextlib.suppress(OSError):
                self._running.remove(self._state)
            self._running = None
        if self._listener is not None:
            await self._listener.stop()
            self._listener = None

    def _described(self, url: str, first_token: str | None) -> str:
        """What wrangler, the SDKs and curl need to be told."""
        token = first_token or "<token>  # `tsumugi tokens create` makes one"
        return "\n".join(
            (
                f"Queues API on {self._terminal.paint(url, '34')}",
                f"  export CLOUDFLARE_API_BASE_URL={url}",
                f"  export CLOUDFLARE_ACCOUNT_ID={ACCOUNT_ID}",
                f"  export CLOUDFLARE_API_TOKEN={token}",
            )
        )
