"""What a child is told about its stored bindings: the counterpart of ``bindings.stored``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.config.model import Resources

if TYPE_CHECKING:
    from pathlib import Path


def stored_message(resources: Resources, state: Path) -> dict[str, Any]:
    """Plain values, as frames carry them; empty for a Worker without such bindings."""
    if resources == Resources():
        return {}
    return {
        "state": str(state),
        "kv": [[kv.binding, kv.id] for kv in resources.kv_namespaces],
        "d1": [[database.binding, database.id] for database in resources.d1_databases],
        "r2": [[bucket.binding, bucket.bucket] for bucket in resources.r2_buckets],
        "analytics": [[data.binding, data.dataset] for data in resources.analytics_datasets],
        "rate_limits": [
            [limit.binding, limit.namespace_id, limit.limit, limit.period_s]
            for limit in resources.rate_limits
        ],
        "version_metadata": resources.version_metadata,
    }
