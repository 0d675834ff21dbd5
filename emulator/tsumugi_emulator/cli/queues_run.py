"""Run one command on queues: connect, let it work, print what it answers. No command is here."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.cli.queues_commands import Console
from tsumugi_emulator.cli.queues_connection import CommandError, connect
from tsumugi_emulator.cli.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tsumugi_emulator.cli.resources import Place


def run(place: Place, work: Callable[[Any, Console], Awaitable[Any]], *, as_json: bool) -> int:
    """The process's exit code."""
    terminal = Terminal("error" if as_json else "info")
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    console = Console(
        say=lambda text: terminal.log("info", text),
        ask=(lambda question: input(f"{question} ")) if interactive else None,
    )

    async def talk() -> Any:
        async with connect(place) as api:
            return await work(api, console)

    try:
        result = asyncio.run(talk())
    except CommandError as error:
        if as_json:
            terminal.write(json.dumps({"error": {"text": str(error)}}, indent=2))
        else:
            terminal.log("error", str(error))
        return 1
    except KeyboardInterrupt:
        return 130
    if as_json and result is not None:
        terminal.write(json.dumps(result, indent=2, ensure_ascii=False))
    return 0
