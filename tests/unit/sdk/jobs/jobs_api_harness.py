"""The jobs API without a runtime: fake shards, a real read model, every answer checked.

Each answer must be what the OpenAPI document says of its operation and status.
"""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from jsonschema import Draft202012Validator
from local_d1 import LocalD1
from shard_fakes import FakeShards
from snapshot_builder import T0
from tsumugi.jobs.api import handler
from tsumugi.jobs.api.openapi import document
from tsumugi.jobs.api.routes import ROUTES
from tsumugi.jobs.api.routing import find_route
from tsumugi.jobs.api.services import Services
from tsumugi.jobs.performer import Performer
from tsumugi.jobs.read_model import project
from tsumugi.jobs.registry import Registry
from tsumugi.jobs.settings import Binding, Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tsumugi.jobs.api.values import Answer
    from tsumugi.jobs.wire import Snapshot

DOCUMENT = document(ROUTES)
NOW = T0 + 1_000_000

POLICY: dict[str, Any] = {
    "concurrency": 100,
    "per_key_concurrency": 1,
    "rate": None,
    "aging_interval_ms": 60_000,
    "reaper_grace_ms": 30_000,
    "paused": False,
}


class SendMail(Performer[dict[str, str]]):
    async def perform(self, payload: dict[str, str], ctx: Any) -> None: ...


class Charge(Performer[Any]):
    guarantee = "at-most-once"
    requires = ("concurrency_key",)

    async def perform(self, payload: Any, ctx: Any) -> None: ...


class Request:
    """What the API reads of a ``workers.Request``."""

    def __init__(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: str = ""
    ) -> None:
        self.method = method
        self.url = url
        self.headers = {name.lower(): value for name, value in (headers or {}).items()}
        self._body = body

    async def text(self) -> str:
        return self._body


async def everybody(_request: Any, _env: Any) -> bool:
    return True


class Api:
    """Ask it; it fails when an answer is not as documented."""

    def __init__(self, *, auth: Any = everybody, metrics: Any = None, shards: int = 1) -> None:
        self.shards = FakeShards()
        self.shards.on |= {
            "control": lambda _shard, request: {
                "jobs": [
                    {"id": one, "outcome": "done", "state": "SCHEDULED"} for one in request["ids"]
                ]
            },
            "show": lambda _shard, request: {"jobs": [None] * len(request["ids"])},
            "set_policy": lambda _shard, request: {
                "policy": POLICY | (request["change"] or {}),
                "overrides": request["change"] or {},
            },
        }
        self.database = LocalD1()
        self.env: Any = SimpleNamespace(TSUMUGI_SHARD=self.shards, TSUMUGI_DB=self.database)
        self.services = Services(
            settings=Settings(bindings={"SendMail": Binding(shards=shards), "Charge": Binding()}),
            registry=Registry([SendMail, Charge]),
            auth=auth,
            metrics=metrics,
        )

    def project(self, *snapshots: Snapshot) -> None:
        asyncio.run(project(self.database, snapshots))

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        text: str | None = None,
        headers: Mapping[str, str] | None = None,
        **query: Any,
    ) -> Answer:
        url = f"https://worker.test{quote(path)}"
        if query:
            url += f"?{urlencode(query, doseq=True)}"
        if text is None:
            text = "" if body is None else json.dumps(body)
        request = Request(method, url, headers, text)
        answer = asyncio.run(handler.answer(request, self.env, self.services, now_ms=NOW))
        if self.services.auth is not None:
            check_documented(method, path, answer)
        return answer

    def get(self, path: str, **query: Any) -> Answer:
        return self.ask("GET", path, **query)

    def post(self, path: str, body: Any = None, **options: Any) -> Answer:
        return self.ask("POST", path, body, **options)


def check_documented(method: str, path: str, answer: Answer) -> None:
    """Fails unless the document has this answer, and the schema it says."""
    assert isinstance(answer.headers, dict)
    json.dumps(answer.body, allow_nan=False)
    if answer.status == 405:
        return
    from tsumugi.jobs.api.values import Refused

    try:
        route, _ = find_route(ROUTES, method, path.strip("/").split("/"))
    except Refused:
        assert answer.status in (401, 404)
        return
    responses = DOCUMENT["paths"][route.path][method.lower()]["responses"]
    assert str(answer.status) in responses, (method, path, answer)
    schema = responses[str(answer.status)]["content"]["application/json"]["schema"]
    check_schema(schema, answer.body)


def check_schema(schema: Any, value: Any) -> None:
    whole = {**schema, "components": DOCUMENT["components"]}
    errors = list(Draft202012Validator(whole).iter_errors(value))
    assert not errors, "\n".join(f"{list(e.absolute_path)}: {e.message}" for e in errors)
