"""The endpoints of bindings: which there are, what they may run, why they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.api.places import need_shards
from tsumugi.jobs.api.values import Answer, Refused
from tsumugi.jobs.client.fan_out import PartialFailure
from tsumugi.jobs.client.policies import diagnostics, set_policy, shards_of
from tsumugi.jobs.core.bucket import Rate
from tsumugi.jobs.core.options import OptionError
from tsumugi.jobs.core.states import TERMINAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tsumugi.jobs.api.models import DiagnosticsQuery, PolicyChange
    from tsumugi.jobs.api.values import Call
    from tsumugi.jobs.wire import DiagnosticsAnswer

#: A field of the policy as bodies call it.
_SHOWN_AS: Final = {
    "concurrency": "concurrency",
    "per_key_concurrency": "perKeyConcurrency",
    "rate": "rate",
    "aging_interval_ms": "agingIntervalMs",
    "reaper_grace_ms": "reaperGraceMs",
    "paused": "paused",
}
_BLOCKED_AS: Final = {
    "capacity": "capacity",
    "tokens": "tokens",
    "paused": "paused",
    "per_key": "perKey",
    "handover": "handover",
}


async def list_bindings(call: Call) -> Answer:
    return Answer(body={"bindings": sorted(call.services.settings.bindings)})


async def change_policy(call: Call, binding: str, body: PolicyChange | None) -> Answer:
    """A partial change; None goes back to what the code says."""
    _check(call, binding)
    settings = call.services.settings
    try:
        change = None if body is None else _change(body)
        answers = await set_policy(call.env, settings, binding, change)
    except OptionError as error:
        raise Refused(400, str(error)) from error
    except PartialFailure as error:
        failed = [shard for shard in shards_of(settings, binding) if shard in error.failures]
        # In part: a fault of its own, for what holds now depends on the shard.
        raise Refused(
            500 if error.answers else 503,
            f"{error}. Failed: {', '.join(failed)}",
            shards=len(error.answers),
            failed_shards=failed,
        ) from error
    first = next(iter(answers.values()))
    return Answer(
        body={
            "binding": binding,
            "shards": len(answers),
            "policy": shown_policy(first["policy"]),
            "changed": _shown_names(first["overrides"]),
        }
    )


async def reset_policy(call: Call, binding: str) -> Answer:
    await change_policy(call, binding, None)
    return Answer(body={"ok": True, "state": None})


async def diagnose(call: Call, query: DiagnosticsQuery) -> Answer:
    names = sorted(call.services.settings.bindings) if query.binding is None else [query.binding]
    return Answer(
        body={"shard": 0, "bindings": {name: await _diagnose(call, name) for name in names}}
    )


async def _diagnose(call: Call, binding: str) -> dict[str, Any]:
    _check(call, binding)
    answers = await diagnostics(call.env, call.services.settings, binding)
    told = [answer for answer in answers.values() if not isinstance(answer, str)]
    first = told[0] if told else None
    return {
        "active": sum(_active(answer["counts"]) for answer in told),
        "outbox": sum(answer["outbox"] for answer in told),
        "blocked": _blocked(told),
        "policy": None if first is None else shown_policy(first["policy"]),
        "changed": [] if first is None else _shown_names(first["overrides"]),
        "shards": told,
        "unreachable": {
            shard: answer for shard, answer in answers.items() if isinstance(answer, str)
        },
    }


def shown_policy(policy: Mapping[str, Any]) -> dict[str, Any]:
    """A ``PolicyShown``."""
    shown = {name: policy[field] for field, name in _SHOWN_AS.items()}
    rate = policy["rate"]
    shown["rate"] = rate and {"tokens": rate["tokens"], "intervalMs": rate["per_ms"]}
    return shown


def _check(call: Call, binding: str) -> None:
    need_shards(call)
    if binding not in call.services.settings.bindings:
        known = sorted(call.services.settings.bindings)
        there = ", ".join(known)
        raise Refused(404, f"there is no binding {binding!r} (there are: {there})", known=known)


def _change(body: PolicyChange) -> dict[str, Any]:
    change: dict[str, Any] = body.model_dump(exclude_unset=True)
    if body.rate is not None:
        try:
            change["rate"] = Rate(body.rate.tokens, body.rate.interval_ms)
        except ValueError as error:
            raise Refused(400, f"rate: {error}") from error
    return change


def _shown_names(overrides: Mapping[str, Any]) -> list[str]:
    return [name for field, name in _SHOWN_AS.items() if field in overrides]


def _active(counts: Mapping[str, int]) -> int:
    return sum(jobs for state, jobs in counts.items() if state not in TERMINAL)


def _blocked(told: Sequence[DiagnosticsAnswer]) -> dict[str, bool]:
    """Of any shard."""
    blocked: list[Mapping[str, Any]] = [{**answer["blocked"]} for answer in told]
    return {
        name: any(bool(one.get(field)) for one in blocked) for field, name in _BLOCKED_AS.items()
    }
