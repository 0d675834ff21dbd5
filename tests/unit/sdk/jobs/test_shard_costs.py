"""A tick costs what it moves, whatever waits: counted in SQLite's own steps, not in time."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

import pytest
from shard_harness import HOUR, MINUTE, SECOND, T0, World
from tsumugi.jobs import shard as package
from tsumugi.jobs.core.bucket import Rate
from tsumugi.jobs.core.model import Policy
from tsumugi.jobs.core.retention import Retention
from tsumugi.jobs.shard import lines, outbox

if TYPE_CHECKING:
    from collections.abc import Callable

type Shards = Callable[..., World]

MOVED = 100
FEW, MANY, MILLION = 1_000, 30_000, 1_000_000
#: Trees are deeper with more in them.
DEEPER = 1.25

FILL = """
WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n + 1 < :count)
INSERT INTO jobs (id, state, priority, ready_ms, max_attempts, guarantee, timeout_ms,
  concurrency_key, expires_ms, message_bytes, updated_ms)
SELECT format('%028x', 1 + n), 'SCHEDULED', {priority}, {ready_ms}, 3, 'at-least-once', 60000,
  {key}, {expires_ms}, 600, :t0 FROM n
"""
REST = (
    "INSERT INTO inputs (id, created_ms, payload) SELECT id, updated_ms, 'null' FROM jobs",
    "INSERT INTO counts VALUES ('SCHEDULED', :count)",
    "UPDATE jobs SET behind = 1 WHERE concurrency_key IS NOT NULL AND id NOT IN (SELECT min(id)"
    " FROM jobs GROUP BY concurrency_key, priority)",
)


def fill(
    world: World,
    count: int,
    *,
    priority: str = "0",
    ready_ms: str = ":t0 + n / 1000",
    key: str = "NULL",
    expires_ms: str = "NULL",
) -> World:
    """Let ``count`` jobs wait, as if they had been enqueued an hour ago."""
    values = {"count": count, "t0": T0}
    jobs = FILL.format(priority=priority, ready_ms=ready_ms, key=key, expires_ms=expires_ms)
    world.db.execute("BEGIN")
    for statement in (jobs, *REST):
        world.db.execute(statement, values)
    world.db.execute("COMMIT")
    world.now += HOUR
    return world


def steps(world: World, work: Callable[[World], Any]) -> int:
    """What SQLite does for ``work``, in tens of steps of its virtual machine."""
    count = 0

    def step() -> None:
        nonlocal count
        count += 1

    world.db.set_progress_handler(step, 10)
    work(world)
    world.db.set_progress_handler(None, 10)
    return count


def tick(world: World) -> None:
    world.run(world.shard.alarm())


def round_of_a_hundred(world: World) -> None:
    """Settle what runs, tick, hand over the next."""
    world.report(*world.take())
    assert len(world.sent()) == MOVED


PLAIN = Policy(concurrency=MOVED)
STRICT = Policy(concurrency=MOVED, aging_interval_ms=None)
AXES = Policy(concurrency=MOVED, rate=Rate(1_000, 1), per_key_concurrency=2)

WAITING: dict[str, tuple[Policy, dict[str, str]]] = {
    "one line": (PLAIN, {}),
    "strict priorities": (STRICT, {"priority": "n % 50"}),
    "priorities that age": (PLAIN, {"priority": "n % 50"}),
    "all axes, 500 keys": (AXES, {"key": "'k' || (n % 500)"}),
    "all axes, a key each": (AXES, {"key": "'k' || n"}),
    "delayed ones between": (PLAIN, {"ready_ms": ":t0 + iif(n % 2, 99999999 + n, n / 1000)"}),
    "a full key before the others": (
        PLAIN,
        {"key": "iif(n < :count - 500, 'busy', NULL)", "priority": "n < :count - 500"},
    ),
    "jobs that will expire": (PLAIN, {"expires_ms": ":t0 + 99999999 + n"}),
}


@pytest.mark.parametrize("name", WAITING)
@pytest.mark.parametrize(
    "many", [MANY, pytest.param(MILLION, marks=[pytest.mark.long, pytest.mark.timeout(600)])]
)
def test_a_round_costs_the_same_of_few_and_of_many(name: str, many: int, shard: Shards) -> None:
    policy, jobs = WAITING[name]
    costs = []
    for count in (FEW, many):
        world = fill(shard(policy), count, **jobs)
        tick(world)
        costs.append(steps(world, round_of_a_hundred))
    few, lots = costs
    assert lots <= DEEPER * few


@pytest.mark.parametrize(
    "policy", [Policy(paused=True), Policy(concurrency=1)], ids=["paused", "full"]
)
def test_a_tick_that_moves_nothing_costs_the_same_of_many(policy: Policy, shard: Shards) -> None:
    costs = []
    for count in (FEW, MANY):
        world = fill(shard(policy), count, key="iif(n % 2, 'k' || (n % 100), NULL)")
        tick(world)
        costs.append(steps(world, tick))
    assert costs[1] <= DEEPER * costs[0]


def test_of_keys_with_one_job_each_no_line_is_looked_at(shard: Shards) -> None:
    world = shard(AXES)
    world.enqueue(*({"concurrency_key": f"k{n}"} for n in range(2 * MOVED)))
    round_of_a_hundred(world)
    assert not set(lines.STATEMENTS) & world.instance.storage.texts
    world.enqueue({"concurrency_key": "k1"}, {"concurrency_key": "k1"})
    assert world.count("jobs WHERE behind = 1") == 1
    world.report(*world.take())
    assert len(world.sent()) == 2  # its key has room for two
    world.check()


def test_sorting_what_waits_fails_that(shard: Shards) -> None:
    def naive(world: World) -> None:
        world.db.execute(
            "SELECT id FROM jobs WHERE state = 'SCHEDULED'"
            " ORDER BY priority + (:now - ready_ms) / 60000 DESC, ready_ms, id LIMIT 100",
            {"now": world.now},
        ).fetchall()

    few, lots = (steps(fill(shard(Policy(paused=True)), n), naive) for n in (FEW, MANY))
    assert lots > 10 * few


def test_many_overdue_jobs_are_cancelled_in_portions(shard: Shards) -> None:
    world = fill(shard(PLAIN), 2_500, expires_ms=":t0 + 1000")
    before = world.instance.storage.statements["UPDATE"]
    tick(world)
    assert set(world.states().values()) == {"CANCELLED"}
    assert world.instance.storage.statements["UPDATE"] - before == 3


def test_a_sweep_deletes_portions_until_nothing_is_over(shard: Shards) -> None:
    world = shard(retention=Retention(sweep_after_ms=MINUTE))
    ids = world.enqueue(*({"delay_ms": HOUR} for _ in range(2_500)))
    for first in range(0, 2_500, 200):
        world.control("cancel", *ids[first : first + 200])
    world.wait(MINUTE - 1)
    assert world.count("jobs") == 2_500
    assert 3 <= world.wait(10 * SECOND) <= 5
    assert (world.count("jobs"), world.count("inputs")) == (0, 0)


def statements() -> list[str]:
    found: list[str] = []
    for module in pkgutil.iter_modules(package.__path__):
        loaded = importlib.import_module(f"{package.__name__}.{module.name}")
        found += getattr(loaded, "STATEMENTS", ())
    return found


#: Small whatever the shard holds.
SMALL = {"meta", "counts", "handovers"}
#: Statements that begin so are run once in the life of a shard.
DEFINE = {"CREATE", "ALTER"}
#: They stop early.
STOP = {outbox._ANY, outbox._COUNT}
#: What the statements call the tables.
ALIASES = {"j", "f", "h", "o", "b", "m", "i", "r"}


@pytest.mark.parametrize("statement", statements(), ids=lambda text: " ".join(text.split())[:60])
def test_no_statement_reads_or_sorts_a_whole_table(statement: str, shard: Shards) -> None:
    db = shard().db
    plan = [str(row[-1]) for row in db.execute(f"EXPLAIN QUERY PLAN {statement}", {"1": "{}"})]
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_schema")} - SMALL
    scanned = {step.split()[1] for step in plan if step.startswith("SCAN") and "USING" not in step}
    assert statement in STOP or not scanned & (tables | ALIASES)
    assert not [step for step in plan if "TEMP B-TREE" in step]


def test_every_statement_is_known_to_the_test_above(shard: Shards) -> None:
    world = shard()
    ids = world.enqueue(
        {"concurrency_key": "k", "unique_key": "u", "expires_in_ms": HOUR},
        {"guarantee": "at-most-once"},
        {"priority": 4},
    )
    mark = {"id": ids[2], "epoch": 1}
    world.call("begin", {"jobs": [{**mark, "claim": False, "payload": True}]})
    lines = [{**mark, "at_ms": T0, "text": "hello"}]
    world.call("settle", {"logs": lines, "beats": [{**mark, "progress": 0.5}]})
    world.report(*world.take(), outcome="failed")
    world.control("cancel", *ids)
    world.queue_error = RuntimeError()
    world.wait(HOUR)
    world.now -= HOUR
    tick(world)
    world.diagnostics()
    world.show(ids[0])
    defined = {text for text in world.instance.storage.texts if text.split()[0] in DEFINE}
    assert world.instance.storage.texts - set(statements()) - defined == set()
