"""From the runtime's request to an answer and back. Which endpoint does what is ``routes``'s."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tsumugi.jobs.api.services import Services

PREFIX = "/api"


async def handle(request: Any, env: Any, services: Services) -> Any:
    """Answer a request under ``/api``; None for any other, which is not ours.

    ``request`` is a ``workers.Request``, the answer a ``workers.Response``. Without ``auth``
    everything under ``/api`` is a 404.
    """
    raise NotImplementedError
