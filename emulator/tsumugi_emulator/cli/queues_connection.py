"""The queues API for a command: of the emulator that runs, or of one made for the command alone.

Either way the command speaks the same API, so both behave alike. It prints nothing.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

import httpx

from tsumugi_emulator import running
from tsumugi_emulator.cli.configuration import STATE_DIRECTORY, load_configuration
from tsumugi_emulator.clock import SystemClock
from tsumugi_emulator.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tsumugi_emulator.cli.resources import Place
    from tsumugi_emulator.config.model import WorkerConfig

REQUEST_LIMIT_S = 30.0


class CommandError(Exception):
    """What a person did wrong, or has to do next."""


class Connection:
    def __init__(self, client: httpx.AsyncClient, *, live: bool) -> None:
        self._client = client
        #: Whether an emulator runs: somebody else's messages may come and go.
        self.live = live

    @property
    def url(self) -> str:
        """Where the queues of the account are."""
        return str(self._client.base_url).rstrip("/")

    async def ask(self, method: str, path: str = "", **options: Any) -> Any:
        """The result of a call. CommandError says what the API refused."""
        response = await self._client.request(method, path, **options)
        try:
            body = response.json()
            errors = body["errors"]
        except (json.JSONDecodeError, KeyError, TypeError):
            raise CommandError(f"the queues API answered {response.status_code}") from None
        if not body["success"]:
            raise CommandError("\n".join(f"{e['message']} [code: {e['code']}]" for e in errors))
        return body["result"]

    async def queue(self, name: str) -> dict[str, Any]:
        found = await self.ask("GET", params={"page": "1", "name": name})
        if not found:
            raise CommandError(
                f'Queue "{name}" does not exist. To create it, run: tsumugi queues create {name}'
            )
        queue: dict[str, Any] = found[0]
        return queue

    async def on_queue(self, name: str, method: str, rest: str = "", **options: Any) -> Any:
        queue = await self.queue(name)
        return await self.ask(method, f"/{queue['queue_id']}{rest}", **options)

    async def lines(self, path: str) -> AsyncIterator[str]:
        """An answer that comes line by line, for as long as it takes."""
        async with self._client.stream("GET", path, timeout=None) as response:
            if response.status_code != 200:
                raise CommandError(f"the queues API answered {response.status_code}")
            async for line in response.aiter_lines():
                yield line


@contextlib.asynccontextmanager
async def connect(place: Place) -> AsyncIterator[Connection]:
    state, config = find_state(place)
    found = running.find(state)
    if found is not None:
        async with _client(found.api, found.token, None) as client:
            try:
                yield Connection(client, live=True)
            except httpx.TransportError as error:
                raise CommandError(
                    f"the emulator with process id {found.pid} does not answer on {found.api}: "
                    f"{error or type(error).__name__}"
                ) from error
        return
    async with _own(state, config) as connection:
        yield connection


def find_state(place: Place) -> tuple[Path, WorkerConfig | None]:
    """The state directory a command is about, and the configuration if there is a sound one."""
    loaded = load_configuration(place.config, place.environment)
    if place.persist_to is not None:
        return place.persist_to.absolute(), loaded.config
    if loaded.config is not None:
        return loaded.config.path.parent / STATE_DIRECTORY, loaded.config
    if loaded.watched_files and loaded.watched_files[0].is_file():
        return loaded.watched_files[0].parent.absolute() / STATE_DIRECTORY, None
    raise CommandError(
        "No wrangler configuration here or above. Run this beside one, name it with --config, or "
        "name the state directory with --persist-to."
    )


@contextlib.asynccontextmanager
async def _own(state: Path, config: WorkerConfig | None) -> AsyncIterator[Connection]:
    """The API over the state directory, in this process: no socket, and nothing is delivered."""
    from tsumugi_emulator.emulator import queue_settings
    from tsumugi_emulator.queues import Broker, QueueStore, StateInUseError, StateLock
    from tsumugi_emulator.queues.control import QueueControl
    from tsumugi_emulator.server.v4.app import build

    clock = SystemClock()
    try:
        lock = StateLock.acquire(state)
    except StateInUseError as error:
        raise CommandError(str(error)) from error
    with lock, contextlib.closing(QueueStore.open(state)) as store:
        for settings in queue_settings([config] if config else []):
            store.ensure(settings.name, now_ms=clock.now_ms())
        broker = Broker(store, clock, events=lambda _event: None)
        tokens = Tokens(state)
        token = tokens.create_passing("command", now_ms=clock.now_ms())
        app = build(QueueControl(store, broker, clock), tokens, lambda _level, _text: None)
        transport = httpx.ASGITransport(app)  # type: ignore[arg-type]
        async with _client(f"http://localhost{running.API_PATH}", token, transport) as client:
            yield Connection(client, live=False)
        await broker.stop(limit_ms=0)


def _client(api: str, token: str, transport: httpx.AsyncBaseTransport | None) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=f"{api}/accounts/{running.ACCOUNT_ID}/queues",
        headers={"authorization": f"Bearer {token}"},
        transport=transport,
        timeout=REQUEST_LIMIT_S,
        trust_env=False,
    )
