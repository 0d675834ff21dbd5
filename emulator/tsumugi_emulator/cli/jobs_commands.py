"""``tsumugi jobs``: what its commands do and say, over the jobs API.

Each takes the API and answers the value that ``--json`` prints; lines for people go to ``say``.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tsumugi_emulator.cli.jobs_connection import JobsError, job_path
from tsumugi_emulator.cli.jobs_run import Unfinished
from tsumugi_emulator.cli.jobs_text import age, described, held_back, longest_wait_ms, moment
from tsumugi_emulator.cli.queues_connection import CommandError
from tsumugi_emulator.cli.table import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tsumugi_emulator.cli.jobs_connection import JobsApi
    from tsumugi_emulator.cli.queues_commands import Console

#: Jobs of one call.
BULK_LIMIT = 200
#: Calls of one command over a filter; a shard handles thousands of such jobs a second.
MAX_CALLS = 1_000
STATES = ("SCHEDULED", "QUEUED", "RUNNING", "COMPLETED", "FAILED", "CANCELLED", "STALLED")
_DONE = {"retry": "Retried", "cancel": "Cancelled"}
#: What the API calls a refusal in bulk, in words.
_REFUSED = {
    "retry invalid-state": "neither FAILED nor STALLED",
    "cancel invalid-state": "not SCHEDULED any more",
    "invalid-id": "no job id: it looks like <binding>#<shard>:<local>",
    "gone": "never enqueued, or not kept any more",
    "unreachable": "its shard does not answer",
}


def list_jobs(api: JobsApi, console: Console, query: Mapping[str, Any]) -> Any:
    found = api.get("/jobs", **query)
    now_ms = time.time_ns() // 1_000_000
    rows = [
        {
            "Id": job["id"],
            "State": job["state"],
            "Attempts": f"{job['attempts']}/{job['max_attempts']}",
            "Priority": job["priority"],
            "Created": age(job["created_at"], now_ms),
            "Changed": age(job["updated_at"], now_ms),
            "Key": job["concurrency_key"] or "",
        }
        for job in found["jobs"]
    ]
    console.say(table(rows) or f"No jobs{_of_no_binding(api, query)}.")
    shown = (query.get("offset") or 0) + len(rows)
    if rows and shown < found["total"]:
        console.say(f"{len(rows)} of {found['total']} jobs; --offset {shown} shows the next ones.")
    return found


def show(api: JobsApi, console: Console, job_id: str) -> Any:
    job = api.get(job_path(job_id))["job"]
    console.say(described(job, now_ms=time.time_ns() // 1_000_000))
    return job


def enqueue(api: JobsApi, console: Console, body: Mapping[str, Any]) -> Any:
    created = api.send("POST", "/jobs", body)
    if created["created"]:
        console.say(f"Enqueued {created['id']}")
    else:
        console.say(f"The unique key is taken by {created['id']}; nothing was enqueued.")
    return created


def control(api: JobsApi, console: Console, action: str, ids: Sequence[str]) -> Any:
    """Retry or cancel the jobs that are named."""
    if len(ids) == 1:
        answer = api.send("POST", job_path(ids[0], action))
        console.say(f"{_DONE[action]} {ids[0]}: it is {answer['state']}.")
        return answer
    done: list[str] = []
    failed: list[dict[str, str]] = []
    for start in range(0, len(ids), BULK_LIMIT):
        part = {"ids": list(ids[start : start + BULK_LIMIT])}
        answer = api.send("POST", f"/jobs/bulk-{action}", part)
        done += answer["ok"]
        failed += answer["failed"]
    return _told(console, action, {"ok": done, "failed": failed, "remaining": 0})


def control_all(
    api: JobsApi, console: Console, action: str, wanted: Mapping[str, Any], *, yes: bool
) -> Any:
    """Retry or cancel all jobs that match, call after call."""
    _confirm(console, action, wanted, yes=yes)
    done: list[str] = []
    failed: list[dict[str, str]] = []
    for _ in range(MAX_CALLS):
        answer = api.send("POST", f"/jobs/bulk-{action}", wanted)
        done += answer["ok"]
        failed += answer["failed"]
        # The list is a second behind: jobs that were refused may be listed again and again.
        if not answer["remaining"] or not answer["ok"]:
            break
    result = {"ok": done, "failed": failed, "remaining": answer["remaining"]}
    if not (done or failed) and (nowhere := _of_no_binding(api, wanted)):
        raise Unfinished(f"No jobs{nowhere}.", result)
    return _told(console, action, result)


def _confirm(console: Console, action: str, wanted: Mapping[str, Any], *, yes: bool) -> None:
    if yes:
        return
    what = ", ".join(f"{name} {value}" for name, value in wanted.items()) or "no filter"
    if console.ask is None:
        raise CommandError(f"Nobody is there to ask: repeat with --yes to {action} all ({what}).")
    if console.ask(f"{action.capitalize()} all jobs that match ({what})? [y/N]").lower() != "y":
        raise CommandError("Nothing was done.")


def _told(console: Console, action: str, result: dict[str, Any]) -> Any:
    count = len(result["ok"])
    console.say(f"{_DONE[action]} {count} job{'' if count == 1 else 's'}.")
    if rows := [
        {"Id": one["id"], "Refused": _reason(action, one["reason"])} for one in result["failed"]
    ]:
        console.say(table(rows))
        many = f"{len(rows)} jobs were" if len(rows) > 1 else "1 job was"
        raise Unfinished(f"{many} refused.", result)
    if result["remaining"]:
        raise Unfinished(f"About {result['remaining']} jobs remain. Repeat the command.", result)
    return result


def _reason(action: str, reason: str) -> str:
    return _REFUSED.get(reason) or _REFUSED.get(f"{action} {reason}", reason)


def _of_no_binding(api: JobsApi, wanted: Mapping[str, Any]) -> str:
    """What to add where nothing was found: perhaps the name of the binding is wrong."""
    name = wanted.get("binding")
    if name is None:
        return ""
    known = api.get("/bindings")["bindings"]
    return "" if name in known else f", and no binding {name!r} (there are: {', '.join(known)})"


def pause(api: JobsApi, console: Console, bindings: Sequence[str], *, paused: bool) -> Any:
    answers = []
    for binding in bindings:
        path = f"/bindings/{quote(binding, safe='')}/policy"
        answers.append(api.send("PATCH", path, {"paused": paused}))
        if paused:
            console.say(f"Paused {binding}: what runs goes on, and nothing new starts.")
        else:
            console.say(f"Resumed {binding}.")
    return answers


def stats(api: JobsApi, console: Console) -> Any:
    found = api.get("/stats")
    bindings = sorted({*api.get("/bindings")["bindings"], *found["byBinding"]})
    states = [state for state in STATES if state in found["byState"]] or ["SCHEDULED"]
    rows = [
        {"Binding": name}
        | {state: found["byBinding"].get(name, {}).get(state, 0) for state in states}
        for name in bindings
    ]
    if len(rows) > 1:
        rows.append(
            {"Binding": "all"} | {state: found["byState"].get(state, 0) for state in states}
        )
    console.say(table(rows) or "No bindings.")
    try:
        diagnostics = api.get("/diagnostics")["bindings"]
    except JobsError as error:
        console.say(str(error))
        return found
    # Of the figures' own, a job that is delayed by a year would be the oldest that waits.
    waited_ms = longest_wait_ms(diagnostics)
    if waited_ms is not None:
        console.say(f"The job that waits longest has been ready for {moment(waited_ms)}.")
    for reason in held_back(diagnostics):
        console.say(reason)
    return found


def payload_of(text: str | None, *, stdin: str | None) -> Any:
    """The payload that was given: JSON, as an argument or on standard input."""
    given = stdin if text == "-" else text
    if given is None:
        return None
    try:
        return json.loads(given)
    except ValueError as error:
        raise CommandError(
            f"The payload is no JSON ({error}). A text is written as JSON, too: '\"text\"'."
        ) from error
