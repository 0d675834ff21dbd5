"""The supervisor's side of Durable Objects: who holds which object, and when alarms are due.

It opens no object. Not here: what an alarm does (the child) and bookkeeping (``durable``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.durable.alarm_runner import AlarmRunner
from tsumugi_emulator.durable.limits import HANDOVER_LIMIT_MS
from tsumugi_emulator.durable.owners import Granted, Owners, Waits
from tsumugi_emulator.worker import frames

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from tsumugi_emulator.clock import Clock
    from tsumugi_emulator.durable.alarm_index import DueAlarm
    from tsumugi_emulator.worker.process import WorkerProcess


class ObjectServices:
    """Of one Worker: its current child, and old ones that are finishing."""

    def __init__(
        self, directory: Path, clock: Clock, serving: Callable[[], WorkerProcess | None]
    ) -> None:
        self._clock = clock
        self._serving = serving
        self._owners: Owners[WorkerProcess] = Owners()
        #: Told which object is about to be granted to which child.
        self.on_grant: Callable[[WorkerProcess, str, str], None] = lambda *_: None
        self.alarms = AlarmRunner(directory, clock, self._run_alarm)

    def serve(self, namespaces: Collection[str]) -> None:
        """A child serves: alarms of these namespaces may run."""
        self.alarms.start(namespaces)

    def suspend(self) -> None:
        self.alarms.stop()

    def close(self) -> None:
        self.alarms.close()

    # -- Frames ---------------------------------------------------------------------------------

    def take(self, frame: Any, process: WorkerProcess) -> None:
        match frame:
            case frames.AcquireObject(key=key):
                self._acquire(key, process)
            case frames.ReleaseObject(key=key):
                self._tell(self._owners.release(process, key))
            case frames.AlarmSet(due_ms=due_ms):
                self.alarms.changed(due_ms)
            case _:
                raise frames.FrameError(f"a supervisor does not take {type(frame).__name__}")

    def gone(self, process: WorkerProcess) -> None:
        for granted in self._owners.gone(process):
            self._tell(granted)
        self.alarms.look()

    # -- Owners ---------------------------------------------------------------------------------

    def _acquire(self, key: str, process: WorkerProcess) -> None:
        answer = self._owners.acquire(process, key)
        if isinstance(answer, Waits):
            answer.owner.send(frames.ObjectWanted(key, False))
            self._insist_later(key, answer.owner)
        else:
            self._tell(answer)

    def _tell(self, granted: Granted[WorkerProcess] | None) -> None:
        if granted is None:
            return
        namespace, _, object_id = granted.key.rpartition("/")
        self.on_grant(granted.child, namespace, object_id)
        granted.child.send(frames.ObjectGranted(granted.key, granted.contended))
        if granted.contended:
            self._insist_later(granted.key, granted.child)

    def _insist_later(self, key: str, owner: WorkerProcess) -> None:
        def insist() -> None:
            if self._owners.owner(key) is owner and self._owners.is_contended(key):
                owner.send(frames.ObjectWanted(key, True))

        self._clock.call_at(self._clock.now_ms() + HANDOVER_LIMIT_MS, insist)

    # -- Alarms ---------------------------------------------------------------------------------

    async def _run_alarm(self, alarm: DueAlarm) -> bool:
        process = self._serving()
        if process is None:
            return False
        await process.alarm(alarm.namespace, alarm.object_id, alarm.scheduled_ms, alarm.retry_count)
        return True
