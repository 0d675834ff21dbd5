"""What the API is made of: the coordinator's parts that it serves. Values only."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tsumugi.jobs.registry import Registry
    from tsumugi.jobs.settings import Settings

#: ``async (request, env) -> bool``. True lets the request through; anything else, and any
#: exception, does not.
type Auth = Callable[[Any, Any], Awaitable[bool]]

CLOUDFLARE_API: Final = "https://api.cloudflare.com/client/v4"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsAccess:
    """Where ``GET /api/metrics`` asks Analytics Engine; the token may read account analytics."""

    account_id: str
    token: str
    #: As ``analytics_engine_datasets`` in the wrangler configuration calls it.
    dataset: str
    #: Of the API; ``tsumugi dev`` prints its own.
    base_url: str = CLOUDFLARE_API


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Services:
    """One per Worker."""

    settings: Settings
    registry: Registry
    #: None: there is no API.
    auth: Auth | None
    #: Called with ``env``, which holds the token. None: there are no metrics.
    metrics: Callable[[Any], MetricsAccess | None] | None = None

    def __post_init__(self) -> None:
        if self.auth is not None and sys.platform == "emscripten":
            # Deployed, what is loaded with the module is part of the Worker's snapshot; loading it
            # with the first request would cost that one half a second.
            importlib.import_module("tsumugi.jobs.api.routes")
