"""Rows read and written are those that production counts, where SQLite tells enough (ADR-0272).

The figures are what workerd says for the same statements in the same order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tsumugi_emulator.storage.d1 import D1Store, Query

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PREPARED = """
CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b INTEGER, c REAL);
CREATE INDEX t_a ON t (a);
CREATE TABLE k (key TEXT PRIMARY KEY, v);
CREATE TABLE w (key TEXT PRIMARY KEY, v) WITHOUT ROWID;
CREATE TABLE u (id INTEGER PRIMARY KEY, x INTEGER UNIQUE);
CREATE TABLE auto (id INTEGER PRIMARY KEY AUTOINCREMENT, v);
CREATE TABLE log (id INTEGER PRIMARY KEY, what TEXT);
CREATE TABLE watched (id INTEGER PRIMARY KEY, v);
CREATE TRIGGER wrote AFTER INSERT ON watched BEGIN INSERT INTO log (what) VALUES (new.v); END;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
    INSERT INTO t (a, b, c) SELECT 'a' || (i % 10), i, i * 1.5 FROM n;
INSERT INTO t (a) VALUES ('z'), ('y');
INSERT INTO k VALUES ('a', 1), ('b', 2), ('c', 3);
INSERT INTO w VALUES ('a', 1), ('b', 2), ('c', 3);
INSERT INTO u (x) VALUES (1), (2), (3);
INSERT INTO auto (v) VALUES (1)
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[D1Store]:
    store = D1Store.open(tmp_path / "rows.sqlite")
    store.run([Query(PREPARED)])
    yield store
    store.close()


@pytest.mark.parametrize(
    ("statement", "read", "written"),
    [
        ("CREATE TABLE n (id INTEGER PRIMARY KEY, v)", 1, 2),
        ("CREATE TABLE n (id TEXT PRIMARY KEY, v)", 1, 3),
        ("CREATE TABLE IF NOT EXISTS k (id)", 0, 0),
        ("CREATE INDEX n ON log (what)", 2, 1),
        ("SELECT 1", 0, 0),
        ("SELECT * FROM t WHERE id = 5", 1, 0),
        ("SELECT * FROM t WHERE id = 5000", 1, 0),
        ("SELECT * FROM t WHERE id IN (1, 2, 3)", 6, 0),
        ("SELECT * FROM t WHERE id BETWEEN 10 AND 19", 11, 0),
        ("SELECT * FROM t", 102, 0),
        ("SELECT * FROM t LIMIT 5", 5, 0),
        ("SELECT * FROM t LIMIT 5 OFFSET 10", 15, 0),
        ("SELECT * FROM t WHERE b = 50", 102, 0),
        ("SELECT * FROM t WHERE b = 50 LIMIT 1", 50, 0),
        ("SELECT * FROM t WHERE a = 'a3'", 11, 0),
        ("SELECT * FROM t WHERE a = 'nothing'", 0, 0),
        ("SELECT * FROM t WHERE a = 'a3' AND b > 50", 11, 0),
        ("SELECT * FROM t ORDER BY b", 204, 0),
        ("SELECT * FROM t ORDER BY b LIMIT 3", 204, 0),
        ("SELECT * FROM t ORDER BY id DESC LIMIT 3", 3, 0),
        ("SELECT count(*) FROM t", 102, 0),
        ("SELECT count(*) FROM t WHERE a = 'a3'", 11, 0),
        ("SELECT max(id) FROM t", 1, 0),
        ("SELECT a, count(*) FROM t GROUP BY a", 102, 0),
        ("SELECT b % 3, count(*) FROM t GROUP BY b % 3", 204, 0),
        ("SELECT t.id, k.v FROM t JOIN k ON k.key = t.a", 102, 0),
        ("SELECT x.id FROM k JOIN t x", 309, 0),
        ("SELECT id FROM t WHERE a = 'a1' UNION ALL SELECT id FROM t WHERE a = 'a2'", 22, 0),
        ("SELECT * FROM w WHERE key = 'b'", 1, 0),
        ("SELECT t.id FROM json_each('[1,2,3]') j JOIN t ON t.id = j.value", 6, 0),
        ("UPDATE t SET b = 0 WHERE id = 5", 1, 1),
        ("UPDATE t SET b = 0 WHERE id = 5000", 1, 0),
        ("UPDATE t SET a = 'new' WHERE id = 5", 1, 2),
        ("UPDATE t SET b = 0 WHERE b > 90", 102, 10),
        ("UPDATE t SET c = 1", 102, 102),
        ("UPDATE w SET v = 1", 3, 3),
        ("UPDATE u SET x = x + 10", 3, 6),
        ("INSERT INTO k VALUES ('m', 7)", 0, 2),
        ("INSERT INTO t (id, a) VALUES (500, 'z')", 1, 2),
        ("INSERT INTO w VALUES ('q', 5)", 0, 1),
        ("INSERT INTO auto (v) VALUES (3)", 1, 2),
        ("INSERT INTO watched (v) VALUES (1)", 0, 2),
        ("INSERT OR IGNORE INTO k VALUES ('b', 6)", 0, 0),
        ("INSERT INTO k SELECT 'copy' || id, b FROM t WHERE id < 6", 6, 10),
        ("DELETE FROM t WHERE id = 8", 1, 1),
        ("DELETE FROM t WHERE a = 'a6'", 11, 10),
        ("DELETE FROM t", 0, 102),
    ],
)
def test_figures_are_productions(store: D1Store, statement: str, read: int, written: int) -> None:
    result = store.run([Query(statement)])[0]
    assert (result.rows_read, result.rows_written) == (read, written)


def test_what_was_compiled_for_an_older_schema_is_forgotten(store: D1Store) -> None:
    insert = "INSERT INTO log (what) VALUES ('x')"
    assert store.run([Query(insert)])[0].rows_written == 1
    store.run([Query("CREATE INDEX whats ON log (what)")])
    assert store.run([Query(insert)])[0].rows_written == 2
