"""Callbacks and when they are for, as Pyodide's loop takes it (scenario ``loop``)."""

from __future__ import annotations

from child_harness import child

WORKER = """
import asyncio, math
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        return Response(str(await code(loop, done)))

async def code(loop, done):
"""


def test_a_time_that_was_read_before_computing_is_not_past() -> None:
    source = f"""{WORKER}
    now = loop.time()
    while loop.time() < now + 0.001:
        pass
    loop.call_at(now, done.set_result, "called")
    return await done
"""
    with child(source) as it:
        assert it.fetch().body == b"called"


def test_the_past_is_refused_where_it_is_asked_for() -> None:
    source = f"""{WORKER}
    before = loop.time()
    await asyncio.sleep(0.002)
    return loop.call_at(before, done.set_result, "called")
"""
    with child(source) as it:
        failed = it.fetch()
        assert "ValueError: Can't schedule in the past" in failed.summary


def test_waiting_for_what_is_called_never_is_a_hang() -> None:
    source = f"""{WORKER}
    loop.call_later(math.inf, done.set_result, "called")
    return await done
"""
    with child(source) as it:
        assert "hung" in it.fetch().summary
