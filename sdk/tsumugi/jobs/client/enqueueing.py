"""Make jobs: payloads and options to JSON, one call per shard. Checks all before it sends any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Unpack

from tsumugi.jobs.client.fan_out import ask_each
from tsumugi.jobs.client.options import Addressing, JobOptions, written_options
from tsumugi.jobs.core.options import OptionError
from tsumugi.jobs.stubs import ShardError, call_shard
from tsumugi.jobs.wire import ENQUEUE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tsumugi.jobs.registry import Registered
    from tsumugi.jobs.settings import Settings
    from tsumugi.jobs.wire import EnqueueAnswer, NewJob

#: Jobs of one call to a shard, fewer than it takes: it does nothing else meanwhile, and the pages
#: that so many small jobs write fit SQLite's cache of 2 MB. Beyond it, pages of indexes are written
#: and read again within the transaction.
PORTION: Final = 2_000
#: Jobs of one ``enqueue_many``: an event has 128 MB for all it does.
MANY_JOBS: Final = 100_000


class Job[P]:
    """A payload with options of its own, for ``enqueue_many``: they outrank those of the call."""

    __slots__ = ("options", "payload")

    def __init__(self, payload: P, **options: Unpack[JobOptions]) -> None:
        self.payload = payload
        self.options = options


class PartlyEnqueued(RuntimeError):
    """Some of many jobs are enqueued. ``ids`` has None for those that may not be.

    Enqueueing all of them again is safe if they have unique keys.
    """

    def __init__(self, ids: list[str | None], failures: Mapping[str, ShardError]) -> None:
        self.ids = ids
        self.failures = dict(failures)
        missing = ids.count(None)
        reasons = "; ".join(f"{shard}: {error.reason}" for shard, error in failures.items())
        super().__init__(
            f"{missing} of {len(ids)} jobs may not be enqueued ({reasons}): `ids` of this "
            "exception has None in their place"
        )


@dataclass(frozen=True, slots=True)
class Enqueued:
    """``created`` is False where a unique key was taken; the id is then of the job that has it."""

    id: str
    created: bool


#: A job ready to be sent: where it stands in the call, and its JSON.
type _Written = tuple[int, str]


async def enqueue_one(
    env: Any,
    settings: Settings,
    registered: Registered,
    payload: object,
    options: Mapping[str, Any],
    *,
    now_ms: int,
) -> Enqueued:
    """Enqueue a Python payload."""
    text = registered.codec.dump(payload)
    return await _send_one(env, settings, registered, text, options, now_ms=now_ms)


async def enqueue_written(
    env: Any, settings: Settings, registered: Registered, job: NewJob, *, now_ms: int
) -> Enqueued:
    """Enqueue a job that came as JSON, payload and options."""
    text = registered.codec.rewrite(job["payload"])
    options = written_options(job)
    return await _send_one(env, settings, registered, text, options, now_ms=now_ms)


async def _send_one(
    env: Any,
    settings: Settings,
    registered: Registered,
    payload: str,
    options: Mapping[str, Any],
    *,
    now_ms: int,
) -> Enqueued:
    shard, rest = _addressing(settings, registered, options, now_ms).of()
    text = f'{{"jobs":[{{"payload":{payload}{rest}}}]}}'
    answer: EnqueueAnswer = await call_shard(env, settings.env, shard, "enqueue", text)
    return Enqueued(answer["ids"][0], answer["created"][0])


async def enqueue_all(
    env: Any,
    settings: Settings,
    registered: Registered,
    payloads: Iterable[object],
    options: Mapping[str, Any],
    *,
    now_ms: int,
) -> list[Enqueued]:
    """Enqueue many payloads, in their order. All are checked before the first is sent.

    Raises ``PartlyEnqueued`` when some calls failed and others did not.
    """
    by_shard = _written(settings, registered, payloads, options, now_ms=now_ms)
    count = sum(map(len, by_shard.values()))
    done: list[Enqueued | None] = [None] * count

    async def send(shard: str) -> None:
        for chunk in _chunks(by_shard[shard]):
            text = f'{{"jobs":[{",".join([job for _, job in chunk])}]}}'
            answer: EnqueueAnswer = await call_shard(env, settings.env, shard, "enqueue", text)
            ended = map(Enqueued, answer["ids"], answer["created"])
            for (place, _), enqueued in zip(chunk, ended, strict=True):
                done[place] = enqueued

    _, failures = await ask_each(by_shard, send)
    complete = [one for one in done if one is not None]
    if failures and not complete:
        raise next(iter(failures.values()))
    if failures:
        raise PartlyEnqueued([None if one is None else one.id for one in done], failures)
    return complete


def _written(
    settings: Settings,
    registered: Registered,
    payloads: Iterable[object],
    options: Mapping[str, Any],
    *,
    now_ms: int,
) -> dict[str, list[_Written]]:
    """The jobs by shard."""
    by_shard: dict[str, list[_Written]] = {}
    addressing = _addressing(settings, registered, options, now_ms)
    dump = registered.codec.dump
    common: tuple[str, str] | None = None
    for place, item in enumerate(payloads):
        if place == MANY_JOBS:
            raise ValueError(f"enqueue_many takes up to {MANY_JOBS} jobs: call it several times")
        try:
            if isinstance(item, Job):
                shard, rest = addressing.of(item.options)
                text = dump(item.payload)
            else:
                if common is None:
                    common = addressing.of()
                shard, rest = common
                text = dump(item)
        except (OptionError, ValueError, TypeError) as error:
            error.add_note(f"in job {place} of enqueue_many; none was sent")
            raise
        by_shard.setdefault(shard, []).append((place, f'{{"payload":{text}{rest}}}'))
    return by_shard


def _addressing(
    settings: Settings, registered: Registered, options: Mapping[str, Any], now_ms: int
) -> Addressing:
    shards = settings.binding(registered.name).shards
    return Addressing(registered, options, shards=shards, now_ms=now_ms)


def _chunks(jobs: Sequence[_Written]) -> Iterator[list[_Written]]:
    """As many as one call may carry. A payload alone always fits."""
    chunk: list[_Written] = []
    size = 0
    for job in jobs:
        length = len(job[1])
        if chunk and (len(chunk) == PORTION or size + length > ENQUEUE_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(job)
        size += length
    if chunk:
        yield chunk
