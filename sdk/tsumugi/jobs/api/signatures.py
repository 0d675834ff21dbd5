"""Verify a signature with the runtime's Web Crypto. It is the only cryptography a Worker needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What Web Crypto calls the algorithms of JSON Web Signatures (RFC 7518).
_PARAMETERS: Final = {
    "RS256": {"name": "RSASSA-PKCS1-v1_5", "hash": "SHA-256"},
    "ES256": {"name": "ECDSA", "namedCurve": "P-256", "hash": "SHA-256"},
}


async def is_signed_by(
    jwk: Mapping[str, Any], algorithm: str, signature: bytes, signed: bytes
) -> bool:
    """Whether the holder of this key signed these bytes. False for a key that is none."""
    from js import Object, crypto
    from pyodide.ffi import JsException, to_js

    def plain(value: Mapping[str, Any]) -> Any:
        return to_js(dict(value), dict_converter=Object.fromEntries)

    parameters = plain(_PARAMETERS[algorithm])
    try:
        key = await crypto.subtle.importKey("jwk", plain(jwk), parameters, False, to_js(["verify"]))
        verified = await crypto.subtle.verify(parameters, key, to_js(signature), to_js(signed))
    except JsException:
        return False
    return verified is True
