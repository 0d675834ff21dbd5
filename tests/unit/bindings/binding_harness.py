"""Run a few lines of a handler against real bindings: the SDK's wrappers, the boundary, a store."""

from __future__ import annotations

import ast
import contextlib
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.worker import frames

sys.path.append(str(Path(__file__).parents[1] / "worker"))
from child_harness import CURRENT_FLAGS, ChildUnderTest, child  # from the folder beside this one

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Bench", "child", "clock", "source"]

#: Midnight, 1 January 2026.
NOW_MS = 1_767_225_600_000

_WORKER = """
import array, asyncio, datetime, decimal
import js
from js import Date, Object
from pyodide.ffi import JsException, JsProxy, create_proxy, to_js
from workers import Response, WorkerEntrypoint

async def error_of(awaitable):
    try:
        value = await awaitable
    except JsException as error:
        return str(error)
    return "no error but " + repr(value)

class Default(WorkerEntrypoint):
    async def run(self):
        env = self.env
{body}

    async def fetch(self, request):
        return Response(repr(await self.run()))
"""


class Bench:
    """A clock that can be moved and a Worker for each piece of code."""

    def __init__(self, env: dict[str, Any], clock: FakeClock) -> None:
        self.env = env
        self.clock = clock

    @contextlib.contextmanager
    def worker(self, body: str, *flags: str) -> Iterator[ChildUnderTest]:
        with child(source(body), env=self.env, flags=CURRENT_FLAGS.union(flags)) as under_test:
            yield under_test

    def run(self, body: str, *flags: str) -> Any:
        """What ``body``, the inside of an async method, returns: any Python literal."""
        with self.worker(body, *flags) as under_test:
            answer = under_test.fetch()
            under_test.settle()
        assert not isinstance(answer, frames.Failed), answer
        return ast.literal_eval(answer.body.decode())


def source(body: str) -> str:
    indented = textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 8)
    return _WORKER.replace("{body}", indented)


def clock() -> FakeClock:
    return FakeClock(NOW_MS)


HELLO_MD5 = "5d41402abc4b2a76b9719d911017c592"
PUT_HELLO = 'await env.R2.put("k", "hello")\n'


def error_with_hello(bench: Bench, expression: str) -> str:
    """What ``expression`` raises in a bucket that has ``hello`` under ``k``."""
    text: str = bench.run(f"{PUT_HELLO}return await error_of({expression})")
    return text
