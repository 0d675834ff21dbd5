"""A worker child with Durable Objects, without a process: real files, a clock that is moved.

Ownership is granted at once unless ``grant`` is switched off; alarms run when told to.
"""

from __future__ import annotations

import ast
import contextlib
import textwrap
from typing import TYPE_CHECKING, Any

from child_harness import CURRENT_FLAGS, ChildUnderTest, runtime
from loop_under_test import START_MS
from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.durable.ids import from_name, namespace_key
from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.object_boot import bind_objects

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORKER = "test-worker"


class ObjectsUnderTest(ChildUnderTest):
    """Bindings are the class names in capitals: ``env.COUNTER`` for ``Counter``."""

    def __init__(self, source: str, directory: Path, *, has_sql: bool, clock: FakeClock) -> None:
        super().__init__(source, {}, clock)
        self.grant = True
        self.clock = clock
        from workers import DurableObject

        classes = [
            [name.upper(), name, namespace_key(WORKER, name), has_sql]
            for name, cls in self.program.exported.items()
            if issubclass(cls, DurableObject)
        ]
        self.objects = bind_objects(
            {"worker": WORKER, "directory": str(directory), "classes": classes},
            self.program,
            self.env,
            events=self.events,
            channel=self,
            log=lambda *line: self.logs.append(line),
        ).objects
        self.alarms = self.objects._alarms

    def send(self, frame: frames.Frame) -> None:
        super().send(frame)
        if isinstance(frame, frames.AcquireObject) and self.grant:
            self.loop.call_soon(self.objects.granted, frames.ObjectGranted(frame.key, False))

    def text(self, path: str = "/") -> str:
        """The body of a request's answer, or the last line of what went wrong."""
        answer = self.fetch(path)
        if isinstance(answer, frames.Failed):
            return answer.summary
        body: bytes = answer.body
        return body.decode()

    def run_alarm(
        self, class_name: str, name: str, *, retry_count: int = 0, scheduled_ms: int | None = None
    ) -> None:
        """What the supervisor does when the alarm of an object is due."""
        namespace = namespace_key(WORKER, class_name)
        number = next(self._ids)
        due_ms = self.clock.now_ms() if scheduled_ms is None else scheduled_ms
        frame = frames.Alarm(number, namespace, from_name(namespace, name), due_ms, retry_count)
        self.loop.call_soon(self.alarms.run, self.objects, frame)
        self._wait_for(number, frames.OperationDone)

    def wait(self, duration_ms: int) -> None:
        """Let time pass."""
        self.loop.run_until_complete(self.clock.advance(duration_ms))

    def close(self) -> None:
        self.objects.close()
        super().close()

    def sent_of(self, kind: type) -> list[Any]:
        return [frame for frame in self.sent if isinstance(frame, kind)]


@contextlib.contextmanager
def objects_child(
    source: str,
    directory: Path,
    *,
    has_sql: bool = True,
    strict: bool = False,
    flags: frozenset[str] = CURRENT_FLAGS,
) -> Iterator[ObjectsUnderTest]:
    with runtime(flags, strict=strict):
        under_test = ObjectsUnderTest(
            PRELUDE + source, directory, has_sql=has_sql, clock=FakeClock(START_MS)
        )
        with contextlib.closing(under_test):
            yield under_test


#: Programs under test answer with the ``repr`` of what their ``main(env)`` returns.
PRELUDE = """
import asyncio
from workers import DurableObject, Response, WorkerEntrypoint
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
        return Response(repr(await main(self.env)))

"""


INSIDE = """
class Box(DurableObject):
    async def alarm(self):
        pass

    async def run(self):
        st, sql = self.ctx.storage, {sql}
        kv = st.kv
        async def code():
{code}
        return repr(await code())

async def main(env):
    return await env.BOX.getByName("a").run()
"""


def run_inside(
    directory: Path,
    code: str,
    *,
    has_sql: bool = True,
    strict: bool = False,
    flags: frozenset[str] = CURRENT_FLAGS,
) -> Any:
    """What ``code`` returns as the body of an async function in an object.

    It has ``self``, ``st`` (storage), ``kv`` and ``sql``; values come back by their ``repr``.
    """
    program = INSIDE.replace("{code}", textwrap.indent(textwrap.dedent(code), " " * 12))
    program = program.replace("{sql}", "self.ctx.storage.sql" if has_sql else "None")
    with objects_child(program, directory, has_sql=has_sql, strict=strict, flags=flags) as child:
        return value_of(value_of(child.text()))


MAIN = """
async def main(env):
{code}
"""


def with_main(source: str, code: str) -> str:
    """A program whose ``main(env)`` is ``code``."""
    body = textwrap.indent(textwrap.dedent(code), "    ")
    return textwrap.dedent(source) + MAIN.replace("{code}", body)


def answer_of(directory: Path, source: str, code: str) -> Any:
    """What ``code`` returns beside the classes of ``source``."""
    with objects_child(with_main(source, code), directory) as child:
        return value_of(child.text())


def value_of(text: str) -> Any:
    """The value a program answered with by its ``repr``, or the text that it is not."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


NOT_CLONABLE = "DataCloneError: [object Object] could not be cloned."
