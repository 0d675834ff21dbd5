"""What of a call is an event of its own: what it waits for, what it loses, when it ends."""

from __future__ import annotations

from service_harness import NAMED, services_child


def test_a_service_cannot_be_called_while_importing() -> None:
    source = """
import workers
from js import Object

async def main(self):
    return await outcome(called)

called = None
"""
    with services_child(source) as child:
        from tsumugi_emulator.bindings.service import ServiceBinding, ServiceTarget

        binding = ServiceBinding(ServiceTarget("test-worker"), child.services)

        async def call() -> str:
            try:
                await binding.anything()
            except Exception as error:
                return str(error)
            return ""

        text = child.loop.run_until_complete(call())
    assert text.startswith("Error: Disallowed operation called within global scope.")


def test_a_send_nobody_awaited_is_lost_with_the_call() -> None:
    source = """
class Sender(WorkerEntrypoint):
    async def last(self):
        asyncio.ensure_future(self.env.QUEUE.send("lost"))

    async def awaited(self):
        await self.env.QUEUE.send("sent")

async def main(self):
    await self.env.SENDER.last()
    await self.env.SENDER.awaited()
"""
    with services_child(source) as child:
        child.text()
        child.settle()
        assert child.messages_sent == [b'"sent"']


def test_wait_until_keeps_the_callees_event() -> None:
    source = """
done = []

class Later(WorkerEntrypoint):
    async def start(self):
        async def finish():
            await asyncio.sleep(0)
            done.append(1)
        self.ctx.waitUntil(finish())

async def main(self):
    await self.env.LATER.start()
    return len(done)
"""
    with services_child(source) as child:
        child.text()
        child.settle()
        assert child.program.module.done == [1]


def test_a_call_nobody_waits_for_ends_with_its_caller() -> None:
    source = """
ended = []

class Endless(WorkerEntrypoint):
    async def run(self):
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(1)

async def main(self):
    asyncio.ensure_future(self.env.ENDLESS.run())
    await asyncio.sleep(0.005)
"""
    with services_child(source) as child:
        child.text()
        child.settle()
        assert child.program.module.ended == [1]


def test_wait_until_can_be_imported() -> None:
    source = """
from workers import waitUntil

done = []

async def main(self):
    async def finish():
        done.append(await self.env.NAMED.add(1, 2))
    waitUntil(create_proxy(asyncio.ensure_future(finish())))
"""
    with services_child(source + NAMED) as child:
        child.text()
        child.settle()
        assert child.program.module.done == [3]
