"""Which migrations the read model needs, and which of them a database lacks. Applies none.

The files are in ``migrations``; a project has copies of them (``tsumugi jobs migrations``), because
``tsumugi d1 migrations apply`` and wrangler read a folder of the project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tsumugi.jobs.read_model.database import ask

if TYPE_CHECKING:
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


async def missing_migrations(database: Database) -> list[str]:
    """Names of migrations that were not applied, in order. Raises what D1 raises."""
    if not await ask(database, _TABLES, "tsumugi_migrations"):
        return list(MIGRATIONS)
    applied = set(await ask(database, _APPLIED, True))
    return [name for name in MIGRATIONS if name not in applied]
