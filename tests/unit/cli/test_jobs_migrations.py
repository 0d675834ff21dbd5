"""``tsumugi jobs migrations``: what it writes, and what it leaves alone."""

from __future__ import annotations

import json
from typing import Any

from jobs_server import CONFIG, Terminal


def with_database(terminal: Terminal, **more: Any) -> None:
    database = {"binding": "TSUMUGI_DB", "database_name": "jobs", "database_id": "1"} | more
    config = CONFIG | {"d1_databases": [database]}
    (terminal.directory / "wrangler.json").write_text(json.dumps(config))


def test_migrations_are_written_once_whatever_they_are_called(terminal: Terminal) -> None:
    with_database(terminal, migrations_dir="sql/jobs")
    ran = terminal.jobs("migrations")
    file = terminal.directory / "sql" / "jobs" / "0001_tsumugi_jobs.sql"
    assert (ran.code, file.is_file()) == (0, True)
    assert "tsumugi d1 migrations apply TSUMUGI_DB" in ran.out
    file.rename(file.with_name("0042_jobs.sql"))
    ran = terminal.jobs("migrations", "--json")
    assert (ran.code, json.loads(ran.out)) == (0, {"written": []})
    assert not file.exists()


def test_a_file_that_is_something_else_is_not_written_over(terminal: Terminal) -> None:
    with_database(terminal)
    file = terminal.directory / "migrations" / "0001_tsumugi_jobs.sql"
    file.parent.mkdir()
    file.write_text("-- mine\n")
    ran = terminal.jobs("migrations")
    assert (ran.code, "is another migration" in ran.error) == (1, True)
    assert file.read_text() == "-- mine\n"


def test_migrations_without_a_database_say_what_to_add(terminal: Terminal) -> None:
    ran = terminal.jobs("migrations")
    assert (ran.code, '"binding": "TSUMUGI_DB"' in ran.error) == (1, True)
    with_database(terminal)
    assert terminal.jobs("migrations", "--database", "jobs").code == 0
