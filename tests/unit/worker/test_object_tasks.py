"""Work of an object that goes on after a call, and calls that wait for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from object_harness import answer_of, objects_child, with_main

if TYPE_CHECKING:
    from pathlib import Path

TASKS = """
class Tasks(DurableObject):
    done = []

    async def later(self):
        async def work():
            await asyncio.sleep(0.005)
            await self.ctx.storage.put("done", 1)
        self.task = asyncio.create_task(work())

    async def wait_until_coroutine(self):
        async def never():
            Tasks.done.append("ran")
        self.ctx.waitUntil(never())
        await asyncio.sleep(0.005)
        return Tasks.done

    async def wait_until_proxy(self):
        async def work():
            await asyncio.sleep(0.005)
            await self.ctx.storage.put("done", 2)
        self.ctx.waitUntil(create_proxy(asyncio.ensure_future(work())))

    async def send(self):
        self.env.QUEUE.send({"un": "awaited"})

    async def stored(self):
        await asyncio.sleep(0.01)
        return await self.ctx.storage.get("done")
"""


@pytest.mark.parametrize(("method", "stored"), [("later", 1), ("wait_until_proxy", 2)])
def test_what_an_object_left_running_finishes(method: str, stored: int, tmp_path: Path) -> None:
    code = f"""
        stub = env.TASKS.getByName("a")
        await stub.{method}()
        return await stub.stored()
    """
    assert answer_of(tmp_path, TASKS, code) == stored


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_a_coroutine_given_to_wait_until_never_runs_and_says_so(tmp_path: Path) -> None:
    code = 'return await env.TASKS.getByName("a").wait_until_coroutine()'
    with objects_child(with_main(TASKS, code), tmp_path) as child:
        assert child.text() == "[]"
        (warning,) = child.warnings
    assert "This borrowed proxy was automatically destroyed" in warning


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_send_nobody_awaits_leaves_an_object(tmp_path: Path) -> None:
    code = """
        await env.TASKS.getByName("a").send()
        await env.TASKS.getByName("a").stored()
    """
    with objects_child(with_main(TASKS, code), tmp_path) as child:
        child.text()
        assert child.messages_sent == [b'{"un":"awaited"}']


def test_a_call_may_wait_for_whatever_a_later_one_does(tmp_path: Path) -> None:
    source = """
class Bell(DurableObject):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.rung = asyncio.Event()

    async def wait(self):
        await self.rung.wait()
        return "heard"

    async def ring(self):
        self.rung.set()
        return "rung"

async def main(env):
    bell = env.BELL.getByName("a")
    return await (bell.ring() if env.RINGS else bell.wait())
"""
    with objects_child(source, tmp_path) as child:
        child.env._props["RINGS"] = False
        waiting = child.start_fetch()
        child.loop.run_until_idle()
        assert child.objects.events.active, "nothing can wake it now, and it waits"
        child.env._props["RINGS"] = True
        assert child.text() == "'rung'"
        assert child.answer_to(waiting).body == b"'heard'"
