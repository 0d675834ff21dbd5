"""``tsumugi deploy``: check, say what goes up, and let pywrangler or wrangler upload it."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tsumugi_emulator.check import report
from tsumugi_emulator.check.findings import has_errors
from tsumugi_emulator.check.judge import judge
from tsumugi_emulator.check.reader import Reader
from tsumugi_emulator.cli import banner
from tsumugi_emulator.cli.configuration import load_configuration, show_loaded
from tsumugi_emulator.cli.terminal import DIM, Terminal
from tsumugi_emulator.deploy.rules import RuleConflict
from tsumugi_emulator.deploy.tool import NoTool, command, read_project
from tsumugi_emulator.deploy.upload import EMULATOR, UploadError, read_upload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsumugi_emulator.config.diagnostics import Diagnostic
    from tsumugi_emulator.config.model import WorkerConfig
    from tsumugi_emulator.deploy.upload import SizedModule, Upload

#: Files that stay at home are named up to this many.
MAX_NAMED = 5
#: How wide a module's name may make its column.
MAX_NAME_WIDTH = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployOptions:
    config: Path | None
    environment: str | None
    dry_run: bool
    check: bool
    #: Given to pywrangler or wrangler as they are.
    rest: tuple[str, ...]


def run(options: DeployOptions) -> int:
    """The process's exit code; without a dry run this process becomes the one that uploads."""
    terminal = Terminal()
    loaded = load_configuration(options.config, options.environment, local_values=False)
    # The check tells what is wrong with the configuration among the rest: once is enough.
    is_checked = options.check and loaded.config is not None
    if not is_checked:
        show_loaded(loaded, terminal)
    if loaded.config is None:
        return 2
    try:
        upload = read_upload(loaded.config)
    except (UploadError, RuleConflict) as fault:
        if is_checked:
            show_loaded(loaded, terminal)
        terminal.log("error", str(fault))
        return 1
    if options.check and not _passes(loaded.config, loaded.diagnostics, terminal):
        return 1
    terminal.write("\n\n".join(_listing(terminal, loaded.config, upload)))
    if upload.emulator_files:
        terminal.log("error", _emulator_leaks(upload))
        return 1
    if options.dry_run:
        terminal.write("\n--dry-run: nothing was uploaded.")
        return 0
    try:
        _hand_over(options, loaded.config, terminal)
    except NoTool as fault:
        terminal.log("error", str(fault))
        return 1


def _passes(config: WorkerConfig, diagnostics: Sequence[Diagnostic], terminal: Terminal) -> bool:
    """Whether ``tsumugi check`` finds no error; what it finds is shown."""
    found = judge([Reader().read(config, diagnostics)])
    for entry in report.lines(found, cwd=Path.cwd(), colour=terminal.colour):
        terminal.write(entry)
    if not has_errors(found):
        return True
    terminal.log(
        "error", "Not deployed: this fails in production. Deploy all the same with --no-check."
    )
    return False


def _hand_over(options: DeployOptions, config: WorkerConfig, terminal: Terminal) -> NoReturn:
    root = config.path.parent
    start = command(read_project(root), shutil.which, exists=Path.exists)
    words = [*start, "deploy", "--config", str(config.path)]
    if options.environment is not None:
        words += ["--env", options.environment]
    words += options.rest
    terminal.write(terminal.paint(f"\n$ {' '.join(words)}", DIM))
    os.chdir(root)
    os.execv(shutil.which(words[0]) or words[0], words)


def _listing(terminal: Terminal, config: WorkerConfig, upload: Upload) -> list[str]:
    rows = [(m.module.name, m.module.type, _size(m.size_bytes)) for m in upload.own]
    rows += _packages(upload.vendored)
    count = len(upload.modules)
    rows.append(
        (f"Total ({count} module{'' if count == 1 else 's'})", "", _size(upload.size_bytes))
    )
    parts = [banner.title(terminal, config), _columns(rows)]
    if upload.left_out:
        parts.append(_left_out(upload.left_out))
    return parts + banner.resources(terminal, config)


def _packages(modules: Sequence[SizedModule]) -> list[tuple[str, str, str]]:
    """One row for each top-level package: there can be thousands of files in them."""
    sizes: dict[str, list[int]] = {}
    for module in modules:
        package = "/".join(module.module.name.split("/")[:2])
        sizes.setdefault(package, []).append(module.size_bytes)
    return [
        (package, f"{len(found)} file{'' if len(found) == 1 else 's'}", _size(sum(found)))
        for package, found in sizes.items()
    ]


def _left_out(paths: Sequence[str]) -> str:
    named = ", ".join(paths[:MAX_NAMED])
    more = f" and {len(paths) - MAX_NAMED} more" if len(paths) > MAX_NAMED else ""
    return (
        f"Not uploaded: {named}{more}. What the code reads of these will be missing; "
        'add a rule to "rules" in the configuration, such as '
        '{ "type": "Data", "globs": ["**/*.json"] }.'
    )


def _emulator_leaks(upload: Upload) -> str:
    return (
        f"{upload.emulator_files} files of the emulator would be uploaded from {EMULATOR}: they "
        "cannot run there. Keep them out in the configuration: "
        '"python_modules": { "exclude": ["**/*.pyc", "tsumugi_emulator/**"] }'
    )


def _columns(rows: Sequence[tuple[str, str, str]]) -> str:
    name_width = min(MAX_NAME_WIDTH, max(len(row[0]) for row in rows))
    kind_width = max(len(row[1]) for row in rows)
    return "\n".join(
        f"{name:<{name_width}}  {kind:<{kind_width}}  {size:>12}" for name, kind, size in rows
    )


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1024:.2f} KiB"
