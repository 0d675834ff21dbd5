"""A shard without a platform: plain SQLite, a clock that is set, a queue and a read model in lists.

What runs beside a call runs to its end before ``World.call`` returns. Whatever the platform does
can be made to fail, or never to answer.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections import Counter
from typing import TYPE_CHECKING, Any

from tsumugi.jobs.core.model import Policy
from tsumugi.jobs.core.retention import Retention
from tsumugi.jobs.shard.shard import Identity, Shard

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

T0 = 1_750_000_000_000
SECOND = 1_000
MINUTE = 60_000
HOUR = 3_600_000

#: What the platform allows, as far as it matters here.
LIMITS = (
    (sqlite3.SQLITE_LIMIT_LENGTH, 2_097_152),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (sqlite3.SQLITE_LIMIT_COLUMN, 100),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100),
    (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 5),
    (sqlite3.SQLITE_LIMIT_FUNCTION_ARG, 32),
    (sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 100),
)


class SqliteStorage:
    """``Storage`` over a connection. Counts statements by their first word."""

    def __init__(
        self, db: sqlite3.Connection, before: Callable[[str], None] = lambda what: None
    ) -> None:
        """``before`` is told of every statement, of commits, and when they are done."""
        self.db = db
        self.before = before
        self.statements: Counter[str] = Counter()
        #: Every statement that was run.
        self.texts: set[str] = set()

    def read(self, sql: str, given: str) -> str:
        self._count(sql)
        rows = self.db.execute(sql, {"1": given}).fetchall()
        assert len(rows) == 1, f"{len(rows)} rows from {sql}"
        answer: str = rows[0][0]
        return answer

    def write(self, sql: str, given: str | None) -> None:
        self._count(sql)
        self.db.execute(sql, () if given is None else {"1": given})

    def transaction[T](self, work: Callable[[], T]) -> T:
        self.db.execute("SAVEPOINT t")
        try:
            answer = work()
            self.before("COMMIT")
        except BaseException:
            self.db.execute("ROLLBACK TO t")
            self.db.execute("RELEASE t")
            raise
        self.db.execute("RELEASE t")
        self.before("COMMITTED")
        return answer

    def _count(self, sql: str) -> None:
        self.texts.add(sql)
        word = sql.split(maxsplit=1)[0]
        self.statements[word] += 1
        self.before(word)


class ClosedWhenDropped(sqlite3.Connection):
    """From Python 3.13 on a connection that nobody closed is warned of, in whichever test runs.

    And it is dropped in whichever thread then collects garbage.
    """

    def __del__(self) -> None:
        self.close()


def connect(path: str = ":memory:") -> sqlite3.Connection:
    db = sqlite3.connect(
        path,
        isolation_level=None,
        cached_statements=256,
        check_same_thread=False,
        factory=ClosedWhenDropped,
    )
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = OFF")
    for limit, value in LIMITS:
        db.setlimit(limit, value)
    return db


class Lost(BaseException):
    """The object is no longer in memory; none of its code runs any more."""


class Instance:
    """The platform as one life of the object sees it. Once lost, nothing it does has an effect."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.alive = True
        self.storage = SqliteStorage(world.db, before=self._at)
        self.tasks: set[asyncio.Task[Any]] = set()

    def _at(self, what: str) -> None:
        """The object may be lost before and after whatever it does."""
        if self.alive and self._world.loses(what):
            self.alive = False
        if not self.alive:
            raise Lost(what)

    def now_ms(self) -> int:
        return self._world.now

    def chance(self) -> float:
        return 0.5

    def chance_bytes(self) -> bytes:
        return self._world.chance_bytes()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        if not self.alive:
            work.close()
            return
        task = self._world.loop.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, Lost):
            self._world.errors.append(error)

    async def let_others_in(self) -> None:
        self._at("let_others_in")
        await asyncio.sleep(0)

    async def get_alarm(self) -> int | None:
        return self._world.alarm

    async def set_alarm(self, at_ms: int) -> None:
        self._at("set_alarm")
        self._world.set_alarm(at_ms)

    async def send(self, bodies: Sequence[str]) -> None:
        self._at("send")
        await self._world.send(bodies)
        self._at("sent")

    async def project(self, snapshots: Sequence[Any]) -> None:
        self._at("project")
        await self._world.project(snapshots)
        self._at("projected")

    def measure(self, points: Sequence[Any]) -> None:
        self._world.points += points


class World:
    """Everything around one shard, and the shard. ``restart`` loses what is in memory."""

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        retention: Retention | None = None,
        path: str = ":memory:",
        now_ms: int = T0,
        name: str = "Mail",
    ) -> None:
        self.policy = policy or Policy()
        self.retention = retention or Retention()
        self.name = name
        self.db = connect(path)
        self.now = now_ms
        self.alarm: int | None = None
        self.alarms_set = 0
        #: Every batch that the queue took.
        self.queue: list[list[dict[str, Any]]] = []
        #: By id: the row with the greatest version that was projected.
        self.read_model: dict[str, dict[str, Any]] = {}
        self.projected: list[int] = []
        self.points: list[Any] = []
        #: What went wrong beside calls.
        self.errors: list[BaseException] = []
        self.queue_error: BaseException | None = None
        self.database_error: BaseException | None = None
        #: Whether the object is lost before it does what it is about to do, by name.
        self.loses: Callable[[str], bool] = lambda what: False
        #: Called after every alarm.
        self.on_fire: Callable[[], None] = lambda: None
        self.loop = asyncio.new_event_loop()
        self._bytes = 0
        self.boot()

    # -- What the platform does -------------------------------------------------------------------

    def chance_bytes(self) -> bytes:
        self._bytes += 1
        return self._bytes.to_bytes(8)

    def set_alarm(self, at_ms: int) -> None:
        self.alarms_set += 1
        self.alarm = max(at_ms, self.now)

    async def send(self, bodies: Sequence[str]) -> None:
        await asyncio.sleep(0)
        if self.queue_error is not None:
            raise self.queue_error
        sizes = [len(body.encode()) for body in bodies]
        assert 1 <= len(bodies) <= 100
        assert max(sizes) <= 128_000
        assert sum(sizes) <= 256_000
        self.queue.append([json.loads(body) for body in bodies])

    async def project(self, snapshots: Sequence[Any]) -> None:
        await asyncio.sleep(0)
        if self.database_error is not None:
            raise self.database_error
        self.projected.append(len(snapshots))
        for snapshot in snapshots:
            known = self.read_model.get(snapshot["id"])
            if known is None or known["version"] < snapshot["version"]:
                self.read_model[snapshot["id"]] = snapshot

    # -- What tests do ----------------------------------------------------------------------------

    def boot(self) -> None:
        identity = Identity(
            binding=self.name, shard=0, policy=self.policy, retention=self.retention
        )
        self.instance = Instance(self)
        self.shard = Shard(identity, self.instance)
        self.run(self.shard.boot())

    def restart(self) -> None:
        """The object loses its memory at once; what it had started is gone."""
        self.lose()
        self.boot()

    def lose(self) -> None:
        self.instance.alive = False
        for task in self.instance.tasks:
            task.cancel()
        self.loop.run_until_complete(self._quiet())
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")

    def run[T](self, work: Coroutine[Any, Any, T]) -> T:
        """This, and then everything it started."""

        async def both() -> T:
            try:
                return await work
            finally:
                await self._quiet()

        return self.loop.run_until_complete(both())

    async def _quiet(self) -> None:
        while self.instance.tasks:
            await asyncio.wait(set(self.instance.tasks))

    def call(self, method: str, request: object = None) -> Any:
        arguments = () if request is None else (json.dumps(request),)
        return json.loads(self.run(getattr(self.shard, method)(*arguments)))

    def enqueue(self, *jobs: dict[str, Any]) -> list[str]:
        """Local ids; every job has a payload unless it brings one."""
        request = {"jobs": [{"payload": None, **job} for job in jobs]}
        return [local(each) for each in self.call("enqueue", request)["ids"]]

    def report(self, *jobs: tuple[str, int], outcome: str = "succeeded", **fields: Any) -> Any:
        """What was too late of it."""
        reports = [
            {
                "id": local_id,
                "epoch": epoch,
                "outcome": outcome,
                "started_ms": self.now,
                "finished_ms": self.now,
                **fields,
            }
            for local_id, epoch in jobs
        ]
        return self.call("settle", {"reports": reports})["stale"]

    def control(self, action: str, *ids: str, **fields: Any) -> Any:
        return self.call("control", {"action": action, "ids": list(ids), **fields})["jobs"]

    def set_policy(self, **change: Any) -> Any:
        return self.call("set_policy", {"change": change or None})

    def fire(self) -> None:
        """The alarm, which is due."""
        assert self.alarm is not None
        self.now, self.alarm = max(self.now, self.alarm), None
        self.run(self.shard.alarm())
        self.on_fire()

    def wait(self, duration_ms: int) -> int:
        """Let time pass; the alarm fires when it is due. How often it did."""
        until, fired = self.now + duration_ms, 0
        while self.alarm is not None and self.alarm <= until:
            self.fire()
            fired += 1
            assert fired < 10_000, "the shard wakes itself in a loop"
        self.now = until
        return fired

    # -- What tests look at -----------------------------------------------------------------------

    def sent(self) -> list[dict[str, Any]]:
        """Every delivery that was sent, in order."""
        return [delivery for batch in self.queue for delivery in batch]

    def take(self) -> list[tuple[str, int]]:
        """Local id and epoch of what is in the queue, which is empty then."""
        taken = [(local(each["job"]), each["epoch"]) for each in self.sent()]
        self.queue.clear()
        return taken

    def states(self) -> dict[str, str]:
        return dict(self.db.execute("SELECT id, state FROM jobs"))

    def row(self, local_id: str) -> dict[str, Any]:
        cursor = self.db.execute("SELECT * FROM jobs WHERE id = ?", (local_id,))
        values = cursor.fetchone()
        return dict(zip([column[0] for column in cursor.description], values, strict=True))

    def count(self, table: str) -> int:
        (count,) = self.db.execute(f"SELECT count(*) FROM {table}").fetchone()
        return int(count)

    def show(self, local_id: str) -> Any:
        return self.call("show", {"ids": [local_id]})["jobs"][0]

    def diagnostics(self) -> Any:
        return self.call("diagnostics")

    def check(self) -> None:
        """What is kept beside the jobs agrees with them."""
        counted = dict(self.db.execute("SELECT state, count(*) FROM jobs GROUP BY state"))
        stored = dict(self.db.execute("SELECT name, n FROM counts WHERE name NOT LIKE 'stale:%'"))
        assert {state: n for state, n in stored.items() if n} == counted
        keyed = self.db.execute(
            "SELECT concurrency_key, priority, id FROM jobs"
            " WHERE state = 'SCHEDULED' AND concurrency_key IS NOT NULL ORDER BY ready_ms, id"
        )
        first: dict[tuple[str, int], str] = {}
        expected = [i for key, priority, i in keyed if first.setdefault((key, priority), i) != i]
        behind = self.db.execute("SELECT id FROM jobs WHERE behind = 1 ORDER BY ready_ms, id")
        assert [local_id for (local_id,) in behind] == expected
        assert self.errors == []

    def close(self) -> None:
        self.lose()
        self.loop.close()
        self.db.close()


def local(job_id: str) -> str:
    return job_id.rpartition(":")[2]
