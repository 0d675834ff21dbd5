"""What a Worker says once about its jobs. Values only; reads no environment."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from tsumugi.jobs.core.ids import shard_name
from tsumugi.jobs.core.model import Policy
from tsumugi.jobs.core.retention import SEVEN_DAYS_MS, Retention

#: More objects than this would share one policy no one can reason about.
MAX_SHARDS: Final = 1_024
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """How the jobs of one performer run."""

    policy: Policy = field(default_factory=Policy)
    #: With more than one, every job needs a ``partition_key``, and the policy holds per shard.
    shards: int = 1

    def __post_init__(self) -> None:
        whole = isinstance(self.shards, int) and not isinstance(self.shards, bool)
        if not whole or not 1 <= self.shards <= MAX_SHARDS:
            raise ValueError(f"shards must be a whole number from 1 to {MAX_SHARDS}")

    def check_name(self, name: str) -> None:
        """Raises ``ValueError`` for a name that cannot be part of a job id."""
        shard_name(name, self.shards - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvNames:
    """What the bindings are called in ``wrangler.jsonc``."""

    #: The Durable Object namespace of the shards.
    shard: str = "TSUMUGI_SHARD"
    #: The queue that carries dispatches; the Worker must consume it, too.
    queue: str = "TSUMUGI_QUEUE"
    #: The D1 database of the read model.
    database: str = "TSUMUGI_DB"
    #: An Analytics Engine dataset; the Worker runs without one.
    metrics: str = "TSUMUGI_METRICS"

    def __post_init__(self) -> None:
        for name in (self.shard, self.queue, self.database, self.metrics):
            if not _IDENTIFIER.fullmatch(name):
                raise ValueError(f"{name!r} cannot name a binding in wrangler.jsonc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything the parts of the coordinator share. ``Tsumugi`` makes it."""

    bindings: dict[str, Binding]
    env: EnvNames = field(default_factory=EnvNames)
    #: How long finished jobs stay in their shard.
    retention: Retention = field(default_factory=Retention)
    #: How long finished jobs stay in the read model.
    read_model_retention_ms: int = SEVEN_DAYS_MS

    def __post_init__(self) -> None:
        # Less than nothing would delete what has just ended.
        kept_ms = self.read_model_retention_ms
        if isinstance(kept_ms, bool) or not isinstance(kept_ms, int) or kept_ms < 0:
            raise ValueError(
                f"read_model_retention_ms must be a whole number of milliseconds, not {kept_ms!r}"
            )

    def binding(self, name: str) -> Binding:
        """Raises ``LookupError`` that names those there are."""
        try:
            return self.bindings[name]
        except KeyError:
            known = ", ".join(sorted(self.bindings)) or "none"
            raise LookupError(f"there is no binding {name!r} (there are: {known})") from None
