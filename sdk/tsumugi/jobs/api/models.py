"""What the API takes and answers. These models check, and the OpenAPI document is made of them.

Bodies of requests are camelCase, rows are snake_case, as clients of this API know them. Texts here
are read by people who call it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel
from pydantic.json_schema import SkipJsonSchema  # noqa: TC002 - pydantic reads it

from tsumugi.jobs.core.backoff import DEFAULT_MAX_MS, MAX_SAFE_INTEGER
from tsumugi.jobs.core.options import MAX_ATTEMPTS, MAX_KEY_LENGTH, MAX_PRIORITY
from tsumugi.jobs.read_model.queries import PAGE_LIMIT
from tsumugi.jobs.wire import CONTROL_LIMIT

type Milliseconds = Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER, strict=True)]
type Duration = Annotated[int, Field(ge=1, le=MAX_SAFE_INTEGER, strict=True)]
type Count = Annotated[int, Field(ge=1, le=MAX_SAFE_INTEGER, strict=True)]
type Priority = Annotated[int, Field(ge=-MAX_PRIORITY, le=MAX_PRIORITY, strict=True)]
type Flag = Annotated[bool, Field(strict=True)]
type Key = Annotated[str, Field(min_length=1, max_length=MAX_KEY_LENGTH)]
type State = Literal[
    "SCHEDULED", "QUEUED", "RUNNING", "COMPLETED", "FAILED", "CANCELLED", "STALLED"
]


class Body(BaseModel):
    """A body that is sent: camelCase, and a name it does not know is a mistake."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=False, extra="forbid", defer_build=True
    )


class Shown(BaseModel):
    """A body that is answered, with its fields as they are spelled here."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


# -- Requests -------------------------------------------------------------------------------------


class ExponentialBackoffBody(Body):
    kind: Literal["exponential"]
    base_ms: Milliseconds = 1_000
    factor: Annotated[float, Field(ge=1, le=MAX_SAFE_INTEGER)] = 2
    max_ms: Milliseconds = DEFAULT_MAX_MS
    jitter: Flag = True


class FixedBackoffBody(Body):
    kind: Literal["fixed"]
    delay_ms: Milliseconds
    jitter: Flag = True


class CreateJobRequest(Body):
    """What is left out is what the performer says, and what every job has if it says nothing."""

    binding: Annotated[str, Field(description="Name of a registered performer")]
    payload: Annotated[Any, Field(description="Any JSON the performer takes")]
    priority: Annotated[Priority | None, Field(description="Larger goes first")] = None
    max_attempts: Annotated[int, Field(ge=1, le=MAX_ATTEMPTS, strict=True)] | None = None
    backoff: Annotated[
        ExponentialBackoffBody | FixedBackoffBody | None, Field(discriminator="kind")
    ] = None
    timeout_ms: Annotated[
        Duration | None, Field(description="How long a report is awaited; null: for ever")
    ] = None
    delay_ms: Milliseconds | None = None
    run_at: Annotated[
        Milliseconds | None, Field(description="Milliseconds since 1970; excludes delayMs")
    ] = None
    guarantee: Literal["at-least-once", "at-most-once"] | None = None
    concurrency_key: Key | None = None
    unique_key: Annotated[
        Key | None, Field(description="While it is taken, the job that has it is answered")
    ] = None
    unique_for_ms: Duration | None = None
    partition_key: Annotated[
        Key | None, Field(description="Required for a binding with several shards")
    ] = None
    expires_in_ms: Annotated[
        Duration | None, Field(description="Not started by then, the job is cancelled")
    ] = None
    traceparent: Annotated[
        str | None, Field(description="W3C trace context; the header of this name if left out")
    ] = None


class RescheduleRequest(Body):
    """A new time, a new priority, or both."""

    run_at: Annotated[
        Milliseconds | None, Field(description="Milliseconds since 1970; excludes delayMs")
    ] = None
    delay_ms: Milliseconds | None = None
    priority: Priority | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.run_at is not None and self.delay_ms is not None:
            raise ValueError("runAt and delayMs exclude each other: give one")
        if self.run_at is None and self.delay_ms is None and self.priority is None:
            raise ValueError("nothing to change: give runAt, delayMs or priority")
        return self


def _either(name: str, **more: Any) -> Any:
    """Both spellings: rows are filtered by their columns, bodies are camelCase."""
    return Field(validation_alias=AliasChoices(name, to_camel(name)), **more)


class BulkRequest(Body):
    """Either ids or a filter. With ids the filter is ignored; without both, all jobs in a state
    the operation accepts are meant."""

    model_config = ConfigDict(alias_generator=None)

    ids: Annotated[list[str], Field(min_length=1, max_length=CONTROL_LIMIT)] | None = None
    state: Annotated[State | None, Field(description="One that the operation accepts")] = None
    binding: str | None = None
    unique_key: Annotated[str | None, _either("unique_key")] = None
    concurrency_key: Annotated[str | None, _either("concurrency_key")] = None
    created_from: Annotated[Milliseconds | None, _either("created_from")] = None
    created_to: Annotated[Milliseconds | None, _either("created_to")] = None
    limit: Annotated[int, Field(ge=1, description=f"At most {CONTROL_LIMIT} count")] = CONTROL_LIMIT


class RateBody(Body):
    tokens: Count
    interval_ms: Count


class PolicyChange(Body):
    """What is left out stays as it is. null as the whole body goes back to what the code says."""

    concurrency: Count | SkipJsonSchema[None] = None
    per_key_concurrency: Count | SkipJsonSchema[None] = None
    rate: Annotated[RateBody | None, Field(description="null: no limit")] = None
    aging_interval_ms: Annotated[Count | None, Field(description="null: priorities are strict")] = (
        None
    )
    reaper_grace_ms: Milliseconds | SkipJsonSchema[None] = None
    paused: Flag | SkipJsonSchema[None] = None

    @model_validator(mode="after")
    def _null_means_something(self) -> Self:
        for name in self.model_fields_set - {"rate", "aging_interval_ms"}:
            if getattr(self, name) is None:
                raise ValueError(f"{to_camel(name)} cannot be null; leave it out to keep it")
        if not self.model_fields_set:
            raise ValueError("nothing to change: name a field, or send null to revert all")
        return self


# -- Queries --------------------------------------------------------------------------------------


class Query(BaseModel):
    """Fields of a query. Models are built when they are first used: a request needs one or two.

    A name it does not know is a mistake: a filter that is misspelt would show everything.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)


_INCLUSIVE = "Milliseconds since 1970, inclusive"


class ListQuery(Query):
    """All of them must match."""

    state: Annotated[list[State] | None, Field(description="May be given several times")] = None
    binding: str | None = None
    id: str | None = None
    unique_key: Annotated[str | None, _either("unique_key")] = None
    concurrency_key: Annotated[str | None, _either("concurrency_key")] = None
    created_from: Annotated[int | None, _either("created_from", description=_INCLUSIVE)] = None
    created_to: Annotated[int | None, _either("created_to", description=_INCLUSIVE)] = None
    sort: Annotated[
        str,
        Field(
            description="updated_at, created_at, binding, state, priority or attempts; anything "
            "else means updated_at"
        ),
    ] = "updated_at"
    order: Annotated[str, Field(description="asc; anything else means desc")] = "desc"
    limit: Annotated[int, Field(ge=1, description=f"At most {PAGE_LIMIT} count")] = 20
    offset: Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)] = 0


class DiagnosticsQuery(Query):
    binding: str | None = None


class MetricsQuery(Query):
    hours: Annotated[int, Field(ge=1, le=720, description="How far to look back")] = 24
    binding: str | None = None


# -- Answers --------------------------------------------------------------------------------------


class JobSummary(Shown):
    """Times are milliseconds since 1970."""

    id: str
    binding: str
    shard: int
    state: State
    priority: int
    attempts: Annotated[int, Field(description="Attempts that ended")]
    max_attempts: int
    guarantee: Literal["at-least-once", "at-most-once"]
    concurrency_key: str | None
    unique_key: str | None
    progress: Annotated[float | None, Field(ge=0, le=1)]
    created_at: int
    updated_at: int
    run_after: Annotated[int, Field(description="From when on it may run")]
    dispatched_at: Annotated[int | None, Field(description="When it was last handed over")]
    started_at: int | None
    finished_at: int | None
    expires_at: int | None
    retryable: Annotated[
        bool, Field(description="As far as is known here; the shard decides when it is asked")
    ]


class JobError(Shown):
    type: str
    message: str
    traceback: str


class AttemptRecord(Shown):
    attempt: int
    state: Annotated[State, Field(description="COMPLETED, FAILED or STALLED (silent)")]
    outcome: str
    started_at: int | None
    finished_at: int
    error: str | None
    traceback: str | None


class JobLog(Shown):
    attempt: int
    timestamp: int
    message: str


class JobDetail(JobSummary):
    payload: Annotated[str, Field(description="JSON, as a text")]
    result: Annotated[str | None, Field(description="JSON, as a text; null without one")]
    note: Annotated[str | None, Field(description="Why there is no result although there was one")]
    error: Annotated[JobError | None, Field(description="Of the last attempt that failed")]
    cancelled_because: str | None
    backoff: dict[str, Any]
    timeout_ms: int | None
    partition_key: str | None
    traceparent: str | None
    attempts_log: Annotated[list[AttemptRecord], Field(description="Newest first")]
    logs: Annotated[list[JobLog], Field(description="Oldest first")]


class JobList(Shown):
    jobs: list[JobSummary]
    total: Annotated[int, Field(description="How many match in all")]


class JobAnswer(Shown):
    job: JobDetail


class CreatedJob(Shown):
    id: str
    created: Annotated[bool, Field(description="false: the unique key was taken; this job has it")]


class Mutation(Shown):
    ok: Literal[True]
    state: Annotated[State | None, Field(description="What the job is now")]


class BulkFailure(Shown):
    id: str
    reason: Literal["invalid-state", "gone", "invalid-id", "unreachable"]


class BulkResult(Shown):
    ok: list[str]
    failed: list[BulkFailure]
    remaining: Annotated[int, Field(description="About how many more match the filter; 0 with ids")]


class BindingList(Shown):
    bindings: list[str]


class RateShown(Shown):
    tokens: int
    intervalMs: int


class PolicyShown(Shown):
    concurrency: int
    perKeyConcurrency: int
    rate: RateShown | None
    agingIntervalMs: int | None
    reaperGraceMs: int
    paused: bool


class PolicyResult(Shown):
    binding: str
    shards: Annotated[int, Field(description="How many shards took the change")]
    policy: PolicyShown
    changed: Annotated[list[str], Field(description="Fields that outrank the code")]


class BlockedShown(Shown):
    capacity: bool
    tokens: bool
    perKey: bool
    paused: bool
    handover: Annotated[bool, Field(description="The queue refused a hand-over a moment ago")]


class BindingDiagnostics(Shown):
    active: Annotated[int, Field(description="Jobs that are not over")]
    outbox: Annotated[int, Field(description="Changes the read model has not seen")]
    blocked: Annotated[BlockedShown, Field(description="What held jobs back in the last tick")]
    policy: PolicyShown | None
    changed: list[str]
    shards: Annotated[list[dict[str, Any]], Field(description="What each shard says of itself")]
    unreachable: Annotated[dict[str, str], Field(description="Shards that did not answer, and why")]


class DiagnosticsAnswer(Shown):
    shard: Literal[0]
    bindings: dict[str, BindingDiagnostics]


class Stats(Shown):
    byState: Annotated[dict[State, int], Field(description="States without jobs are left out")]
    byBinding: dict[str, dict[State, int]]
    oldestScheduledMs: Annotated[
        int | None, Field(description="Age of the oldest job that is SCHEDULED")
    ]


class BindingMetrics(Shown):
    binding: str
    total: Annotated[int, Field(description="Jobs that ended")]
    failed: Annotated[int, Field(description="Of them FAILED or STALLED")]
    failureRate: Annotated[float, Field(ge=0, le=1)]
    avgDurationMs: float
    maxDurationMs: float
    p95DurationMs: float
    avgAttempts: float


class MetricsPoint(Shown):
    at: Annotated[int, Field(description="Start of the hour")]
    total: int
    failed: int
    avgDurationMs: float


class Metrics(Shown):
    hours: int
    bindings: list[BindingMetrics]
    series: list[MetricsPoint]
    note: Annotated[str | None, Field(description="Why there is nothing, if nothing can be")] = None


class Problem(Shown):
    field: str
    problem: str


class Error(BaseModel):
    """``error`` says what is wrong and what to do; other fields list what a program can use."""

    model_config = ConfigDict(extra="allow", defer_build=True)

    error: str
    problems: list[Problem] | None = None
    missing: Annotated[
        list[str] | None, Field(description="Bindings, settings or migrations that are missing")
    ] = None
