"""Failures of what nobody awaits: told once, as production logs them, and never lost."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from child_harness import child
from object_harness import objects_child
from service_harness import services_child
from tsumugi_emulator.bindings.kv import KvNamespace
from tsumugi_emulator.storage.stores import Stores
from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.loop import MAX_TURNS_UNASKED
from tsumugi_emulator.worker.unhandled import IN_PROMISE, IN_TASK

if TYPE_CHECKING:
    from pathlib import Path

#: The SDK's own coroutine around each call is never awaited either, which Python says itself.
pytestmark = pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")

SERVICE = """
class Named(WorkerEntrypoint):
    async def fails(self):
        raise ValueError("bad value")

    async def later(self):
        await asyncio.sleep(0.002)
        raise ValueError("late value")

    async def slow(self):
        await asyncio.sleep(10)

async def main(self):
    named = self.env.NAMED
    {code}
    await asyncio.sleep(0.01)
"""


def errors_of(code: str) -> list[str]:
    with services_child(SERVICE.replace("{code}", code)) as worker:
        assert worker.text() == "None"
        worker.settle()
        return worker.errors


@pytest.mark.parametrize(
    ("code", "last_line"),
    [
        ("named.fails()", "ValueError: bad value"),
        ("named.later()", "ValueError: late value"),
        ("named.nope()", "TypeError: Method nope does not exist"),
        ("named._binding.fails()", "ValueError: bad value"),
        ("import js; js.Promise.reject(js.Error.new('no'))", "Error: no"),
        ("import js; js.fetch('/x')", "TypeError: Invalid URL: /x"),
        ("import js; js.Promise.new(create_proxy(lambda _, reject: reject(js.Error.new('no'))))",
         "Error: no"),
    ],
)  # fmt: skip
def test_a_promise_that_fails_unawaited_is_told_once(code: str, last_line: str) -> None:
    (error,) = errors_of(code)
    assert error.splitlines()[0] == IN_PROMISE
    assert error.rstrip().endswith(last_line)


@pytest.mark.parametrize(
    "code",
    [
        "await outcome(named.fails())",
        "await asyncio.gather(named.fails(), named.nope(), return_exceptions=True)",
        "named._binding.fails().catch(lambda error: None)",
    ],
)
def test_a_failure_somebody_asked_for_is_not_told(code: str) -> None:
    assert errors_of(code) == []


def test_a_task_that_fails_unawaited_is_told_with_its_lines() -> None:
    (error,) = errors_of("asyncio.ensure_future(named.fails())")
    assert error.splitlines()[0] == IN_TASK
    assert error.rstrip().endswith("ValueError: bad value")


@pytest.mark.parametrize("turns", range(MAX_TURNS_UNASKED + 2))
def test_a_task_that_fails_unawaited_is_told_in_whichever_turn_it_fails(turns: int) -> None:
    waits = f"[await asyncio.sleep(0) for _ in range({turns})]"
    (error,) = errors_of(f"{waits}; asyncio.ensure_future(named.fails())")
    assert error.rstrip().endswith("ValueError: bad value")


def test_a_failure_that_waitUntil_holds_is_told_once() -> None:
    (error,) = errors_of("self.ctx.waitUntil(named.fails())")
    assert error.splitlines()[0] == "Uncaught exception in waitUntil of a fetch event"


def test_a_call_that_ends_with_its_caller_is_no_failure() -> None:
    with services_child(
        SERVICE.replace("{code}", "named.slow()").replace("asyncio.sleep(0.01)", "asyncio.sleep(0)")
    ) as worker:
        assert worker.text() == "None"
        worker.settle()
        assert worker.errors == []


OBJECT = """
class Box(DurableObject):
    async def fails(self):
        raise ValueError("bad value")

    async def run(self):
        st = self.ctx.storage

        async def failing(txn):
            await txn.put("k", 1)
            raise ValueError("undone")

        {code}
        await asyncio.sleep(0.01)

async def main(env):
    stub = env.BOX.getByName("a")
    return await stub.run()
"""


@pytest.mark.parametrize(
    ("code", "last_line"),
    [
        ("st.transaction(failing)", "ValueError: undone"),
        ("st.list(limit=0)", "TypeError: List limit must be positive."),
        ("self.env.BOX.getByName('b').fails()", "ValueError: bad value"),
        ("self.env.KV.get('')", "TypeError: Key name cannot be empty."),
        ("self.ctx.waitUntil(create_proxy(asyncio.ensure_future(failing(st))))",
         "ValueError: undone"),
    ],
)  # fmt: skip
def test_an_object_tells_failures_nobody_awaits(code: str, last_line: str, tmp_path: Path) -> None:
    with objects_child(OBJECT.replace("{code}", code), tmp_path) as worker:
        stores = Stores(tmp_path, worker.clock)
        worker.env._props["KV"] = KvNamespace("KV", partial(stores.kv, "kv"), worker.clock)
        assert worker.text() == "None"
        stores.close()
        (error,) = worker.errors
    assert error.rstrip().endswith(last_line)


def test_a_send_that_fails_unawaited_is_told() -> None:
    source = """
import asyncio
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        self.env.QUEUE.send("x")
        await asyncio.sleep(0.01)
        return Response("ok")
"""
    with child(source) as worker:
        worker.answer_sends = False

        def refuse(frame: frames.Frame) -> None:
            worker.sent.append(frame)
            if isinstance(frame, frames.Sends):
                for operation, *_ in frame.sends:
                    error = frames.OperationDone(
                        operation, None, (15000, "Unknown Internal Error", 500)
                    )
                    worker.loop.call_soon(worker.operations.done, error)

        worker.send = refuse  # type: ignore[method-assign]
        assert worker.fetch().status == 200
        (error,) = worker.errors
    assert error == f"{IN_PROMISE}\npyodide.ffi.JsException: Error: Unknown Internal Error (15000)"


@pytest.mark.parametrize(
    "register",
    [
        "js.setTimeout(create_proxy(fails), 1)",
        "js.queueMicrotask(create_proxy(fails))",
        "target.addEventListener('x', create_proxy(fails)); "
        "target.dispatchEvent(js.Event.new('x'))",
    ],
)
def test_a_callback_that_fails_is_told_with_the_users_lines_only(register: str) -> None:
    source = f"""
import asyncio, js
from pyodide.ffi import create_proxy
from workers import Response, WorkerEntrypoint

def fails(*event):
    raise ValueError("late value")

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        target = js.EventTarget.new()
        {register}
        await asyncio.sleep(0.005)
        return Response("ok")
"""
    with child(source) as it:
        it.fetch()
    (told,) = it.warnings
    head, *lines = told.splitlines()
    assert head.endswith("Uncaught PythonError: Traceback (most recent call last):")
    assert [line.partition(", line")[0] for line in lines if line.startswith("  File")] == [
        f'  File "{it.program.file}"'
    ]
    assert lines[-1] == "ValueError: late value"
