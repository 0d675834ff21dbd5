"""Constructors of objects that wait: they are called so that ``run_sync`` can switch stacks."""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING, Any

from object_harness import objects_child

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
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

async def main(env):
{code}
"""


def answer(directory: Path, code: str) -> Any:
    body = textwrap.indent(textwrap.dedent(code), "    ")
    with objects_child(PROGRAM.replace("{code}", body), directory) as child:
        return ast.literal_eval(child.text())


def test_calls_wait_until_a_constructor_that_waits_has_ended(tmp_path: Path) -> None:
    code = """
        stub = env.WAITING.getByName("a")
        return await asyncio.gather(stub.get(), stub.get())
    """
    assert answer(tmp_path, code) == [[1, 0, 1], [1, 0, 1]]


def test_sections_opened_in_the_constructor_come_in_order(tmp_path: Path) -> None:
    log = answer(tmp_path, 'return await env.NESTED.getByName("a").get()')
    assert log == ["constructor", "first", "second"]


def test_a_task_of_the_constructor_may_open_sections_later(tmp_path: Path) -> None:
    assert answer(tmp_path, 'return await env.LOOPS.getByName("a").get()') == 2


def test_a_constructor_that_nothing_will_wake_is_ended(tmp_path: Path) -> None:
    failed = answer(tmp_path, 'return await outcome(env.STUCK.getByName("a").get())')
    assert "your Worker's code had hung" in failed


def test_a_constructor_that_fails_after_waiting_fails_every_call(tmp_path: Path) -> None:
    code = 'return [await outcome(env.BOOM.getByName("a").get()) for _ in range(2)]'
    for failed in answer(tmp_path, code):
        assert failed.strip().endswith("ValueError: ctor-boom")
