"""The bindings to stored things, as a boot message lists them. One line each, no rules."""

from __future__ import annotations

import uuid
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.analytics_engine import AnalyticsEngineDataset
from tsumugi_emulator.bindings.d1 import D1Database
from tsumugi_emulator.bindings.kv import KvNamespace
from tsumugi_emulator.bindings.r2 import R2Bucket
from tsumugi_emulator.bindings.rate_limit import Counter, RateLimit
from tsumugi_emulator.javascript.date import JsDate
from tsumugi_emulator.javascript.values import JsObject
from tsumugi_emulator.storage.stores import Stores

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tsumugi_emulator.clock import Clock


def stored_bindings(
    message: Mapping[str, Any], clock: Clock, stores: Stores | None = None
) -> Iterator[tuple[str, Any]]:
    """Name and host object of each; no file is opened before it is used."""
    stores = stores or Stores(Path(message["state"]), clock)
    for name, identity in message["kv"]:
        yield name, KvNamespace(name, partial(stores.kv, identity), clock)
    for name, identity in message["d1"]:
        yield name, D1Database(name, partial(stores.d1, identity), clock)
    for name, bucket in message["r2"]:
        yield name, R2Bucket(name, partial(stores.r2, bucket))
    for name, dataset in message["analytics"]:
        yield name, AnalyticsEngineDataset(partial(stores.analytics, dataset))
    counters: dict[str, Counter] = {}
    for name, namespace, limit, period_s in message["rate_limits"]:
        counter = counters.setdefault(namespace, Counter(limit, period_s))
        yield name, RateLimit(name, counter, clock)
    if message["version_metadata"]:
        yield message["version_metadata"], _version(clock)


def _version(clock: Clock) -> JsObject:
    """Every load is a new version."""
    timestamp = JsDate(clock.now_ms()).toISOString()
    return JsObject({"id": str(uuid.uuid4()), "tag": "", "timestamp": timestamp})
