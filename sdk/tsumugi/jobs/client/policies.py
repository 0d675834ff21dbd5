"""Pause, resume and change whole bindings, on every shard; say why they do what they do."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any, Final, TypedDict

from tsumugi.jobs.client.fan_out import ask_all, ask_each
from tsumugi.jobs.core.bucket import Rate
from tsumugi.jobs.core.ids import shard_name
from tsumugi.jobs.core.model import Policy
from tsumugi.jobs.core.options import OptionError
from tsumugi.jobs.stubs import call_shard
from tsumugi.jobs.wire import dumps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tsumugi.jobs.settings import Settings
    from tsumugi.jobs.wire import DiagnosticsAnswer, PolicyAnswer, StatsAnswer


class PolicyChange(TypedDict, total=False):
    """Any of the fields of ``Policy``; what is left out stays as it is."""

    concurrency: int
    per_key_concurrency: int
    rate: Rate | None
    aging_interval_ms: int | None
    reaper_grace_ms: int
    paused: bool


_NAMES: Final = frozenset(field.name for field in fields(Policy))


def checked_change(change: Mapping[str, Any]) -> dict[str, Any]:
    """The change as JSON. Raises ``OptionError`` for a value no policy has, ``TypeError``."""
    if not change:
        raise OptionError("policy", f"nothing to change: give {', '.join(sorted(_NAMES))}")
    if not change.keys() <= _NAMES:
        unknown = min(change.keys() - _NAMES)
        raise TypeError(f"a policy has no {unknown!r} (it has: {', '.join(sorted(_NAMES))})")
    rate = change.get("rate")
    if rate is not None and not isinstance(rate, Rate):
        raise OptionError("rate", f"is a Rate(tokens, per_ms=...) or None, not {rate!r}")
    if not isinstance(change.get("paused", False), bool):
        raise OptionError("paused", f"is True or False, not {change['paused']!r}")
    try:
        replace(Policy(), **change)
    except ValueError as error:
        raise OptionError("policy", str(error)) from error
    return {**change, "rate": asdict(rate)} if rate is not None else dict(change)


async def set_policy(
    env: Any, settings: Settings, binding: str, change: Mapping[str, Any] | None
) -> dict[str, PolicyAnswer]:
    """What holds on each shard from now on. None goes back to what the code says.

    Raises ``PartialFailure`` when some shards have it and others have not.
    """
    text = dumps({"change": None if change is None else checked_change(change)})

    async def ask(shard: str) -> PolicyAnswer:
        answer: PolicyAnswer = await call_shard(env, settings.env, shard, "set_policy", text)
        return answer

    return await ask_all(f"changing the policy of {binding}", shards_of(settings, binding), ask)


async def diagnostics(
    env: Any, settings: Settings, binding: str
) -> dict[str, DiagnosticsAnswer | str]:
    """Why each shard does what it does, or why it did not answer."""

    async def ask(shard: str) -> DiagnosticsAnswer:
        answer: DiagnosticsAnswer = await call_shard(env, settings.env, shard, "diagnostics")
        return answer

    answers, failures = await ask_each(shards_of(settings, binding), ask)
    return {
        shard: answers[shard] if shard in answers else failures[shard].reason
        for shard in shards_of(settings, binding)
    }


async def stats(env: Any, settings: Settings, binding: str) -> dict[str, StatsAnswer]:
    """How many jobs each shard keeps, by state."""

    async def ask(shard: str) -> StatsAnswer:
        answer: StatsAnswer = await call_shard(env, settings.env, shard, "stats")
        return answer

    return await ask_all(f"counting the jobs of {binding}", shards_of(settings, binding), ask)


def shards_of(settings: Settings, binding: str) -> list[str]:
    """The names of its shards. Raises ``LookupError`` for a binding there is not."""
    return [shard_name(binding, number) for number in range(settings.binding(binding).shards)]
