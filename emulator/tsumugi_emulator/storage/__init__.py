"""D1, KV, R2 and Analytics Engine data as SQLite files. Knows nothing of JavaScript or Workers.

A child, a command and another Worker may have the same file open at once: SQLite's own locks
decide who writes.
"""

from __future__ import annotations
