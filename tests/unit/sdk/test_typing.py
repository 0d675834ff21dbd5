"""What a type checker makes of the SDK: right uses pass, the traps of production do not."""

from __future__ import annotations

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


@pytest.mark.long  # mypy takes several seconds
def test_mypy_accepts_the_right_uses_and_rejects_the_traps(tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text(SAMPLE)
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
        for number, line in enumerate(SAMPLE.splitlines(), start=1)
        if "# E: " in line
    }
    assert found == expected, result.stdout
