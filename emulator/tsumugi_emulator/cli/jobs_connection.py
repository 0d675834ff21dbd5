"""The jobs API for a command: of the Worker that runs here, or of a deployment. Prints nothing."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import httpx

from tsumugi_emulator import running
from tsumugi_emulator.cli.configuration import load_configuration
from tsumugi_emulator.cli.queues_connection import CommandError, find_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tsumugi_emulator.cli.resources import Place

REQUEST_LIMIT_S = 30.0
#: What the token is called in the process environment and in .dev.vars.
TOKEN_NAME = "TSUMUGI_TOKEN"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
#: Of an answer that is none of the API's.
SHOWN_LENGTH = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Which Worker is meant, as the arguments say."""

    place: Place
    url: str | None
    token: str | None
    #: ``NAME:VALUE`` each, for what stands before a deployment.
    headers: tuple[str, ...]


class JobsError(CommandError):
    """The API refused. ``body`` is what it answered."""

    def __init__(self, text: str, status: int, body: Mapping[str, Any]) -> None:
        super().__init__(text)
        self.status = status
        self.body = body


class JobsApi:
    """One Worker's API. Use ``connect``."""

    def __init__(self, client: httpx.Client, *, local: bool) -> None:
        self._client = client
        self._local = local

    def get(self, path: str, **query: Any) -> Any:
        given = {name: value for name, value in query.items() if value not in (None, (), [])}
        return self._ask("GET", path, params=given)

    def send(self, method: str, path: str, body: Any = ...) -> Any:
        return self._ask(method, path, **({} if body is ... else {"json": body}))

    def close(self) -> None:
        self._client.close()

    def _ask(self, method: str, path: str, **options: Any) -> Any:
        try:
            response = self._client.request(method, f"/api{path}", **options)
        except httpx.TransportError as error:
            raise CommandError(self._unreachable(error)) from error
        try:
            body = response.json()
        except json.JSONDecodeError:
            body = None
        if response.is_success and body is not None:
            return body
        if not isinstance(body, dict) or "error" not in body:
            raise CommandError(self._foreign(response))
        raise JobsError(self._refused(response.status_code, body), response.status_code, body)

    def _unreachable(self, error: httpx.TransportError) -> str:
        what = str(error) or type(error).__name__
        step = "Is `tsumugi dev` still starting?" if self._local else "Check --url."
        return f"No answer from {self._client.base_url}: {what}. {step}"

    def _foreign(self, response: httpx.Response) -> str:
        text = " ".join(response.text.split())
        if len(text) > SHOWN_LENGTH:
            text = text[:SHOWN_LENGTH] + "..."
        said = (
            f"{response.url} answered {response.status_code}, but not as the jobs API does"
            f"{f': {text}' if text else ''}"
        )
        if response.is_server_error:
            return said
        return (
            f"{said}. Does the Worker's `fetch` call super().fetch(request) for paths under /api?"
        )

    def _refused(self, status: int, body: Mapping[str, Any]) -> str:
        error = str(body["error"])
        if status == 401 and "authorization" in self._client.headers:
            return f"{error}\nA token was sent, and the Worker does not take it."
        if status == 401:
            where = "or in .dev.vars" if self._local else "(the secret of the deployment)"
            return f"{error}\nGive the token with --token, in {TOKEN_NAME} {where}."
        if status == 404 and error == "not found":
            return (
                "The Worker has no jobs API: it needs auth, such as "
                f"Tsumugi(..., auth=bearer_auth(lambda env: env.{TOKEN_NAME}))."
            )
        return error


def job_path(job_id: str, *rest: str) -> str:
    """Raises CommandError for what would be another path, such as an empty variable of a shell."""
    if job_id in ("", ".", ".."):
        raise CommandError(f"{job_id!r} is no job id. `tsumugi jobs list` shows those there are.")
    return "/".join(("/jobs", quote(job_id, safe=""), *rest))


def connect(target: Target) -> JobsApi:
    """The API that the arguments mean; CommandError says what is missing."""
    if target.url is not None:
        return _client(_checked(target.url), target.token or os.environ.get(TOKEN_NAME), target)
    state, _ = find_state(target.place)
    found = running.find(state)
    if found is None or not found.worker:
        raise CommandError(
            f"No `tsumugi dev` runs on {state}. Start it, or name a deployment with --url."
        )
    return _client(found.worker, target.token or _local_token(target.place), target, local=True)


def _local_token(place: Place) -> str | None:
    if token := os.environ.get(TOKEN_NAME):
        return token
    config = load_configuration(place.config, place.environment).config
    found = None if config is None else config.vars.get(TOKEN_NAME)
    return found if isinstance(found, str) else None


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CommandError(f"--url {url}: write it as https://<worker>.<account>.workers.dev")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise CommandError(f"--url {url}: a token is sent over https only")
    return url.rstrip("/").removesuffix("/api")


def _client(url: str, token: str | None, target: Target, *, local: bool = False) -> JobsApi:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    for header in target.headers:
        name, colon, value = header.partition(":")
        if not name.strip() or not colon:
            raise CommandError(f'--header {header}: write --header "NAME: value"')
        headers[name.strip().lower()] = value.strip()
    try:
        client = httpx.Client(
            base_url=url, headers=headers, timeout=REQUEST_LIMIT_S, trust_env=not local
        )
    except UnicodeEncodeError:
        raise CommandError("The token or a header holds characters no header can have.") from None
    return JobsApi(client, local=local)
