"""Constructors of objects, and those that wait: ``run_sync`` can switch stacks there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from object_harness import answer_of

if TYPE_CHECKING:
    from pathlib import Path

WAITING = """
from pyodide.ffi import run_sync

class Waiting(DurableObject):
    made = []

    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.made.append(1)
        run_sync(asyncio.sleep(0.01))
        self.first = run_sync(self.ctx.storage.get("n")) or 0
        run_sync(self.ctx.storage.put("n", self.first + 1))

    async def get(self):
        return [len(self.made), self.first, await self.ctx.storage.get("n")]

class Nested(DurableObject):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.log = []
        async def first():
            await asyncio.sleep(0.01)
            self.log.append(await self.ctx.storage.get("n") or "first")
        async def second():
            self.log.append("second")
        self.ctx.blockConcurrencyWhile(first)
        self.ctx.blockConcurrencyWhile(second)
        run_sync(asyncio.sleep(0.002))
        self.log.append("constructor")

    async def get(self):
        return self.log

class Loops(DurableObject):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.turns = 0
        self.task = asyncio.create_task(self.loop())

    async def loop(self):
        for _ in range(2):
            await asyncio.sleep(0.005)
            await self.ctx.blockConcurrencyWhile(self.turn)

    async def turn(self):
        self.turns += 1

    async def get(self):
        await self.task
        return self.turns

class Stuck(DurableObject):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        run_sync(asyncio.Event().wait())

    async def get(self):
        return "never"

class Boom(DurableObject):
    def __init__(self, ctx, env):
        run_sync(asyncio.sleep(0.001))
        raise ValueError("ctor-boom")

    async def get(self):
        return 1
"""


def test_calls_wait_until_a_constructor_that_waits_has_ended(tmp_path: Path) -> None:
    code = """
        stub = env.WAITING.getByName("a")
        return await asyncio.gather(stub.get(), stub.get())
    """
    assert answer_of(tmp_path, WAITING, code) == [[1, 0, 1], [1, 0, 1]]


def test_sections_opened_in_the_constructor_come_in_order(tmp_path: Path) -> None:
    log = answer_of(tmp_path, WAITING, 'return await env.NESTED.getByName("a").get()')
    assert log == ["constructor", "first", "second"]


def test_a_task_of_the_constructor_may_open_sections_later(tmp_path: Path) -> None:
    assert answer_of(tmp_path, WAITING, 'return await env.LOOPS.getByName("a").get()') == 2


def test_a_constructor_that_nothing_will_wake_is_ended(tmp_path: Path) -> None:
    failed = answer_of(tmp_path, WAITING, 'return await outcome(env.STUCK.getByName("a").get())')
    assert "your Worker's code had hung" in failed


def test_a_constructor_that_fails_after_waiting_fails_every_call(tmp_path: Path) -> None:
    code = 'return [await outcome(env.BOOM.getByName("a").get()) for _ in range(2)]'
    for failed in answer_of(tmp_path, WAITING, code):
        assert failed.strip().endswith("ValueError: ctor-boom")


CONSTRUCTED = """
class Ready(DurableObject):
    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        self.value = None
        async def load():
            await asyncio.sleep(0.01)
            self.value = "loaded"
        self.ctx.blockConcurrencyWhile(load)

    async def get(self):
        return self.value

class Boom(DurableObject):
    def __init__(self, ctx, env):
        raise ValueError("ctor-boom")

    async def get(self):
        return 1

class Bare(DurableObject):
    def __init__(self, ctx, env):
        self.kinds = [type(ctx).__name__, type(env).__name__, hasattr(self, "env")]

    async def get(self):
        return self.kinds
"""


def test_a_section_in_the_constructor_delays_the_first_call(tmp_path: Path) -> None:
    code = """
        stub = env.READY.getByName("a")
        return await asyncio.gather(stub.get(), stub.get())
    """
    assert answer_of(tmp_path, CONSTRUCTED, code) == ["loaded", "loaded"]


def test_a_constructor_that_raises_fails_every_call(tmp_path: Path) -> None:
    code = """
        return [await outcome(env.BOOM.getByName("a").get()) for _ in range(2)]
    """
    for failed in answer_of(tmp_path, CONSTRUCTED, code):
        assert failed.startswith("Error: PythonError: Traceback")
        assert failed.strip().endswith("ValueError: ctor-boom")


def test_a_constructor_gets_wrapped_arguments(tmp_path: Path) -> None:
    got = answer_of(tmp_path, CONSTRUCTED, 'return await env.BARE.getByName("a").get()')
    assert got == ["DurableObjectContext", "_EnvWrapper", False]
