"""``asyncio.run``, runners and loops inside a handler, as each generation of Pyodide has them."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import textwrap
import time
from typing import TYPE_CHECKING, Any

import pytest
from child_harness import child
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.worker import blocking

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = """
import asyncio
from workers import Response, WorkerEntrypoint

async def slow(value):
    await asyncio.sleep(0.001)
    return value

def attempt(action):
    try:
        return action()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(repr(await code()))

async def code():
"""


@contextlib.contextmanager
def python(version: str) -> Iterator[None]:
    sleep, run, before = time.sleep, asyncio.run, MODE.python_version
    blocking.apply()
    MODE.python_version = version
    try:
        yield
    finally:
        MODE.python_version = before
        time.sleep, asyncio.run = sleep, run


def result_of(code: str, version: str) -> tuple[Any, list[str]]:
    """What the code returns, and what it was warned of."""
    source = SOURCE + textwrap.indent(textwrap.dedent(code), "    ")
    with python(version), child(source) as worker:
        answer = worker.fetch()
        assert answer.status == 200
        return ast.literal_eval(answer.body.decode()), worker.warnings


RUNNING = "RuntimeError: asyncio.run() cannot be called from a running event loop"


@pytest.mark.parametrize("version", ["3.13", "3.14"])
@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("asyncio.run(slow(1))", 1),
        ("asyncio.run(slow(1), debug=True)", 1),
        ("asyncio.run(asyncio.ensure_future(slow(2)))", 2),
        ("asyncio.run(5)", "TypeError: object int is not awaitable"),
        ("asyncio.get_event_loop().run_until_complete(slow(3))", 3),
        ("asyncio.get_event_loop().run_until_complete(asyncio.ensure_future(slow(4)))", 4),
        ("asyncio.get_event_loop().run_forever()", None),
        ("asyncio.get_event_loop().close()", None),
        ("asyncio.get_event_loop().is_closed()", False),
        ("asyncio.new_event_loop().run_until_complete(slow(5))", 5),
    ],
)
def test_synchronous_waiting_works_where_stacks_can_be_switched(
    call: str, expected: Any, version: str
) -> None:
    found, _ = result_of(f"return attempt(lambda: {call})", version)
    assert found == expected


def test_python_3_12_cannot_wait_and_gives_a_task() -> None:
    code = """
        coroutine = slow(1)
        refused = attempt(lambda: asyncio.run(coroutine))
        coroutine.close()
        task = asyncio.get_event_loop().run_until_complete(slow(2))
        return [refused, type(task).__name__, await task]
    """
    assert result_of(code, "3.12")[0] == [RUNNING, "Task", 2]


@pytest.mark.parametrize(
    ("version", "expected"), [("3.13", "NotImplementedError: "), ("3.14", None)]
)
def test_a_handler_cannot_stop_the_loop(version: str, expected: str | None) -> None:
    code = """
        stopped = attempt(lambda: asyncio.get_event_loop().stop())
        return [stopped, await slow("after")]
    """
    assert result_of(code, version)[0] == [expected, "after"]


def test_a_loop_factory_is_refused() -> None:
    code = """
        coroutine = slow(1)
        refused = attempt(lambda: asyncio.run(coroutine, loop_factory=asyncio.new_event_loop))
        coroutine.close()
        return refused
    """
    assert result_of(code, "3.14")[0] == RUNNING


def test_a_runner_refuses_to_run_and_ends_nobody_elses_tasks() -> None:
    code = """
        other = asyncio.ensure_future(slow("other"))
        coroutine = slow(1)
        def run():
            with asyncio.Runner() as runner:
                return runner.run(coroutine)
        refused = attempt(run)
        coroutine.close()
        return [refused, await other, await slow("after")]
    """
    found, _ = result_of(code, "3.14")
    refused = "RuntimeError: Runner.run() cannot be called from a running event loop"
    assert found == [refused, "other", "after"]


def test_a_new_loop_is_told_of_once_for_each_place() -> None:
    code = """
        for _ in range(2):
            loop = asyncio.new_event_loop()
            asyncio.set_event_loop(loop)
            first = loop.run_until_complete(slow(1))
            task = asyncio.ensure_future(slow(2), loop=loop)
            second = loop.run_until_complete(task)
        asyncio.set_event_loop(None)
        return [first, second]
    """
    found, warnings = result_of(code, "3.14")
    assert found == [1, 2]
    (warning,) = warnings
    assert "attached to a different loop" in warning
