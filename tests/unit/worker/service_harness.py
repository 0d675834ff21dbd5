"""A worker child bound to itself: its entrypoints call each other.

``env.SELF`` is the default entrypoint; every other one is bound by its name in capitals.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from child_harness import CURRENT_FLAGS, ChildUnderTest, runtime
from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.dispatch import Dispatcher
from tsumugi_emulator.worker.service_boot import LazyServices, Surroundings, bind_services

if TYPE_CHECKING:
    from collections.abc import Iterator

WORKER = "test-worker"


class ServicesUnderTest(ChildUnderTest):
    def __init__(self, source: str, props: dict[str, Any] | None) -> None:
        super().__init__(source, {})
        around = Surroundings(WORKER, self.program, self.env, self.events, self)
        self.services = LazyServices(around)
        names = [name for name in self.program.entrypoints() if name != "default"]
        text = "" if props is None else json.dumps(props)
        bindings = [["SELF", WORKER, None, text], ["MISSING", WORKER, "Missing", ""]]
        bindings += [[name.upper(), WORKER, name, text] for name in names]
        bind_services({"services": bindings, "objects": [], "assets": {}}, self.env, self.services)
        self.dispatcher = Dispatcher(
            self.program,
            self.env,
            self,  # type: ignore[arg-type]
            self.events,
            exports=self.services.exports_of_ctx,
        )

    def text(self, path: str = "/", body: bytes = b"") -> str:
        """The body of a request's answer, or the last line of what went wrong."""
        answer = self.fetch(path, method="POST" if body else "GET", body=body)
        if isinstance(answer, frames.Failed):
            return answer.summary
        content: bytes = answer.body
        if answer.more:
            self.settle()
            chunks = [f for f in self.sent if isinstance(f, frames.StreamChunk)]
            content = b"".join(chunk.data for chunk in chunks if chunk.id == answer.id)
        return content.decode()


@contextlib.contextmanager
def services_child(
    source: str,
    *,
    flags: frozenset[str] = CURRENT_FLAGS,
    props: dict[str, Any] | None = None,
) -> Iterator[ServicesUnderTest]:
    with (
        runtime(flags),
        contextlib.closing(ServicesUnderTest(PRELUDE + source, props)) as under_test,
    ):
        yield under_test


#: Programs under test answer with the ``repr`` of what their ``main(self)`` returns.
PRELUDE = """
import asyncio
from workers import Response, WorkerEntrypoint
from pyodide.ffi import JsException, create_proxy, to_js


async def outcome(awaitable):
    try:
        return await awaitable
    except JsException as error:
        return f"{error.name}: {error.message}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(repr(await main(self)))

"""


#: An entrypoint with something of each kind to call.
NAMED = """
class Named(WorkerEntrypoint):
    made = 0

    def __init__(self, ctx, env):
        super().__init__(ctx, env)
        Named.made += 1
        self.own = 0

    async def add(self, a, b):
        return a + b

    async def show(self, value):
        return repr(value)

    async def echo(self, value):
        return value

    async def count(self):
        self.own += 1
        return [self.own, Named.made]

    def _priv(self):
        return 1

    @staticmethod
    def static():
        return 1

    @classmethod
    def of_class(cls):
        return "cm"

    attr = 5

    @property
    def prop(self):
        return 5

    def sync(self):
        return "sync"

    async def boom(self):
        raise ValueError("bad value")

    async def stop(self):
        raise asyncio.CancelledError

    async def pair(self):
        return (1, 2)

    async def call(self, function, *args):
        return await function(*args)

    async def counter(self):
        total = 0

        def add(by):
            nonlocal total
            total += by
            return total

        return add

    async def queue(self, batch):
        return "queue of " + type(batch).__name__

    async def scheduled(self, controller, env, ctx):
        return "scheduled"

    async def whoami(self):
        return self.ctx.props.who if hasattr(self.ctx.props, "who") else "nobody"

    async def fetch(self, request, env, ctx):
        return Response(f"{request.method.value} {request.url} {await request.text()} {env} {ctx}")
"""


def result_of(main: str, source: str = NAMED, **options: Any) -> Any:
    """What ``main(self)`` returns."""
    body = "\n".join(f"    {line}" for line in main.strip().splitlines())
    with services_child(f"{source}\n\nasync def main(self):\n{body}\n", **options) as child:
        text = child.text()
    try:
        return eval(text)
    except Exception:
        return text
