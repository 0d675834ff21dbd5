"""Public keys of an issuer, fetched and kept for an hour. Fails closed; verifies nothing."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

_log = logging.getLogger("tsumugi.jobs.api")

#: After this the keys are fetched again: a key that was withdrawn is trusted no longer than that.
KEEP_S: Final = 3_600
#: A key nobody knows may be a new one, or made up by a stranger: not a fetch for each of those.
UNKNOWN_EVERY_S: Final = 60
FAILED_EVERY_S: Final = 5
MAX_KEYS: Final = 100
MAX_LENGTH: Final = 256_000
_KINDS: Final = {"RS256": ("RSA", ("n", "e")), "ES256": ("EC", ("crv", "x", "y"))}
_MIN_MODULUS_BITS: Final = 2_048

type Jwk = Mapping[str, Any]


@dataclass(slots=True)
class _Kept:
    """Values only: what one event fetches another one may read, but not await."""

    keys: Mapping[tuple[str, str], Jwk]
    fetched_s: float = float("-inf")
    failed_s: float = float("-inf")

    def is_fresh(self, now_s: float) -> bool:
        return 0 <= now_s - self.fetched_s < KEEP_S

    def may_fetch(self, now_s: float) -> bool:
        if 0 <= now_s - self.failed_s < FAILED_EVERY_S:
            return False
        return not 0 <= now_s - self.fetched_s < UNKNOWN_EVERY_S


class KeyStore:
    """Keys by id and algorithm. ``fetch`` answers what is at an address, as JSON."""

    def __init__(self, fetch: Callable[[str], Awaitable[Any]]) -> None:
        self._fetch = fetch
        self._kept: dict[str, _Kept] = {}

    async def key(self, url: str, kid: str, algorithm: str, *, now_s: float) -> Jwk | None:
        """The key; None if there is none, or if that cannot be known now."""
        kept = self._kept.setdefault(url, _Kept({}))
        known = kept.keys.get((kid, algorithm))
        if known is not None and kept.is_fresh(now_s):
            return known
        if not kept.may_fetch(now_s):
            return None
        try:
            keys = usable_keys(await self._fetch(url))
        except Exception as error:
            _log.error("the keys at %s cannot be fetched, so nobody is let in: %s", url, error)
            kept.failed_s = now_s
            return None
        self._kept[url] = _Kept(keys, fetched_s=now_s)
        return keys.get((kid, algorithm))


def usable_keys(document: Any) -> dict[tuple[str, str], Jwk]:
    """The keys of a JSON Web Key Set (RFC 7517) that can verify what we accept."""
    keys: dict[tuple[str, str], Jwk] = {}
    for jwk in document["keys"][:MAX_KEYS]:
        for algorithm, (kind, members) in _KINDS.items():
            if (
                isinstance(jwk.get("kid"), str)
                and jwk.get("kty") == kind
                and jwk.get("use", "sig") == "sig"
                and jwk.get("alg", algorithm) == algorithm
                and all(isinstance(jwk.get(name), str) for name in members)
                and _is_strong(jwk)
            ):
                keys[jwk["kid"], algorithm] = {
                    "kty": kind,
                    **{name: jwk[name] for name in members},
                }
    return keys


def _is_strong(jwk: Jwk) -> bool:
    if jwk["kty"] == "EC":
        return bool(jwk["crv"] == "P-256")
    return len(jwk["n"]) * 6 >= _MIN_MODULUS_BITS


async def fetched_keys(url: str) -> Any:
    """What is at the address. Raises for anything but JSON."""
    from workers import fetch

    response = await fetch(url, headers={"accept": "application/json"})
    if response.status != 200:
        raise ValueError(f"it answers {response.status}")
    text = await response.text()
    if len(text) > MAX_LENGTH:
        raise ValueError(f"it answers {len(text)} characters")
    return json.loads(text)
