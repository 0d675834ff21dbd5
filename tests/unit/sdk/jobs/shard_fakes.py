"""Shards that remember what they are told and answer what a test says. They decide nothing."""

from __future__ import annotations

import json
from collections import defaultdict
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

BINDING_ID = 28 * "0"


def local_id(number: int) -> str:
    return f"{number:028x}"


class FakeShards:
    """A Durable Object namespace. ``calls`` has ``(shard, method, request)`` in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, Any]] = []
        #: By method: called with (shard, request), answers or raises.
        self.on: dict[str, Callable[[str, Any], Any]] = {
            "enqueue": self._enqueue,
            "begin": lambda _shard, request: {"jobs": [{"refused": None} for _ in request["jobs"]]},
            "settle": lambda _shard, _request: {"stale": []},
        }
        self._numbers: dict[str, int] = defaultdict(int)

    def getByName(self, name: str) -> Any:
        return _Stub(self, name)

    def of(self, method: str) -> list[Any]:
        """The requests of a method, of all shards."""
        return [request for _, called, request in self.calls if called == method]

    def reports(self) -> list[Any]:
        return [report for request in self.of("settle") for report in request.get("reports", ())]

    def outcomes(self) -> dict[str, str]:
        return {report["id"]: report["outcome"] for report in self.reports()}

    def beats(self) -> list[Any]:
        return [beat for request in self.of("settle") for beat in request.get("beats", ())]

    def lines(self) -> list[str]:
        return [line["text"] for request in self.of("settle") for line in request.get("logs", ())]

    def _enqueue(self, shard: str, request: Any) -> Any:
        ids = []
        for _ in request["jobs"]:
            self._numbers[shard] += 1
            ids.append(f"{shard}:{local_id(self._numbers[shard])}")
        return {"ids": ids, "created": [True] * len(ids)}


class _Stub:
    def __init__(self, shards: FakeShards, name: str) -> None:
        self._shards = shards
        self._name = name

    def __getattr__(self, method: str) -> Any:
        async def call(text: str = "null") -> str:
            request = json.loads(text)
            self._shards.calls.append((self._name, method, request))
            answer = self._shards.on[method](self._name, request)
            if hasattr(answer, "__await__"):
                answer = await answer
            return json.dumps(answer)

        return call


def env_of(shards: FakeShards, **more: Any) -> Any:
    return SimpleNamespace(TSUMUGI_SHARD=shards, **more)
