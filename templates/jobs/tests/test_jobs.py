"""The jobs with the real coordinator, in memory, on a clock that the tests move."""

import asyncio

import jobs as work
import pytest
from jobs import ChargeCard, Order, SendReceipt, tsumugi
from tsumugi import OptionError
from tsumugi.testing import InMemoryJobs

ORDER = Order(id="A-1", customer="ada", cents=1990)
KEYS = {"unique_key": ORDER.id, "concurrency_key": ORDER.customer}


@pytest.fixture
def memory():
    with InMemoryJobs(tsumugi) as memory:
        yield memory


def test_an_order_is_charged_and_its_receipt_sent(memory, capsys):
    async def story():
        job_id = await tsumugi.enqueue(memory.env, ChargeCard, ORDER, **KEYS)
        await memory.run()
        return await memory.get(job_id)

    job = asyncio.run(story())
    assert (job["state"], job["result"]) == ("COMPLETED", {"charged_cents": 1990})
    assert [line["text"] for line in job["logs"]] == ["charging ada for order A-1"]
    assert capsys.readouterr().out.splitlines() == [
        "Charged ada: 19.90",
        "Receipt of order A-1 sent to ada (attempt 1)",
    ]


def test_an_order_that_comes_twice_is_one_job(memory, capsys):
    async def story():
        ids = [await tsumugi.enqueue(memory.env, ChargeCard, ORDER, **KEYS) for _ in range(2)]
        await memory.run()
        return ids

    first, second = asyncio.run(story())
    assert first == second
    assert capsys.readouterr().out.count("Charged") == 1


def test_charging_needs_the_order_and_the_customer(memory):
    with pytest.raises(OptionError, match="concurrency_key"):
        asyncio.run(tsumugi.enqueue(memory.env, ChargeCard, ORDER))


def test_a_receipt_that_cannot_be_sent_is_tried_again_later(memory, monkeypatch):
    attempts = []

    async def perform(_self, _order, ctx):
        attempts.append((memory.now_ms, ctx.attempt))
        if ctx.attempt == 1:
            raise ConnectionError("no mail today")

    monkeypatch.setattr(work.SendReceipt, "perform", perform)

    async def story():
        job_id = await tsumugi.enqueue(memory.env, SendReceipt, ORDER)
        await memory.advance(60_000)
        return await memory.get(job_id)

    job = asyncio.run(story())
    assert job["state"] == "COMPLETED"
    assert [attempt for _, attempt in attempts] == [1, 2]
    assert attempts[1][0] - attempts[0][0] >= 500
    assert job["attempts_log"][0]["error"]["message"] == "no mail today"
