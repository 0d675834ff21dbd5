"""What lets another event into an object, row by row (python-workers-verified 3, rows ``conc``).

Five calls read a counter, wait for something, and write it back. The result is 5 where nothing
enters during the wait, and 1 where everything does.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

import pytest
from object_harness import objects_child
from tsumugi_emulator.bindings.d1 import D1Database
from tsumugi_emulator.bindings.kv import KvNamespace
from tsumugi_emulator.storage.stores import Stores
from tsumugi_emulator.worker import blocking

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import time
from js import crypto

class Counter(DurableObject):
    async def bump(self):
        n = await self.ctx.storage.get("n") or 0
        {wait}
        await self.ctx.storage.put("n", n + 1)
        return n + 1

    async def read(self):
        return await self.ctx.storage.get("n")

class Other(DurableObject):
    def hello(self):
        return 1

async def main(env):
    stub = env.COUNTER.getByName("a")
    calls = [stub.bump() for _ in range(5)]
    await asyncio.gather(*calls)
    return await stub.read()
"""

KEPT_OUT = [
    'await self.ctx.storage.get("x")',
    'await self.ctx.storage.put("x", 1)',
    "await self.ctx.storage.list()",
    "await self.ctx.storage.getAlarm()",
    "await self.ctx.storage.deleteAlarm()",
    "await asyncio.sleep(0)",
    "await asyncio.sleep(0.001)",
    "await asyncio.sleep(0.002)",
    "await asyncio.to_thread(lambda: 1)",
    'await asyncio.gather(self.ctx.storage.get("x"), self.ctx.storage.get("y"))',
    'await crypto.subtle.digest("SHA-256", to_js(b"x"))',
    "await self.ctx.blockConcurrencyWhile(lambda: asyncio.sleep(0.01))",
    "await self.ctx.storage.transaction(lambda txn: asyncio.sleep(0.01))",
]
LET_IN = [
    "await asyncio.sleep(0.003)",
    "await asyncio.sleep(0.01)",
    "await self.ctx.storage.sync()",
    'await self.ctx.storage.get("x", allowConcurrency=True)',
    'await self.env.OTHER.getByName("o").hello()',
    "await self.env.QUEUE.send({'a': 1})",
    'await self.env.KV.get("x")',
    'await self.env.DB.prepare("SELECT 1").run()',
    "time.sleep(0.01)",
]


def result_of(wait: str, directory: Path) -> int:
    program = PROGRAM.replace("{wait}", wait)
    with objects_child(program, directory) as child:
        stores = Stores(directory, child.clock)
        child.env._props["KV"] = KvNamespace("KV", partial(stores.kv, "kv"), child.clock)
        child.env._props["DB"] = D1Database("DB", partial(stores.d1, "db"), child.clock)
        result = int(ast.literal_eval(child.text()))
        stores.close()
    return result


@pytest.mark.parametrize("wait", KEPT_OUT)
def test_no_event_enters_while_an_object_waits_for(wait: str, tmp_path: Path) -> None:
    assert result_of(wait, tmp_path) == 5


@pytest.mark.parametrize("wait", LET_IN)
def test_events_enter_and_updates_are_lost_while_an_object_waits_for(
    wait: str, tmp_path: Path
) -> None:
    blocking.apply()
    assert result_of(wait, tmp_path) == 1
