"""Who may use the API: whom Cloudflare Access let through, as its signed token proves.

The token is checked here, because a request can reach a Worker without passing Access. The claims
and where the keys are: https://developers.cloudflare.com/cloudflare-one/identity/authorization-cookie/validating-json/
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.api.auth import cookie_of, is_own_site
from tsumugi.jobs.api.jwt import MalformedToken, check_claims, parsed
from tsumugi.jobs.api.keys import KeyStore, fetched_keys
from tsumugi.jobs.api.signatures import is_signed_by

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_log = logging.getLogger("tsumugi.jobs.api")

HEADER: Final = "cf-access-jwt-assertion"
COOKIE: Final = "CF_Authorization"
_DOMAIN: Final = ".cloudflareaccess.com"

type Setting = str | Callable[[Any], str | None]
type Fetch = Callable[[str], Awaitable[Any]]
type Verify = Callable[..., Awaitable[bool]]


def cloudflare_access(team_domain: Setting, aud: Setting) -> AccessAuth:
    """Let in whom Cloudflare Access authenticated for this application.

    ``team_domain`` is ``"<team>"`` or ``"<team>.cloudflareaccess.com"``, ``aud`` the application's
    audience tag; either may be a function of ``env``. Nobody is let in while the keys cannot be
    fetched.
    """
    return AccessAuth(team_domain, aud)


class AccessAuth:
    """See ``cloudflare_access``. The keyword arguments stand in for the runtime in tests."""

    challenge: Final = 'Bearer realm="Cloudflare Access"'

    def __init__(
        self,
        team_domain: Setting,
        aud: Setting,
        *,
        fetch: Fetch = fetched_keys,
        verify: Verify = is_signed_by,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        for name, value in (("team_domain", team_domain), ("aud", aud)):
            if not callable(value) and not (isinstance(value, str) and value.strip()):
                raise ValueError(f"cloudflare_access needs {name}: without it nothing is checked")
        self._team_domain = team_domain
        self._aud = aud
        self._verify = verify
        self._now_s = now_s
        self._keys = KeyStore(fetch)

    async def __call__(self, request: Any, env: Any) -> bool:
        refused = await self.refusal(request, env)
        if refused is not None:
            _log.warning("Cloudflare Access: %s", refused)
        return refused is None

    def explain(self, _env: Any) -> str:
        return (
            f"unauthorized: there is no valid Cloudflare Access token in {HEADER} or the cookie "
            f"{COOKIE}. Open the application through Access; the Worker's log says what is wrong"
        )

    async def refusal(self, request: Any, env: Any) -> str | None:
        """Why the request is not let in; None when it is."""
        token = request.headers.get(HEADER) or cookie_of(request, COOKIE)
        if not token:
            return "the request has no token"
        # Access makes the header of a cookie that browsers send along, whoever makes them.
        if not is_own_site(request):
            return "the request comes from another site"
        issuer, aud = self._issuer(env), _setting(self._aud, env)
        if not issuer or not aud:
            return "team_domain or aud is empty"
        now_s = self._now_s()
        try:
            jwt = parsed(token)
            check_claims(jwt.claims, issuer=issuer, audience=aud, now_s=now_s)
        except MalformedToken as error:
            return str(error)
        key = await self._keys.key(
            f"{issuer}/cdn-cgi/access/certs", jwt.kid, jwt.algorithm, now_s=now_s
        )
        if key is None:
            return f"no key {jwt.kid!r} for {jwt.algorithm} is known"
        if await self._verify(key, jwt.algorithm, jwt.signature, jwt.signed) is not True:
            return "the signature is wrong"
        return None

    def _issuer(self, env: Any) -> str | None:
        team = (_setting(self._team_domain, env) or "").strip().removeprefix("https://").rstrip("/")
        if not team:
            return None
        return f"https://{team.removesuffix(_DOMAIN)}{_DOMAIN}"


def _setting(value: Setting, env: Any) -> str | None:
    return value(env) if callable(value) else value
