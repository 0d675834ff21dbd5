"""What a module may do while it is imported (python-workers-verified, row 16 of section 7)."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import textwrap
from typing import Any

import pytest
from test_run_sync import blocking_calls_wait
from tsumugi_emulator.javascript import install
from tsumugi_emulator.javascript.io_context import GLOBAL_SCOPE_TEXT, global_scope
from tsumugi_emulator.javascript.stack import SwitchableCoroutine
from tsumugi_emulator.worker.loop import WorkerLoop

IMPORTS = "import asyncio, time\nfrom pyodide.ffi import run_sync\n"


def imported(source: str) -> dict[str, Any]:
    """The names of a module, imported as the child does it."""
    names: dict[str, Any] = {}

    async def load() -> None:
        with global_scope():
            exec(IMPORTS + textwrap.dedent(source), names)

    if "_pyodide_entrypoint_helper" not in sys.modules:
        install()
    with contextlib.closing(WorkerLoop()) as loop, blocking_calls_wait():
        loop.run_until_complete(
            asyncio.Task(SwitchableCoroutine(load(), loop.idle_greenlets), loop=loop)
        )
    return names


@pytest.mark.parametrize(
    "expression",
    [
        "run_sync(asyncio.sleep(0, 1))",
        "asyncio.run(asyncio.sleep(0, 1))",
        "asyncio.run(asyncio.to_thread(lambda: 1))",
        "asyncio.new_event_loop().run_until_complete(asyncio.sleep(0, 1))",
        "asyncio.get_event_loop().run_until_complete(asyncio.sleep(0, 1))",
    ],
)
def test_a_module_may_wait_for_what_needs_no_time(expression: str) -> None:
    assert imported(f"value = {expression}")["value"] == 1


def test_a_task_of_a_module_may_wait_too() -> None:
    source = """
    async def below():
        return run_sync(asyncio.sleep(0, "below"))
    value = asyncio.run(below())
    """
    assert imported(source)["value"] == "below"


@pytest.mark.parametrize(
    "expression",
    ["run_sync(asyncio.sleep(0.01))", "asyncio.run(asyncio.sleep(1))", "time.sleep(0.01)"],
)
def test_a_module_may_not_set_a_timer(expression: str) -> None:
    source = f"""
    try:
        {expression}
    except Exception as error:
        text = str(error)
    """
    assert imported(source)["text"] == f"Error: {GLOBAL_SCOPE_TEXT}"
