"""The endpoints of single jobs: list, show, enqueue, retry, cancel, reschedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.api.places import address_of, asking, need_shards, read_model, shard_of_known
from tsumugi.jobs.api.rows import detail, summary
from tsumugi.jobs.api.values import Answer, Refused
from tsumugi.jobs.core.options import OptionError
from tsumugi.jobs.core.traceparent import is_traceparent
from tsumugi.jobs.payloads import PayloadError
from tsumugi.jobs.read_model.queries import PAGE_LIMIT, SORTABLE, Filter, Page, find, page_of

if TYPE_CHECKING:
    from tsumugi.jobs.api.models import CreateJobRequest, ListQuery, RescheduleRequest
    from tsumugi.jobs.api.values import Call
    from tsumugi.jobs.core.ids import JobId
    from tsumugi.jobs.wire import Controlled, ControlRequest, NewJob, Snapshot

#: As ``NewJob`` calls what a body calls otherwise.
_RENAMED: Final = {"run_at": "run_at_ms"}


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
    shard = shard_of_known(call.services.settings, address)
    if shard is None:
        return None
    try:
        need_shards(call)
        with asking(shard):
            return await call.services.show(call.env, shard, address.local)
    except Refused:
        # The copy is seconds old, which is better than nothing.
        return None


async def create_job(call: Call, body: CreateJobRequest) -> Answer:
    if body.binding not in call.services.settings.bindings:
        known = sorted(call.services.settings.bindings)
        raise Refused(400, f"unknown binding: {body.binding}", known=known)
    need_shards(call)
    job = _new_job(call, body)
    try:
        with asking(body.binding):
            job_id, created = await call.services.enqueue(call.env, body.binding, job)
    except (OptionError, PayloadError) as error:
        raise Refused(400, str(error)) from error
    return Answer(status=201, body={"id": job_id, "created": created})


def _new_job(call: Call, body: CreateJobRequest) -> NewJob:
    given: dict[str, Any] = body.model_dump(exclude={"binding"}, exclude_unset=True)
    # Only here does null mean something: every other option that is null was left out.
    job: Any = {
        _RENAMED.get(name, name): value
        for name, value in given.items()
        if value is not None or name in ("payload", "timeout_ms")
    }
    if job.get("backoff") is not None:
        job["backoff"] = body.backoff.model_dump() if body.backoff else None
    header = call.request.traceparent
    if "traceparent" not in body.model_fields_set and header is not None:
        if not is_traceparent(header):
            raise Refused(400, f"traceparent: the header is no W3C trace context: {header!r}")
        job["traceparent"] = header
    checked: NewJob = job
    return checked


async def retry_job(call: Call, job_id: str) -> Answer:
    return await _control(call, job_id, {"action": "retry", "ids": []})


async def cancel_job(call: Call, job_id: str) -> Answer:
    return await _control(call, job_id, {"action": "cancel", "ids": []})


async def reschedule_job(call: Call, job_id: str, body: RescheduleRequest) -> Answer:
    request: ControlRequest = {"action": "reschedule", "ids": []}
    if body.run_at is not None:
        request["run_at_ms"] = body.run_at
    if body.delay_ms is not None:
        request["delay_ms"] = body.delay_ms
    if body.priority is not None:
        request["priority"] = body.priority
    return await _control(call, job_id, request)


async def _control(call: Call, job_id: str, request: ControlRequest) -> Answer:
    address = address_of(job_id)
    shard = shard_of_known(call.services.settings, address)
    if shard is None:
        raise Refused(404, f"there is no binding {address.binding!r}, so no shard holds {job_id}")
    request["ids"] = [address.local]
    need_shards(call)
    with asking(shard):
        answer = await call.services.control(call.env, shard, request)
    return _outcome(answer["jobs"][0], request["action"])


def _outcome(controlled: Controlled, action: str) -> Answer:
    match controlled["outcome"]:
        case "done":
            return Answer(body={"ok": True, "state": controlled["state"]})
        case "gone":
            raise Refused(
                410,
                "the shard does not keep this job (any more): it was removed after its retention "
                "period, or never existed",
                ok=False,
            )
        case "invalid-option":
            raise Refused(400, controlled.get("problem", "the job could never run that way"))
        case _:
            accepted = "FAILED and STALLED" if action == "retry" else "SCHEDULED"
            raise Refused(
                409,
                f"the job is {controlled['state']}; only {accepted} jobs can be {_PAST[action]}",
                ok=False,
                state=controlled["state"],
            )


_PAST: Final = {"retry": "retried", "cancel": "cancelled", "reschedule": "rescheduled"}
