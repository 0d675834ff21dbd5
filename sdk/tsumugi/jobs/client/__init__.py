"""The callers' side: enqueue jobs and control them. Everything is checked before any I/O.

``options`` and ``enqueueing`` make jobs, ``control`` acts on single ones, ``policies`` on whole
bindings, and ``fan_out`` asks several shards at once. It keeps nothing and lists nothing.
"""

from __future__ import annotations
