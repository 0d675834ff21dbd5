"""Who may use the API: a bearer token that ``env`` holds. Fails closed; compares in constant time.

Any ``async (request, env) -> bool`` can take its place. It may have a ``challenge`` (the header
``WWW-Authenticate`` of a 401) and an ``explain(env)`` (what the 401 says).
"""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from tsumugi.jobs.api.values import method_of

_log = logging.getLogger("tsumugi.jobs.api")

type TokenOf = Callable[[Any], str | None]

#: Methods that change nothing, so that another site gains nothing by causing them.
_HARMLESS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_SET_IT: Final = (
    "Nobody is let in: set the secret that bearer_auth reads, in .dev.vars locally, with `wrangler "
    "secret put` deployed"
)
_OWN_SITE: Final = (None, "same-origin", "none")


def bearer_auth(token_from_env: TokenOf, cookie: str | None = None) -> BearerAuth:
    """Let in who sends the token as ``Authorization: Bearer <token>``, or in this cookie.

    ``token_from_env`` is called with ``env`` for every request, because secrets are only there:
    ``bearer_auth(lambda env: env.TSUMUGI_TOKEN)``. An empty or missing token lets nobody in.
    """
    return BearerAuth(token_from_env, cookie)


class BearerAuth:
    """See ``bearer_auth``."""

    challenge: Final = 'Bearer realm="tsumugi"'

    def __init__(self, token_from_env: TokenOf, cookie: str | None = None) -> None:
        if not callable(token_from_env):
            # A token in the code is a token in the repository.
            raise TypeError(
                "bearer_auth takes a function of env, not the token itself: "
                "bearer_auth(lambda env: env.TSUMUGI_TOKEN)"
            )
        self._token_from_env = token_from_env
        self._cookie = cookie

    async def __call__(self, request: Any, env: Any) -> bool:
        expected, fault = self._expected(env)
        if expected is None:
            _log.error("%s. %s", fault, _SET_IT)
            return False
        presented = bearer_of(request)
        if presented is None and self._cookie is not None and is_own_site(request):
            presented = cookie_of(request, self._cookie)
        return presented is not None and same(presented, expected)

    def explain(self, env: Any) -> str:
        expected, _ = self._expected(env)
        if expected is None:
            return f"unauthorized: this Worker has no token to compare with. {_SET_IT}"
        cookie = "" if self._cookie is None else f", or the cookie {self._cookie}"
        return f"unauthorized: send the header `Authorization: Bearer <token>`{cookie}"

    def _expected(self, env: Any) -> tuple[str | None, str]:
        """The token, or None and why there is none."""
        try:
            token = self._token_from_env(env)
        except Exception as error:
            return None, f"bearer_auth cannot read its token ({error!r})"
        if not isinstance(token, str) or not token.strip():
            return None, "the token of bearer_auth is empty or missing"
        return token, ""


def same(presented: str, expected: str) -> bool:
    """Whether they are equal; how long it takes tells neither where they differ nor a length."""
    return hmac.compare_digest(_digest(presented), _digest(expected))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def bearer_of(request: Any) -> str | None:
    """The token in ``Authorization``, whatever the case of its scheme."""
    scheme, _, token = (request.headers.get("authorization") or "").strip().partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def cookie_of(request: Any, name: str) -> str | None:
    """The value of a cookie, without the escapes it was written with."""
    for part in (request.headers.get("cookie") or "").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            return unquote(value.strip('"')) or None
    return None


def is_own_site(request: Any) -> bool:
    """Whether a request that browsers authenticate by themselves was made by this very site.

    Browsers add cookies to what other sites make them send; what such a request could change, it
    may not. Programs that are no browsers send neither header.
    """
    if method_of(request) in _HARMLESS:
        return True
    if request.headers.get("sec-fetch-site") not in _OWN_SITE:
        return False
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == urlsplit(request.url).netloc
