"""Jobs on top of queues. Nothing here is public yet; the decisions are in ``core``."""

from __future__ import annotations
