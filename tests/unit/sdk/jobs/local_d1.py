"""A D1 database for tests: the emulator's store behind the part of the binding the SDK uses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import tsumugi.jobs.read_model.schema as schema
from tsumugi_emulator.storage import migrations
from tsumugi_emulator.storage.d1 import D1Store, Query

if TYPE_CHECKING:
    from collections.abc import Callable

MIGRATIONS = Path(schema.__file__).with_name("migrations")


class LocalStatement:
    def __init__(self, database: LocalD1, sql: str, params: tuple[Any, ...] = ()) -> None:
        self._database = database
        self.query = Query(sql, params)

    def bind(self, *values: Any) -> LocalStatement:
        return LocalStatement(self._database, self.query.sql, values)

    async def first(self, column: str) -> Any:
        [result] = await self._database.batch([self])
        return result["results"][0][column] if result["results"] else None


class LocalD1:
    """``env.TSUMUGI_DB`` without JavaScript. ``fail`` raises what the next calls shall raise."""

    def __init__(self, *, migrated: bool = True) -> None:
        self.store = D1Store.open(Path(":memory:"))
        self.batches: list[list[Query]] = []
        self.fail: Callable[[list[Query]], None] = lambda _queries: None
        if migrated:
            for name in schema.MIGRATIONS:
                self.migrate(name)

    def migrate(self, name: str) -> None:
        migrations.applied(self.store, "d1_migrations")
        file = MIGRATIONS / f"{name}.sql"
        migrations.apply(self.store, "d1_migrations", name=file.name, sql=file.read_text())

    def prepare(self, sql: str) -> LocalStatement:
        return LocalStatement(self, sql)

    async def batch(self, statements: list[Any]) -> list[dict[str, Any]]:
        queries = [statement.query for statement in statements]
        self.batches.append(queries)
        self.fail(queries)
        results = self.store.run(queries)
        return [
            {
                "results": [dict(zip(result.columns, row, strict=True)) for row in result.rows],
                "meta": {"rows_written": result.rows_written, "rows_read": result.rows_read},
            }
            for result in results
        ]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        [result] = self.store.run([Query(sql)])
        return result.rows

    def plan(self, query: Query) -> list[str]:
        """How SQLite goes about it. Not through the store: D1 has no EXPLAIN."""
        params = {str(place): value for place, value in enumerate(query.params, 1)}
        rows = self.store._db.execute(f"EXPLAIN QUERY PLAN {query.sql}", params)
        return [row[3] for row in rows]
