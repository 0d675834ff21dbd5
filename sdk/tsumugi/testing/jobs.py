"""Test performers, and what enqueues them, in plain Python: the real coordinator, a clock you move.

with InMemoryJobs(tsumugi) as jobs:
    job_id = await tsumugi.enqueue(jobs.env, SendMail, Mail(to="a@example.com"))
    await jobs.run()
    assert (await jobs.get(job_id))["state"] == "COMPLETED"

Not here: D1 and the API over it. Jobs that ended and left their shard are found in ``read_model``.
"""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Self

from tsumugi.jobs.context import JobContext
from tsumugi.testing.batch import build_batch, build_message
from tsumugi.testing.event import in_event
from tsumugi.testing.job_shards import InMemoryShard

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tsumugi.jobs.app import Tsumugi
    from tsumugi.jobs.wire import Snapshot

#: When time begins, unless a test says otherwise: 2026-01-01.
DEFAULT_NOW_MS: Final = 1_767_225_600_000
#: Batches and alarms of one ``run``: jobs that never come to rest are a fault of the test.
MAX_TURNS: Final = 10_000


class FakeJobContext(JobContext):
    """The ``ctx`` of a performer that a test calls. ``beats`` and ``lines`` have what it said.

    ctx = FakeJobContext(attempt=2)
    assert await SendMail(env).perform(Mail(to="a@example.com"), ctx) == {"sent": "a@example.com"}
    assert ctx.beats == [0.5]
    """

    def __init__(
        self,
        *,
        job_id: str = "Job#0:0000000000000000000000000001",
        attempt: int = 1,
        deadline_at_ms: int | None = None,
        traceparent: str | None = None,
    ) -> None:
        self.beats: list[float | None] = []
        self.lines: list[str] = []
        super().__init__(
            _Recorder(self),
            job_id=job_id,
            attempt=attempt,
            deadline_at_ms=deadline_at_ms,
            traceparent=traceparent,
        )


class _Recorder:
    """A ``Voice`` that keeps what it is told."""

    def __init__(self, ctx: FakeJobContext) -> None:
        self._ctx = ctx

    async def heartbeat(self, progress: float | None) -> None:
        self._ctx.beats.append(progress)

    async def log(self, text: str) -> None:
        self._ctx.lines.append(text)


class InMemoryJobs:
    """The jobs of an app without a runtime: its shards over SQLite in memory, its queue a list.

    Enqueue with ``jobs.env``, which holds the bindings of ``env`` as well; ``run`` performs what
    can be performed now, and ``advance`` lets time pass. Performers run as they are: what they
    sleep is real. Nothing is left to chance, so backoffs are the same in every run.

    ``queue_error`` and ``read_model_error``, while set, are what sending and projecting raise.
    """

    def __init__(
        self,
        tsumugi: Tsumugi,
        *,
        env: Mapping[str, Any] | None = None,
        now_ms: int = DEFAULT_NOW_MS,
    ) -> None:
        self._tsumugi = tsumugi
        self._clock_before = tsumugi.now_ms
        self.now_ms = now_ms
        self.env = SimpleNamespace(**{**(env or {}), tsumugi.settings.env.shard: self})
        self.random = random.Random(0)
        #: Batches that wait for the consumer, each a list of message bodies.
        self.queue: list[list[str]] = []
        #: By id: every job as it was last projected.
        self.read_model: dict[str, Snapshot] = {}
        self.queue_error: Exception | None = None
        self.read_model_error: Exception | None = None
        self._shards: dict[str, InMemoryShard] = {}

    def __enter__(self) -> Self:
        self._tsumugi.now_ms = lambda: self.now_ms
        return self

    def __exit__(self, *_error: object) -> None:
        self._tsumugi.now_ms = self._clock_before
        for shard in self._shards.values():
            shard.close()

    def getByName(self, name: str) -> InMemoryShard:
        """The shard of that name; what ``env`` has for the Durable Object namespace."""
        shard = self._shards.get(name)
        if shard is None:
            shard = self._shards[name] = InMemoryShard(name, self, self._tsumugi.settings)
        return shard

    async def run(self) -> None:
        """Perform and settle until nothing can happen without time passing."""
        for _ in range(MAX_TURNS):
            if self.queue:
                await self._deliver(self.queue.pop(0))
                continue
            due = [shard for shard in self._shards.values() if self._is_due(shard)]
            if not due:
                return
            for shard in due:
                await shard.ring()
        raise RuntimeError(f"the jobs do not come to rest within {MAX_TURNS} batches and alarms")

    async def advance(self, duration_ms: int) -> None:
        """Let time pass, doing what falls due on the way, in order."""
        until_ms = self.now_ms + duration_ms
        await self.run()
        while True:
            alarms = [shard.alarm_ms for shard in self._shards.values()]
            next_ms = min((at for at in alarms if at is not None), default=until_ms + 1)
            if next_ms > until_ms:
                break
            self.now_ms = max(self.now_ms, next_ms)
            await self.run()
        self.now_ms = until_ms

    async def get(self, job_id: str) -> Snapshot | None:
        """The job as its shard has it, or as the read model had it last."""
        found = await self._tsumugi.get(self.env, job_id)
        return self.read_model.get(job_id) if found is None else found

    def _is_due(self, shard: InMemoryShard) -> bool:
        return shard.alarm_ms is not None and shard.alarm_ms <= self.now_ms

    async def _deliver(self, bodies: list[str]) -> None:
        batch = build_batch("jobs", [build_message(body, content_type="text") for body in bodies])
        await in_event("queue", lambda: self._tsumugi.consume(batch, self.env))
