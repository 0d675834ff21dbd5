"""What a type checker makes of the SDK: right uses pass, the traps of production do not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

SAMPLE = '''
from typing import assert_type

from pydantic import BaseModel
from tsumugi import Backoff, Message, MessageBatch, Queue, QueueConsumer, consumes
from tsumugi.testing import FakeBatch, FakeMessage, RecordingQueue, build_batch


class Order(BaseModel):
    id: int


class Plain:
    """No import of tsumugi is needed at run time: the names are annotations."""

    async def queue(self, batch: MessageBatch[dict[str, int]], env: object = None) -> None:
        for message in batch.messages:
            assert_type(message.body, dict[str, int])
            message.retry(delaySeconds=60)
            message.retry(delay_seconds=60)  # E: call-arg
            batch.ack_all()  # E: attr-defined
            await message.ack()  # E: misc, func-returns-value


async def send(queue: Queue[dict[str, int]]) -> None:
    result = await queue.send({"a": 1}, contentType="json", delaySeconds=60)
    assert_type(result.metadata.metrics.backlogCount, int)
    await queue.send({"a": 1}, delay_seconds=60)  # E: call-arg
    await queue.send({"a": 1}, contentType="xml")  # E: arg-type
    await queue.send("text")  # E: arg-type
    await queue.sendBatch([{"body": {"a": 1}, "delaySeconds": 5}])
    await queue.sendBatch(({"body": {"a": 1}},))  # E: arg-type


class Default(QueueConsumer):
    @consumes("orders", model=Order, retry=Backoff(base_s=30), concurrency=5)
    async def both(self, order: Order, message: Message[Order]) -> None:
        assert_type(message.body, Order)

    @consumes("letters", model=Order, retry=lambda attempts: 60 * attempts)
    async def body_alone(self, order: Order) -> None: ...

    @consumes("raw")
    async def untyped(self, body: dict[str, object]) -> None: ...

    @consumes("wrong", model=Order)  # E: arg-type
    async def wrong_body(self, order: str) -> None: ...

    @consumes("sync")  # E: arg-type
    def not_async(self, body: str) -> None: ...


def fakes_fit() -> tuple[MessageBatch[object], Message[object], Queue[object]]:
    batch: FakeBatch = build_batch("q", [1])
    message: FakeMessage = batch.messages[0]
    return batch, message, RecordingQueue()
'''

JOBS_SAMPLE = """
from typing import Any, assert_type

from pydantic import BaseModel
from tsumugi import (
    Binding, Entrypoint, Job, JobContext, JobShard, Performer, Policy, Rate, Tsumugi, bearer_auth,
    remote,
)
from workers import Response, WorkerEntrypoint


class Mail(BaseModel):
    to: str


class SendMail(Performer[Mail]):
    requires = ("concurrency_key",)
    guarantee = "at-most-once"

    async def perform(self, payload: Mail, ctx: JobContext) -> dict[str, str]:
        await ctx.heartbeat(0.5)
        return {"sent": payload.to}


class Blocking(Performer[list[int]]):
    requires = ("concurency_key",)  # E: assignment

    def perform(self, payload: list[int], ctx: JobContext) -> int:
        return sum(payload)


class Wrong(Performer[Mail]):
    async def perform(self, payload: str, ctx: JobContext) -> None: ...  # E: override


Charge = remote("BILLING", "Charge", payload=Mail, max_attempts=5)
tsumugi = Tsumugi(
    performers=[SendMail, Blocking, Charge],
    bindings={"SendMail": Binding(policy=Policy(concurrency=20, rate=Rate(100, per_ms=60_000)))},
    auth=bearer_auth(lambda env: env.TSUMUGI_TOKEN),
)


class TsumugiJobShard(JobShard, app=tsumugi): ...


class Default(Entrypoint, app=tsumugi):
    async def fetch(self, request: Any) -> Response:
        mail = Mail.model_validate_json(await request.text())
        await tsumugi.enqueue(self.env, SendMail, mail, concurrency_key=mail.to)
        return await super().fetch(request)

    async def queue(self, batch: Any, env: Any = None, ctx: Any = None) -> int:  # E: override
        return 1


class Elsewhere(Entrypoint, tsumugy=tsumugi): ...  # E: call-arg


class Wrongly(JobShard, app=SendMail): ...  # E: arg-type


def an_entrypoint() -> type[WorkerEntrypoint]:
    return Default


async def call(env: Any) -> None:
    mail = Mail(to="a")
    assert_type(await tsumugi.enqueue(env, SendMail, mail, concurrency_key="a"), str)
    await tsumugi.enqueue(env, SendMail, "a")  # E: misc
    await tsumugi.enqueue(env, SendMail, mail, concurency_key="a")  # E: call-arg
    await tsumugi.enqueue(env, "SendMail", {"to": "a"})
    await tsumugi.enqueue(env, Charge, mail)
    await tsumugi.enqueue(env, Charge, 5)  # E: misc
    await tsumugi.enqueue_many(env, SendMail, [mail, mail], priority=5)
    await tsumugi.enqueue_many(env, SendMail, (Job(mail, concurrency_key=k) for k in "ab"))
    await tsumugi.enqueue_many(env, SendMail, [5])  # E: misc
    await tsumugi.set_policy(env, SendMail, concurrency=5)
    await tsumugi.set_policy(env, SendMail, concurency=5)  # E: call-arg
    if await tsumugi.cancel(env, "SendMail#0:1"):
        assert_type((await tsumugi.retry(env, "SendMail#0:1")).outcome == "gone", bool)
"""


@pytest.mark.long  # mypy takes several seconds
@pytest.mark.parametrize("source", [SAMPLE, JOBS_SAMPLE], ids=["queues", "jobs"])
def test_mypy_accepts_the_right_uses_and_rejects_the_traps(tmp_path: Path, source: str) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text(source)
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"),
         "--no-pretty", str(sample)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    found: dict[int, set[str]] = {}
    for line, code in re.findall(r"sample\.py:(\d+): error: .*\[([a-z-]+)\]", result.stdout):
        found.setdefault(int(line), set()).add(code)
    expected = {
        number: set(line.partition("# E: ")[2].split(", "))
        for number, line in enumerate(source.splitlines(), start=1)
        if "# E: " in line
    }
    assert found == expected, result.stdout


@pytest.mark.long
def test_the_jobs_template_is_clean_under_mypy_strict() -> None:
    template = ROOT / "templates" / "jobs"
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "src/entry.py"],
        cwd=template,
        env={**os.environ, "MYPYPATH": "src"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
