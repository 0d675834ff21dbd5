"""The options of an enqueue, checked before any I/O. Knows no payload and no binding's name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tsumugi.jobs.core.backoff import MAX_SAFE_INTEGER, JobBackoff
from tsumugi.jobs.core.model import (
    DEFAULT_BACKOFF,
    DEFAULT_MAX_ATTEMPTS,
    DEFAULT_TIMEOUT_MS,
    Guarantee,
    JobView,
)
from tsumugi.jobs.core.traceparent import is_traceparent

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

DEFAULT_UNIQUE_FOR_MS: Final = 86_400_000
#: Leaves aging room: priority plus age stays an exact number everywhere.
MAX_PRIORITY: Final = 1_000_000_000
MAX_ATTEMPTS: Final = 1_000_000
#: Characters in a concurrency, unique or partition key.
MAX_KEY_LENGTH: Final = 512
KEY_NAMES: Final = ("concurrency_key", "unique_key", "partition_key")
#: Most keys: a look is enough to know that they are keys, and the same text within quotes as JSON.
is_plain_key: Final = re.compile(rf"[ !#-\[\]-~]{{1,{MAX_KEY_LENGTH}}}").fullmatch


class OptionError(ValueError):
    """An option that no job can have. ``option`` names it as the call spells it."""

    def __init__(self, option: str, problem: str) -> None:
        super().__init__(f"{option}: {problem}")
        self.option = option
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class EnqueueOptions:
    """What the caller asked for, as it was given. ``checked`` turns it into a job."""

    priority: int = 0
    max_attempts: int = DEFAULT_MAX_ATTEMPTS
    backoff: JobBackoff = DEFAULT_BACKOFF
    timeout_ms: int | None = DEFAULT_TIMEOUT_MS
    delay_ms: int | None = None
    run_at_ms: int | None = None
    guarantee: Guarantee = Guarantee.AT_LEAST_ONCE
    concurrency_key: str | None = None
    unique_key: str | None = None
    unique_for_ms: int | None = None
    partition_key: str | None = None
    expires_in_ms: int | None = None
    traceparent: str | None = None


def checked(
    options: EnqueueOptions, *, now_ms: int, required: Collection[str] = ()
) -> EnqueueOptions:
    """The same options, if a job can have them. ``required`` names keys the performer insists on.

    Raises ``OptionError`` for the first that is wrong.
    """
    check_priority(options.priority)
    _whole("max_attempts", options.max_attempts, least=1, most=MAX_ATTEMPTS)
    for name, least in (
        ("timeout_ms", 1),
        ("delay_ms", 0),
        ("run_at_ms", 0),
        ("unique_for_ms", 1),
        ("expires_in_ms", 1),
    ):
        value = getattr(options, name)
        if value is not None:
            _whole(name, value, least=least, most=MAX_SAFE_INTEGER)
    for name in KEY_NAMES:
        check_key(name, getattr(options, name), required=name in required)
    if options.unique_for_ms is not None and options.unique_key is None:
        raise OptionError("unique_for_ms", "means nothing without unique_key: give both")
    if options.traceparent is not None and not is_traceparent(options.traceparent):
        raise OptionError("traceparent", f"is not W3C trace context: {options.traceparent!r}")
    check_starts_before_expiry(
        ready_ms=resolve_ready_ms(
            now_ms=now_ms, delay_ms=options.delay_ms, run_at_ms=options.run_at_ms
        ),
        expires_ms=expires_ms(options, now_ms=now_ms),
    )
    return options


def new_job(options: EnqueueOptions, *, local_id: str, now_ms: int) -> JobView:
    """The job these checked options make."""
    return JobView(
        id=local_id,
        priority=options.priority,
        ready_ms=resolve_ready_ms(
            now_ms=now_ms, delay_ms=options.delay_ms, run_at_ms=options.run_at_ms
        ),
        max_attempts=options.max_attempts,
        guarantee=options.guarantee,
        backoff=options.backoff,
        timeout_ms=options.timeout_ms,
        concurrency_key=options.concurrency_key,
        expires_ms=expires_ms(options, now_ms=now_ms),
    )


def resolve_ready_ms(*, now_ms: int, delay_ms: int | None, run_at_ms: int | None) -> int:
    """From when on the job may run. A time that is past is now: it buys no age."""
    if delay_ms is not None and run_at_ms is not None:
        raise OptionError("run_at", "it and a delay exclude each other: give one")
    if delay_ms is not None:
        _whole("delay_ms", delay_ms, least=0, most=MAX_SAFE_INTEGER - now_ms)
        return now_ms + delay_ms
    if run_at_ms is not None:
        _whole("run_at_ms", run_at_ms, least=0, most=MAX_SAFE_INTEGER)
        return max(now_ms, run_at_ms)
    return now_ms


def expires_ms(options: EnqueueOptions, *, now_ms: int) -> int | None:
    """When the job is too late to start."""
    return None if options.expires_in_ms is None else now_ms + options.expires_in_ms


def check_priority(priority: int) -> None:
    _whole("priority", priority, least=-MAX_PRIORITY, most=MAX_PRIORITY)


def check_starts_before_expiry(*, ready_ms: int, expires_ms: int | None) -> None:
    if expires_ms is not None and expires_ms <= ready_ms:
        raise OptionError(
            "expires_in_ms", "the job would expire before it may start: it could never run"
        )


def _whole(name: str, value: int, *, least: int, most: int) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not least <= value <= most:
        raise OptionError(name, f"must be a whole number from {least} to {most}, not {value!r}")


def check_key(name: str, key: str | None, *, required: bool = False) -> None:
    """Raises ``OptionError`` for a key that cannot be one, or that is needed and not given."""
    if type(key) is str and is_plain_key(key):
        return
    if key is None:
        if required:
            raise OptionError(name, "this performer requires it: give one")
        return
    if not isinstance(key, str) or not 1 <= len(key) <= MAX_KEY_LENGTH:
        raise OptionError(name, f"must be a text of 1 to {MAX_KEY_LENGTH} characters")
    halves = not key.isascii() and any("\ud800" <= each <= "\udfff" for each in key)
    if halves or "\0" in key:
        raise OptionError(name, "holds a NUL or half a surrogate pair, which cannot be stored")


def check_keys(name: str, keys: Sequence[str]) -> None:
    """``check_key`` for each. One look at all of them passes most: there are thousands."""
    if not keys:
        return
    lengths = [len(key) if type(key) is str else 0 for key in keys]
    if min(lengths) >= 1 and max(lengths) <= MAX_KEY_LENGTH:
        text = "".join(keys)
        if text.isascii() and "\0" not in text:
            return
    for key in keys:
        check_key(name, key)
