"""A worker child without a process: a program from source text, its events, the frames it sends.

Everything is real (SDK, boundary, event loop, dispatcher) except the socket: frames go to a list.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import sys
import textwrap
import types
from typing import TYPE_CHECKING, Any

from loop_under_test import LoopClock, LoopUnderTest
from tsumugi_emulator.bindings.queue_producer import WorkerQueue
from tsumugi_emulator.javascript import install
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.values import JsObject
from tsumugi_emulator.javascript.web import timers
from tsumugi_emulator.worker import frames, unhandled
from tsumugi_emulator.worker.dispatch import Dispatcher
from tsumugi_emulator.worker.events import Events
from tsumugi_emulator.worker.operations import Operations
from tsumugi_emulator.worker.program import Program, inspect_module

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tsumugi_emulator.clock import Clock

CURRENT_FLAGS = frozenset(
    {
        "enable_ctx_exports",
        "python_no_global_handlers",
        "python_request_headers_preserve_commas",
        "queue_expose_error_codes",
        "queues_json_messages",
    }
)

_module_names = (f"worker_under_test_{number}" for number in itertools.count())


def load_source(source: str) -> types.ModuleType:
    name = next(_module_names)
    module = types.ModuleType(name)
    module.__file__ = f"/project/src/{name}.py"
    code = compile(textwrap.dedent(source), module.__file__, "exec", dont_inherit=True)
    exec(code, module.__dict__)
    return module


class ChildUnderTest:
    """Deliver events to a program; read what it sent, answered and logged."""

    def __init__(self, source: str, env: Mapping[str, Any], clock: Clock | None = None) -> None:
        # First: a module that is no Worker must leave nothing open.
        self.program: Program = inspect_module(load_source(source))
        self.loop = LoopUnderTest()
        timers.CLOCK[:] = [LoopClock(self.loop) if clock is None else clock]
        self.loop.set_exception_handler(unhandled.reporter(lambda *line: self.logs.append(line)))
        self.sent: list[frames.Frame] = []
        self.logs: list[tuple[str, str]] = []
        self._ids = itertools.count(1)
        self.operations = Operations(self, self.loop.at_turn_end)  # type: ignore[arg-type]
        self.answer_sends = True
        self.env = JsObject({"QUEUE": WorkerQueue("jobs", self.operations), **env})
        self.events = Events(self.loop, lambda *line: self.logs.append(line), lambda: None)
        self.dispatcher = Dispatcher(self.program, self.env, self, self.events)  # type: ignore[arg-type]

    # -- The channel --------------------------------------------------------------------------

    def send(self, frame: frames.Frame) -> None:
        self.sent.append(frame)
        if self.answer_sends and isinstance(frame, frames.Sends):
            for operation, *_ in frame.sends:
                done = frames.OperationDone(operation, (0, 0, 0), None)
                self.loop.call_soon(self.operations.done, done)

    # -- Events ---------------------------------------------------------------------------------

    def queue(self, *bodies: bytes, content_type: str = "json") -> frames.QueueResult:
        """Deliver a batch and run until its result is known."""
        number = next(self._ids)
        messages = [
            (f"id-{index}", 1_700_000_000_000 + index, 1, content_type, body)
            for index, body in enumerate(bodies or (b'"hello"',))
        ]
        self.loop.call_soon(self.dispatcher.queue, frames.Queue(number, "jobs", messages, 0, 0, 0))
        return self._wait_for(number, frames.QueueResult)

    def fetch(self, path: str = "/", *, method: str = "GET", body: bytes = b"") -> Any:
        """Make a request and run until the first frame of its answer."""
        number = self.start_fetch(path, method=method, body=body)
        return self._wait_for(number, (frames.Response, frames.Failed))

    def start_fetch(self, path: str = "/", *, method: str = "GET", body: bytes = b"") -> int:
        number = next(self._ids)
        frame = frames.Fetch(number, method, f"http://worker.test{path}", [], body, False)
        self.loop.call_soon(self.dispatcher.fetch, frame)
        return number

    def answer_to(self, number: int) -> Any:
        return self._wait_for(number, (frames.Response, frames.Failed))

    def scheduled(self, cron: str = "* * * * *") -> frames.OperationDone:
        number = next(self._ids)
        self.loop.call_soon(self.dispatcher.scheduled, frames.Scheduled(number, cron, 0))
        return self._wait_for(number, frames.OperationDone)

    def settle(self) -> None:
        """Run, without any time passing, until nothing is left to do; no event may be left."""
        self.loop.run_until_idle()
        assert not self.events.active, "events are still active"

    @property
    def warnings(self) -> list[str]:
        return [text for level, text in self.logs if level == "warning"]

    @property
    def errors(self) -> list[str]:
        return [text for level, text in self.logs if level == "error"]

    @property
    def messages_sent(self) -> list[bytes]:
        """Bodies of every message that left the child."""
        return [
            body
            for frame in self.sent
            if isinstance(frame, frames.Sends)
            for send in frame.sends
            for body, _, _ in send[2]
        ]

    def _wait_for(self, number: int, kinds: Any) -> Any:
        def found() -> Any:
            matching = (f for f in self.sent if isinstance(f, kinds) and f.id == number)
            return next(matching, None)

        self.loop.run_until(lambda: found() is not None, f"the answer to {number}")
        return found()

    def close(self) -> None:
        with contextlib.suppress(RuntimeError):
            self.loop.close()


@contextlib.contextmanager
def runtime(flags: frozenset[str], *, strict: bool = False) -> Iterator[None]:
    """The process's switches and clock are those of a child, and then what they were."""
    if "_pyodide_entrypoint_helper" not in sys.modules:
        install()  # once a process: other tests keep what they imported from these modules
    before, clock_before = dataclasses.asdict(MODE), list(timers.CLOCK)
    MODE.compatibility_flags, MODE.strict = flags, strict
    try:
        yield
    finally:
        timers.CLOCK[:] = clock_before
        for name, value in before.items():
            setattr(MODE, name, value)


@contextlib.contextmanager
def child(
    source: str,
    *,
    flags: frozenset[str] = CURRENT_FLAGS,
    strict: bool = False,
    env: Mapping[str, Any] | None = None,
) -> Iterator[ChildUnderTest]:
    """``env`` holds host objects beside ``env.QUEUE``."""
    with (
        runtime(flags, strict=strict),
        contextlib.closing(ChildUnderTest(source, env or {})) as under_test,
    ):
        yield under_test
