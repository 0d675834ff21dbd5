"""One run of ``tsumugi dev``: serve, watch, obey keys and signals, leave nothing behind."""

from __future__ import annotations

import asyncio
import importlib
import signal
import sqlite3
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.cli import banner
from tsumugi_emulator.cli.checks import Checks
from tsumugi_emulator.cli.configuration import STATE_DIRECTORY
from tsumugi_emulator.cli.dev_options import DEFAULT_IP, DEFAULT_PORT, runtime_finder
from tsumugi_emulator.cli.edited_worker import EditedWorker
from tsumugi_emulator.cli.keys import Keys
from tsumugi_emulator.cli.terminal import DIM
from tsumugi_emulator.emulator import Emulator
from tsumugi_emulator.queues.errors import StateInUseError
from tsumugi_emulator.queues.schema import NewerSchemaError
from tsumugi_emulator.server.assets_front import AssetsFront
from tsumugi_emulator.server.cron_endpoint import CronEndpoint
from tsumugi_emulator.server.ingress import Ingress
from tsumugi_emulator.server.listener import Listener, PortsTakenError, listen

if TYPE_CHECKING:
    import socket
    from collections.abc import Coroutine
    from pathlib import Path

    from tsumugi_emulator.cli.dev_options import DevOptions
    from tsumugi_emulator.cli.queues_api import QueuesApi
    from tsumugi_emulator.cli.terminal import Terminal
    from tsumugi_emulator.config.model import WorkerConfig
    from tsumugi_emulator.worker.spawn import Spawned


class Session:
    def __init__(
        self,
        options: DevOptions,
        configs: list[WorkerConfig],
        spawned: list[Spawned],
        terminal: Terminal,
    ) -> None:
        self._options = options
        self._configs = configs
        self._spawned = spawned
        self._workers: list[EditedWorker] = []
        self._terminal = terminal
        self._stop = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._keys = Keys(self._on_key)
        self._runtime = runtime_finder(options)
        self._emulator = Emulator(
            self._state_directory(),
            terminal.log,
            strict=options.strict,
            colour=terminal.colour,
            fire_crons=not options.no_cron,
            on_lend_terminal=self._keys.lend,
            find_pyodide=self._runtime,
        )
        self._api: QueuesApi | None = None
        self._checks = Checks(terminal, strict=options.strict)

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._stop.set)
        try:
            fault = self._open()
            if fault is not None:
                self._terminal.log("error", fault)
                for spawned in self._spawned:
                    spawned.kill()
                return 1
            return await self._run()
        finally:
            await self._emulator.close()

    def _open(self) -> str | None:
        """Take the state directory; what is wrong with it if that fails."""
        directory = self._state_directory()
        try:
            self._emulator.open()
        except (StateInUseError, NewerSchemaError) as error:
            return str(error)
        except (OSError, sqlite3.Error) as error:
            return (
                f"Cannot keep state in {directory}: {error}. Move the directory away to start "
                "without what it holds, or choose another with --persist-to."
            )
        self._make_databases(directory)
        return None

    def _make_databases(self, directory: Path) -> None:
        configs = [config for config in self._configs if config.resources.d1_databases]
        if configs:
            from tsumugi_emulator.cli.d1 import migrate_new

            for config in configs:
                migrate_new(config, directory, self._terminal)

    async def _run(self) -> int:
        for config, spawned in zip(self._configs, self._spawned, strict=True):
            hosted = self._emulator.add_worker(config)
            await hosted.supervisor.adopt(spawned)
            self._workers.append(
                EditedWorker(hosted, config, self._options, self._terminal, self._checks)
            )
        try:
            sock = listen(self._ip(), self._port())
        except (OSError, PortsTakenError) as error:
            self._terminal.log("error", f"Cannot listen on {self._ip()}:{self._port()}: {error}")
            return 1
        log = self._terminal.log
        primary = self._emulator.workers[0]
        ingress = Ingress(primary.supervisor, log, primary.sockets)
        app = CronEndpoint(primary, AssetsFront(lambda: primary.site, ingress))
        listener = Listener(app, sock, log)
        await listener.start()
        self._start(listener.tick_in_background())
        # Entered before the user's code runs, which may hold a breakpoint.
        with self._keys:
            self._start(self._begin(sock))
            await self._stop.wait()
        self._terminal.log("info", self._terminal.paint("Shutting down...", DIM))
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await self._checks.stop()
        if self._api is not None:
            await self._api.stop()
        await listener.stop()
        await asyncio.gather(*tasks, return_exceptions=True)
        return 0

    async def _begin(self, sock: socket.socket) -> None:
        if not self._options.no_reload:
            for worker in self._workers:
                self._start(worker.watch(self._stop))
        loaded = await asyncio.gather(*(worker.load() for worker in self._workers))
        ip, port = sock.getsockname()[:2]
        terminal, wanted = self._terminal, self._port()
        if wanted not in (0, port):
            terminal.log("warn", f"Port {wanted} is in use: listening on {port} instead.")
        text = banner.ready(
            terminal, self._configs, ip, port, loaded=loaded[0], runtime=self._runtime
        )
        terminal.log("info", text)
        terminal.log("info", banner.keys(terminal, interactive=self._keys.active))
        self._start(self._serve_api(banner.address(ip, port)))
        self._checks.begin()

    async def _serve_api(self, worker_url: str) -> None:
        # Loaded only now and in a thread: it must not hold up the Worker.
        module: Any = await asyncio.to_thread(
            importlib.import_module, "tsumugi_emulator.cli.queues_api"
        )
        self._api = module.QueuesApi(
            self._emulator,
            self._state_directory(),
            self._terminal,
            wanted_port=self._options.api_port,
            worker_url=worker_url,
        )
        await self._api.run()

    def _start(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not self._stop.is_set():
            self._terminal.log("error", f"tsumugi itself failed: {type(error).__name__}: {error}")
            raise error

    # -- Where things are -------------------------------------------------------------------------

    def _state_directory(self) -> Path:
        if self._options.persist_to is not None:
            return self._options.persist_to.absolute()
        return self._configs[0].path.parent / STATE_DIRECTORY

    def _ip(self) -> str:
        ip = self._options.ip or self._configs[0].dev.ip or DEFAULT_IP
        return DEFAULT_IP if ip == "localhost" else ip

    def _port(self) -> int:
        if self._options.port is not None:
            return self._options.port
        port = self._configs[0].dev.port
        return DEFAULT_PORT if port is None else port

    # -- Keys -------------------------------------------------------------------------------------

    def _on_key(self, key: str) -> None:
        match key.lower():
            case "r":
                for worker in self._workers:
                    worker.reload()
            case "c":
                self._terminal.clear()
            case "x" | "q" | "\x03":
                self._stop.set()
