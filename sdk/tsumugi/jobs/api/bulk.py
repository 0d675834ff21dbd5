"""Retry or cancel many jobs: those that are named, or those that match a filter."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from tsumugi.jobs.api.places import has_shard, need_shards, read_model
from tsumugi.jobs.api.values import Answer, Refused
from tsumugi.jobs.client.control import act
from tsumugi.jobs.client.fan_out import ask_each
from tsumugi.jobs.core.ids import MalformedJobId, parse_job_id, shard_name
from tsumugi.jobs.core.states import RETRYABLE, JobState
from tsumugi.jobs.read_model.queries import Filter, ids_of
from tsumugi.jobs.wire import CONTROL_LIMIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsumugi.jobs.api.models import BulkRequest
    from tsumugi.jobs.api.values import Call
    from tsumugi.jobs.client.control import Action, ControlResult

_ACCEPTED: Final[dict[Action, tuple[JobState, ...]]] = {
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
    settings = call.services.settings
    reasons: dict[str, str | None] = {}
    by_shard: dict[str, list[str]] = defaultdict(list)
    for job_id in ids:
        try:
            address = parse_job_id(job_id)
        except MalformedJobId:
            reasons[job_id] = "invalid-id"
            continue
        if has_shard(settings, address):
            by_shard[shard_name(address.binding, address.shard)].append(job_id)
        else:
            reasons[job_id] = "gone"

    async def ask(shard: str) -> list[ControlResult]:
        return await act(call.env, settings, action, by_shard[shard])

    answers, failures = await ask_each(by_shard, ask)
    for results in answers.values():
        reasons |= {one.id: None if one else one.outcome for one in results}
    for shard in failures:
        reasons |= dict.fromkeys(by_shard[shard], "unreachable")
    return reasons
