"""A Worker somebody is editing: reload it when its files or its configuration change."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from tsumugi_emulator.cli.configuration import show_loaded
from tsumugi_emulator.cli.dev_options import RuntimeMissingError, read_configuration

if TYPE_CHECKING:
    from tsumugi_emulator.cli.checks import Checks
    from tsumugi_emulator.cli.dev_options import DevOptions
    from tsumugi_emulator.cli.terminal import Terminal
    from tsumugi_emulator.config.model import WorkerConfig
    from tsumugi_emulator.hosted_worker import HostedWorker


class EditedWorker:
    def __init__(
        self,
        hosted: HostedWorker,
        config: WorkerConfig,
        options: DevOptions,
        terminal: Terminal,
        checks: Checks,
    ) -> None:
        self._hosted = hosted
        self._config = config
        self._options = options
        self._terminal = terminal
        self._checks = checks
        self._loads: set[asyncio.Task[bool]] = set()

    async def load(self) -> bool:
        """Serve it; False when its code does not load."""
        await self._load(self._config)
        return await self._hosted.is_up()

    async def _load(self, config: WorkerConfig) -> bool:
        if self._checks.strict:
            fault = await self._checks.fault(config)
            if fault is not None:
                self._hosted.supervisor.refuse(fault)
                return False
        try:
            is_loaded = await self._hosted.load(config)
        except RuntimeMissingError as error:  # another Python, for which there is no Pyodide
            self._hosted.supervisor.refuse(str(error))
            return False
        if is_loaded:
            self._checks.loaded(config)
        return is_loaded

    async def watch(self, stop: asyncio.Event) -> None:
        """Reload at each save that changes something, until ``stop`` is set."""
        from tsumugi_emulator.worker import watch

        while not stop.is_set():
            config = self._config
            extra = frozenset(path.resolve() for path in config.watched_files)
            roots = {config.path.parent, config.main.parent}
            async with contextlib.aclosing(watch.changes(roots, extra, stop)) as saves:
                async for changed in saves:
                    self.reload(config_changed=bool(changed & extra))
                    if self._config.watched_files != config.watched_files:
                        break  # other files matter now: watch those

    def reload(self, *, config_changed: bool = True) -> None:
        """Start serving what the files say now; the terminal tells what comes of it."""
        if config_changed:
            loaded = read_configuration(self._options, self._config.path)
            show_loaded(loaded, self._terminal)
            if loaded.config is None:
                self._terminal.log("warn", "The previous configuration stays in force.")
                return
            self._config = loaded.config
        # Not waited for: code that imports for ever must not keep the save that mends it waiting.
        task = asyncio.get_running_loop().create_task(self._load(self._config))
        self._loads.add(task)
        task.add_done_callback(self._loads.discard)
