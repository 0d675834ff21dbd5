"""What client, shard, queue and consumer say to each other. Shapes only; sends nothing.

Everything crosses as one JSON text each way: a text is one crossing of the boundary to JavaScript,
however many jobs it holds, and its whole numbers stay whole (a number that is bound to a statement
of a Durable Object becomes a double). Keys that are left out mean the default.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, Literal, NotRequired, TypedDict

#: Goes up when a consumer of the version before could not understand a message.
DELIVERY_VERSION: Final = 1

type Json = bool | int | float | str | list["Json"] | dict[str, "Json"] | None


class NewJob(TypedDict):
    """One enqueue as the shard takes it; its options are checked already."""

    payload: Json
    priority: NotRequired[int]
    max_attempts: NotRequired[int]
    #: ``{"kind": "exponential", "base_ms", "factor", "max_ms", "jitter"}`` or
    #: ``{"kind": "fixed", "delay_ms", "jitter"}``.
    backoff: NotRequired[dict[str, Json]]
    #: None: a report is awaited for ever.
    timeout_ms: NotRequired[int | None]
    delay_ms: NotRequired[int]
    run_at_ms: NotRequired[int]
    guarantee: NotRequired[str]
    concurrency_key: NotRequired[str]
    unique_key: NotRequired[str]
    unique_for_ms: NotRequired[int]
    partition_key: NotRequired[str]
    expires_in_ms: NotRequired[int]
    traceparent: NotRequired[str]


class EnqueueRequest(TypedDict):
    jobs: list[NewJob]


class EnqueueAnswer(TypedDict):
    """``ids`` in the order of the request; ``created`` is False where a unique key was taken."""

    ids: list[str]
    created: list[bool]


class Delivery(TypedDict):
    """The body of a queue message (content type ``text``): one dispatch of one job."""

    v: int
    #: The whole id, ``<binding>#<shard>:<local>``.
    job: str
    epoch: int
    attempt: int
    timeout_ms: int | None
    #: At-most-once: nobody performs it before claiming it.
    claim: NotRequired[bool]
    expires_ms: NotRequired[int]
    traceparent: NotRequired[str]
    #: Left out when it is too large for a message: the consumer asks the shard for it.
    payload: NotRequired[Json]


class BeginJob(TypedDict):
    #: The local part of the id.
    id: str
    epoch: int
    claim: bool
    #: Who asks: a name that no other delivery has. The same one may ask again.
    claimant: NotRequired[str]
    #: Whether the payload is wanted.
    payload: bool


class BeginRequest(TypedDict):
    """Asked once per shard and batch, for the jobs that need it."""

    jobs: list[BeginJob]


#: "later": the answer was full (``BEGIN_BYTES``) and nothing was decided; ask again.
type Refusal = Literal["taken", "gone", "superseded", "settled", "expired", "later"]


class BegunJob(TypedDict):
    """``refused`` is None for a job that may be performed, and then the payload is there if asked.

    An at-most-once job is claimed whether ``claim`` says so or not.
    """

    refused: Refusal | None
    payload: NotRequired[Json]


class BeginAnswer(TypedDict):
    """In the order of the request."""

    jobs: list[BegunJob]


class ErrorReport(TypedDict):
    """Cut to ``ERROR_LENGTH`` characters in all."""

    type: str
    message: str
    traceback: str


class AttemptReport(TypedDict):
    id: str
    epoch: int
    #: A value of ``tsumugi.jobs.core.reports.Outcome``.
    outcome: str
    #: Of a claim that was asked for, where the attempt was not, or cannot be, begun: who asked.
    claimant: NotRequired[str]
    started_ms: int
    finished_ms: int
    result: NotRequired[Json]
    #: Why there is no result although the performer returned one.
    note: NotRequired[str]
    error: NotRequired[ErrorReport]


class BeatReport(TypedDict):
    id: str
    epoch: int
    progress: float | None


class LogReport(TypedDict):
    id: str
    epoch: int
    at_ms: int
    text: str


class SettleRequest(TypedDict):
    """What a consumer has to tell one shard since it last did, in one call."""

    reports: NotRequired[list[AttemptReport]]
    beats: NotRequired[list[BeatReport]]
    logs: NotRequired[list[LogReport]]


class StaleJob(TypedDict):
    id: str
    epoch: int
    because: str


class SettleAnswer(TypedDict):
    """What changed nothing. A performer whose beat is stale works for nobody: cancel it."""

    stale: list[StaleJob]


class ControlRequest(TypedDict):
    action: Literal["cancel", "retry", "reschedule"]
    #: Local parts; at most ``CONTROL_LIMIT``.
    ids: list[str]
    #: For reschedule.
    run_at_ms: NotRequired[int]
    delay_ms: NotRequired[int]
    priority: NotRequired[int]


class Controlled(TypedDict):
    id: str
    #: "invalid-option": the job could never run that way; ``problem`` says why.
    outcome: Literal["done", "gone", "invalid-state", "invalid-option"]
    #: What it is now, or what it was that made the request impossible.
    state: str | None
    problem: NotRequired[str]


class ControlAnswer(TypedDict):
    """In the order of the request."""

    jobs: list[Controlled]


class PolicyRequest(TypedDict):
    """``change`` has any of the fields of ``Policy``; None goes back to what the code says."""

    change: dict[str, Json] | None


class PolicyAnswer(TypedDict):
    """``policy`` and ``overrides`` as ``DiagnosticsAnswer`` has them, from now on."""

    policy: dict[str, Json]
    overrides: dict[str, Json]


class Snapshot(TypedDict):
    """A job as people see it: a row of the read model, and what ``GET /jobs/:id`` answers.

    The shard makes it of its row. Times are whole milliseconds since 1970.
    """

    #: The whole id.
    id: str
    #: Grows with every change of the job: the read model keeps the greatest.
    version: int
    binding: str
    shard: int
    state: str
    priority: int
    attempts: int
    max_attempts: int
    guarantee: str
    backoff: dict[str, Json]
    timeout_ms: int | None
    concurrency_key: str | None
    unique_key: str | None
    partition_key: str | None
    traceparent: str | None
    payload: Json
    result: Json
    #: Why there is no result although there was one.
    note: str | None
    #: Of the last attempt that failed.
    error: ErrorReport | None
    #: 0 to 1.
    progress: float | None
    #: Why it was cancelled: "requested" or "expired".
    cancelled_because: str | None
    created_at: int
    #: From when on it may run.
    ready_at: int
    queued_at: int | None
    started_at: int | None
    finished_at: int | None
    expires_at: int | None
    updated_at: int
    #: The last ``ATTEMPTS_LOGGED``, oldest first.
    attempts_log: list[LoggedAttempt]
    #: The last ``LOG_LINES``, oldest first.
    logs: list[LoggedLine]


class ShowRequest(TypedDict):
    #: Local parts; at most ``CONTROL_LIMIT``.
    ids: list[str]


class ShowAnswer(TypedDict):
    """In the order of the request; None for what is not kept (any more).

    At most ``BEGIN_BYTES``: what did not fit is left out at the end, so ask again from there.
    """

    jobs: list[Snapshot | None]


class StatsAnswer(TypedDict):
    """Cheap at any backlog."""

    #: Jobs that are kept, by state; every state is named.
    counts: dict[str, int]
    #: Since when the job that has been ready longest waits; None: nothing is ready.
    oldest_ready_at: int | None


class BlockedAnswer(TypedDict):
    """What held back a job in the last tick that decided anything about one."""

    capacity: bool
    tokens: bool
    paused: bool
    per_key: list[str]
    #: The queue refused a hand-over a moment ago.
    handover: bool


class TroubleAnswer(TypedDict):
    """Something outside that fails. All None and 0: it works."""

    failures: int
    error: str | None
    failed_at: int | None
    #: When it is tried again.
    retry_at: int | None


class DiagnosticsAnswer(TypedDict):
    """Why a shard does what it does."""

    binding: str
    shard: int
    at: int
    #: In force: every field of ``Policy``.
    policy: dict[str, Json]
    #: The fields that were changed at run time; the others are what the code says.
    overrides: dict[str, Json]
    counts: dict[str, int]
    oldest_ready_at: int | None
    #: Whole tokens now; None without a rate.
    tokens: int | None
    blocked: BlockedAnswer
    ticked_at: int | None
    alarm_at: int | None
    #: Batches that were planned and are not known to be sent.
    handovers: int
    handover: TroubleAnswer
    #: Jobs whose last change is not in the read model; counted up to ``OUTBOX_COUNTED``.
    outbox: int
    projection: TroubleAnswer
    #: What came too late, by reason (``StaleBecause``).
    stale: dict[str, int]


class LoggedAttempt(TypedDict):
    attempt: int
    #: An ``Outcome``, or "silent".
    outcome: str
    started_at: int | None
    finished_at: int
    error: ErrorReport | None


class LoggedLine(TypedDict):
    attempt: int
    at: int
    text: str


#: Jobs of one control call.
CONTROL_LIMIT: Final = 200
#: Jobs and bytes of one enqueue call at most; a call may carry 32 MiB.
ENQUEUE_JOBS: Final = 5_000
ENQUEUE_BYTES: Final = 8_000_000
#: Bytes of the payloads and snapshots of one answer, and at least one of them.
BEGIN_BYTES: Final = 8_000_000
OUTBOX_COUNTED: Final = 10_000
#: Bytes of one payload: a row of the shard and of the read model holds 2 MB.
PAYLOAD_BYTES: Final = 1_000_000
#: Characters of a result's JSON; a larger one is null with a note.
RESULT_LENGTH: Final = 8_192
ERROR_LENGTH: Final = 2_000
LOG_LENGTH: Final = 2_000
LOG_LINES: Final = 20
ATTEMPTS_LOGGED: Final = 20


_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_ESCAPING: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
#: Half of a pair: no encoding has it, so it cannot cross as it is.
_HALF: Final = re.compile("[\ud800-\udfff]")


def dumps(value: Any) -> str:
    """Compact JSON in valid Unicode.

    Raises ``ValueError`` for NaN and infinities, which are no JSON.
    """
    text = _ENCODER.encode(value)
    if not text.isascii() and _HALF.search(text):
        return _ESCAPING.encode(value)
    return text


def whole_text(text: str) -> str:
    """The text with a replacement character for each half of a surrogate pair."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def loads(text: str) -> Any:
    return json.loads(text)
