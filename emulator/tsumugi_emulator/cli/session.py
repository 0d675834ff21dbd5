"""One run of ``tsumugi dev``: serve, watch, obey keys and signals, leave nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.cli import banner
from tsumugi_emulator.cli.dev import (
    DEFAULT_IP,
    DEFAULT_PORT,
    STATE_DIRECTORY,
    read_configuration,
    show_diagnostics,
)
from tsumugi_emulator.cli.keys import Keys
from tsumugi_emulator.emulator import Emulator
from tsumugi_emulator.queues.errors import StateInUseError
from tsumugi_emulator.server.ingress import Ingress
from tsumugi_emulator.server.listener import Listener, PortsTakenError, listen

if TYPE_CHECKING:
    from pathlib import Path

    from tsumugi_emulator.cli.dev import DevOptions
    from tsumugi_emulator.cli.terminal import Terminal
    from tsumugi_emulator.config.model import WorkerConfig
    from tsumugi_emulator.worker.spawn import Spawned


class Session:
    def __init__(
        self, options: DevOptions, config: WorkerConfig, spawned: Spawned, terminal: Terminal
    ) -> None:
        self._options = options
        self._config = config
        self._spawned = spawned
        self._terminal = terminal
        self._stop = asyncio.Event()
        self._reload_now = asyncio.Event()
        self._emulator = Emulator(
            self._state_directory(), terminal.log, strict=options.strict, colour=terminal.colour
        )

    async def run(self) -> int:
        try:
            self._emulator.open()
        except StateInUseError as error:
            self._terminal.log("error", str(error))
            self._spawned.popen.kill()
            return 1
        try:
            return await self._run()
        finally:
            await self._emulator.close()

    async def _run(self) -> int:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._stop.set)
        await self._emulator.supervisor.adopt(self._spawned)
        try:
            sock = listen(self._ip(), self._port())
        except (OSError, PortsTakenError) as error:
            self._terminal.log("error", f"Cannot listen on {self._ip()}:{self._port()}: {error}")
            return 1
        ip, port = sock.getsockname()[:2]
        listener = Listener(Ingress(self._emulator.supervisor, self._terminal.log), sock)
        await listener.start()
        tasks = [loop.create_task(listener.tick_in_background())]
        await self._emulator.load(self._config)
        self._terminal.write(banner.ready(self._terminal, self._config, ip, port))
        if not self._options.no_reload:
            tasks.append(loop.create_task(self._watch()))
        with Keys(self._on_key, self._terminal) as keys:
            self._emulator.supervisor.on_debugger = keys.lend
            self._terminal.write(banner.keys(self._terminal, interactive=keys.active))
            await self._stop.wait()
        self._terminal.write(self._terminal.paint("Shutting down...", "2"))
        for task in tasks:
            task.cancel()
        await listener.stop()
        await asyncio.gather(*tasks, return_exceptions=True)
        return 0

    # -- Where things are -------------------------------------------------------------------------

    def _state_directory(self) -> Path:
        if self._options.persist_to is not None:
            return self._options.persist_to.absolute()
        return self._config.path.parent / STATE_DIRECTORY

    def _ip(self) -> str:
        ip = self._options.ip or self._config.dev.ip or DEFAULT_IP
        return DEFAULT_IP if ip == "localhost" else ip

    def _port(self) -> int:
        if self._options.port is not None:
            return self._options.port
        return DEFAULT_PORT if self._config.dev.port is None else self._config.dev.port

    # -- Reloading ----------------------------------------------------------------------------------

    def _on_key(self, key: str) -> None:
        match key.lower():
            case "r":
                asyncio.get_running_loop().create_task(self._reload())
            case "c":
                self._terminal.clear()
            case "x" | "q" | "\x03":
                self._stop.set()

    async def _watch(self) -> None:
        from tsumugi_emulator.worker import watch

        while not self._stop.is_set():
            config = self._config
            extra = frozenset(path.resolve() for path in config.watched_files)
            roots = {config.path.parent, config.main.parent}
            with contextlib.suppress(asyncio.CancelledError):
                async with contextlib.aclosing(watch.changes(roots, extra, self._stop)) as saves:
                    async for changed in saves:
                        await self._reload(config_changed=bool(changed & extra))
                        if self._config.watched_files != config.watched_files:
                            break  # other files matter now: watch those

    async def _reload(self, *, config_changed: bool = True) -> None:
        config: Any = self._config
        if config_changed:
            loaded = read_configuration(self._options)
            show_diagnostics(loaded, self._terminal)
            if loaded.config is None:
                self._terminal.log("warn", "The previous configuration stays in force.")
                return
            config = loaded.config
        await self._emulator.load(config)
        self._config = config
