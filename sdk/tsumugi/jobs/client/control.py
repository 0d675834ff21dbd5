"""Act on jobs by their ids: cancel, retry, reschedule, look. Finds no job by anything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tsumugi.jobs.client.fan_out import ask_all
from tsumugi.jobs.client.options import epoch_ms
from tsumugi.jobs.core.ids import parse_job_id, shard_name
from tsumugi.jobs.core.options import OptionError, check_priority, resolve_ready_ms
from tsumugi.jobs.core.states import JobState
from tsumugi.jobs.settings import MAX_SHARDS
from tsumugi.jobs.stubs import call_shard
from tsumugi.jobs.wire import CONTROL_LIMIT, dumps

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from tsumugi.jobs.settings import Settings
    from tsumugi.jobs.wire import Controlled, ShowAnswer, Snapshot

type Action = Literal["cancel", "retry"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlResult:
    """What became of a request. True where it was done.

    ``gone``: the job is not kept any more, or never was. ``invalid-state``: it is where this
    cannot be done, and ``state`` says where. ``invalid-option``: ``problem`` says why it could
    never run that way.
    """

    id: str
    outcome: Literal["done", "gone", "invalid-state", "invalid-option"]
    state: JobState | None
    problem: str | None = None

    def __bool__(self) -> bool:
        return self.outcome == "done"


async def act(
    env: Any, settings: Settings, action: Action, job_ids: Iterable[str]
) -> list[ControlResult]:
    """Cancel or retry jobs; results in the order of the ids.

    Raises ``MalformedJobId`` and ``LookupError`` before any is asked, and ``PartialFailure`` when
    some shards did not answer.
    """
    return await _control(env, settings, list(job_ids), {"action": action})


async def reschedule(
    env: Any,
    settings: Settings,
    job_id: str,
    *,
    run_at: datetime | int | None,
    delay_ms: int | None,
    priority: int | None,
    now_ms: int,
) -> ControlResult:
    """Another time, another priority, or both, for a job that waits."""
    run_at_ms = epoch_ms(run_at)
    if run_at_ms is None and delay_ms is None and priority is None:
        raise OptionError("run_at", "nothing to change: give run_at, delay_ms or priority")
    resolve_ready_ms(now_ms=now_ms, delay_ms=delay_ms, run_at_ms=run_at_ms)
    if priority is not None:
        check_priority(priority)
    change = {"run_at_ms": run_at_ms, "delay_ms": delay_ms, "priority": priority}
    given = {name: value for name, value in change.items() if value is not None}
    (result,) = await _control(env, settings, [job_id], {"action": "reschedule", **given})
    return result


async def show(env: Any, settings: Settings, job_id: str) -> Snapshot | None:
    """The job as its shard has it now; None when the shard does not keep it."""
    shard, local = address(settings, job_id)
    text = dumps({"ids": [local]})
    answer: ShowAnswer = await call_shard(env, settings.env, shard, "show", text)
    return answer["jobs"][0]


def address(settings: Settings, job_id: str) -> tuple[str, str]:
    """The shard and the local part. Raises ``MalformedJobId``, ``LookupError`` for a binding.

    A binding may have had more shards than now, and they keep their jobs; any other number is made
    up, and asking it would make an object.
    """
    parsed = parse_job_id(job_id)
    settings.binding(parsed.binding)
    if parsed.shard >= MAX_SHARDS:
        raise LookupError(f"{job_id} names a shard there cannot be: {MAX_SHARDS} are the most")
    return shard_name(parsed.binding, parsed.shard), parsed.local


async def _control(
    env: Any, settings: Settings, job_ids: list[str], request: dict[str, Any]
) -> list[ControlResult]:
    wanted: dict[str, dict[str, str]] = {}
    for job_id in job_ids:
        shard, local = address(settings, job_id)
        wanted.setdefault(shard, {})[local] = job_id
    results: dict[str, ControlResult] = {}

    async def ask(shard: str) -> None:
        locals_ = list(wanted[shard])
        for start in range(0, len(locals_), CONTROL_LIMIT):
            text = dumps({**request, "ids": locals_[start : start + CONTROL_LIMIT]})
            answer = await call_shard(env, settings.env, shard, "control", text)
            for controlled in answer["jobs"]:
                job_id = wanted[shard][controlled["id"]]
                results[job_id] = _result(job_id, controlled)

    await ask_all(request["action"], wanted, ask)
    return [results[job_id] for job_id in job_ids]


def _result(job_id: str, controlled: Controlled) -> ControlResult:
    state = controlled["state"]
    return ControlResult(
        id=job_id,
        outcome=controlled["outcome"],
        state=None if state is None else JobState(state),
        problem=controlled.get("problem"),
    )
