"""Run a fetch handler and read its answer. Needs a loaded runtime; opens no connection."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tsumugi.testing.event import FakeContext, accepted, bindings_of, in_event, instance_of
from tsumugi.testing.worker import RuntimeNotInstalled

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class FetchOutcome:
    """An answer, read completely. Header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


async def run_fetch_handler(
    worker: Any,
    path: str,
    *,
    method: str = "GET",
    body: str | bytes | None = None,
    headers: Mapping[str, str] | None = None,
    env: object = None,
    ctx: FakeContext | None = None,
) -> FetchOutcome:
    """Send one request to a Worker class from :func:`load_worker`, or to an instance of one.

    ``path`` starts with a slash and may carry a query; the host is ``worker.test``. Work handed
    to ``waitUntil`` is finished on return. What the handler raises is raised here; for a browser
    it would be an answer of status 500. Raises :class:`RuntimeNotInstalled` without a runtime.
    """
    try:
        from workers import Request, Response, python_from_rpc
    except ModuleNotFoundError as error:
        raise RuntimeNotInstalled from error
    context = FakeContext() if ctx is None else ctx

    async def answer() -> FetchOutcome:
        instance = instance_of(worker, "fetch", env=bindings_of(env), ctx=context)
        request = Request(
            f"http://worker.test{path}", method=method, body=body, headers=dict(headers or {})
        )
        response = instance.fetch(*accepted(instance.fetch, (request, None, None)))
        if inspect.isawaitable(response):
            response = await response
        returned = type(response).__name__
        if not isinstance(response, Response):
            # JavaScript's own is as good: asgi.fetch() and Response.redirect() give that.
            response = python_from_rpc(response)
        if not isinstance(response, Response):
            raise TypeError(f"fetch must return a workers.Response, not {returned}")
        content = await response.bytes()
        await context.settle()
        names = {name.lower(): value for name, value in response.headers.items()}
        return FetchOutcome(response.status, names, bytes(content))

    return await in_event("fetch", answer)
