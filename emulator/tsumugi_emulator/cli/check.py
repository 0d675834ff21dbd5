"""``tsumugi check``: read the configuration and the code, and say what fails in production."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tsumugi_emulator.check import report
from tsumugi_emulator.check.findings import has_errors
from tsumugi_emulator.check.judge import judge
from tsumugi_emulator.check.reader import Reader
from tsumugi_emulator.cli.configuration import load_configuration, show_loaded
from tsumugi_emulator.cli.terminal import Terminal

if TYPE_CHECKING:
    from tsumugi_emulator.check.project import Project

CLEAN, FAULTS, NO_CONFIGURATION = 0, 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    configs: tuple[Path, ...]
    environment: str | None
    json: bool


def run(options: CheckOptions) -> int:
    """The process's exit code: 0 without errors, 1 with, 2 if the configuration has faults."""
    terminal = Terminal()
    projects = read(options, terminal)
    if projects is None:
        return NO_CONFIGURATION
    found = judge(projects)
    files = {module.path for project in projects for module in project.modules.values()}
    if options.json:
        terminal.write(report.document(found, files))
    else:
        for entry in report.lines(found, cwd=Path.cwd(), colour=terminal.colour):
            terminal.write(entry)
        terminal.write(report.summary(found, len(files)))
    return FAULTS if has_errors(found) else CLEAN


def read(options: CheckOptions, terminal: Terminal) -> list[Project] | None:
    """The Workers; None after showing what is wrong with a configuration."""
    loaded = [
        load_configuration(path, options.environment, local_values=False)
        for path in options.configs or (None,)
    ]
    if any(one.config is None for one in loaded):
        for one in loaded:
            show_loaded(one, terminal)
        return None
    # Trees are many objects that live as long as the process, nearly.
    gc.disable()
    reader = Reader()
    return [reader.read(one.config, one.diagnostics) for one in loaded if one.config is not None]
