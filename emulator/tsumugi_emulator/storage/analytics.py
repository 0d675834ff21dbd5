"""Analytics Engine datasets: data points in, SQL over them. No JavaScript values, no HTTP.

Locally every point is kept, so ``_sample_interval`` is 1. One file for each dataset.
"""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from tsumugi_emulator.storage import analytics_functions
from tsumugi_emulator.storage.analytics_columns import kind_of_name
from tsumugi_emulator.storage.analytics_sql import QueryError, translate
from tsumugi_emulator.storage.files import connect, database_path, transaction

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tsumugi_emulator.clock import Clock
    from tsumugi_emulator.storage.analytics_sql import Translated

KIND = "analytics"
#: Below this one, whole numbers of a double are exact.
_EXACT = 2**53
FIELDS = 20
_NAMES = [f"blob{n}" for n in range(1, FIELDS + 1)] + [f"double{n}" for n in range(1, FIELDS + 1)]
_TABLE = (
    "CREATE TABLE IF NOT EXISTS points (dataset TEXT NOT NULL, timestamp INTEGER NOT NULL,"
    " _sample_interval INTEGER NOT NULL DEFAULT 1, index1 TEXT NOT NULL, "
    + ", ".join(
        f"{name} {'TEXT' if name.startswith('blob') else 'REAL'} NOT NULL" for name in _NAMES
    )
    + ")"
)
_INSERT = (
    f"INSERT INTO points (dataset, timestamp, index1, {', '.join(_NAMES)})"
    f" VALUES ({', '.join('?' * (3 + 2 * FIELDS))})"
)


class DataPoint(NamedTuple):
    index1: str
    blobs: Sequence[str]
    doubles: Sequence[float]


class AnalyticsStore:
    """Writes one dataset. Use ``open``."""

    def __init__(self, db: sqlite3.Connection, dataset: str, clock: Clock) -> None:
        self._db = db
        self._dataset = dataset
        self._clock = clock
        db.execute(_TABLE)
        db.execute("CREATE INDEX IF NOT EXISTS by_time ON points (timestamp)")

    @classmethod
    def open(cls, path: Path, *, dataset: str, clock: Clock) -> AnalyticsStore:
        return cls(connect(path), dataset, clock)

    def close(self) -> None:
        self._db.close()

    def write(self, points: Sequence[DataPoint]) -> None:
        """Durable when it returns."""
        now_s = self._clock.now_ms() // 1000
        rows = [
            (
                self._dataset,
                now_s,
                point.index1,
                *point.blobs,
                *[""] * (FIELDS - len(point.blobs)),
                *point.doubles,
                *[0.0] * (FIELDS - len(point.doubles)),
            )
            for point in points
        ]
        with transaction(self._db):
            self._db.executemany(_INSERT, rows)


class Answer(NamedTuple):
    #: Name and ClickHouse type of each column.
    columns: list[tuple[str, str]]
    rows: list[tuple[Any, ...]]
    #: JSON, JSONEachRow or TabSeparated.
    format: str


def query(state: Path, sql: str, clock: Clock) -> Answer:
    """Run a SELECT, or SHOW TABLES, of the SQL API's language (ADR-0064 lists the subset).

    Raises:
        QueryError: it is not in the subset, or its dataset has no points.
    """
    translated = translate(sql)
    if translated.shows_tables:
        rows: list[tuple[Any, ...]] = [(name, "dataset") for name in datasets(state)]
        return Answer([("dataset", "String"), ("type", "String")], rows, translated.format)
    db = _open(state, translated.dataset)
    failures: list[str] = []
    try:
        analytics_functions.install(db, clock, failures)
        cursor = db.execute(translated.sql)
        fetched = cursor.fetchall()
        names = [column[0] for column in cursor.description]
    except sqlite3.Error as error:
        raise QueryError(failures[0] if failures else str(error)) from error
    finally:
        db.close()
    kinds = [_kind(translated, names, fetched, place) for place in range(len(names))]
    rows = [tuple(map(_shown, row, kinds)) for row in fetched]
    return Answer(list(zip(names, kinds, strict=True)), rows, translated.format)


def datasets(state: Path) -> list[str]:
    """Datasets that have been written to."""
    return sorted(unquote(path.stem) for path in (state / KIND).glob("*.sqlite"))


def _open(state: Path, dataset: str | None) -> sqlite3.Connection:
    if dataset is None:
        return sqlite3.connect(":memory:")
    path = database_path(state, KIND, dataset)
    if not path.is_file():
        known = ", ".join(datasets(state)) or "none"
        raise QueryError(f"unable to find type of column: dataset {dataset!r} (written: {known})")
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


def _kind(translated: Translated, names: list[str], rows: list[Any], place: int) -> str:
    """A column's type: by its expression where that says it, else by its values."""
    told = translated.kinds.get(names[place]) or kind_of_name(names[place])
    if told is not None:
        return told
    kinds = {type(row[place]) for row in rows} - {type(None)}
    if kinds == {int}:
        return "UInt64"
    return "String" if str in kinds else "Float64"


def _shown(value: Any, kind: str) -> Any:
    if kind == "DateTime" and isinstance(value, int):
        return analytics_functions.format_time(value)
    if kind == "UInt64" and isinstance(value, int):
        return str(value)  # 64 bits do not fit a JSON number
    if kind == "Array(String)" and isinstance(value, str):
        return json.loads(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)  # as it is written there
    return value
