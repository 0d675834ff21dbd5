"""Which migrations the read model needs, and which of them a database lacks. Applies none.

The files are in ``migrations``; a project has copies of them (``tsumugi jobs migrations``), because
``tsumugi d1 migrations apply`` and wrangler read a folder of the project.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from tsumugi.jobs.read_model.database import ask

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tsumugi.jobs.read_model.database import Database

#: In order; each file notes its name in the database it is applied to.
MIGRATIONS: Final = ("0001_tsumugi_jobs",)

_TABLES: Final = """
SELECT json_group_array(name) AS answer FROM sqlite_master
WHERE type = 'table' AND name = ?1 ->> '$'
"""
_APPLIED: Final = """
SELECT json_group_array(name) AS answer FROM tsumugi_migrations WHERE ?1 IS NOT NULL
"""


#: What D1 says of a table that a migration would have made.
_NO_TABLE: Final = "no such table: tsumugi_"


class MissingMigrations(LookupError):
    """The database ``env.<name>`` has no tables for jobs, or not all. The text has what to run."""

    def __init__(self, name: str, missing: Sequence[str] = MIGRATIONS) -> None:
        files = ", ".join(f"{one}.sql" for one in missing)
        super().__init__(
            f"the database {name} lacks the migrations {files}. Run `tsumugi jobs migrations` in "
            f"the project, then `tsumugi d1 migrations apply {name}` (locally) or `wrangler d1 "
            f"migrations apply {name} --remote` (deployed)"
        )


@contextlib.contextmanager
def migrated(name: str) -> Iterator[None]:
    """Work with the database ``env.<name>``. Raises ``MissingMigrations`` if a table is not there.

    Asks nothing: what D1 raises says it.
    """
    try:
        yield
    except Exception as error:
        if _NO_TABLE in str(error):
            raise MissingMigrations(name) from error
        raise


async def missing_migrations(database: Database) -> list[str]:
    """Names of migrations that were not applied, in order. Raises what D1 raises."""
    if not await ask(database, _TABLES, "tsumugi_migrations"):
        return list(MIGRATIONS)
    applied = set(await ask(database, _APPLIED, True))
    return [name for name in MIGRATIONS if name not in applied]
