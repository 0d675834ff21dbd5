"""The configuration a command is about: find it, load it, and show what is wrong with it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tsumugi_emulator.paths import shown

if TYPE_CHECKING:
    from tsumugi_emulator.cli.terminal import Terminal
    from tsumugi_emulator.config.diagnostics import Diagnostic
    from tsumugi_emulator.config.load import Loaded

#: Beside the configuration: queues and all other state.
STATE_DIRECTORY = Path(".wrangler") / "tsumugi"


def load_configuration(
    path: Path | None,
    environment: str | None,
    variables: tuple[str, ...] = (),
    *,
    env_files: tuple[Path, ...] = (),
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
        env_files=env_files,
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
