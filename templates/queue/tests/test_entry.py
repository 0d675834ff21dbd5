"""The whole Worker in plain Python: `load_worker` brings what `import workers` needs."""

import asyncio
import json
from pathlib import Path

import pytest
from tsumugi.testing import (
    RecordingQueue,
    build_batch,
    load_worker,
    run_fetch_handler,
    run_queue_handler,
)

Default = load_worker(Path(__file__).parents[1] / "src" / "entry.py")


def request(method, path, body=None):
    """The answer, and the jobs that reached the queue."""
    jobs = RecordingQueue()
    answer = asyncio.run(
        run_fetch_handler(Default, path, method=method, body=body, env={"JOBS": jobs})
    )
    return answer, jobs.bodies


def test_one_job_is_queued():
    answer, queued = request("POST", "/", '{"text": "hello"}')
    assert (answer.status, answer.json()) == (202, {"queued": 1})
    assert queued == [{"text": "hello"}]


def test_many_jobs_are_queued_together():
    answer, queued = request("POST", "/batch", '[{"text": "one"}, {"text": "two"}]')
    assert (answer.status, answer.json()) == (202, {"queued": 2})
    assert queued == [{"text": "one"}, {"text": "two"}]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/", "{"),
        ("/", '{"no": "text"}'),
        ("/batch", "5"),
        ("/batch", "[]"),
        ("/batch", "[{}]"),
        ("/batch", json.dumps([{"text": "x"}] * 101)),
    ],
)
def test_what_is_not_a_job_is_refused_and_nothing_is_queued(path, body):
    answer, queued = request("POST", path, body)
    assert answer.status == 400
    assert answer.json()["error"]
    assert queued == []


def test_the_front_page_explains():
    answer, _ = request("GET", "/")
    assert answer.status == 200
    assert "POST /batch" in answer.text


def test_other_pages_do_not_exist():
    answer, _ = request("GET", "/batch")
    assert answer.status == 404


def test_each_queue_gets_its_handler(capsys):
    for queue in ("my-jobs", "my-jobs-dlq"):
        batch = build_batch(queue, [{"text": "hello"}])
        assert asyncio.run(run_queue_handler(Default, batch)).acked == ["message-1"]
    assert capsys.readouterr().out.splitlines() == [
        "Done: hello",
        "Gave up on message-1: {'text': 'hello'}",
    ]
