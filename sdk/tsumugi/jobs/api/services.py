"""What the API asks of the rest of the coordinator. Shapes only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tsumugi.jobs.settings import Settings
    from tsumugi.jobs.wire import (
        ControlAnswer,
        ControlRequest,
        DiagnosticsAnswer,
        NewJob,
        PolicyAnswer,
        PolicyRequest,
        Snapshot,
    )

#: ``async (request, env) -> bool``. True lets the request through; anything else, and any
#: exception, does not.
type Auth = Callable[[Any, Any], Awaitable[bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsAccess:
    """Where ``GET /api/metrics`` asks Analytics Engine; the token may read account analytics."""

    account_id: str
    token: str
    dataset: str
    #: Of the API; ``tsumugi dev`` prints its own.
    base_url: str = "https://api.cloudflare.com/client/v4"


class Services(Protocol):
    """The coordinator as the API sees it. Shards are named ``<binding>#<n>``.

    A call that reaches no shard, or a shard that fails, raises.
    """

    @property
    def settings(self) -> Settings: ...

    @property
    def auth(self) -> Auth | None:
        """None: there is no API."""

    @property
    def metrics(self) -> Callable[[Any], MetricsAccess | None] | None:
        """Called with ``env``, which holds the token. None: there are no metrics."""

    async def enqueue(self, env: Any, binding: str, job: NewJob) -> tuple[str, bool]:
        """The id and whether the job is new.

        The options and the payload are checked as for every enqueue: ``OptionError`` for an
        option, ``PayloadError`` for a payload the performer does not take, ``LookupError`` for
        a binding there is not.
        """

    async def control(self, env: Any, shard: str, request: ControlRequest) -> ControlAnswer: ...
    async def set_policy(self, env: Any, shard: str, request: PolicyRequest) -> PolicyAnswer: ...
    async def diagnostics(self, env: Any, shard: str) -> DiagnosticsAnswer: ...

    async def show(self, env: Any, shard: str, local_id: str) -> Snapshot | None:
        """The job as it is now; None when the shard does not keep it."""


__all__ = ["Auth", "MetricsAccess", "Services"]
