"""Where a request has to go: the read model, or the shard that holds a job."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from tsumugi.jobs.api.values import Refused
from tsumugi.jobs.core.ids import JobId, MalformedJobId, parse_job_id
from tsumugi.jobs.read_model.schema import MissingMigrations, missing_migrations
from tsumugi.jobs.settings import MAX_SHARDS
from tsumugi.jobs.stubs import bound

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tsumugi.jobs.api.values import Call
    from tsumugi.jobs.read_model.database import Database
    from tsumugi.jobs.settings import Settings

_log = logging.getLogger("tsumugi.jobs.api")

#: Databases are migrated and never back, so one look is enough while this Worker lives.
_migrated: WeakSet[Any] = WeakSet()


def address_of(job_id: str) -> JobId:
    """Raises ``Refused`` for what is no job id."""
    try:
        return parse_job_id(job_id)
    except MalformedJobId as error:
        raise Refused(400, str(error)) from error


def has_shard(settings: Settings, address: JobId) -> bool:
    """Whether the shard of a job can exist. Asking any other one would create it.

    A binding may have had more shards than it has now, and they still hold their jobs.
    """
    return address.binding in settings.bindings and address.shard < MAX_SHARDS


def need_shards(call: Call) -> None:
    """Raises ``MissingBinding``, before many are asked at once."""
    bound(call.env, call.services.settings.env.shard, "shard")


@contextlib.asynccontextmanager
async def read_model(call: Call) -> AsyncIterator[Database]:
    """The database, once it has every migration; else a 503 that names those it lacks.

    What D1 raises within is a 503, too: it comes and goes, and nothing is decided from it.
    """
    name = call.services.settings.env.database
    database: Database = bound(call.env, name, "database")
    try:
        await _check_migrations(call, database)
        yield database
    except Refused:
        raise
    except Exception as error:
        _log.warning("the read model cannot be read", exc_info=True)
        raise Refused(503, f"the database {name} does not answer now: {error}") from error


async def _check_migrations(call: Call, database: Database) -> None:
    if call.services in _migrated:
        return
    missing = await missing_migrations(database)
    if missing:
        lacks = MissingMigrations(call.services.settings.env.database, missing)
        raise Refused(503, str(lacks), missing=missing)
    _migrated.add(call.services)
