"""One Durable Object in memory: its instance, its storage, its calls, and how it ends.

Not here: which objects there are (``objects``) and the order in which things enter (``gates``).
"""

from __future__ import annotations

import asyncio
import contextvars
from functools import partial
from typing import TYPE_CHECKING, Any

import apsw

from tsumugi_emulator.bindings.callbacks import awaited
from tsumugi_emulator.bindings.durable_object_namespace import DurableObjectId
from tsumugi_emulator.bindings.durable_object_state import DurableObjectState
from tsumugi_emulator.bindings.object_storage import DurableObjectStorage
from tsumugi_emulator.bindings.rpc_values import python_error_text
from tsumugi_emulator.durable.limits import SECTION_LIMIT_MS
from tsumugi_emulator.durable.object_failure import storage_failure
from tsumugi_emulator.durable.object_file import ObjectFile
from tsumugi_emulator.javascript.errors import JsException, js_error, with_traits
from tsumugi_emulator.javascript.futures import PyodideFuture
from tsumugi_emulator.javascript.io_context import IoContext, enter
from tsumugi_emulator.javascript.stack import SwitchableCoroutine
from tsumugi_emulator.worker.gates import Gate, Section
from tsumugi_emulator.worker.object_calls import ObjectCall

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tsumugi_emulator.bindings.object_port import ObjectAddress
    from tsumugi_emulator.clock import Timer
    from tsumugi_emulator.durable.object_file import AlarmBook
    from tsumugi_emulator.worker.object_calls import ObjectEvent, Settle, Work
    from tsumugi_emulator.worker.object_class import ObjectClass
    from tsumugi_emulator.worker.object_sockets import SocketsOfObject
    from tsumugi_emulator.worker.objects import Objects

SECTION_TIMEOUT_TEXT = (
    "A call to blockConcurrencyWhile() in a Durable Object waited for too long. The call was "
    "canceled and the Durable Object was reset."
)
UPDATED_TEXT = "Durable Object reset because its code was updated."
EVICTED_TEXT = "The Durable Object is no longer in memory."


class ObjectContext(IoContext):
    """All events of an object share one: what one of them opened, the next may use."""

    __slots__ = ("gate", "owner")

    def __init__(self, owner: LiveObject, warn: Callable[[str], None]) -> None:
        super().__init__("object", warn)
        self.owner = owner

    def begin(self) -> None:
        """What goes out now must not be known before what it is built on is on disk."""
        self.pending += 1
        self.owner.commit()

    def track(self, future: asyncio.Future[Any]) -> None:
        super().track(future)
        self.owner.commit()

    def resumer(self) -> Callable[[Callable[[], None]], None]:
        resume: Callable[[Callable[[], None]], None] = self.gate.resumer()
        return resume

    def admit(self, work: Work, settle: Settle, context: contextvars.Context, depth: int) -> None:
        self.owner.deliver(ObjectCall(self.owner, work, settle, depth))


class LiveObject:
    """Made when somebody first needs it; constructed when this process owns it."""

    def __init__(
        self,
        objects: Objects,
        kind: ObjectClass,
        address: ObjectAddress,
        path: Path,
        alarms: AlarmBook,
    ) -> None:
        self._objects = objects
        self.kind = kind
        self.address = address
        self.file = ObjectFile(path, on_write=lambda: objects.write_soon(self), alarms=alarms)
        self.file.name = address.name
        self.loop = objects.events.loop
        self.context = ObjectContext(self, objects.warn)
        self.gate = self.context.gate = Gate(self.loop, self.context)
        self.gate.is_busy = self._is_busy
        self.scope = objects.events.base.copy()
        self.scope.run(enter, self.context)
        self.calls: set[ObjectEvent] = set()
        #: Calls that have started and not ended.
        self.running = 0
        self.instance: Any = None
        #: While its constructor waits.
        self._construction: asyncio.Task[None] | None = None
        #: Why it ended, if it did not simply become idle.
        self.broken: JsException | None = None
        self.evicted = False
        self._sockets: SocketsOfObject | None = None
        self.has_alarm = kind.has_alarm
        self.has_sql = kind.has_sql

    def now_ms(self) -> int:
        return self._objects.clock.now_ms()

    def _is_busy(self) -> bool:
        return self.running > 0 or bool(self.context.tasks) or self.gate.locked

    @property
    def is_idle(self) -> bool:
        """Whether leaving memory would interrupt nothing."""
        return not self.calls and not self._is_busy() and self.context.pending == 0

    # -- Its life ---------------------------------------------------------------------------------

    def construct(self) -> None:
        """This process owns it now."""
        if self.broken is not None or self.evicted:
            return
        address = self.address
        if address.name is None and self.file.exists:
            try:
                self.file.db  # noqa: B018 - opening it reads the name it was once addressed by
            except apsw.Error as error:
                self.reset(error)
                return
            address = self.address = address._replace(name=self.file.name)
        storage = DurableObjectStorage(self.file, self)
        state = DurableObjectState(DurableObjectId(address), storage, self)
        if self._objects.exports is not None:
            state.exports = self._objects.exports()
        hibernation = self._objects.hibernation
        if hibernation is not None and hibernation.has_any(self):
            self.sockets  # noqa: B018 - from now on what runs may have something to tell them
        self.gate.open()
        self.scope.copy().run(self.gate.enter, partial(self._start_construction, state))

    def _start_construction(
        self, state: DurableObjectState, section: Section, scope: contextvars.Context
    ) -> None:
        # A critical section: nothing enters before its end, and it may wait (run_sync).
        task = asyncio.Task(
            SwitchableCoroutine(self._construct(state, section), self.loop.idle_greenlets),
            loop=self.loop,
            context=scope,
            eager_start=True,
        )
        if not task.done():
            self._construction = task

    async def _construct(self, state: DurableObjectState, section: Section) -> None:
        try:
            self.instance = await self.kind.make(state, self._objects.env)
        except BaseException as error:
            self.reset(error)
        else:
            self.gate.leave(section)
        self._construction = None

    @property
    def is_under_construction(self) -> bool:
        return self._construction is not None

    def deliver(self, call: ObjectEvent) -> None:
        self.calls.add(call)
        if self._sockets is not None and not call.is_known:
            self._sockets.at_work()
        self._objects.events.active.add(call)
        self.gate.accept(call)

    def forget(self, call: ObjectEvent) -> None:
        self.calls.discard(call)
        self.context.wait_until.clear()
        events = self._objects.events
        events.active.discard(call)
        if not self.calls:
            if self._sockets is not None and not self.context.tasks:
                self._sockets.at_rest()
            self._objects.became_idle(self)
        events.ended()

    def commit(self) -> None:
        """Make what was written durable; the object ends if that fails."""
        try:
            self.file.commit()
        except apsw.Error as error:
            self.reset(error)

    def reset(self, error: BaseException) -> None:
        """It ends here: its calls fail, and so does every stub that was connected to it."""
        if self.broken is not None or self.evicted:
            return
        if isinstance(error, apsw.Error):
            error = js_error("Error", storage_failure(self.file.path, error))
        elif not isinstance(error, JsException):
            error = js_error("Error", python_error_text(error))
        self.broken = with_traits(error, "durableObjectReset")
        # New code for an object is no reason to lose its connections.
        self._leave(error, drop_sockets=error.message != UPDATED_TEXT)
        for call in list(self.calls):
            call.stop()
            call.answer(None, error)
        self._objects.left(self)

    def evict(self) -> None:
        """Leave memory; the next call finds a new instance."""
        self.evicted = True
        self._leave(js_error("Error", EVICTED_TEXT))
        self._objects.left(self)

    def _leave(self, error: BaseException, *, drop_sockets: bool = False) -> None:
        if self._objects.hibernation is not None:
            self._objects.hibernation.left(self, self._sockets, drop=drop_sockets)
        self.gate.close()
        self.file.close(error)
        if self._construction is not None:
            self._construction.cancel()
        context = self.context
        context.ended = True
        for task in list(context.tasks):
            task.cancel()
        for callback in context.on_end:
            callback()

    # -- What its code asks for -------------------------------------------------------------------

    def block(self, callback: Callable[[], Any]) -> PyodideFuture:
        return self._section(lambda: awaited(callback), resets=True)

    def transact(self, work: Callable[[], Any]) -> PyodideFuture:
        return self._section(work, resets=False)

    def _section(self, work: Callable[[], Any], *, resets: bool) -> PyodideFuture:
        promise = PyodideFuture(loop=self.loop)
        self.context.track(promise)

        def start(section: Section, scope: contextvars.Context) -> None:
            running = _SectionRun(self, section, promise, resets=resets)
            running.task = self.loop.create_task(running.run(work), context=scope)

        self.gate.enter(start)
        return promise

    @property
    def sockets(self) -> SocketsOfObject:
        """Its hibernating WebSockets."""
        if self._sockets is None:
            assert self._objects.hibernation is not None, "children that have objects have it"
            self._sockets = self._objects.hibernation.sockets_of(self)
            self._sockets.at_work()
        return self._sockets

    def call_at(self, delay_ms: int, callback: Callable[[], None]) -> Timer:
        clock = self._objects.clock
        return contextvars.Context().run(clock.call_at, clock.now_ms() + delay_ms, callback)


class _SectionRun:
    """A critical section at work."""

    __slots__ = ("_object", "_promise", "_resets", "_section", "_timer", "task")

    def __init__(
        self, target: LiveObject, section: Section, promise: PyodideFuture, *, resets: bool
    ) -> None:
        self._object = target
        self._section = section
        self._promise = promise
        self._resets = resets
        self._timer = target.call_at(SECTION_LIMIT_MS, self._time_out)
        self.task: asyncio.Task[None] | None = None

    async def run(self, work: Callable[[], Any]) -> None:
        error: BaseException | None = None
        result = None
        try:
            result = await work()
        except BaseException as raised:
            error = raised
        self._timer.cancel()
        self._end(result, error)

    def _end(self, result: Any, error: BaseException | None) -> None:
        promise, target = self._promise, self._object
        # What failed holds the frame of run(): it must not hold the promise, which tells when it
        # is dropped that nobody asked for the failure.
        del self._promise
        if target.broken is not None or target.evicted:
            return
        if error is not None and self._resets:
            target.reset(error)  # what waits for the promise never goes on
            return
        target.gate.leave(self._section)
        if promise.done():
            return
        if error is None:
            promise.set_result(result)
        else:
            promise.set_exception(error)

    def _time_out(self) -> None:
        if self.task is not None and not self.task.done():
            error = js_error("Error", SECTION_TIMEOUT_TEXT)
            self._object.reset(with_traits(error, "overloaded"))
            self.task.cancel()
