"""The options of an enqueue: what people write, checked, and as JSON. Knows no payload."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, Final, TypedDict, cast

from tsumugi.jobs.core.backoff import ExponentialBackoff, FixedBackoff, JobBackoff
from tsumugi.jobs.core.ids import shard_name
from tsumugi.jobs.core.model import Guarantee
from tsumugi.jobs.core.options import (
    KEY_NAMES,
    EnqueueOptions,
    OptionError,
    check_key,
    checked,
    is_plain_key,
)
from tsumugi.jobs.core.sharding import shard_of
from tsumugi.jobs.wire import dumps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tsumugi.jobs.performer import GuaranteeName
    from tsumugi.jobs.registry import Registered
    from tsumugi.jobs.wire import NewJob


class JobOptions(TypedDict, total=False):
    """What an enqueue may say beside its payload. The performer's defaults fill the rest.

    A key that is None is a key that is not given.
    """

    #: Larger goes first.
    priority: int
    max_attempts: int
    backoff: JobBackoff
    #: How long a report is awaited; None for ever.
    timeout_ms: int | None
    #: Not before so long from now. Excludes ``run_at``.
    delay_ms: int | None
    #: Not before: an aware ``datetime``, or milliseconds since 1970.
    run_at: datetime | int | None
    guarantee: GuaranteeName
    #: Jobs of one key run one after the other (``Policy.per_key_concurrency``).
    concurrency_key: str | None
    #: While a job has this key, enqueueing it again answers that job's id.
    unique_key: str | None
    unique_for_ms: int | None
    #: Picks the shard; required when the binding has several.
    partition_key: str | None
    #: Not started by then, it is cancelled.
    expires_in_ms: int | None
    #: W3C trace context for the performer.
    traceparent: str | None


_NAMES: Final = frozenset(JobOptions.__annotations__)
_KEYS: Final = frozenset(KEY_NAMES)
_DEFAULTS: Final = EnqueueOptions()
#: Fields in the order in which they are written.
_FIELDS: Final = tuple(field.name for field in fields(EnqueueOptions))


class Addressing:
    """Where the jobs of one call go, and what their options are as JSON.

    In one call options differ by their keys alone, as a rule: what is beside the keys is checked
    and written once.
    """

    def __init__(
        self, registered: Registered, common: Mapping[str, Any], *, shards: int, now_ms: int
    ) -> None:
        self._registered = registered
        self._keys, self._rest = _apart(common)
        self._required: list[str] = [name for name in KEY_NAMES if name in registered.requires]
        self._shards = shards
        self._now_ms = now_ms
        self._only_shard = shard_name(registered.name, 0)
        self._known: dict[Any, str] = {}
        #: By the name of a key: what stands before it where a job has no other option.
        self._before: dict[str, str] = {}

    def of(self, own: Mapping[str, Any] | None = None) -> tuple[str, str]:
        """The shard of a job, and its options as JSON members that follow another one.

        ``own`` outranks what all have in common. Raises ``OptionError``, ``TypeError``.
        """
        # A look for most jobs that have an option: this is done once for each of thousands.
        if own is not None and len(own) == 1:
            (name,) = own
            key, before = own[name], self._before.get(name)
            if before is not None and type(key) is str and is_plain_key(key):
                return self._only_shard, f'{before}{key}"'
        return self._of_any(own)

    def _of_any(self, own: Mapping[str, Any] | None) -> tuple[str, str]:
        keys: Mapping[str, Any] = self._keys
        rest = self._rest
        if own:
            if own.keys() <= _KEYS:
                keys = {**keys, **own} if keys else own
            else:
                own_keys, own_rest = _apart(own)
                keys, rest = {**keys, **own_keys}, {**rest, **own_rest}
        is_unique = "unique_key" in keys and keys["unique_key"] is not None
        beside = text = self._beside_keys(rest, is_unique=is_unique)
        for name in self._required:
            check_key(name, keys.get(name), required=True)
        for name, key in keys.items():
            if key is not None:
                check_key(name, key)
                text += f',"{name}":{encode_basestring(key)}'
        if self._shards > 1:
            shard = shard_of(keys.get("partition_key"), shards=self._shards)
            return shard_name(self._registered.name, shard), text
        if keys is own and len(keys) == 1 and None not in keys.values():
            (name,) = keys
            self._before[name] = f'{beside},"{name}":"'
        return self._only_shard, text

    def _beside_keys(self, given: Mapping[str, Any], *, is_unique: bool) -> str:
        rest = (is_unique, *given.items())
        try:
            return self._known[rest]
        except (KeyError, TypeError):  # TypeError: what cannot be hashed is no option either
            pass
        # Some options mean something beside a key only, whichever it is.
        with_key = {**given, "unique_key": "?"} if is_unique else given
        options = resolve(self._registered, with_key, now_ms=self._now_ms)
        text = self._known[rest] = members(replace(options, unique_key=None))
        return text


def _apart(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The keys among these options, and the others."""
    keys = {name: options[name] for name in KEY_NAMES if name in options}
    return keys, {name: value for name, value in options.items() if name not in _KEYS}


def resolve(registered: Registered, given: Mapping[str, Any], *, now_ms: int) -> EnqueueOptions:
    """The options of a job of this performer, but for the keys that it requires.

    Raises ``OptionError``, and ``TypeError`` for an option there is not.
    """
    options = registered.defaults
    if given:
        options = replace(options, **_as_core(registered.name, given))
    return checked(options, now_ms=now_ms)


def _as_core(performer: str, given: Mapping[str, Any]) -> dict[str, Any]:
    if not given.keys() <= _NAMES:
        unknown = min(given.keys() - _NAMES)
        raise TypeError(
            f"enqueueing {performer}: there is no option {unknown!r} "
            f"(there are: {', '.join(sorted(_NAMES))})"
        )
    core = dict(given)
    if "run_at" in core:
        core["run_at_ms"] = epoch_ms(core.pop("run_at"))
    if "guarantee" in core:
        core["guarantee"] = _guarantee(core["guarantee"])
    backoff = core.get("backoff", _DEFAULTS.backoff)
    if not isinstance(backoff, ExponentialBackoff | FixedBackoff):
        raise OptionError(
            "backoff", f"is an ExponentialBackoff(...) or a FixedBackoff(...), not {backoff!r}"
        )
    return core


def epoch_ms(run_at: Any) -> Any:
    """Milliseconds since 1970. Raises ``OptionError`` for a time without a zone."""
    if not isinstance(run_at, datetime):
        return run_at  # a number is checked with the others
    if run_at.tzinfo is None:
        raise OptionError(
            "run_at", "the datetime has no time zone: datetime(..., tzinfo=UTC), or .astimezone()"
        )
    return int(run_at.timestamp() * 1_000)


def _guarantee(value: Any) -> Guarantee:
    try:
        return Guarantee(value)
    except ValueError:
        known = " or ".join(repr(str(one)) for one in Guarantee)
        raise OptionError("guarantee", f"is {known}, not {value!r}") from None


def members(options: EnqueueOptions) -> str:
    """What a ``NewJob`` holds beside its payload, as JSON members that follow another one."""
    job: dict[str, Any] = {}
    for name in _FIELDS:
        value = getattr(options, name)
        if value != getattr(_DEFAULTS, name):
            job[name] = backoff_fields(value) if name == "backoff" else value
    return f",{dumps(job)[1:-1]}" if job else ""


def backoff_fields(backoff: JobBackoff) -> dict[str, Any]:
    """A backoff as it is written in JSON."""
    match backoff:
        case FixedBackoff(delay_ms, jitter):
            return {"kind": "fixed", "delay_ms": delay_ms, "jitter": jitter}
        case ExponentialBackoff(base_ms, factor, max_ms, jitter):
            return {
                "kind": "exponential",
                "base_ms": base_ms,
                "factor": factor,
                "max_ms": max_ms,
                "jitter": jitter,
            }


def backoff_of(value: Any) -> JobBackoff:
    """The backoff that was written so; what is left out is the default. Raises ``OptionError``."""
    kinds = {"fixed": FixedBackoff, "exponential": ExponentialBackoff}
    try:
        given = dict(value)
        kind = kinds[given.pop("kind")]
        return cast("JobBackoff", kind(**given))
    except (TypeError, ValueError, KeyError) as error:
        raise OptionError(
            "backoff",
            f'is {{"kind": "exponential", "base_ms", "factor", "max_ms", "jitter"}} or '
            f'{{"kind": "fixed", "delay_ms", "jitter"}} ({error})',
        ) from None


def written_options(job: NewJob) -> dict[str, Any]:
    """The options of a job that came as JSON, as an enqueue takes them."""
    given: dict[str, Any] = {name: value for name, value in job.items() if name != "payload"}
    if "run_at_ms" in given:
        given["run_at"] = given.pop("run_at_ms")
    if "backoff" in given:
        given["backoff"] = backoff_of(given["backoff"])
    return given
