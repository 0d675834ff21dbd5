"""Synchronous waiting inside a handler: other events go on, context and errors stay right."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

import pytest
from child_harness import child
from tsumugi_emulator.worker import blocking, frames

if TYPE_CHECKING:
    from collections.abc import Iterator

IMPORTS = """
import asyncio, contextvars
from pyodide.ffi import run_sync
from workers import Response, WorkerEntrypoint
"""


@contextlib.contextmanager
def blocking_calls_wait() -> Iterator[None]:
    """The child's replacements, for as long as a test needs them in this process."""
    sleep, run = time.sleep, asyncio.run
    blocking.apply()
    try:
        yield
    finally:
        time.sleep, asyncio.run = sleep, run


def test_run_sync_returns_what_the_coroutine_returns() -> None:
    source = f"""{IMPORTS}
async def slow():
    await asyncio.sleep(0.001)
    return "waited"
def plain():
    return run_sync(slow())
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(plain())
"""
    with child(source) as it:
        assert it.fetch().body == b"waited"


@pytest.mark.parametrize("wait", ["run_sync(fails())", "run_sync(asyncio.ensure_future(fails()))"])
def test_the_lines_where_it_was_raised_are_told(wait: str) -> None:
    source = f"""{IMPORTS}
async def fails():
    await asyncio.sleep(0)
    raise KeyError("inner")
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        {wait}
"""
    with child(source) as it:
        report = it.fetch().report
    assert [line.rpartition(", ")[2] for line in report.splitlines() if "File" in line] == [
        "in fetch",
        "in fails",
    ]


def test_run_sync_raises_what_the_coroutine_raises_at_the_callers_line() -> None:
    source = f"""{IMPORTS}
async def fails():
    await asyncio.sleep(0.001)
    raise KeyError("inner")
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        try:
            run_sync(fails())
        except KeyError as error:
            return Response(f"caught {{error}}")
"""
    with child(source) as it:
        assert it.fetch().body == b"caught 'inner'"


def test_other_events_run_while_one_waits_synchronously() -> None:
    source = f"""{IMPORTS}
order = []
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if request.url.endswith("/slow"):
            run_sync(asyncio.sleep(0.02))
            order.append("slow")
        else:
            order.append("quick")
        return Response(",".join(order))
"""
    with child(source) as it:
        slow, quick = it.start_fetch("/slow"), it.start_fetch("/quick")
        assert it.answer_to(quick).body == b"quick"
        assert it.answer_to(slow).body == b"quick,slow"


def test_context_variables_set_around_run_sync_are_the_tasks_own() -> None:
    source = f"""{IMPORTS}
var = contextvars.ContextVar("var", default="unset")
async def read():
    return var.get()
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        var.set("mine")
        seen = run_sync(read())
        await asyncio.sleep(0)
        return Response(f"{{seen}} {{var.get()}}")
"""
    with child(source) as it:
        assert it.fetch().body == b"mine mine"


def test_a_binding_can_be_called_synchronously() -> None:
    source = f"""{IMPORTS}
class Default(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        run_sync(self.env.QUEUE.send("sent"))
"""
    with child(source) as it:
        assert it.queue().outcome == "ok"
    assert it.messages_sent == [b'"sent"']


def test_waiting_synchronously_for_what_never_comes_is_a_hang() -> None:
    source = f"""{IMPORTS}
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        run_sync(asyncio.Event().wait())
"""
    with child(source) as it:
        failed = it.fetch()
    assert isinstance(failed, frames.Failed)
    assert "hung" in failed.summary


def test_time_sleep_lets_other_events_run() -> None:
    source = f"""{IMPORTS}
import time
order = []
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if request.url.endswith("/slow"):
            time.sleep(0.02)
            order.append("slow")
        else:
            order.append("quick")
        return Response(",".join(order))
"""
    with blocking_calls_wait(), child(source) as it:
        slow, quick = it.start_fetch("/slow"), it.start_fetch("/quick")
        assert it.answer_to(quick).body == b"quick"
        assert it.answer_to(slow).body == b"quick,slow"
