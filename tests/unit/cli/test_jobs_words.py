"""``tsumugi jobs`` says why jobs were refused, which names are wrong, and what is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from test_jobs_commands import ONE, TWO, job

if TYPE_CHECKING:
    from jobs_server import JobsServer, Terminal


@pytest.fixture
def asking(server: JobsServer, terminal: Terminal) -> Any:
    return lambda *words: terminal.jobs(*words, "--url", server.url, "--token", "t")


@pytest.mark.parametrize(
    ("action", "reason", "said"),
    [
        ("retry", "invalid-state", "neither FAILED nor STALLED"),
        ("cancel", "invalid-state", "not SCHEDULED any more"),
        ("cancel", "gone", "never enqueued, or not kept any more"),
        ("cancel", "something-newer", "something-newer"),
    ],
)
def test_a_refusal_in_bulk_is_told_in_words(
    server: JobsServer, asking: Any, action: str, reason: str, said: str
) -> None:
    failed = [{"id": TWO, "reason": reason}]
    server.answers = [(200, {"ok": [ONE], "failed": failed, "remaining": 0})]
    ran = asking(action, ONE, TWO)
    assert (ran.code, said in ran.out) == (1, True)
    assert "1 job was refused." in ran.error


def test_a_list_without_jobs_says_that_there_is_no_such_binding(
    server: JobsServer, asking: Any
) -> None:
    server.answers = [(200, {"jobs": [], "total": 0}), (200, {"bindings": ["Echo", "Send"]})]
    ran = asking("list", "--binding", "Ehco")
    assert ran.out.strip() == "No jobs, and no binding 'Ehco' (there are: Echo, Send)."
    server.answers = [(200, {"jobs": [], "total": 0}), (200, {"bindings": ["Echo", "Send"]})]
    assert asking("list", "--binding", "Echo").out.strip() == "No jobs."


def test_all_jobs_of_a_binding_that_there_is_not_are_not_cancelled_silently(
    server: JobsServer, asking: Any
) -> None:
    nothing: dict[str, Any] = {"ok": [], "failed": [], "remaining": 0}
    server.answers = [(200, nothing), (200, {"bindings": ["Echo"]})]
    ran = asking("cancel", "--all", "--yes", "--binding", "Ehco")
    assert (ran.code, "no binding 'Ehco' (there are: Echo)" in ran.error) == (1, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("enqueue", "Echo", "--run-at", "1796030084"), "1796030084 is in 1970: these are milli"),
        (("enqueue", "Echo", "--run-at", "-1"), "-1 is before 1970."),
        (("list", "--created-from", "1796030084"), "'--created-from': 1796030084 is in 1970"),
        (("enqueue", "Echo", "--max-attempts", "0"), "'--max-attempts': 0 is not in the range"),
        (("enqueue", "Echo", "--delay-ms", "-5"), "'--delay-ms': -5 is not in the range"),
        (("enqueue", "Echo", "--timeout-ms", "1.5"), "'--timeout-ms': '1.5' is not a valid int"),
    ],
)
def test_a_number_that_means_nothing_is_told_by_its_option(
    server: JobsServer, asking: Any, words: tuple[str, ...], said: str
) -> None:
    ran = asking(*words)
    assert (ran.code, said in ran.error, server.asked) == (2, True, [])


def test_a_time_in_milliseconds_is_passed_on(server: JobsServer, asking: Any) -> None:
    server.answers = [(201, {"id": ONE, "created": True})]
    assert asking("enqueue", "Echo", "--run-at", "1796030084000").code == 0
    assert server.asked[0].body["runAt"] == 1_796_030_084_000


@pytest.mark.parametrize(("state", "is_told"), [("RUNNING", True), ("COMPLETED", False)])
def test_progress_is_told_until_a_job_is_done(
    server: JobsServer, asking: Any, state: str, is_told: bool
) -> None:
    server.answers = [(200, {"job": job(state=state, progress=0.8)})]
    assert ("Progress:         80%" in asking("show", ONE).out) is is_told
