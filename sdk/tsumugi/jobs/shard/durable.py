"""The Durable Object of a shard: joins ``Shard`` to the platform. Decides nothing.

``jobs.job_shard`` makes the class of it, over the runtime's base class.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import re
import time
from typing import TYPE_CHECKING, Any, ClassVar, Final

from tsumugi.jobs.core.ids import CHANCE_BYTES
from tsumugi.jobs.core.model import Policy
from tsumugi.jobs.shard.shard import Identity, Shard
from tsumugi.jobs.stubs import bare, bound
from tsumugi.jobs.wire import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from tsumugi.jobs.settings import Settings
    from tsumugi.jobs.shard.measuring import Point
    from tsumugi.jobs.shard.sql import Storage
    from tsumugi.jobs.wire import Snapshot

#: The shortest sleep that lets other events into an object.
OTHERS_ENTER_S: Final = 0.003

_log = logging.getLogger("tsumugi.jobs")
_NAME: Final = re.compile(r"(?P<binding>.+)#(?P<shard>[0-9]+)")


class ObjectStorage:
    """``Storage`` over ``ctx.storage``."""

    def __init__(self, storage: Any) -> None:
        self._exec = bare(storage).sql.exec
        self._transaction_sync = bare(storage).transactionSync

    def read(self, sql: str, given: str) -> str:
        answer: str = self._exec(sql, given).one().answer
        return answer

    def write(self, sql: str, given: str | None) -> None:
        if given is None:
            self._exec(sql)
        else:
            self._exec(sql, given)

    def transaction[T](self, work: Callable[[], T]) -> T:
        # What crosses to JavaScript and back is copied: the answer stays here.
        answers: list[T] = []
        self._transaction_sync(lambda: answers.append(work()))
        return answers[0]


class ObjectPlatform:
    """``Platform`` over the object's context and bindings."""

    def __init__(self, ctx: Any, env: Any, settings: Settings) -> None:
        self._ctx = ctx
        self._env = env
        self._names = settings.env
        self.storage: Storage = ObjectStorage(ctx.storage)
        #: Running tasks; the loop holds them weakly.
        self._tasks: set[asyncio.Task[None]] = set()

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def chance(self) -> float:
        return random.random()

    def chance_bytes(self) -> bytes:
        return os.urandom(CHANCE_BYTES)

    def start(self, work: Coroutine[None, None, None]) -> None:
        # An object stays as long as something runs in it: no waitUntil is needed.
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.error("a shard's work failed; its next alarm goes on", exc_info=error)

    async def let_others_in(self) -> None:
        await asyncio.sleep(OTHERS_ENTER_S)

    async def get_alarm(self) -> int | None:
        at_ms = await self._ctx.storage.getAlarm()
        return None if at_ms is None else int(at_ms)

    async def set_alarm(self, at_ms: int) -> None:
        await bare(self._ctx.storage).setAlarm(at_ms)

    async def send(self, bodies: Sequence[str]) -> None:
        messages = [{"body": body, "contentType": "text"} for body in bodies]
        queue = bound(self._env, self._names.queue, "queue")
        if bare(queue) is queue:  # no runtime beneath it, as in unit tests
            await queue.sendBatch(messages)
            return
        from js import JSON

        # Each object would be made by a dozen crossings, and the whole is one text.
        await bare(queue).sendBatch(JSON.parse(dumps(messages)))

    async def project(self, snapshots: Sequence[Snapshot]) -> None:
        from tsumugi.jobs.read_model import migrated, project

        with migrated(self._names.database):
            await project(bound(self._env, self._names.database, "database"), snapshots)

    def measure(self, points: Sequence[Point]) -> None:
        dataset = getattr(self._env, self._names.metrics, None)
        if dataset is None:
            return
        try:
            for point in points:
                dataset.writeDataPoint(point)
        except Exception:
            _log.warning("data points of a shard could not be written", exc_info=True)


def identity_of(name: str | None, settings: Settings) -> Identity:
    """Raises ``ValueError`` for a name no shard has.

    A binding that is not in the code any more keeps its jobs, under the default policy: performing
    them fails with what is missing.
    """
    form = _NAME.fullmatch(name or "")
    if form is None:
        raise ValueError(
            f"the object is called {name!r}, which is no shard: address it by getByName with"
            " <binding>#<shard>"
        )
    binding = settings.bindings.get(form["binding"])
    return Identity(
        binding=form["binding"],
        shard=int(form["shard"]),
        policy=Policy() if binding is None else binding.policy,
        retention=settings.retention,
    )


class JobShardBehaviour:
    """What a shard adds to ``workers.DurableObject``: RPC methods of one JSON text each way."""

    settings: ClassVar[Settings]
    ctx: Any
    env: Any

    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)  # type: ignore[call-arg]
        # The SDK's own constructor wraps them, so what came in here is still JavaScript's.
        platform = ObjectPlatform(self.ctx, self.env, self.settings)
        self._shard = Shard(identity_of(self.ctx.id.name, self.settings), platform)
        self.ctx.blockConcurrencyWhile(self._shard.boot)

    async def enqueue(self, text: str) -> str:
        """``EnqueueRequest`` -> ``EnqueueAnswer``."""
        return await self._shard.enqueue(text)

    async def begin(self, text: str) -> str:
        """``BeginRequest`` -> ``BeginAnswer``."""
        return await self._shard.begin(text)

    async def settle(self, text: str) -> str:
        """``SettleRequest`` -> ``SettleAnswer``."""
        return await self._shard.settle(text)

    async def control(self, text: str) -> str:
        """``ControlRequest`` -> ``ControlAnswer``."""
        return await self._shard.control(text)

    async def set_policy(self, text: str) -> str:
        """``PolicyRequest`` -> ``DiagnosticsAnswer``."""
        return await self._shard.set_policy(text)

    async def diagnostics(self) -> str:
        """``DiagnosticsAnswer``."""
        return await self._shard.diagnostics()

    async def stats(self) -> str:
        """``StatsAnswer``."""
        return await self._shard.stats()

    async def show(self, text: str) -> str:
        """``ShowRequest`` -> ``ShowAnswer``."""
        return await self._shard.show(text)

    async def alarm(self) -> None:
        await self._shard.alarm()
