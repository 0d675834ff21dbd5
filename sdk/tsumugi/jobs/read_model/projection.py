"""Write snapshots of jobs into D1: one statement for many, and an older one changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.read_model.database import VALUE_BYTES
from tsumugi.jobs.wire import dumps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tsumugi.jobs.read_model.database import Database, Statement
    from tsumugi.jobs.wire import Snapshot

#: The columns of a row, in the order of its parameters; ``detail`` follows them.
COLUMNS: Final = (
    "id",
    "version",
    "binding",
    "shard",
    "state",
    "priority",
    "attempts",
    "max_attempts",
    "guarantee",
    "concurrency_key",
    "unique_key",
    "progress",
    "created_at",
    "ready_at",
    "queued_at",
    "started_at",
    "finished_at",
    "expires_at",
    "updated_at",
)
#: Everything else of a snapshot.
DETAILS: Final = (
    "backoff",
    "timeout_ms",
    "partition_key",
    "traceparent",
    "payload",
    "result",
    "note",
    "error",
    "cancelled_because",
    "attempts_log",
    "logs",
)
#: Rows of one statement: D1 is blocked for others while it runs.
CHUNK_ROWS: Final = 1_000
#: Bytes of its rows. A detail is text within the parameter's JSON: escapes may double it.
CHUNK_BYTES: Final = 900_000
#: What a row takes up without its keys and its detail, and a character of a key at most.
HEAD_BYTES: Final = 600
ESCAPED_BYTES: Final = 6
#: A detail from this size on is bound as it is.
LARGE_BYTES: Final = 300_000

_columns: Final = itemgetter(*COLUMNS)
_details: Final = itemgetter(*DETAILS)
_keys: Final = itemgetter("concurrency_key", "unique_key")
_VERSION, _STATE, _DETAIL = COLUMNS.index("version"), COLUMNS.index("state"), len(COLUMNS)
# Details stay texts within the parameter: whatever a payload holds or however deep it is nested,
# D1 does not look into it.
_NEW: Final = (
    "SELECT "
    + ", ".join(f"value ->> {place} AS {name}" for place, name in enumerate(COLUMNS))
    + ", value ->> {detail} AS detail FROM json_each(?1)"
)
_SEVERAL: Final = _NEW.replace("{detail}", str(_DETAIL))
_ONE_LARGE: Final = _NEW.replace("value ->> {detail}", "?2")


def _upsert(new: str) -> str:
    names = (*COLUMNS, "detail")
    changed = ", ".join(f"{name} = excluded.{name}" for name in names if name != "id")
    return (
        f"INSERT INTO tsumugi_jobs ({', '.join(names)}) {new} WHERE true "
        f"ON CONFLICT (id) DO UPDATE SET {changed} WHERE excluded.version > tsumugi_jobs.version"
    )


#: Before the upsert, in its transaction: what it is going to change.
_COUNT: Final = f"""
WITH new AS MATERIALIZED (
  SELECT value ->> 0 AS id, value ->> {_VERSION} AS version,
    value ->> {COLUMNS.index("binding")} AS binding, value ->> {_STATE} AS state
  FROM json_each(?1)
), changes AS MATERIALIZED (
  SELECT new.binding, new.state, old.binding AS old_binding, old.state AS old_state
  FROM new LEFT JOIN tsumugi_jobs AS old ON old.id = new.id
  WHERE old.id IS NULL OR new.version > old.version
)
INSERT INTO tsumugi_job_counts (binding, state, jobs)
SELECT binding, state, sum(change) FROM (
  SELECT binding, state, 1 AS change FROM changes
  UNION ALL
  SELECT old_binding, old_state, -1 FROM changes WHERE old_state IS NOT NULL
) WHERE true GROUP BY binding, state HAVING sum(change) <> 0
ON CONFLICT (binding, state) DO UPDATE SET jobs = jobs + excluded.jobs
"""


async def project(database: Database, snapshots: Sequence[Snapshot]) -> None:
    """Bring the read model up to these snapshots; doing it again changes nothing.

    A snapshot that is older than the row it belongs to is passed over. All of a chunk is written
    or nothing; chunks before one that failed stay. Raises what D1 raises.
    """
    latest = {snapshot["id"]: snapshot for snapshot in sorted(snapshots, key=_version)}
    for chunk in _chunks(map(_Row.of, latest.values())):
        await database.batch(_statements(database, chunk))


def _version(snapshot: Snapshot) -> int:
    return snapshot["version"]


@dataclass(frozen=True, slots=True)
class _Row:
    values: list[Any]
    detail: str
    #: At most, as part of a parameter.
    size_bytes: int

    @classmethod
    def of(cls, snapshot: Snapshot) -> _Row:
        values = list(_columns(snapshot))
        head_bytes = HEAD_BYTES + ESCAPED_BYTES * sum(map(len, filter(None, _keys(snapshot))))
        detail = dumps(dict(zip(DETAILS, _details(snapshot), strict=True)))
        if head_bytes + _size(detail) > VALUE_BYTES:
            # It would fail for ever, and what waits behind it would never be written.
            left: dict[str, Any] = dict(zip(DETAILS, _details(snapshot), strict=True))
            left |= {"payload": None, "result": None, "logs": [], "attempts_log": []}
            left["note"] = "payload, result and logs are too large for the read model"
            detail = dumps(left)
        return cls(values, detail, head_bytes + _size(detail))


@dataclass(frozen=True, slots=True)
class _Chunk:
    text: str
    #: The detail of its only row, when that is too large to be part of the text.
    detail: str | None = None


def _chunks(rows: Iterable[_Row]) -> Iterator[_Chunk]:
    values: list[list[Any]] = []
    filled_bytes = 0
    for row in rows:
        if row.size_bytes > LARGE_BYTES:
            yield _Chunk(dumps([row.values]), row.detail)
            continue
        if values and (len(values) == CHUNK_ROWS or filled_bytes + row.size_bytes > CHUNK_BYTES):
            yield _Chunk(dumps(values))
            values, filled_bytes = [], 0
        values.append([*row.values, row.detail])
        filled_bytes += row.size_bytes
    if values:
        yield _Chunk(dumps(values))


def _statements(database: Database, chunk: _Chunk) -> list[Statement]:
    count = database.prepare(_COUNT).bind(chunk.text)
    if chunk.detail is None:
        return [count, database.prepare(_upsert(_SEVERAL)).bind(chunk.text)]
    return [count, database.prepare(_upsert(_ONE_LARGE)).bind(chunk.text, chunk.detail)]


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
