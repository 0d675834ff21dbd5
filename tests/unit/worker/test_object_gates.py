"""What lets another event into an object, row by row (python-workers-verified 3, rows ``conc``).

Five calls read a counter, wait for something, and write it back. The result is 5 where nothing
enters during the wait, and 1 where everything does.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING

import pytest
from object_harness import WORKER, ObjectsUnderTest, objects_child
from tsumugi_emulator.bindings.d1 import D1Database
from tsumugi_emulator.bindings.kv import KvNamespace
from tsumugi_emulator.bindings.r2 import R2Bucket
from tsumugi_emulator.javascript.web.fetch import close_client
from tsumugi_emulator.storage.stores import Stores
from tsumugi_emulator.worker import blocking
from tsumugi_emulator.worker.service_boot import LazyServices, Surroundings, bind_services

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = """
import time
import workers
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

    async def fetch(self, request):
        return Response("hello")

class Service(WorkerEntrypoint):
    def hello(self):
        return 1

    async def fetch(self, request):
        return Response("hello")

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
    'await self.env.R2.get("x")',
    'await self.env.R2.put("x", "content")',
    "await self.env.R2.list()",
    'await self.env.OTHER.getByName("o").fetch("http://x/")',
    "await self.env.SERVICE.hello()",
    'await self.env.SERVICE.fetch("http://x/")',
    "await (await workers.fetch(self.env.URL)).text()",
    "await self.env.QUEUE.sendBatch([{'body': 1}])",
    "time.sleep(0.01)",
]


def bind_service(child: ObjectsUnderTest) -> None:
    services = LazyServices(Surroundings(WORKER, child.program, child.env, child.events, child))
    entrypoint = ["SERVICE", WORKER, "Service", ""]
    bind_services({"services": [entrypoint], "objects": [], "assets": {}}, child.env, services)


@contextlib.contextmanager
def serving(child: ObjectsUnderTest) -> Iterator[str]:
    """A server to fetch from, on the child's own loop."""

    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()

    server = child.loop.run_until_complete(asyncio.start_server(answer, "127.0.0.1", 0))
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    finally:
        server.close()
        child.loop.run_until_complete(close_client())


def result_of(wait: str, directory: Path) -> int:
    program = PROGRAM.replace("{wait}", wait)
    with objects_child(program, directory) as child:
        stores = Stores(directory, child.clock)
        child.env._props["KV"] = KvNamespace("KV", partial(stores.kv, "kv"), child.clock)
        child.env._props["DB"] = D1Database("DB", partial(stores.d1, "db"), child.clock)
        child.env._props["R2"] = R2Bucket("R2", partial(stores.r2, "bucket"))
        bind_service(child)
        with serving(child) if "self.env.URL" in wait else contextlib.nullcontext() as url:
            child.env._props["URL"] = url
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
