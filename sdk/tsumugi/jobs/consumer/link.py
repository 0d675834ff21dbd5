"""What one batch tells one shard: gathered, sent one call at a time, tried again. Judges none."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.stubs import ShardError, call_shard
from tsumugi.jobs.wire import LOG_LINES, dumps

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi.jobs.settings import EnvNames
    from tsumugi.jobs.wire import BeginJob, BegunJob, StaleJob

_log = logging.getLogger("tsumugi.jobs")

#: How long to wait before each further try of a call. After the last one the reaper has to find
#: what was not told.
RETRY_AFTER_MS: Final = (50, 200, 800, 3_200)


class Link:
    """The way to one shard. ``on_stale`` is told what the shard took no notice of."""

    def __init__(
        self, env: Any, names: EnvNames, shard: str, on_stale: Callable[[Link, StaleJob], None]
    ) -> None:
        self.shard = shard
        self._env = env
        self._names = names
        self._on_stale = on_stale
        self._reports: list[str] = []
        self._beats: dict[str, str] = {}
        self._logs: dict[str, deque[str]] = {}
        self._sending: asyncio.Task[None] | None = None

    def report(self, text: str) -> None:
        """``text`` is an ``AttemptReport``."""
        self._reports.append(text)

    def beat(self, local: str, epoch: int, progress: float | None) -> None:
        self._beats[local] = dumps({"id": local, "epoch": epoch, "progress": progress})

    def log(self, local: str, epoch: int, text: str, *, at_ms: int) -> None:
        """Of each job only the last lines are kept anyway."""
        lines = self._logs.get(local)
        if lines is None:
            lines = self._logs[local] = deque(maxlen=LOG_LINES)
        lines.append(dumps({"id": local, "epoch": epoch, "at_ms": at_ms, "text": text}))

    def send(self) -> asyncio.Task[None] | None:
        """Have what was gathered sent, and what is gathered meanwhile; None: there is nothing."""
        if self._sending is None and self.has_news:
            self._sending = asyncio.create_task(self._send_all())
        return self._sending

    async def finish(self) -> None:
        """Send all there is, and return when it was sent or given up."""
        while self._sending is not None:
            await self._sending
        await self._send_all()

    async def begin(self, jobs: list[BeginJob]) -> list[BegunJob] | None:
        """Which of them may be performed, and their payloads; None: the shard cannot be reached."""
        answer = await self._call("begin", dumps({"jobs": jobs}))
        return None if answer is None else answer["jobs"]

    def cancel(self) -> None:
        """Stop sending: the event is over."""
        if self._sending is not None:
            self._sending.cancel()

    @property
    def has_news(self) -> bool:
        return bool(self._reports or self._beats or self._logs)

    async def _send_all(self) -> None:
        try:
            while self.has_news:
                answer = await self._call("settle", self._taken())
                for stale in () if answer is None else answer["stale"]:
                    self._on_stale(self, stale)
        finally:
            self._sending = None

    def _taken(self) -> str:
        """A ``SettleRequest`` of all that was gathered, which is thereby gone from here."""
        parts = []
        if self._reports:
            parts.append(f'"reports":[{",".join(self._reports)}]')
        if self._beats:
            parts.append(f'"beats":[{",".join(self._beats.values())}]')
        if self._logs:
            lines = [line for lines in self._logs.values() for line in lines]
            parts.append(f'"logs":[{",".join(lines)}]')
        self._reports, self._beats, self._logs = [], {}, {}
        return f"{{{','.join(parts)}}}"

    async def _call(self, method: str, text: str) -> Any:
        """What the shard answers; None when it did not, however often it was asked.

        Each of these calls may be repeated: what was done already is stale the second time.
        """
        for wait_ms in (*RETRY_AFTER_MS, None):
            try:
                return await call_shard(self._env, self._names, self.shard, method, text)
            except ShardError as error:
                if wait_ms is None:
                    _log.error("%s: given up; jobs it concerns are found by the reaper", error)
                    return None
                _log.warning("%s: tried again in %d ms", error, wait_ms)
                await asyncio.sleep(wait_ms / 1_000)
        raise AssertionError("the last wait is None")
