"""JSON Web Tokens, as far as a signed one is read: parts and claims. Verifies no signature."""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What may be asked for in a header; "none" and secrets shared with the sender are not.
ALGORITHMS: Final = ("RS256", "ES256")
MAX_TOKEN_LENGTH: Final = 16_384
#: How far the issuer's clock may be ahead of ours.
CLOCK_SKEW_S: Final = 30
_PART: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


class MalformedToken(ValueError):
    """The token is no good, whoever signed it. The text says why and holds nothing of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    algorithm: str
    kid: str
    claims: Mapping[str, Any]
    #: What the signature is of.
    signed: bytes
    signature: bytes


def parsed(text: str) -> Token:
    """The token in compact form (RFC 7519). Raises ``MalformedToken``."""
    if len(text) > MAX_TOKEN_LENGTH:
        raise MalformedToken("the token is too long")
    parts = text.split(".")
    if len(parts) != 3:
        raise MalformedToken("the token has not three parts")
    header, claims = (_object(part) for part in parts[:2])
    algorithm, kid = header.get("alg"), header.get("kid")
    # The sender does not choose how it is checked: only among what is safe with public keys.
    if algorithm not in ALGORITHMS:
        raise MalformedToken(f"the token is signed with {algorithm!r}, not RS256 or ES256")
    if not isinstance(kid, str) or not kid:
        raise MalformedToken("the token names no key")
    if "crit" in header:
        raise MalformedToken("the token asks for extensions (crit)")
    return Token(
        algorithm=algorithm,
        kid=kid,
        claims=claims,
        signed=f"{parts[0]}.{parts[1]}".encode(),
        signature=_bytes(parts[2]),
    )


def check_claims(claims: Mapping[str, Any], *, issuer: str, audience: str, now_s: float) -> None:
    """Raises ``MalformedToken`` unless it is for us, from them, and valid now."""
    if claims.get("iss") != issuer:
        raise MalformedToken(f"the token is not from {issuer}")
    aud = claims.get("aud")
    if audience not in (aud if isinstance(aud, list) else [aud]):
        raise MalformedToken("the token is for another application (aud)")
    # Comparisons that hold only for numbers: NaN, which JSON readers let in, is none of them.
    if not now_s < _number(claims.get("exp")):
        raise MalformedToken("the token has expired (exp)")
    if not _number(claims.get("nbf", 0)) <= now_s + CLOCK_SKEW_S:
        raise MalformedToken("the token is not valid yet (nbf)")


def _number(value: Any) -> float:
    """NaN for anything but a number."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else float("nan")


def _object(part: str) -> dict[str, Any]:
    try:
        value = json.loads(_bytes(part))
    except (ValueError, RecursionError):
        raise MalformedToken("the token is not JSON in base64url") from None
    if not isinstance(value, dict):
        raise MalformedToken("a part of the token is no JSON object")
    return value


def _bytes(part: str) -> bytes:
    # Strict: lenient decoders read several texts as one token.
    if not _PART.fullmatch(part):
        raise MalformedToken("the token is not base64url")
    try:
        return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except binascii.Error:
        raise MalformedToken("the token is not base64url") from None
