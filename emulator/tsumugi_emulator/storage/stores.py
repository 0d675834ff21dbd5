"""Every store of one state directory, opened when first used and then kept open."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.storage.analytics import KIND, AnalyticsStore
from tsumugi_emulator.storage.d1 import D1Store
from tsumugi_emulator.storage.files import database_path
from tsumugi_emulator.storage.kv import KvStore
from tsumugi_emulator.storage.r2 import R2Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tsumugi_emulator.clock import Clock


class Stores:
    """Two bindings of the same resource get the same store."""

    def __init__(self, state: Path, clock: Clock) -> None:
        self._state = state
        self._clock = clock
        self._opened: dict[tuple[str, str], Any] = {}

    def d1(self, identity: str) -> D1Store:
        return self._get("d1", identity, D1Store.open)

    def kv(self, identity: str) -> KvStore:
        return self._get("kv", identity, partial(KvStore.open, clock=self._clock))

    def r2(self, bucket: str) -> R2Store:
        return self._get("r2", bucket, partial(R2Store.open, clock=self._clock))

    def analytics(self, dataset: str) -> AnalyticsStore:
        open_ = partial(AnalyticsStore.open, dataset=dataset, clock=self._clock)
        return self._get(KIND, dataset, open_)

    def close(self) -> None:
        for store in self._opened.values():
            store.close()
        self._opened.clear()

    def _get[T](self, kind: str, identity: str, open_: Callable[[Path], T]) -> T:
        found = self._opened.get((kind, identity))
        if found is None:
            found = open_(database_path(self._state, kind, identity))
            self._opened[kind, identity] = found
        store: T = found
        return store
