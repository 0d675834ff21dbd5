"""Limits of Durable Objects, with where they come from. Constants only."""

from __future__ import annotations

#: Storage limits of SQLite-backed objects (Durable Objects limits page).
MAX_KEY_BYTES = 2048
MAX_VALUE_BYTES = 2 * 1024 * 1024
#: Of objects without SQLite; what a value's encoding adds to it is granted beyond that.
MAX_VALUE_BYTES_WITHOUT_SQL = 128 * 1024
VALUE_ALLOWANCE_BYTES = 34
#: ``get``, ``put`` and ``delete`` take this many keys at once.
MAX_KEYS = 128
#: Arguments or results of one call (Workers RPC limits).
MAX_RPC_BYTES = 32 * 1024 * 1024
#: A critical section that takes longer resets its object (blockConcurrencyWhile reference).
SECTION_LIMIT_MS = 30_000
#: An object nobody uses leaves memory after this long (production: about 10 s).
IDLE_MS = 10_000
#: Objects kept in memory although idle: each may hold two open files.
MAX_IDLE_OBJECTS = 200
#: How long an object may stay with an old version of the code once the new one asks for it.
HANDOVER_LIMIT_MS = 10_000
#: Alarm handlers at work at the same time, and rows read from the index in one go.
ALARM_CONCURRENCY = 32
ALARM_READ = 256
