"""Ask Analytics Engine how jobs fared: two queries, and percentiles of what they answer.

What a data point means is ``shard.measuring``'s. Counts are weighted by the sample interval, so
they stay right when the service samples.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsumugi.jobs.api.services import MetricsAccess

_HOUR_S: Final = 3_600
#: Of an answer that is no JSON, in an error.
SHOWN_LENGTH: Final = 500
#: Names that can stand in a query. Bindings of jobs are such names, datasets are identifiers.
_DATASET: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_BINDING: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$.-]*", re.ASCII)

# What a data point holds (``shard.measuring``): how many jobs, the sum of their milliseconds, the
# greatest of them, and the sum of their attempts.
_BINDING_COLUMN: Final = "blob1"
_EVENT_COLUMN: Final = "blob3"
_JOBS: Final = "_sample_interval * double1"
_DURATION_MS: Final = "_sample_interval * double2"
_ATTEMPTS: Final = "_sample_interval * double4"
#: Events that end a job.
_ENDS: Final = ("completed", "failed", "stalled", "expired", "cancelled")
_FAILURES: Final = ("failed", "stalled")
#: Those that ran to an end somebody heard of: the others have no duration.
_TIMED: Final = ("completed", "failed")


#: What Analytics Engine says of a dataset that was never written to.
_NO_DATASET: Final = "unable to find type of column"


class MetricsUnavailable(Exception):
    """Analytics Engine did not answer the question; the text says why."""


class _Unwritten(Exception):
    """There is no such dataset, or none yet."""


async def read_metrics(
    access: MetricsAccess, *, hours: int, binding: str | None, now_ms: int
) -> dict[str, Any]:
    """A ``Metrics``. Raises ``MetricsUnavailable``."""
    if not _DATASET.fullmatch(access.dataset):
        raise MetricsUnavailable(f"{access.dataset!r} cannot name a dataset: check its spelling")
    if binding is not None and not _BINDING.fullmatch(binding):
        return {"hours": hours, "bindings": [], "series": []}
    # Whole seconds that are over: what is written between the two questions is in neither.
    to_s = now_ms // 1_000
    among = _among(to_s - hours * _HOUR_S, to_s, binding)
    try:
        lanes = await _ask(access, lanes_sql(access.dataset, among))
        series = await _ask(access, series_sql(access.dataset, among))
    except _Unwritten:
        note = (
            f"nothing was written to the dataset {access.dataset!r} yet: if jobs have ended since, "
            "compare its name with analytics_engine_datasets in wrangler.jsonc"
        )
        return {"hours": hours, "bindings": [], "series": [], "note": note}
    return {"hours": hours, "bindings": by_binding(lanes), "series": list(map(_point, series))}


def lanes_sql(dataset: str, among: str) -> str:
    """How many jobs of each binding ended how after about how long: ``blob4`` names the lane."""
    return (
        f"SELECT {_BINDING_COLUMN} AS binding, {_EVENT_COLUMN} AS event, blob4 AS lane, "
        f"sum({_JOBS}) AS jobs, sum({_DURATION_MS}) AS duration_ms, max(double3) AS longest_ms, "
        f"sum({_ATTEMPTS}) AS attempts FROM {dataset} "
        f"WHERE {among} GROUP BY binding, event, lane FORMAT JSON"
    )


def series_sql(dataset: str, among: str) -> str:
    """The same hour by hour, for all bindings together."""
    return (
        f"SELECT intDiv(toUInt32(timestamp), {_HOUR_S}) * {_HOUR_S} AS at, sum({_JOBS}) AS jobs, "
        f"sum({_of(_FAILURES, _JOBS)}) AS failed, sum({_of(_TIMED, _JOBS)}) AS timed, "
        f"sum({_of(_TIMED, _DURATION_MS)}) AS duration_ms FROM {dataset} "
        f"WHERE {among} GROUP BY at ORDER BY at FORMAT JSON"
    )


def _of(events: Sequence[str], value: str) -> str:
    return f"if({_EVENT_COLUMN} IN ({_texts(events)}), {value}, 0)"


def _texts(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def by_binding(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """``BindingMetrics``, the busiest binding first."""
    lanes: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        lanes[str(row["binding"])].append(row)
    found = [_binding(name, of_it) for name, of_it in lanes.items()]
    return sorted(found, key=lambda one: (-one["total"], one["binding"]))


def _binding(name: str, lanes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    timed = [lane for lane in lanes if lane["event"] in _TIMED]
    total, measured = _sum(lanes, "jobs"), _sum(timed, "jobs")
    failed = _sum([lane for lane in lanes if lane["event"] in _FAILURES], "jobs")
    return {
        "binding": name,
        "total": round(total),
        "failed": round(failed),
        "failureRate": min(1.0, failed / total) if total else 0.0,
        "avgDurationMs": _sum(timed, "duration_ms") / measured if measured else 0.0,
        "maxDurationMs": max((_number(lane["longest_ms"]) for lane in timed), default=0.0),
        "p95DurationMs": _percentile(timed, 0.95),
        "avgAttempts": _sum(lanes, "attempts") / total if total else 0.0,
    }


def _sum(lanes: Sequence[dict[str, Any]], field: str) -> float:
    return sum(_number(lane[field]) for lane in lanes)


def _percentile(lanes: Sequence[dict[str, Any]], share: float) -> float:
    """The mean duration of the lane in which so many of the jobs were as fast or faster."""
    weighed = sorted(
        (_number(lane["duration_ms"]) / jobs, jobs)
        for lane in lanes
        if (jobs := _number(lane["jobs"])) > 0
    )
    wanted = share * sum(jobs for _, jobs in weighed)
    passed = 0.0
    for duration_ms, jobs in weighed:
        passed += jobs
        if passed >= wanted:
            return duration_ms
    return 0.0


def _point(row: dict[str, Any]) -> dict[str, Any]:
    timed = _number(row["timed"])
    return {
        "at": round(_number(row["at"]) * 1000),
        "total": round(_number(row["jobs"])),
        "failed": round(_number(row["failed"])),
        "avgDurationMs": _number(row["duration_ms"]) / timed if timed else 0.0,
    }


def _among(from_s: int, to_s: int, binding: str | None) -> str:
    """The ends of jobs in these seconds, the last one left out."""
    of_binding = "" if binding is None else f" AND {_BINDING_COLUMN} = '{binding}'"
    return (
        f"{_EVENT_COLUMN} IN ({_texts(_ENDS)}) "
        f"AND timestamp >= toDateTime({from_s}) AND timestamp < toDateTime({to_s}){of_binding}"
    )


def _number(value: Any) -> float:
    # 64-bit integers come as texts.
    return float(value or 0)


async def _ask(access: MetricsAccess, sql: str) -> list[dict[str, Any]]:
    from workers import fetch

    url = f"{access.base_url.rstrip('/')}/accounts/{access.account_id}/analytics_engine/sql"
    headers = {"authorization": f"Bearer {access.token}", "content-type": "text/plain"}
    try:
        response = await fetch(url, method="POST", headers=headers, body=sql)
        text = await response.text()
    except Exception as error:
        raise MetricsUnavailable(f"Analytics Engine at {access.base_url}: {error}") from error
    if response.status != 200:
        what = text[:SHOWN_LENGTH].strip()
        if _NO_DATASET in what:
            raise _Unwritten
        raise MetricsUnavailable(f"Analytics Engine answered {response.status}: {what}")
    try:
        rows: list[dict[str, Any]] = json.loads(text)["data"]
    except (ValueError, KeyError, TypeError) as error:
        raise MetricsUnavailable(
            f"Analytics Engine answered something else: {text[:SHOWN_LENGTH]}"
        ) from error
    return rows
