"""``tsumugi jobs``: what it asks of the API, what it shows, and what it says when it cannot."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.running import Running

if TYPE_CHECKING:
    from jobs_server import JobsServer, Terminal


ONE, TWO = (f"Echo#0:{number:028x}" for number in (1, 2))


def job(**fields: Any) -> dict[str, Any]:
    nothing = (
        "concurrency_key unique_key partition_key traceparent cancelled_because note progress "
        "dispatched_at started_at finished_at expires_at result error"
    )
    found = dict.fromkeys(nothing.split()) | {
        "id": ONE,
        "binding": "Echo",
        "shard": 0,
        "state": "FAILED",
        "priority": 0,
        "attempts": 1,
        "max_attempts": 3,
        "guarantee": "at-least-once",
        "created_at": 1_790_000_000_000,
        "updated_at": 1_790_000_000_000,
        "run_after": 1_790_000_000_000,
        "retryable": True,
        "payload": '{"a":1}',
        "attempts_log": [],
        "logs": [],
    }
    return found | fields


# -- Where it asks, and as whom -------------------------------------------------------------------


def test_what_runs_here_is_asked_with_the_token_of_dev_vars(
    server: JobsServer, terminal: Terminal
) -> None:
    state = terminal.directory / ".wrangler" / "tsumugi"
    state.mkdir(parents=True)
    Running(os.getpid(), "http://api", "t", str(state), server.url).write(state)
    (terminal.directory / ".dev.vars").write_text("TSUMUGI_TOKEN=local\n")
    server.answers = [(200, {"jobs": [], "total": 0})]
    ran = terminal.jobs("list")
    assert (ran.code, ran.out.strip()) == (0, "No jobs.")
    assert server.asked[0].headers["authorization"] == "Bearer local"


def test_nothing_that_runs_here_is_said_with_the_next_step(terminal: Terminal) -> None:
    ran = terminal.jobs("list")
    assert ran.code == 1
    assert "No `tsumugi dev` runs on" in ran.error
    assert "--url" in ran.error


def test_a_deployment_never_gets_the_local_token(
    server: JobsServer, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    (terminal.directory / ".dev.vars").write_text("TSUMUGI_TOKEN=local\n")
    server.answers = [(200, {"jobs": [], "total": 0})]
    terminal.jobs("list", "--url", server.url)
    monkeypatch.setenv("TSUMUGI_TOKEN", "of-environment")
    terminal.jobs("list", "--url", f"{server.url}/api/")
    terminal.jobs("list", "--url", server.url, "--token", "said", "-H", "CF-Access-Client-Id: x")
    headers = [asked.headers for asked in server.asked]
    assert [one.get("authorization") for one in headers] == [
        None,
        "Bearer of-environment",
        "Bearer said",
    ]
    assert headers[2]["cf-access-client-id"] == "x"
    assert {asked.path.partition("?")[0] for asked in server.asked} == {"/api/jobs"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--url", "http://example.com"), "https only"),
        (("--url", "example.com"), "write it as https://"),
        (("--url", "http://127.0.0.1:1"), "Check --url"),
        (("--url", "http://127.0.0.1:1", "-H", "nonsense"), 'write --header "NAME: value"'),
        (("--url", "http://127.0.0.1:1", "--token", "ü"), "characters no header can have"),
    ],
)
def test_a_target_that_cannot_be_asked_is_said(
    terminal: Terminal, arguments: tuple[str, ...], said: str
) -> None:
    ran = terminal.jobs("list", *arguments)
    assert ran.code == 1
    assert said in ran.error


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (401, {"error": "unauthorized"}, "Give the token with --token"),
        (404, {"error": "not found"}, "needs auth"),
        (404, "Not found\n", "super().fetch(request)"),
        (500, "The Worker\n\nfailed" + 999 * "!", f"API does: The Worker failed{583 * '!'}..."),
        (200, "<html>", "not as the jobs API does"),
        (503, {"error": "lacks the migrations 0001.sql. Run `x`"}, "lacks the migrations"),
    ],
)
def test_what_the_other_side_refuses_is_said_with_the_next_step(
    server: JobsServer, terminal: Terminal, status: int, body: Any, said: str
) -> None:
    server.answers = [(status, body)]
    ran = terminal.jobs("stats", "--url", server.url)
    assert ran.code == 1
    assert said in ran.error
    as_json = terminal.jobs("stats", "--url", server.url, "--json")
    assert as_json.code == 1
    assert said in json.loads(as_json.out)["error"]["text"]


# -- Commands -------------------------------------------------------------------------------------


def test_a_list_is_a_table_and_says_how_to_go_on(server: JobsServer, terminal: Terminal) -> None:
    server.answers = [(200, {"jobs": [job(), job(id=TWO)], "total": 5})]
    arguments = ("list", "--url", server.url, "--state", "failed", "--state", "STALLED")
    ran = terminal.jobs(*arguments, "--limit", "2", "--binding", "Echo")
    assert ran.code == 0
    assert f"│ {ONE} │ FAILED │ 1/3 " in ran.out
    assert "2 of 5 jobs; --offset 2 shows the next ones." in ran.out
    query = server.asked[0].path.partition("?")[2]
    assert "state=FAILED&state=STALLED" in query
    assert "binding=Echo" in query
    assert json.loads(terminal.jobs(*arguments, "--json").out)["total"] == 5


def test_a_job_is_shown_with_what_happened_to_it(server: JobsServer, terminal: Terminal) -> None:
    attempt = {
        "attempt": 1,
        "state": "FAILED",
        "outcome": "failed",
        "started_at": 1_790_000_000_000,
        "finished_at": 1_790_000_001_500,
        "error": "ValueError: no",
        "traceback": "Traceback\n  ValueError: no",
    }
    log = {"attempt": 1, "timestamp": 1_790_000_000_500, "message": "half\x1b[2J way"}
    shown = job(attempts_log=[attempt], logs=[log], progress=0.5, concurrency_key="k")
    server.answers = [(200, {"job": shown})]
    ran = terminal.jobs("show", ONE, "--url", server.url)
    assert server.asked[0].path == f"/api/jobs/{ONE.replace('#', '%23').replace(':', '%3A')}"
    for line in (
        "Concurrency key:  k",
        "Progress:         50%",
        'Payload:          {"a": 1}',
        "Attempt 1:        failed after 1.5 s, 2026-09-21 14:13:21.500Z",
        "    ValueError: no",
        "[1] half\\x1b[2J way",
        f'tsumugi jobs retry "{ONE}"',
    ):
        assert line in ran.out
    assert json.loads(terminal.jobs("show", ONE, "--url", server.url, "--json").out) == shown


def test_a_job_is_enqueued_from_the_line_and_from_standard_input(
    server: JobsServer, terminal: Terminal
) -> None:
    server.answers = [(201, {"id": ONE, "created": True})]
    options = ("--priority", "5", "--unique-key", "u", "--delay-ms", "10")
    ran = terminal.jobs("enqueue", "Echo", '{"a": 1}', *options, "--url", server.url)
    assert ran.out == f"Enqueued {ONE}\n"
    terminal.jobs("enqueue", "Echo", "-", "--url", server.url, typed="[2]")
    terminal.jobs("enqueue", "Echo", "--url", server.url)
    assert [asked.body for asked in server.asked] == [
        {"binding": "Echo", "payload": {"a": 1}, "priority": 5, "uniqueKey": "u", "delayMs": 10},
        {"binding": "Echo", "payload": [2]},
        {"binding": "Echo", "payload": None},
    ]
    server.answers = [(201, {"id": ONE, "created": False})]
    assert f"taken by {ONE}" in terminal.jobs("enqueue", "Echo", "--url", server.url).out
    ran = terminal.jobs("enqueue", "Echo", "{", "--url", server.url)
    assert (ran.code, "The payload is no JSON" in ran.error) == (1, True)


def test_one_job_is_controlled_alone_and_many_in_bulk(
    server: JobsServer, terminal: Terminal
) -> None:
    server.answers = [(200, {"ok": True, "state": "SCHEDULED"})]
    ran = terminal.jobs("retry", ONE, "--url", server.url)
    assert ran.out == f"Retried {ONE}: it is SCHEDULED.\n"
    ids = [f"Echo#0:{number:028x}" for number in range(250)]
    server.answers = [
        (200, {"ok": ids[:200], "failed": [], "remaining": 0}),
        (200, {"ok": ids[200:249], "failed": [{"id": "x", "reason": "gone"}], "remaining": 0}),
    ]
    ran = terminal.jobs("cancel", *ids, "--url", server.url)
    assert [len(asked.body["ids"]) for asked in server.asked[1:]] == [200, 50]
    assert ran.code == 1
    assert "Cancelled 249 jobs." in ran.out
    assert "│ x  │ never enqueued, or not kept any more │" in ran.out


def test_all_that_match_are_controlled_call_after_call(
    server: JobsServer, terminal: Terminal
) -> None:
    server.answers = [
        (200, {"ok": [ONE], "failed": [], "remaining": 1}),
        (200, {"ok": [TWO], "failed": [], "remaining": 0}),
    ]
    filters = ("--all", "--state", "failed", "--binding", "Echo")
    ran = terminal.jobs("retry", *filters, "--yes", "--url", server.url)
    assert (ran.code, ran.out) == (0, "Retried 2 jobs.\n")
    assert [asked.body for asked in server.asked] == [{"state": "FAILED", "binding": "Echo"}] * 2


def test_a_list_that_is_behind_ends_the_calls(server: JobsServer, terminal: Terminal) -> None:
    refused = [{"id": ONE, "reason": "invalid-state"}]
    server.answers = [(200, {"ok": [], "failed": refused, "remaining": 9})]
    ran = terminal.jobs("cancel", "--all", "--yes", "--url", server.url, "--json")
    assert ran.code == 1
    assert json.loads(ran.out) == {"ok": [], "failed": refused, "remaining": 9}
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("retry",), "Name the jobs to retry, or give --all"),
        (("retry", ONE, "--all"), "Name the jobs to retry, or give --all"),
        (("cancel", ONE, "--binding", "Echo"), "Filters go with --all"),
        (("list", "--state", "LOST"), "Invalid value for '--state'"),
        (("list", "--limit", "101"), "Invalid value for '--limit'"),
        (("pause",), "Missing argument 'BINDING...'"),
    ],
)
def test_arguments_that_mean_nothing_are_told_from_refusals(
    terminal: Terminal, arguments: tuple[str, ...], said: str
) -> None:
    ran = terminal.jobs(*arguments)
    assert ran.code == 2
    assert said in ran.error


def test_all_jobs_are_not_controlled_without_a_yes(server: JobsServer, terminal: Terminal) -> None:
    ran = terminal.jobs("cancel", "--all", "--url", server.url)
    assert (ran.code, "repeat with --yes" in ran.error) == (1, True)
    assert server.asked == []


def test_bindings_are_paused_and_resumed(server: JobsServer, terminal: Terminal) -> None:
    assert "Paused Echo" in terminal.jobs("pause", "Echo", "Other", "--url", server.url).out
    assert "Resumed Echo" in terminal.jobs("resume", "Echo", "--url", server.url).out
    assert [(asked.method, asked.path, asked.body) for asked in server.asked] == [
        ("PATCH", "/api/bindings/Echo/policy", {"paused": True}),
        ("PATCH", "/api/bindings/Other/policy", {"paused": True}),
        ("PATCH", "/api/bindings/Echo/policy", {"paused": False}),
    ]


def test_stats_show_every_binding_and_the_sum(server: JobsServer, terminal: Terminal) -> None:
    server.answers = [
        (200, {
            "byState": {"FAILED": 1, "COMPLETED": 2},
            "byBinding": {"Echo": {"COMPLETED": 2}, "Former": {"FAILED": 1}},
            "oldestScheduledMs": 61_000,
        }),
        (200, {"bindings": ["Echo", "Idle"]}),
        (200, {"shard": 0, "bindings": {}}),
    ]  # fmt: skip
    ran = terminal.jobs("stats", "--url", server.url)
    for row in (
        "│ Binding │ COMPLETED │ FAILED │",
        "│ Idle    │ 0         │ 0      │",
        "│ all     │ 2         │ 1      │",
    ):
        assert row in ran.out


@pytest.mark.parametrize("command", ["show", "retry", "cancel"])
def test_an_id_that_is_empty_is_told_and_nothing_asked(
    server: JobsServer, terminal: Terminal, command: str
) -> None:
    ran = terminal.jobs(command, "", "--url", server.url)
    assert (ran.code, server.asked) == (1, [])
    assert "'' is no job id" in ran.error


def test_stats_say_why_jobs_do_not_move(server: JobsServer, terminal: Terminal) -> None:
    blocked = dict.fromkeys(("capacity", "tokens", "paused", "perKey", "handover"), False)
    works = {"error": None}
    shard = {"binding": "Echo", "shard": 1, "handover": works, "projection": works}
    shard |= {"at": 100_000, "oldest_ready_at": None}
    late = shard | {"oldest_ready_at": 39_000}
    fails = shard | {"handover": {"error": "env.Q is missing"}, "projection": {"error": "no D1"}}
    moves = {"policy": {"paused": False}, "blocked": blocked, "shards": [shard], "unreachable": {}}
    found = {
        "Idle": moves,
        "Paused": moves | {"policy": {"paused": True}, "shards": [shard, late]},
        "Full": moves | {"blocked": blocked | {"capacity": True, "perKey": True}},
        "Echo": moves | {"shards": [fails], "unreachable": {"Echo#2": "lost"}, "policy": None},
    }
    counted = {"byState": {}, "byBinding": {}, "oldestScheduledMs": None}
    server.answers = [(200, counted), (200, {"bindings": []}), (200, {"bindings": found})]
    ran = terminal.jobs("stats", "--url", server.url)
    assert ran.code == 0
    for line in (
        "The job that waits longest has been ready for 1m 1s.",
        "Paused is paused: tsumugi jobs resume Paused",
        "Full has more jobs that wait: as many run as its concurrency lets, a concurrency key is",
        "Echo#1 cannot hand its jobs to the queue: env.Q is missing",
        "These figures are behind Echo#1: no D1",
        "Echo#2 does not answer: lost",
    ):
        assert line in ran.out
    assert "Idle" not in ran.out
    missing = {"error": "env.TSUMUGI_SHARD is missing"}
    server.answers = [(200, counted), (200, {"bindings": []}), (503, missing)]
    ran = terminal.jobs("stats", "--url", server.url)
    assert (ran.code, missing["error"] in ran.out) == (0, True)
