"""Alarms in the child: the handler, its retries, and the index that follows every object's record.

When an alarm is due is the supervisor's business; what a failure means is ``durable.alarms``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.object_port import ObjectAddress
from tsumugi_emulator.durable.alarm_index import AlarmIndex
from tsumugi_emulator.durable.alarms import GiveUp, Retry, after_failure, after_interruption
from tsumugi_emulator.javascript.errors import JsException, traits_of
from tsumugi_emulator.tracebacks import report
from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.object_calls import ObjectCall
from tsumugi_emulator.worker.object_class import AlarmInvocationInfo

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tsumugi_emulator.worker.live_object import LiveObject
    from tsumugi_emulator.worker.objects import Objects, Sender


class ObjectAlarms:
    def __init__(self, directory: Path, channel: Sender, log: Callable[[str, str], None]) -> None:
        self._directory = directory
        self._channel = channel
        self._log = log
        self._opened: AlarmIndex | None = None
        #: Objects that have no alarm any more, while the index still says so.
        self._without: dict[tuple[str, str], None] = {}

    @property
    def index(self) -> AlarmIndex:
        if self._opened is None:
            self._opened = AlarmIndex.open(self._directory)
        return self._opened

    def book(self, address: ObjectAddress) -> Book:
        return Book(self, address)

    def without(self, namespace: str, object_id: str) -> None:
        """The object has no alarm any more: the index learns that before anybody else does.

        Many alarms end in one turn of the loop, and the index is written once for all of them.
        """
        self._without[namespace, object_id] = None

    def has_one(self, namespace: str, object_id: str) -> None:
        """The object is about to have an alarm again."""
        self._without.pop((namespace, object_id), None)

    def write(self) -> None:
        """Bring the index up to date."""
        if self._without:
            without, self._without = self._without, {}
            self.index.remove(without.keys())

    def changed(self, due_ms: int) -> None:
        self._channel.send(frames.AlarmSet(due_ms))

    # -- Running ----------------------------------------------------------------------------------

    def run(self, objects: Objects, frame: frames.Alarm) -> None:
        """Run one object's alarm and answer the frame when its outcome is recorded."""
        if not objects.has(frame.namespace):
            self._channel.send(frames.OperationDone(frame.id, False, None))
            return
        live = objects.find(ObjectAddress(frame.namespace, frame.object_id))
        ran = False

        async def work(instance: Any) -> None:
            nonlocal ran
            file = live.file
            due_ms = file.recorded_alarm_ms
            if due_ms is None or due_ms > objects.clock.now_ms():
                # The index was early, or the alarm was moved: the record is the truth.
                file.alarm_runs = False
                book = self.book(live.address)
                book.settle(due_ms)
                self.write()
                return
            ran = True
            file.alarm_runs = True
            info = AlarmInvocationInfo(frame.retry_count, due_ms)
            await live.kind.alarm(instance, info)
            if file.alarm_runs:  # the handler set no other: together with what it wrote, it is over
                file.set_alarm(None)

        def settle(_result: Any, error: BaseException | None) -> None:
            if error is not None:
                self._failed(live, frame, error, objects.clock.now_ms())
            self._channel.send(frames.OperationDone(frame.id, ran, None))

        live.deliver(ObjectCall(live, work, settle))

    def _failed(
        self, live: LiveObject, frame: frames.Alarm, error: BaseException, now_ms: int
    ) -> None:
        self._log("error", f"alarm() of {live.kind.cls.__name__} failed\n{report(error)}")
        file = live.file
        if live.broken is None and not file.alarm_runs:
            return  # the handler set another alarm, or deleted it: that is what holds
        file.alarm_runs = False
        is_its_own = not (isinstance(error, JsException) and "retryable" in traits_of(error))
        judge = after_failure if is_its_own else after_interruption
        match judge(frame.retry_count, now_ms=now_ms):
            case Retry(due_ms=due_ms, retry_count=count):
                self.has_one(frame.namespace, frame.object_id)
                self.index.put(
                    frame.namespace,
                    frame.object_id,
                    due_ms,
                    scheduled_ms=frame.scheduled_ms,
                    retry_count=count,
                )
                self.changed(due_ms)
            case GiveUp(attempts=attempts):
                name = live.kind.cls.__name__
                self._log("error", f"alarm() of {name} failed {attempts} times and is given up")
                self.without(frame.namespace, frame.object_id)
                if live.broken is None:
                    file.set_alarm(None)
                    live.commit()


class Book:
    """An :class:`~tsumugi_emulator.durable.object_file.AlarmBook` of one object."""

    __slots__ = ("_address", "_alarms")

    def __init__(self, alarms: ObjectAlarms, address: ObjectAddress) -> None:
        self._alarms = alarms
        self._address = address

    def announce(self, due_ms: int) -> None:
        namespace, object_id, _ = self._address
        self._alarms.has_one(namespace, object_id)
        self._alarms.index.announce(namespace, object_id, due_ms)

    def settle(self, due_ms: int | None) -> None:
        namespace, object_id, _ = self._address
        if due_ms is None:
            self._alarms.without(namespace, object_id)
            return
        self._alarms.has_one(namespace, object_id)
        self._alarms.index.put(namespace, object_id, due_ms, scheduled_ms=due_ms, retry_count=0)
        self._alarms.changed(due_ms)
