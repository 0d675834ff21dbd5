"""``tsumugi d1``: SQL and migrations on a database's file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.cli import d1
from tsumugi_emulator.cli.configuration import load_configuration
from tsumugi_emulator.cli.resources import Place
from tsumugi_emulator.cli.terminal import Terminal
from tsumugi_emulator.storage.d1 import D1Store, Query

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = {
    "name": "api",
    "main": "src/entry.py",
    "compatibility_date": "2026-09-08",
    "compatibility_flags": ["python_workers"],
    "d1_databases": [{"binding": "DB", "database_name": "shop", "database_id": "123"}],
}


class Shop:
    """A project with a database, and what commands print about it."""

    def __init__(self, directory: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.directory = directory
        self._capfd = capfd
        self.write("src/entry.py", "")
        self.write("wrangler.json", json.dumps(CONFIG))
        config = directory / "wrangler.json"
        self.place = Place(config=config, environment=None, persist_to=None)

    def write(self, name: str, text: str) -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def execute(self, sql: str, name: str = "shop", *, as_json: bool = False) -> int:
        return d1.execute(self.place, name, command=sql, file=None, as_json=as_json)

    def rows(self, sql: str) -> Any:
        self._capfd.readouterr()
        assert self.execute(sql, as_json=True) == 0
        return json.loads(self._capfd.readouterr().out)[-1]["results"]

    def printed(self) -> str:
        return self._capfd.readouterr().out

    def complaint(self) -> str:
        return self._capfd.readouterr().err


@pytest.fixture
def shop(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Shop:
    return Shop(tmp_path, capfd)


def test_sql_is_run_and_shown_as_a_table(shop: Shop) -> None:
    assert (
        shop.execute("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, NULL); SELECT * FROM t") == 0
    )
    printed = shop.printed()
    assert "🌀 Executing on local database shop (123) from " in printed
    assert "🚣 3 commands executed successfully." in printed
    assert "│ a │ b    │" in printed
    assert "│ 1 │ null │" in printed


def test_results_can_be_json(shop: Shop) -> None:
    shop.execute("SELECT 1 AS a", as_json=True)
    (result,) = json.loads(shop.printed())
    assert isinstance(result.pop("meta")["duration"], int)
    assert result == {"results": [{"a": 1}], "success": True}


def test_numbers_and_texts_in_json_are_javascripts(shop: Shop) -> None:
    sql = "SELECT 9007199254740993 AS big, 1e300 AS huge, 1e20 AS full, 2.0 AS whole, 1e999 AS inf"
    assert shop.execute(f"{sql}, 'é' AS text", as_json=True) == 0
    text = shop.printed()
    assert '"é"' in text
    (row,) = json.loads(text, parse_int=str, parse_float=str)[0]["results"]
    assert row == {
        "big": "9007199254740992", "huge": "1e+300", "full": "100000000000000000000",
        "whole": "2", "inf": None, "text": "é",
    }  # fmt: skip


def test_a_dump_of_sqlite_is_run_without_its_transaction(shop: Shop) -> None:
    dump = "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE d(a);\n"
    assert shop.execute(dump + "INSERT INTO d VALUES(1);\nCOMMIT;\n") == 0
    assert shop.rows("SELECT a FROM d") == [{"a": 1}]


def test_a_database_is_known_by_its_binding_too(shop: Shop) -> None:
    assert shop.execute("SELECT 1", "DB") == 0


def test_a_file_is_run_without_its_own_transaction(shop: Shop) -> None:
    dump = "BEGIN TRANSACTION;\nCREATE TABLE t (a);\nINSERT INTO t VALUES ('x;y');\nCOMMIT;\n"
    file = shop.write("dump.sql", dump)
    assert d1.execute(shop.place, "shop", command=None, file=file, as_json=False) == 0
    assert shop.rows("SELECT a FROM t") == [{"a": "x;y"}]


def test_what_fails_leaves_no_trace(shop: Shop) -> None:
    assert shop.execute("CREATE TABLE t (a); SELEC") == 1
    assert 'near "SELEC": syntax error at offset 0: SQLITE_ERROR' in shop.complaint()
    assert shop.rows("SELECT name FROM sqlite_schema") == []


def test_a_failure_can_be_json(shop: Shop) -> None:
    assert shop.execute("SELEC", as_json=True) == 1
    assert "syntax error" in json.loads(shop.printed())["error"]["text"]


def test_an_unknown_database_is_told_with_those_there_are(shop: Shop) -> None:
    assert shop.execute("SELECT 1", "nope") == 1
    assert (
        "Couldn't find a D1 DB with the name or binding 'nope' in your wrangler.json file. "
        "It has shop (env.DB)."
    ) in shop.complaint()


def test_a_file_that_is_missing_is_told(shop: Shop) -> None:
    missing = shop.directory / "no.sql"
    assert d1.execute(shop.place, "shop", command=None, file=missing, as_json=False) == 1
    assert "Unable to read SQL text file" in shop.complaint()


def test_it_works_while_the_database_is_in_use(shop: Shop) -> None:
    shop.execute("CREATE TABLE t (a)")
    path = shop.directory / ".wrangler" / "tsumugi" / "d1" / "123.sqlite"
    running = D1Store.open(path)
    running.run([Query("INSERT INTO t VALUES (1)")])
    assert shop.rows("INSERT INTO t VALUES (2); SELECT a FROM t ORDER BY a") == [
        {"a": 1},
        {"a": 2},
    ]
    (result,) = running.run([Query("SELECT count(*) FROM t")])
    assert result.rows == [(2,)]
    running.close()


# -- Migrations -----------------------------------------------------------------------------------


def test_migrations_are_created_listed_and_applied(shop: Shop) -> None:
    assert d1.create_migration(shop.place, "shop", "create users") == 0
    file = shop.directory / "migrations" / "0001_create_users.sql"
    assert file.read_text().startswith("-- Migration number: 0001 \t 20")
    assert "✅ Successfully created Migration '0001_create_users.sql'!" in shop.printed()
    file.write_text("CREATE TABLE users (name);\n")
    d1.list_migrations(shop.place, "shop")
    assert "0001_create_users.sql" in shop.printed()
    assert d1.apply_migrations(shop.place, "shop") == 0
    assert "✅ 0001_create_users.sql" in shop.printed()
    d1.list_migrations(shop.place, "shop")
    assert "✅ No migrations to apply!" in shop.printed()
    (row,) = shop.rows("SELECT id, name, applied_at FROM d1_migrations")
    assert (row["id"], row["name"]) == (1, "0001_create_users.sql")
    assert len(row["applied_at"]) == len("2026-01-01 00:00:00")


def test_they_are_applied_by_number(shop: Shop) -> None:
    for name in ("10_c.sql", "0002_b.sql", "1_a.sql"):
        shop.write(f"migrations/{name}", f"CREATE TABLE {name.partition('.')[0][-1]} (x)")
    assert d1.apply_migrations(shop.place, "shop") == 0
    names = shop.rows("SELECT name FROM d1_migrations ORDER BY id")
    assert [row["name"] for row in names] == ["1_a.sql", "0002_b.sql", "10_c.sql"]


def test_one_that_fails_stops_the_rest_and_leaves_no_trace(shop: Shop) -> None:
    shop.write("migrations/0001_a.sql", "CREATE TABLE a (x);")
    shop.write("migrations/0002_b.sql", "CREATE TABLE b (x); SELEC;")
    shop.write("migrations/0003_c.sql", "CREATE TABLE c (x);")
    assert d1.apply_migrations(shop.place, "shop") == 1
    assert "Migration 0002_b.sql failed with the following errors:" in shop.complaint()
    assert shop.rows("SELECT name FROM d1_migrations") == [{"name": "0001_a.sql"}]
    assert shop.rows("SELECT name FROM sqlite_schema WHERE name = 'b'") == []


def test_migrations_know_triggers_and_comments(shop: Shop) -> None:
    shop.write(
        "migrations/0001_a.sql",
        "-- one; two\nCREATE TABLE t (a);\n"
        "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END;\n/* ; */",
    )
    assert d1.apply_migrations(shop.place, "shop") == 0


def test_a_database_that_wrangler_migrated_is_known(shop: Shop) -> None:
    shop.execute(
        "CREATE TABLE d1_migrations(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE,"
        " applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL);"
        "INSERT INTO d1_migrations (name) VALUES ('0001_a.sql')"
    )
    shop.write("migrations/0001_a.sql", "SELEC")
    shop.printed()
    assert d1.list_migrations(shop.place, "shop") == 0
    assert "✅ No migrations to apply!" in shop.printed()


def test_a_missing_folder_is_told_with_what_to_set(shop: Shop) -> None:
    assert d1.list_migrations(shop.place, "shop") == 1
    complaint = shop.complaint()
    assert "No migrations folder found. Set `migrations_dir` in your wrangler.json" in complaint
    assert "No migrations present at " in complaint


def test_folder_and_table_can_be_named(shop: Shop) -> None:
    database = {**CONFIG["d1_databases"][0], "migrations_dir": "sql", "migrations_table": "done"}  # type: ignore[dict-item]
    shop.write("wrangler.json", json.dumps({**CONFIG, "d1_databases": [database]}))
    shop.write("sql/0001_a.sql", "CREATE TABLE a (x)")
    assert d1.apply_migrations(shop.place, "shop") == 0
    assert shop.rows("SELECT name FROM done") == [{"name": "0001_a.sql"}]


def make_new(shop: Shop) -> None:
    """What `tsumugi dev` does before the Worker starts."""
    config = load_configuration(shop.place.config, None).config
    assert config is not None
    d1.migrate_new(config, shop.directory / ".wrangler" / "tsumugi", Terminal())


def test_a_new_database_is_made_with_its_migrations(shop: Shop) -> None:
    shop.write("migrations/0002_more.sql", "ALTER TABLE t ADD COLUMN b;")
    shop.write("migrations/0001_first.sql", "CREATE TABLE t (a);")
    make_new(shop)
    assert "Made the local database shop" in shop.printed()
    assert shop.rows("SELECT a, b FROM t") == []


def test_a_database_that_is_there_is_left_to_its_owner(shop: Shop) -> None:
    shop.execute("CREATE TABLE mine (a)")
    shop.write("migrations/0001_first.sql", "CREATE TABLE t (a);")
    make_new(shop)
    assert shop.rows("SELECT name FROM sqlite_schema WHERE name IN ('mine', 't')") == [
        {"name": "mine"}
    ]


def test_a_migration_that_fails_in_a_new_database_is_told(shop: Shop) -> None:
    shop.write("migrations/0001_first.sql", "CREATE TABEL t (a);")
    make_new(shop)
    assert "Migration 0001_first.sql failed" in shop.complaint()


def test_a_database_without_migrations_is_not_made(shop: Shop) -> None:
    make_new(shop)
    assert not (shop.directory / ".wrangler").exists()
