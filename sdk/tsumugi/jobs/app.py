"""A Worker's jobs put together: what it declares once, and everything it can do with them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Unpack

from tsumugi.jobs.api.services import Services
from tsumugi.jobs.client import control, policies
from tsumugi.jobs.client.enqueueing import enqueue_all, enqueue_one
from tsumugi.jobs.consumer.consume import consume
from tsumugi.jobs.consumer.remote import perform_for
from tsumugi.jobs.core.retention import Retention
from tsumugi.jobs.entrypoint import ENTRYPOINT
from tsumugi.jobs.registry import Registry
from tsumugi.jobs.settings import Binding, EnvNames, Settings
from tsumugi.jobs.stubs import bound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from tsumugi.jobs.api.services import Auth, MetricsAccess
    from tsumugi.jobs.client.control import ControlResult
    from tsumugi.jobs.client.enqueueing import Job
    from tsumugi.jobs.client.options import JobOptions
    from tsumugi.jobs.client.policies import PolicyChange
    from tsumugi.jobs.entrypoint import Entrypoint
    from tsumugi.jobs.job_shard import JobShard
    from tsumugi.jobs.performer import Performer
    from tsumugi.jobs.read_model.cleanup import Cleaned
    from tsumugi.jobs.wire import DiagnosticsAnswer, PolicyAnswer, Snapshot, StatsAnswer
    from tsumugi.queues import MessageBatch


def wall_clock_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Tsumugi:
    """The jobs of one Worker. Make it once, at module level, and export two classes for it:

    tsumugi = Tsumugi(performers=[SendMail], auth=bearer_auth(lambda env: env.TSUMUGI_TOKEN))

    class TsumugiJobShard(tsumugi.JobShard): ...

    class Default(tsumugi.Entrypoint): ...

    ``class Default(Entrypoint, app=tsumugi)``, with ``from tsumugi import Entrypoint``, is the
    same (``JobShard`` likewise). mypy follows it, and no base that is an attribute of a variable.

    ``performers``
        Classes that derive from :class:`tsumugi.Performer`, or made by :func:`tsumugi.remote`.
    ``bindings``
        How the jobs of each performer run, by its name; ``Binding()`` for those left out.
    ``auth``
        Who may use the API under ``/api``; without it there is none.
    ``metrics``
        Where ``GET /api/metrics`` reads, given ``env``.
    ``env``
        What the bindings are called in wrangler.jsonc.
    ``retention``, ``read_model_retention_ms``
        How long finished jobs are kept in their shard, and in the read model: there, unless told
        otherwise, as long as a retry is accepted, so that what is listed can be retried.

    Raises ``PerformerError`` for a performer that could never work, and ``ValueError`` for
    settings that fit no performer.
    """

    def __init__(
        self,
        *,
        performers: Iterable[type[Performer[Any]]],
        bindings: Mapping[str, Binding] | None = None,
        auth: Auth | None = None,
        metrics: Callable[[Any], MetricsAccess | None] | None = None,
        env: EnvNames | None = None,
        retention: Retention | None = None,
        read_model_retention_ms: int | None = None,
        now_ms: Callable[[], int] = wall_clock_ms,
    ) -> None:
        _check(env=(env, EnvNames), retention=(retention, Retention))
        _check_callable(auth=auth, metrics=metrics)
        self.registry = Registry(performers)
        retention = retention or Retention()
        self.settings = Settings(
            bindings=_bindings(self.registry, bindings or {}),
            env=env or EnvNames(),
            retention=retention,
            read_model_retention_ms=retention.failed_retention_ms
            if read_model_retention_ms is None
            else read_model_retention_ms,
        )
        self._services = Services(
            settings=self.settings, registry=self.registry, auth=auth, metrics=metrics
        )
        #: Where it reads the time.
        self.now_ms = now_ms

    @property
    def Entrypoint(self) -> type[Entrypoint]:
        """The base of the Worker's ``Default``: the API, the queue and the cron of its jobs."""
        return ENTRYPOINT.made(self)

    @property
    def JobShard(self) -> type[JobShard]:
        """The base of the Durable Object that keeps the jobs; its subclass is what is exported."""
        from tsumugi.jobs.job_shard import JOB_SHARD

        return JOB_SHARD.made(self)

    async def enqueue[P](
        self,
        env: Any,
        performer: type[Performer[P]] | str,
        payload: P,
        **options: Unpack[JobOptions],
    ) -> str:
        """Make a job and return its id. Everything is checked before anything is sent.

        With a ``unique_key`` that a job has already, the answer is that job's id. Raises
        ``UnknownPerformer``, ``PayloadError``, ``OptionError``, ``MissingBinding``, and
        ``ShardError`` when the shard did not answer: then the job may exist, and only a unique key
        makes it safe to enqueue it again.
        """
        registered = self.registry.of(performer)
        done = await enqueue_one(
            env, self.settings, registered, payload, options, now_ms=self.now_ms()
        )
        return done.id

    async def enqueue_many[P](
        self,
        env: Any,
        performer: type[Performer[P]] | str,
        payloads: Iterable[P | Job[P]],
        **options: Unpack[JobOptions],
    ) -> list[str]:
        """Make many jobs with few calls; their ids in the same order.

        A payload given as ``Job(payload, concurrency_key=..., ...)`` has options of its own.
        Raises as ``enqueue`` does, and ``PartlyEnqueued`` when only some calls failed.
        """
        registered = self.registry.of(performer)
        done = await enqueue_all(
            env, self.settings, registered, payloads, options, now_ms=self.now_ms()
        )
        return [one.id for one in done]

    async def get(self, env: Any, job_id: str) -> Snapshot | None:
        """The job as it is now, from its shard, or from the read model when it has left it.

        Raises ``ValueError`` for what is no job id, ``LookupError`` for one of a performer that
        this Worker does not list, and ``ShardError``.
        """
        found = await control.show(env, self.settings, job_id)
        database = getattr(env, self.settings.env.database, None)
        if found is not None or database is None:
            return found
        from tsumugi.jobs.read_model.queries import find
        from tsumugi.jobs.read_model.schema import migrated

        with migrated(self.settings.env.database):
            return await find(database, job_id)

    async def cancel(self, env: Any, job_id: str) -> ControlResult:
        """Take back a job that waits. Later it may have run, and the outcome is "invalid-state".

        The answer is true if it was done, and has the ``outcome``. Raises as ``get`` does.
        """
        (result,) = await control.act(env, self.settings, "cancel", [job_id])
        return result

    async def retry(self, env: Any, job_id: str) -> ControlResult:
        """Start a FAILED or STALLED job afresh; "gone" once it is not kept any more.

        Answers and raises as ``cancel`` does.
        """
        (result,) = await control.act(env, self.settings, "retry", [job_id])
        return result

    async def reschedule(
        self,
        env: Any,
        job_id: str,
        *,
        run_at: datetime | int | None = None,
        delay_ms: int | None = None,
        priority: int | None = None,
    ) -> ControlResult:
        """Give a job that waits another time, another priority, or both.

        ``run_at`` is a ``datetime`` with a zone, or milliseconds since 1970. Answers and raises as
        ``cancel`` does, and raises ``OptionError``.
        """
        return await control.reschedule(
            env,
            self.settings,
            job_id,
            run_at=run_at,
            delay_ms=delay_ms,
            priority=priority,
            now_ms=self.now_ms(),
        )

    async def cancel_many(self, env: Any, job_ids: Iterable[str]) -> list[ControlResult]:
        """``cancel`` for many; results in the order of the ids.

        Raises before any is asked if an id cannot be, and ``PartialFailure`` when only some shards
        answered.
        """
        return await control.act(env, self.settings, "cancel", job_ids)

    async def retry_many(self, env: Any, job_ids: Iterable[str]) -> list[ControlResult]:
        """``retry`` for many, as ``cancel_many``."""
        return await control.act(env, self.settings, "retry", job_ids)

    async def pause(
        self, env: Any, performer: type[Performer[Any]] | str
    ) -> dict[str, PolicyAnswer]:
        """Start none of its jobs until ``resume``; those that run go on. As ``set_policy``."""
        return await self.set_policy(env, performer, paused=True)

    async def resume(
        self, env: Any, performer: type[Performer[Any]] | str
    ) -> dict[str, PolicyAnswer]:
        """Start its jobs again. As ``set_policy``."""
        return await self.set_policy(env, performer, paused=False)

    async def set_policy(
        self,
        env: Any,
        performer: type[Performer[Any]] | str,
        **change: Unpack[PolicyChange],
    ) -> dict[str, PolicyAnswer]:
        """Change parts of the policy on every shard; outranks the code until ``reset_policy``.

        Answers by shard. Raises ``UnknownPerformer``, ``OptionError``, and ``PartialFailure``,
        which names the shards that have not got it; ``ShardError`` if there is one shard.
        """
        name = self.registry.of(performer).name
        return await policies.set_policy(env, self.settings, name, change)

    async def reset_policy(
        self, env: Any, performer: type[Performer[Any]] | str
    ) -> dict[str, PolicyAnswer]:
        """Go back to the policy that the code says. Answers and raises as ``set_policy``."""
        name = self.registry.of(performer).name
        return await policies.set_policy(env, self.settings, name, None)

    async def diagnostics(
        self, env: Any, performer: type[Performer[Any]] | str
    ) -> dict[str, DiagnosticsAnswer | str]:
        """Why its jobs run or do not, by shard; a text where a shard did not answer."""
        name = self.registry.of(performer).name
        return await policies.diagnostics(env, self.settings, name)

    async def stats(
        self, env: Any, performer: type[Performer[Any]] | str
    ) -> dict[str, StatsAnswer]:
        """How many of its jobs each shard keeps, by state."""
        name = self.registry.of(performer).name
        return await policies.stats(env, self.settings, name)

    async def handle(self, request: Any, env: Any) -> Any:
        """Answer a request under ``/api``; None for any other one."""
        from tsumugi.jobs.api.handler import handle

        return await handle(request, env, self._services)

    async def consume(self, batch: MessageBatch[object], env: Any) -> None:
        """Perform the jobs of a batch of the queue, and acknowledge all of it."""
        await consume(
            batch, env, registry=self.registry, settings=self.settings, now_ms=self.now_ms
        )

    async def perform_for(self, text: str, hear: Any, env: Any) -> str:
        """Perform one attempt for another Worker, which waits for the answer."""
        return await perform_for(text, hear, env, registry=self.registry, now_ms=self.now_ms)

    async def cleanup(self, env: Any) -> Cleaned:
        """Delete from the read model what ended longer ago than ``read_model_retention_ms``."""
        from tsumugi.jobs.read_model import cleanup, migrated

        name = self.settings.env.database
        database = bound(env, name, "database")
        with migrated(name):
            return await cleanup(
                database,
                now_ms=self.now_ms(),
                retention_ms=self.settings.read_model_retention_ms,
            )


def _check(**given: tuple[object, type]) -> None:
    for name, (value, kind) in given.items():
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"{name} is {kind.__name__}(...), not {value!r}")


def _check_callable(**given: object) -> None:
    # A value would let nobody in, or fail, at the first request only.
    steps = {"auth": "bearer_auth(lambda env: env.TSUMUGI_TOKEN)", "metrics": "a function of env"}
    for name, value in given.items():
        if value is not None and not callable(value):
            raise TypeError(f"{name} is {steps[name]} or the like, not a {type(value).__name__}")


def _bindings(registry: Registry, given: Mapping[str, Binding]) -> dict[str, Binding]:
    """One for each performer. Raises ``ValueError`` for a name that no performer has."""
    unknown = sorted(given.keys() - set(registry.names))
    if unknown:
        raise ValueError(
            f"bindings={{{unknown[0]!r}: ...}} fits no performer: there are "
            f"{', '.join(sorted(registry.names)) or 'none'} (the name of the class, or its "
            "attribute `binding`)"
        )
    for name, binding in given.items():
        if not isinstance(binding, Binding):
            raise TypeError(f"bindings[{name!r}] is a Binding(...), not {binding!r}")
    return {name: given.get(name, Binding()) for name in registry.names}
