"""Retry or cancel many jobs: those that are named, or those that match a filter."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from tsumugi.jobs.api.places import asking, every, need_shards, read_model, shard_of_known
from tsumugi.jobs.api.values import Answer, Refused
from tsumugi.jobs.core.ids import JobId, MalformedJobId, parse_job_id
from tsumugi.jobs.core.states import RETRYABLE, JobState
from tsumugi.jobs.read_model.queries import Filter, ids_of
from tsumugi.jobs.wire import CONTROL_LIMIT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from tsumugi.jobs.api.models import BulkRequest
    from tsumugi.jobs.api.values import Call
    from tsumugi.jobs.wire import ControlAnswer

    type Action = Literal["retry", "cancel"]

_ACCEPTED: Final = {
    "retry": tuple(sorted(RETRYABLE)),
    "cancel": (JobState.SCHEDULED,),
}


async def bulk_retry(call: Call, body: BulkRequest) -> Answer:
    return await _bulk(call, "retry", body)


async def bulk_cancel(call: Call, body: BulkRequest) -> Answer:
    return await _bulk(call, "cancel", body)


async def _bulk(call: Call, action: Action, body: BulkRequest) -> Answer:
    need_shards(call)
    if body.ids is not None:
        ids, remaining = list(dict.fromkeys(body.ids)), 0
    else:
        wanted = _filter(call, action, body)
        async with read_model(call) as database:
            ids, remaining = await ids_of(database, wanted, min(body.limit, CONTROL_LIMIT))
    reasons = await _control(call, action, ids)
    return Answer(
        body={
            "ok": [job_id for job_id in ids if reasons[job_id] is None],
            "failed": [
                {"id": job_id, "reason": reasons[job_id]}
                for job_id in ids
                if reasons[job_id] is not None
            ],
            "remaining": remaining,
        }
    )


def _filter(call: Call, action: Action, body: BulkRequest) -> Filter:
    accepted = _ACCEPTED[action]
    if body.state is not None and body.state not in accepted:
        names = " or ".join(accepted)
        raise Refused(400, f"state: {action} takes jobs that are {names}, not {body.state}")
    retention = call.services.settings.retention
    return Filter(
        states=accepted if body.state is None else [body.state],
        binding=body.binding or None,
        unique_key=body.unique_key or None,
        concurrency_key=body.concurrency_key or None,
        created_from=body.created_from,
        created_to=body.created_to,
        # Older rows are still shown, but their jobs are gone: they would be found for ever, and
        # whoever calls until nothing remains would never end.
        finished_after=call.now_ms - retention.failed_retention_ms if action == "retry" else None,
    )


async def _control(call: Call, action: Action, ids: Sequence[str]) -> dict[str, str | None]:
    """For each id why it was refused; None: it was done."""
    reasons: dict[str, str | None] = {}
    shards: dict[str, list[JobId]] = defaultdict(list)
    for job_id in ids:
        try:
            address = parse_job_id(job_id)
        except MalformedJobId:
            reasons[job_id] = "invalid-id"
            continue
        shard = shard_of_known(call.services.settings, address)
        if shard is None:
            reasons[job_id] = "gone"
        else:
            shards[shard].append(address)

    async def control(shard: str) -> ControlAnswer:
        with asking(shard):
            return await call.services.control(
                call.env,
                shard,
                {"action": action, "ids": [address.local for address in shards[shard]]},
            )

    for addresses, answer in zip(shards.values(), await every(list(shards), control), strict=True):
        if isinstance(answer, BaseException):
            reasons |= dict.fromkeys(map(str, addresses), "unreachable")
            continue
        for address, controlled in zip(addresses, answer["jobs"], strict=True):
            outcome = controlled["outcome"]
            reasons[str(address)] = None if outcome == "done" else outcome
    return reasons
