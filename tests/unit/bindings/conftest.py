"""A D1 database, a KV namespace and their friends on files of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from binding_harness import Bench, clock
from tsumugi_emulator.config.model import (
    AnalyticsDataset,
    D1Database,
    KvNamespace,
    R2Bucket,
    RateLimit,
    Resources,
)
from tsumugi_emulator.storage.stores import Stores
from tsumugi_emulator.stored_message import stored_message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RESOURCES = Resources(
    kv_namespaces=(KvNamespace(binding="KV", id="cache"),),
    d1_databases=(D1Database(binding="DB", name="data", id="data"),),
    r2_buckets=(R2Bucket(binding="R2", bucket="files"),),
    analytics_datasets=(AnalyticsDataset(binding="AE", dataset="events"),),
    rate_limits=(RateLimit(binding="LIMIT", namespace_id="1", limit=2, period_s=10),),
    version_metadata="VERSION",
)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    from tsumugi_emulator.bindings.stored import stored_bindings

    time = clock()
    stores = Stores(tmp_path, time)
    yield Bench(dict(stored_bindings(stored_message(RESOURCES, tmp_path), time, stores)), time)
    stores.close()
