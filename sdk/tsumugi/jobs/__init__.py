"""Jobs on top of queues: states, retries, limits, priorities, guarantees and a REST API.

``core`` decides. ``shard`` keeps the truth in a Durable Object. ``consumer`` performs. ``client``
enqueues and controls. ``read_model`` lists and counts in D1. ``api`` is all of it over HTTP, and
``app`` puts them together. ``wire`` and ``settings`` are what they share.
"""

from __future__ import annotations
