"""A shard of jobs without a Durable Object: the real one, over SQLite in memory. Sends nothing."""

from __future__ import annotations

import asyncio
import importlib
import weakref
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi.jobs.core.ids import CHANCE_BYTES
from tsumugi.jobs.shard.durable import identity_of
from tsumugi.jobs.shard.shard import Shard

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Coroutine, Sequence

    from tsumugi.jobs.settings import Settings
    from tsumugi.jobs.shard.sql import Storage
    from tsumugi.jobs.wire import Snapshot


class World(Protocol):
    """What is around the shards of a test."""

    now_ms: int
    random: random.Random
    queue: list[list[str]]
    read_model: dict[str, Snapshot]
    queue_error: Exception | None
    read_model_error: Exception | None


class InMemoryShard:
    """The stub of a shard. A call returns when all it started is over: nothing is left running."""

    def __init__(self, name: str, world: World, settings: Settings) -> None:
        self._platform = _Platform(world)
        self._shard = Shard(identity_of(name, settings), self._platform)
        self._is_booted = False

    @property
    def alarm_ms(self) -> int | None:
        """When it asked to be woken."""
        return self._platform.alarm_ms

    async def ring(self) -> None:
        """Its alarm goes off."""
        self._platform.alarm_ms = None
        await self._call("alarm")

    def close(self) -> None:
        self._platform.close()

    def __getattr__(self, method: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        if method.startswith("_"):
            raise AttributeError(method)

        async def call(*texts: str) -> Any:
            return await self._call(method, *texts)

        return call

    async def _call(self, method: str, *texts: str) -> Any:
        if not self._is_booted:
            self._is_booted = True
            await self._shard.boot()
        answer = await getattr(self._shard, method)(*texts)
        await self._platform.finish()
        return answer


class _Storage:
    """``Storage`` over a connection."""

    def __init__(self) -> None:
        # By name: a deployed Worker has no use for it, and the SDK must import without it.
        sqlite3 = importlib.import_module("sqlite3")
        # Whoever drops its jobs without closing them is not to be warned of the connection. Garbage
        # is collected in whichever thread is at work.
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._db.close)

    def read(self, sql: str, given: str) -> str:
        (row,) = self._db.execute(sql, {"1": given}).fetchall()
        answer: str = row[0]
        return answer

    def write(self, sql: str, given: str | None) -> None:
        self._db.execute(sql, () if given is None else {"1": given})

    def transaction[T](self, work: Callable[[], T]) -> T:
        self._db.execute("SAVEPOINT work")
        try:
            answer = work()
        except BaseException:
            self._db.execute("ROLLBACK TO work")
            raise
        finally:
            self._db.execute("RELEASE work")
        return answer

    def close(self) -> None:
        self._db.close()


class _Platform:
    """``Platform`` of one shard in a test's world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._database = _Storage()
        self.storage: Storage = self._database
        self.alarm_ms: int | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def now_ms(self) -> int:
        return self._world.now_ms

    def chance(self) -> float:
        return self._world.random.random()

    def chance_bytes(self) -> bytes:
        return self._world.random.randbytes(CHANCE_BYTES)

    def start(self, work: Coroutine[None, None, None]) -> None:
        self._tasks.add(asyncio.create_task(work))

    async def finish(self) -> None:
        """Wait for all that was started, also by what was started.

        Who stops waiting stops none of it: an object goes on when its caller has gone.
        """
        while self._tasks:
            started, self._tasks = self._tasks, set()
            await asyncio.shield(asyncio.gather(*started))

    async def let_others_in(self) -> None:
        await asyncio.sleep(0)

    async def get_alarm(self) -> int | None:
        return self.alarm_ms

    async def set_alarm(self, at_ms: int) -> None:
        self.alarm_ms = at_ms

    async def send(self, bodies: Sequence[str]) -> None:
        if self._world.queue_error is not None:
            raise self._world.queue_error
        self._world.queue.append(list(bodies))

    async def project(self, snapshots: Sequence[Snapshot]) -> None:
        if self._world.read_model_error is not None:
            raise self._world.read_model_error
        for snapshot in snapshots:
            known = self._world.read_model.get(snapshot["id"])
            if known is None or known["version"] < snapshot["version"]:
                self._world.read_model[snapshot["id"]] = snapshot

    def measure(self, points: Sequence[Any]) -> None:
        """There is no metrics dataset."""

    def close(self) -> None:
        self._database.close()
