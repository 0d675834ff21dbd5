"""The endpoints of single jobs: list, show, enqueue, retry, cancel, reschedule."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from pydantic.alias_generators import to_camel

from tsumugi.jobs.api.places import address_of, has_shard, read_model
from tsumugi.jobs.api.rows import detail, summary
from tsumugi.jobs.api.values import Answer, Refused, wrong
from tsumugi.jobs.client.control import act, reschedule, show
from tsumugi.jobs.client.enqueueing import enqueue_written
from tsumugi.jobs.core.options import OptionError
from tsumugi.jobs.core.traceparent import is_traceparent
from tsumugi.jobs.payloads import PayloadError
from tsumugi.jobs.read_model.queries import PAGE_LIMIT, SORTABLE, Filter, Page, find, page_of
from tsumugi.jobs.stubs import ShardError

if TYPE_CHECKING:
    from tsumugi.jobs.api.models import CreateJobRequest, ListQuery, RescheduleRequest
    from tsumugi.jobs.api.values import Call
    from tsumugi.jobs.client.control import ControlResult
    from tsumugi.jobs.core.ids import JobId
    from tsumugi.jobs.wire import NewJob, Snapshot

_log = logging.getLogger("tsumugi.jobs.api")

#: What a body calls otherwise than ``NewJob`` does, and the other way.
_RENAMED: Final = {"run_at": "run_at_ms"}
_SPELLED: Final = {theirs: ours for ours, theirs in _RENAMED.items()}


async def list_jobs(call: Call, query: ListQuery) -> Answer:
    wanted = Filter(
        states=query.state,
        binding=query.binding,
        id=query.id,
        unique_key=query.unique_key,
        concurrency_key=query.concurrency_key,
        created_from=query.created_from,
        created_to=query.created_to,
    )
    page = Page(
        limit=min(query.limit, PAGE_LIMIT),
        offset=query.offset,
        sort=query.sort if query.sort in SORTABLE else "updated_at",
        descending=query.order != "asc",
    )
    async with read_model(call) as database:
        rows, total = await page_of(database, wanted, page)
    retention = call.services.settings.retention
    shown = [summary(row, now_ms=call.now_ms, retention=retention) for row in rows]
    return Answer(body={"jobs": shown, "total": total})


async def show_job(call: Call, job_id: str) -> Answer:
    """What the shard says; what the read model says of a job that left, or if it cannot say."""
    address = address_of(job_id)
    snapshot = await _ask_the_shard(call, address)
    if snapshot is None:
        async with read_model(call) as database:
            snapshot = await find(database, str(address))
    if snapshot is None:
        raise Refused(404, f"there is no job {job_id}: it was never enqueued, or was cleaned up")
    retention = call.services.settings.retention
    return Answer(body={"job": detail(snapshot, now_ms=call.now_ms, retention=retention)})


async def _ask_the_shard(call: Call, address: JobId) -> Snapshot | None:
    if not has_shard(call.services.settings, address):
        return None
    try:
        return await show(call.env, call.services.settings, str(address))
    except ShardError as error:
        # The copy is a second old, which is better than nothing.
        _log.warning("showing the read model's copy of %s: %s", address, error)
        return None


async def create_job(call: Call, body: CreateJobRequest) -> Answer:
    registered = call.services.registry.get(body.binding)
    if registered is None:
        known = sorted(call.services.registry.names)
        there = ", ".join(known)
        raise Refused(400, f"unknown binding: {body.binding} (there are: {there})", known=known)
    try:
        enqueued = await enqueue_written(
            call.env, call.services.settings, registered, _new_job(call, body), now_ms=call.now_ms
        )
    except OptionError as error:
        raise _wrong_option(error) from error
    except PayloadError as error:
        raise Refused(
            400, str(error), problems=[{"field": "payload", "problem": str(error)}]
        ) from error
    return Answer(status=201, body={"id": enqueued.id, "created": enqueued.created})


def _new_job(call: Call, body: CreateJobRequest) -> NewJob:
    given: dict[str, Any] = body.model_dump(exclude={"binding"}, exclude_unset=True)
    # Only here does null mean something: every other option that is null was left out.
    job: Any = {
        _RENAMED.get(name, name): value
        for name, value in given.items()
        if value is not None or name in ("payload", "timeout_ms")
    }
    header = call.request.traceparent
    # One that is malformed is ignored, as the standard has it: something on the way sent it.
    if "traceparent" not in body.model_fields_set and header and is_traceparent(header):
        job["traceparent"] = header
    checked: NewJob = job
    return checked


async def retry_job(call: Call, job_id: str) -> Answer:
    _check_shard(call, job_id)
    (result,) = await act(call.env, call.services.settings, "retry", [job_id])
    return _outcome(result, "FAILED and STALLED jobs can be retried")


async def cancel_job(call: Call, job_id: str) -> Answer:
    _check_shard(call, job_id)
    (result,) = await act(call.env, call.services.settings, "cancel", [job_id])
    return _outcome(result, "SCHEDULED jobs can be cancelled")


async def reschedule_job(call: Call, job_id: str, body: RescheduleRequest) -> Answer:
    _check_shard(call, job_id)
    try:
        result = await reschedule(
            call.env,
            call.services.settings,
            job_id,
            run_at=body.run_at,
            delay_ms=body.delay_ms,
            priority=body.priority,
            now_ms=call.now_ms,
        )
    except OptionError as error:
        raise _wrong_option(error) from error
    return _outcome(result, "SCHEDULED jobs can be rescheduled")


def _wrong_option(error: OptionError) -> Refused:
    """The field is named as bodies spell it."""
    return wrong(to_camel(_SPELLED.get(error.option, error.option)), error.problem)


def _check_shard(call: Call, job_id: str) -> None:
    address = address_of(job_id)
    if not has_shard(call.services.settings, address):
        raise Refused(404, f"no shard can hold {job_id}: there is no binding {address.binding!r}")


def _outcome(result: ControlResult, accepted: str) -> Answer:
    match result.outcome:
        case "done":
            return Answer(body={"ok": True, "state": result.state})
        case "gone":
            raise Refused(
                410,
                "its shard does not keep this job: it was removed after its retention period, or "
                "never was",
                ok=False,
            )
        case "invalid-state":
            error = f"the job is {result.state}; only {accepted}"
            raise Refused(409, error, ok=False, state=result.state)
        case "invalid-option":
            raise Refused(400, result.problem or "the job could never run that way")
