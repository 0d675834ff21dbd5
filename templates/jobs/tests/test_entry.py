"""The HTTP side in plain Python: `load_worker` brings what `import workers` needs."""

import asyncio
from pathlib import Path

import pytest
from jobs import tsumugi
from tsumugi.testing import InMemoryJobs, load_worker, run_fetch_handler

Default = load_worker(Path(__file__).parents[1] / "src" / "entry.py")
ORDER = '{"id": "A-1", "customer": "ada", "cents": 1990}'


def post(path, body, **headers):
    """The answer, and the state of the job it names after it ran."""

    async def story():
        with InMemoryJobs(tsumugi) as memory:
            answer = await run_fetch_handler(
                Default, path, method="POST", body=body, env=vars(memory.env)
            )
            await memory.run()
            return answer, answer.status == 202 and await memory.get(answer.json()["job"])

    return asyncio.run(story())


def test_an_order_becomes_a_job():
    answer, job = post("/orders", ORDER)
    assert answer.status == 202
    assert answer.json()["job"].startswith("ChargeCard#0:")
    assert job["state"] == "COMPLETED"


@pytest.mark.parametrize("body", ["{", '{"id": "A-1"}', '{"id": "", "customer": "a", "cents": 0}'])
def test_what_is_no_order_is_refused(body):
    answer, _ = post("/orders", body)
    assert answer.status == 400
    assert answer.json()["errors"]


def test_the_front_page_explains():
    answer = asyncio.run(run_fetch_handler(Default, "/"))
    assert (answer.status, "POST /orders" in answer.text) == (200, True)


def test_nobody_sees_the_jobs_without_the_token():
    for env in ({}, {"TSUMUGI_TOKEN": "secret"}):
        answer = asyncio.run(run_fetch_handler(Default, "/api/jobs", env=env))
        assert answer.status == 401
