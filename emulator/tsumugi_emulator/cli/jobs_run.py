"""Run one command on jobs: connect, let it work, print what it answers. No command is here."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.cli.jobs_connection import JobsError, connect
from tsumugi_emulator.cli.jobs_text import plain
from tsumugi_emulator.cli.queues_commands import Console
from tsumugi_emulator.cli.queues_connection import CommandError
from tsumugi_emulator.cli.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.cli.jobs_connection import JobsApi, Target


class Unfinished(CommandError):
    """Part of the work was refused: ``result`` says which, and the command fails."""

    def __init__(self, text: str, result: Any) -> None:
        super().__init__(text)
        self.result = result


def run(target: Target, work: Callable[[JobsApi, Console], Any], *, as_json: bool) -> int:
    """The process's exit code: 0, or 1 when anything was refused."""
    terminal = Terminal("error" if as_json else "info")
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    console = Console(
        say=lambda text: terminal.log("info", plain(text)),
        ask=(lambda question: input(f"{question} ")) if interactive else None,
    )
    try:
        api = connect(target)
        try:
            result = work(api, console)
        finally:
            api.close()
    except CommandError as error:
        return _failed(terminal, error, as_json=as_json)
    except KeyboardInterrupt:
        return 130
    if as_json:
        terminal.write(json.dumps(result, indent=2, ensure_ascii=False))
    return 0


def _failed(terminal: Terminal, error: CommandError, *, as_json: bool) -> int:
    if not as_json:
        terminal.log("error", plain(str(error)))
    elif isinstance(error, Unfinished):
        terminal.write(json.dumps(error.result, indent=2, ensure_ascii=False))
    else:
        told: dict[str, Any] = {"text": str(error)}
        if isinstance(error, JobsError):
            told |= {"status": error.status, "answer": error.body}
        terminal.write(json.dumps({"error": told}, indent=2, ensure_ascii=False))
    return 1
