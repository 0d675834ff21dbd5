"""Answers requests from a directory of assets, before a Worker or for ``env.ASSETS``.

Not here: HTTP (the server) and JavaScript objects (the binding). Rules: Cloudflare's router and
asset Workers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tsumugi_emulator.assets.files import AssetFiles
from tsumugi_emulator.assets.paths import decode, encode, matches_any
from tsumugi_emulator.assets.redirect_rules import PROXY, Redirected
from tsumugi_emulator.assets.resolution import Redirect, resolve
from tsumugi_emulator.assets.rule_files import RuleFiles
from tsumugi_emulator.assets.rules import Target

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CACHE_CONTROL = "public, max-age=0, must-revalidate"


@dataclass(frozen=True, slots=True)
class SiteRules:
    html_handling: str = "auto-trailing-slash"
    not_found_handling: str = "none"
    #: True, or patterns; ``!`` before one means assets only.
    worker_first: bool | tuple[str, ...] = False
    #: The flag ``assets_navigation_prefers_asset_serving``: a browser that navigates gets the
    #: not-found page before the Worker is asked.
    navigation_prefers_assets: bool = True


@dataclass(frozen=True, slots=True)
class AssetRequest:
    method: str
    #: Encoded, as a URL has it, without dot segments.
    path: str
    query: str
    #: By lower-case name.
    headers: Mapping[str, str]
    #: Scheme and host, as the URL has them.
    origin: str = "http://localhost"

    @classmethod
    def of_url(cls, method: str, url: str, headers: Mapping[str, str]) -> AssetRequest:
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        return cls(method, parts.path or "/", parts.query, headers, origin)

    @property
    def url(self) -> str:
        return self.origin + self.path + (f"?{self.query}" if self.query else "")

    @property
    def target(self) -> Target:
        return Target(self.origin.partition("://")[2], self.path)


@dataclass(frozen=True, slots=True)
class AssetAnswer:
    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes | None = None


class Site:
    def __init__(self, directory: Path, rules: SiteRules) -> None:
        self._files = AssetFiles(directory)
        self._rules = rules
        self._rule_files = RuleFiles(directory, html_handling=rules.html_handling)

    def before_worker(self, request: AssetRequest) -> AssetAnswer | None:
        """The answer that keeps a request from the Worker, if there is one."""
        first = self._rules.worker_first
        if first is True:
            return None
        if first:
            if matches_any(request.path, [rule[1:] for rule in first if rule.startswith("!")]):
                return self.fetch(request)
            if matches_any(request.path, [rule for rule in first if not rule.startswith("!")]):
                return None
        if self._rule_files.redirects.find(request.target) is not None:
            return self.fetch(request)
        navigates = request.headers.get("sec-fetch-mode") == "navigate"
        # Patterns say what the Worker is for, so what they do not name is the assets'.
        prefers_assets = bool(first) or (navigates and self._rules.navigation_prefers_assets)
        handling = self._rules.not_found_handling if prefers_assets else "none"
        answer = self._answer(request, request.path, handling)
        return None if answer is None else self._with_headers(answer, request)

    def fetch(self, request: AssetRequest) -> AssetAnswer:
        """The answer of ``env.ASSETS``."""
        redirected = self._rule_files.redirects.find(request.target)
        return self._with_headers(self._fetch(request, redirected), request)

    def _fetch(self, request: AssetRequest, redirected: Redirected | None) -> AssetAnswer:
        path = request.path
        if redirected is not None:
            if redirected.status != PROXY:
                location = redirected.location(request.url)
                return AssetAnswer(redirected.status, [("location", location)])
            path = redirected.path(request.url)
        return self._answer(request, path, self._rules.not_found_handling) or AssetAnswer(404)

    def _with_headers(self, answer: AssetAnswer, request: AssetRequest) -> AssetAnswer:
        rules = self._rule_files.headers
        if not rules.rules:
            return answer
        return replace(answer, headers=rules.applied(answer.headers, request.target))

    def _answer(
        self, request: AssetRequest, asked: str, not_found_handling: str
    ) -> AssetAnswer | None:
        """What is at the path ``asked``, which is encoded; nothing is None."""
        path = decode(asked)
        found = resolve(
            path,
            self._files.exists,
            html_handling=self._rules.html_handling,
            not_found_handling=not_found_handling,
        )
        if found is None:
            return None
        if request.method not in ("GET", "HEAD"):
            return AssetAnswer(405)
        is_redirect = isinstance(found, Redirect)
        address = encode(found.path if isinstance(found, Redirect) else path)
        if is_redirect or address != asked:
            query = f"?{request.query}" if request.query else ""
            return AssetAnswer(307, [("location", address + query)])
        assert not isinstance(found, Redirect)
        return self._file(found.file, found.status, request)

    def _file(self, file: str, status: int, request: AssetRequest) -> AssetAnswer:
        try:
            tag = f'"{self._files.tag(file)}"'
            content = self._files.read(file)
        except OSError:
            return AssetAnswer(404)  # gone since it was found
        headers = [("etag", tag)]
        if content_type := self._files.content_type(file):
            headers.append(("content-type", content_type))
        if "authorization" not in request.headers and "range" not in request.headers:
            headers.append(("cache-control", CACHE_CONTROL))
        headers.append(("cf-cache-status", "HIT"))
        if request.headers.get("if-none-match") in (tag, f"W/{tag}"):
            return AssetAnswer(304, headers)
        if request.method == "HEAD":
            return AssetAnswer(status, [*headers, ("content-length", str(len(content)))])
        return AssetAnswer(status, headers, content)
