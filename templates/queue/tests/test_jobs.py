import asyncio

import pytest
from jobs import backoff_s, check_job, report_dead, work_through
from tsumugi.testing import build_batch, build_message, run_queue_handler


def run(handler, *messages):
    return asyncio.run(run_queue_handler(handler, build_batch("jobs", messages)))


def test_a_job_that_succeeds_is_acknowledged():
    outcome = run(work_through, {"text": "hello"})
    assert outcome.acked == ["message-1"]


def test_a_job_that_fails_is_retried_alone_and_later_each_time():
    job = {"text": "hello", "fail_times": 9}
    outcome = run(
        work_through,
        build_message(job, attempts=1),
        build_message(job, attempts=3),
        build_message({"text": "fine"}),
    )
    assert outcome.retried == {"message-1": 2, "message-2": 8}
    assert outcome.acked == ["message-3"]


def test_a_job_succeeds_once_it_has_failed_often_enough():
    job = {"text": "hello", "fail_times": 2}
    assert run(work_through, build_message(job, attempts=3)).acked == ["message-1"]


def test_no_delay_exceeds_an_hour():
    assert [backoff_s(attempts) for attempts in (1, 2, 3, 100)] == [2, 4, 8, 3600]


def test_dead_jobs_are_reported_and_acknowledged(capsys):
    assert run(report_dead, {"text": "lost"}).acked == ["message-1"]
    assert "Gave up on message-1: {'text': 'lost'}" in capsys.readouterr().out


@pytest.mark.parametrize("job", [None, "hello", [], {}, {"text": 5}])
def test_a_job_needs_a_text(job):
    with pytest.raises(ValueError, match="a job is an object with a"):
        check_job(job)


def test_a_job_fails_a_whole_number_of_times():
    with pytest.raises(ValueError, match="whole number"):
        check_job({"text": "hello", "fail_times": "2"})
