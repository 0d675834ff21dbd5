"""``asgi.fetch`` with FastAPI and ``wsgi`` request bodies (reference 1.6)."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from http import HTTPMethod
from typing import TYPE_CHECKING, Any

import fastapi
import pytest
import tsumugi_emulator.javascript.web.request as host
from fastapi.responses import StreamingResponse
from tsumugi_emulator.javascript.web.streams import ReadableStream
from workers import Request, asgi

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from web_event import Event

EVENTS: list[str] = []


@asynccontextmanager
async def lifespan(_app: fastapi.FastAPI) -> AsyncIterator[dict[str, Any]]:
    EVENTS.append("startup")
    yield {"started": True}
    EVENTS.append("shutdown")


app = fastapi.FastAPI(lifespan=lifespan)


@app.post("/items/{name}")
async def create(name: str, request: fastapi.Request) -> dict[str, Any]:
    return {
        "name": name,
        "body": await request.json(),
        "q": request.query_params["q"],
        "env": request.scope["env"],
        "raw": request.scope["raw_path"].decode(),
        "method": isinstance(request.scope["method"], HTTPMethod),
        "state": request.state.started,
    }


@app.get("/stream")
async def stream() -> StreamingResponse:
    async def numbers() -> AsyncIterator[bytes]:
        for number in range(3):
            EVENTS.append(f"made {number}")
            yield b"%d\n" % number

    return StreamingResponse(numbers())


@app.get("/background")
async def background(tasks: fastapi.BackgroundTasks) -> str:
    tasks.add_task(EVENTS.append, "background")
    return "answered"


@app.get("/sync")
def sync(response: fastapi.Response) -> str:
    response.set_cookie("a", "1")
    response.set_cookie("b", "2")
    return "sync"


@app.get("/fail")
async def fail() -> None:
    raise ValueError("the app failed")


@app.get("/empty", status_code=204)
async def empty() -> None:
    return None


@pytest.fixture(autouse=True)
def _forget() -> None:
    EVENTS.clear()


def request(method: str, path: str, body: bytes | ReadableStream | None = None) -> Any:
    headers = [("host", "localhost"), ("content-type", "application/json")]
    return Request(host.Request._from_wire(method, f"http://localhost{path}", headers, body))


async def call(method: str, path: str, body: bytes | ReadableStream | None = None) -> Any:
    return await asgi.fetch(app, request(method, path, body), {"A": "binding"})


def test_a_json_request_reaches_the_route_with_env_and_state(event: Event) -> None:
    async def handler() -> None:
        response = await call("POST", "/items/a%20b?q=1", b'{"x": 1}')
        assert response.constructor.name == "Response"
        assert (await response.json()).to_py() == {
            "name": "a b",
            "body": {"x": 1},
            "q": "1",
            "env": {"A": "binding"},
            "raw": "/items/a%20b",
            "method": True,
            "state": True,
        }

    event.run(handler)


def test_a_streamed_request_body_is_collected(event: Event) -> None:
    async def handler() -> None:
        async def chunks() -> AsyncIterator[bytes]:
            yield b'{"x":'
            yield b" 2}"

        response = await call("POST", "/items/n?q=1", ReadableStream._from_source(chunks()))
        assert (await response.json()).to_py()["body"] == {"x": 2}

    event.run(handler)


def test_the_lifespan_runs_around_every_request(event: Event) -> None:
    async def handler() -> None:
        await call("GET", "/sync")
        await call("GET", "/sync")

    event.run(handler)
    assert EVENTS == ["startup", "shutdown"] * 2


def test_a_streaming_response_is_made_as_it_is_read(event: Event) -> None:
    async def handler() -> None:
        response = await call("GET", "/stream")
        assert EVENTS == ["startup", "made 0"]
        chunks = [bytes(chunk) async for chunk in response._body._chunks()]
        assert b"".join(chunks) == b"0\n1\n2\n"
        for held in event.context.wait_until:
            await held
        assert EVENTS[-1] == "shutdown"

    event.run(handler)


def test_background_tasks_run(event: Event) -> None:
    async def handler() -> None:
        response = await call("GET", "/background")
        assert await response.text() == '"answered"'

    event.run(handler)
    assert EVENTS == ["startup", "background", "shutdown"]


def test_repeated_cookies_stay_apart(event: Event) -> None:
    async def handler() -> None:
        response = await call("GET", "/sync")
        cookies = list(response.headers.getSetCookie())
        assert [cookie.split(";")[0] for cookie in cookies] == ["a=1", "b=2"]

    event.run(handler)


def test_an_exception_of_a_route_is_the_frameworks_500(event: Event) -> None:
    async def handler() -> None:
        response = await call("GET", "/fail")
        assert (response.status, await response.text()) == (500, "Internal Server Error")

    event.run(handler)


def test_an_exception_of_a_bare_app_propagates_as_itself(event: Event) -> None:
    async def bare(scope: Any, receive: Any, send: Any) -> None:
        raise ValueError("the app failed")

    async def handler() -> None:
        with pytest.raises(ValueError, match="the app failed"):
            await asgi.fetch(bare, request("GET", "/"), {})

    event.run(handler)


def test_a_null_body_status_has_no_body(event: Event) -> None:
    async def handler() -> None:
        response = await call("GET", "/empty")
        assert response.status == 204
        assert response._body is None

    event.run(handler)


def test_a_client_that_leaves_ends_the_stream(event: Event) -> None:
    async def handler() -> None:
        response = await call("GET", "/stream")
        reader = response.body.getReader()
        await reader.read()
        await response._body._cancel(None)
        done, _ = await asyncio.wait(event.context.wait_until, timeout=5)
        assert len(done) == 1

    event.run(handler)
