"""The endpoints of numbers: how many jobs there are, and how they fared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsumugi.jobs.api.analytics import MetricsUnavailable, read_metrics
from tsumugi.jobs.api.places import read_model
from tsumugi.jobs.api.values import Answer, Refused
from tsumugi.jobs.read_model.queries import counts

if TYPE_CHECKING:
    from tsumugi.jobs.api.models import MetricsQuery
    from tsumugi.jobs.api.values import Call


async def stats(call: Call) -> Answer:
    async with read_model(call) as database:
        found = await counts(database)
    oldest = found.oldest_scheduled_at
    return Answer(
        body={
            "byState": found.by_state,
            "byBinding": found.by_binding,
            "oldestScheduledMs": None if oldest is None else max(0, call.now_ms - oldest),
        }
    )


async def metrics(call: Call, query: MetricsQuery) -> Answer:
    source = call.services.metrics
    access = None if source is None else source(call.env)
    if access is None or not (access.account_id and access.token and access.dataset):
        raise Refused(
            501,
            "metrics are not configured: give Tsumugi(metrics=...) the account id, an API token "
            "that may read account analytics, and the dataset that the Worker writes",
            missing=_missing(access),
        )
    try:
        found = await read_metrics(
            access, hours=query.hours, binding=query.binding, now_ms=call.now_ms
        )
    except MetricsUnavailable as error:
        raise Refused(502, str(error)) from error
    return Answer(body=found)


def _missing(access: object) -> list[str]:
    fields = ("account_id", "token", "dataset")
    return [f"metrics.{name}" for name in fields if not getattr(access, name, None)]
