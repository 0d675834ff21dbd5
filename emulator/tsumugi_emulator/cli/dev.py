"""``tsumugi dev``: read the configuration, start the child at once, then everything else."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.cli.terminal import Terminal
from tsumugi_emulator.paths import shown
from tsumugi_emulator.worker.spawn import (
    Pyodide,
    Spawned,
    Started,
    WarmOptions,
    configure,
    start,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.config.diagnostics import Diagnostic
    from tsumugi_emulator.config.load import Loaded
    from tsumugi_emulator.config.model import WorkerConfig

DEFAULT_PORT = 8787
DEFAULT_IP = "127.0.0.1"
STATE_DIRECTORY = Path(".wrangler") / "tsumugi"


@dataclass(frozen=True, slots=True, kw_only=True)
class DevOptions:
    #: The primary Worker's first; empty to search for one.
    configs: tuple[Path, ...]
    environment: str | None
    port: int | None
    api_port: int | None
    ip: str | None
    variables: tuple[str, ...]
    persist_to: Path | None
    strict: bool
    log_level: str
    no_reload: bool
    no_cron: bool
    #: "cpython" or "pyodide": what runs the Workers' Python.
    runtime: str = "cpython"


def run(options: DevOptions, early: Started | None = None) -> int:
    """Run until told to stop; the process's exit code. ``early`` becomes the first Worker."""
    terminal = Terminal(options.log_level)
    if fault := faulty_variable(options.variables):
        terminal.log("error", fault)
        return 1
    configs = read_all(options, terminal)
    if configs is None:
        return 1
    try:
        warm = [warm_options(config, options) for config in configs]
    except RuntimeMissingError as error:
        terminal.log("error", str(error))
        return 1
    children = [early or start(), *(start() for _ in configs[1:])]
    spawned = [configure(child, what) for child, what in zip(children, warm, strict=True)]
    return _serve(options, configs, spawned, terminal)


def read_all(options: DevOptions, terminal: Terminal) -> list[WorkerConfig] | None:
    """Every Worker's configuration, or None when there is an error in any, after showing all."""
    found = [read_configuration(options, path) for path in options.configs or (None,)]
    for loaded in found:
        show_loaded(loaded, terminal)
    configs = [loaded.config for loaded in found if loaded.config is not None]
    if len(configs) < len(found):
        return None
    if len(configs) > 1 or any(c.services or c.durable_objects for c in configs):
        from tsumugi_emulator.config.together import check_together, missing_workers

        if clashes := check_together(configs):
            show_diagnostics(clashes, terminal)
            return None
        if missing := missing_workers(configs):
            show_diagnostics(missing, terminal)
    return configs


def faulty_variable(variables: tuple[str, ...]) -> str | None:
    """What is wrong with the first ``--var`` that is not KEY:VALUE."""
    for variable in variables:
        name, colon, _ = variable.partition(":")
        if not name or not colon:
            return f'--var {variable}: not of the form KEY:VALUE. Write --var "NAME:value".'
    return None


def read_configuration(options: DevOptions, path: Path | None) -> Loaded:
    return load_configuration(path, options.environment, options.variables)


def load_configuration(
    path: Path | None,
    environment: str | None,
    variables: tuple[str, ...] = (),
    *,
    local_values: bool = True,
) -> Loaded:
    """The configuration a command is about: the one named, or the nearest one."""
    from datetime import UTC, datetime

    from tsumugi_emulator.config.load import load

    return load(
        config_path=path,
        environment=environment,
        cwd=Path.cwd(),
        vars=dict(variable.split(":", 1) for variable in variables),
        environ=os.environ,
        today=datetime.now(UTC).date().isoformat(),
        local_values=local_values,
    )


def show_loaded(loaded: Loaded, terminal: Terminal) -> None:
    """Say where secrets come from and everything that is wrong."""
    for path in loaded.dev_vars_files:
        terminal.log("info", f"Using secrets defined in {shown(str(path))}")
    if loaded.diagnostics:
        show_diagnostics(loaded.diagnostics, terminal)


def show_diagnostics(diagnostics: tuple[Diagnostic, ...], terminal: Terminal) -> None:
    from tsumugi_emulator.config.diagnostics import render

    terminal.write(render(diagnostics, cwd=Path.cwd(), colour=terminal.colour), 2)


class RuntimeMissingError(Exception):
    """What ``--runtime`` names is not on this machine; the text says how to get it."""


def warm_options(config: WorkerConfig, options: DevOptions) -> WarmOptions:
    """What a child for ``config`` needs to know before it is told the rest.

    Raises:
        RuntimeMissingError: there is no Pyodide for it.
    """
    found = runtime_finder(options)(config)
    compatibility = config.compatibility
    return WarmOptions(compatibility.python_version, compatibility.flags, options.strict, found)


def runtime_finder(options: DevOptions) -> Callable[[WorkerConfig], Pyodide | None]:
    """Finds the Pyodide that runs a Worker; None is CPython."""
    if options.runtime == "cpython":
        return lambda _config: None
    from tsumugi_emulator.pyodide_runtime.find import NotFoundError, find

    def found(config: WorkerConfig) -> Pyodide:
        try:
            return find(config.compatibility.python_version, config.path.parent, os.environ)
        except NotFoundError as error:
            raise RuntimeMissingError(str(error)) from None

    return found


def _serve(
    options: DevOptions, configs: list[WorkerConfig], spawned: list[Spawned], terminal: Terminal
) -> int:
    # Imported while the child loads the SDK on the other core.
    from tsumugi_emulator.cli.session import Session

    return _run_loop(Session(options, configs, spawned, terminal).run())


def _run_loop(main: Any) -> int:
    try:
        import uvloop
    except ImportError:  # Windows has none
        import asyncio

        result: int = asyncio.run(main)
        return result
    code: int = uvloop.run(main)
    return code
