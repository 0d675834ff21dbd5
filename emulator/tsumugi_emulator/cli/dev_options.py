"""What ``tsumugi dev`` was asked for, and which runtime that means. Starts nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsumugi_emulator.cli.configuration import load_configuration

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tsumugi_emulator.config.load import Loaded
    from tsumugi_emulator.config.model import WorkerConfig
    from tsumugi_emulator.worker.spawn import Pyodide

DEFAULT_PORT = 8787
DEFAULT_IP = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class DevOptions:
    #: The primary Worker's first; empty to search for one.
    configs: tuple[Path, ...]
    environment: str | None
    port: int | None
    api_port: int | None
    ip: str | None
    variables: tuple[str, ...]
    env_files: tuple[Path, ...]
    persist_to: Path | None
    strict: bool
    log_level: str
    no_reload: bool
    no_cron: bool
    #: "cpython" or "pyodide": what runs the Workers' Python.
    runtime: str = "cpython"


def read_configuration(options: DevOptions, path: Path | None) -> Loaded:
    return load_configuration(
        path, options.environment, options.variables, env_files=options.env_files
    )


class RuntimeMissingError(Exception):
    """What ``--runtime`` names is not on this machine; the text says how to get it."""


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
