"""Where a request has to go: the database, the shard of a job, every shard of a binding."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from tsumugi.jobs.api.values import Refused
from tsumugi.jobs.core.ids import JobId, MalformedJobId, parse_job_id, shard_name
from tsumugi.jobs.core.options import OptionError
from tsumugi.jobs.payloads import PayloadError
from tsumugi.jobs.read_model.schema import missing_migrations
from tsumugi.jobs.settings import MAX_SHARDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence

    from tsumugi.jobs.api.values import Call
    from tsumugi.jobs.read_model.database import Database
    from tsumugi.jobs.settings import Settings

_log = logging.getLogger("tsumugi.jobs.api")

#: Shards that are asked at the same time: an event has six connections, and objects are woken.
SHARDS_AT_ONCE: Final = 6

#: Databases are migrated and never back, so one look is enough while this Worker lives.
_migrated: WeakSet[Any] = WeakSet()


def address_of(job_id: str) -> JobId:
    try:
        return parse_job_id(job_id)
    except MalformedJobId as error:
        raise Refused(400, str(error)) from error


def shard_of_known(settings: Settings, address: JobId) -> str | None:
    """The shard, if it can exist. Asking any other one would create it.

    A binding may have had more shards than it has now, and they still hold their jobs.
    """
    if address.binding not in settings.bindings or address.shard >= MAX_SHARDS:
        return None
    return shard_name(address.binding, address.shard)


def shards_of(settings: Settings, binding: str) -> list[str]:
    return [shard_name(binding, number) for number in range(settings.bindings[binding].shards)]


def database_of(call: Call) -> Database:
    """The D1 binding; without it a 503 that names it."""
    database: Database = _binding(call, call.services.settings.env.database, "d1_databases")
    return database


def need_shards(call: Call) -> None:
    """A 503 that names the namespace of the shards, if it is missing."""
    _binding(call, call.services.settings.env.shard, "durable_objects.bindings")


def _binding(call: Call, name: str, where: str) -> Any:
    binding = getattr(call.env, name, None)
    if binding is None:
        raise Refused(
            503,
            f"this Worker has no binding {name}: add it under {where} in its wrangler "
            "configuration",
            missing=[name],
        )
    return binding


@contextlib.asynccontextmanager
async def read_model(call: Call) -> AsyncIterator[Database]:
    """The database, once it has every migration; else a 503 that names those it lacks.

    What D1 raises within is a 503, too: it comes and goes, and nothing is decided from it.
    """
    database = database_of(call)
    try:
        await _check_migrations(call, database)
        yield database
    except Refused:
        raise
    except Exception as error:
        name = call.services.settings.env.database
        _log.warning("the read model cannot be read", exc_info=True)
        raise Refused(503, f"the database {name} does not answer now: {error}") from error


async def _check_migrations(call: Call, database: Database) -> None:
    if call.services in _migrated:
        return
    missing = await missing_migrations(database)
    if missing:
        names = ", ".join(f"{name}.sql" for name in missing)
        raise Refused(
            503,
            f"the database {call.services.settings.env.database} lacks the migrations {names}. "
            "Run `tsumugi jobs migrations` in the project, then `tsumugi d1 migrations apply` "
            "(locally) or `wrangler d1 migrations apply --remote` (deployed)",
            missing=missing,
        )
    _migrated.add(call.services)


@contextlib.contextmanager
def asking(shard: str) -> Iterator[None]:
    """What a shard fails with is a 503: it may be about to move or to start again."""
    try:
        yield
    except (Refused, OptionError, PayloadError):
        raise
    except Exception as error:
        _log.warning("shard %s does not answer", shard, exc_info=True)
        raise Refused(503, f"shard {shard} does not answer now: {error}") from error


async def every[T](
    names: Sequence[str], ask: Callable[[str], Awaitable[T]]
) -> list[T | BaseException]:
    """What each one answers or raises, in order, a few at a time."""
    slots = asyncio.Semaphore(SHARDS_AT_ONCE)

    async def one(name: str) -> T:
        async with slots:
            return await ask(name)

    return await asyncio.gather(*(one(name) for name in names), return_exceptions=True)
