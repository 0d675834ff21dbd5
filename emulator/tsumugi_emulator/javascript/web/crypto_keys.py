"""``CryptoKey``, and secrets for HMAC, PBKDF2 and HKDF. Keys in pairs are ``crypto_pairs``'s."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.arrays import JsArray, iterate_js
from tsumugi_emulator.javascript.buffers import ArrayBuffer, bytes_of
from tsumugi_emulator.javascript.errors import DOMException, type_error
from tsumugi_emulator.javascript.functions import js_class, js_property
from tsumugi_emulator.javascript.strings import to_number, to_string, truthy
from tsumugi_emulator.javascript.structs import struct
from tsumugi_emulator.javascript.values import JsObject, JsProxy, PyProxy
from tsumugi_emulator.javascript.web.members import member

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Web Cryptography's hash names -> hashlib's.
_HASHES = {
    "MD5": "md5",
    "SHA-1": "sha1",
    "SHA-256": "sha256",
    "SHA-384": "sha384",
    "SHA-512": "sha512",
}
WEB_NAMES = {python: web for web, python in _HASHES.items()}
_DERIVING = ("PBKDF2", "HKDF")
#: Algorithms of two keys, upper case -> their names.
PAIR_NAMES = {"RSASSA-PKCS1-V1_5": "RSASSA-PKCS1-v1_5", "ECDSA": "ECDSA"}

#: The runtime refuses more, against CPU exhaustion.
MAX_PBKDF2_ITERATIONS = 100_000


def pairs() -> Any:
    # Loaded on use: few Workers need it, and it takes a while.
    from tsumugi_emulator.javascript.web import crypto_pairs

    return crypto_pairs


def unsupported(name: str) -> DOMException:
    return DOMException(
        f"{name} exists in production but is not emulated by tsumugi: only digests, HMAC, PBKDF2, "
        "HKDF, RSASSA-PKCS1-v1_5 and ECDSA are. Use a Python package such as 'cryptography' for "
        "it.",
        "NotSupportedError",
    )


def algorithm_name(algorithm: Any) -> str:
    """``"HMAC"`` of ``"hmac"`` or ``{name: "HMAC"}``."""
    name = algorithm if isinstance(algorithm, str) else member(algorithm, "name")
    if name is None:
        hint = "; pass to_js(dict)" if isinstance(algorithm, PyProxy) else ""
        raise type_error(f'Missing field "name" in "algorithm"{hint}.')
    return to_string(name).upper()


def hash_name(algorithm: Any) -> str:
    """hashlib's name of a digest algorithm.

    Raises:
        JsException: NotSupportedError, when the runtime has no such digest.
    """
    name = algorithm_name(algorithm)
    found = _HASHES.get(name)
    if found is None:
        raise DOMException(
            "Unrecognized or unimplemented digest algorithm requested.", "NotSupportedError"
        )
    return found


@js_class("CryptoKey", constructible=False)
class CryptoKey(JsProxy):
    __slots__ = ("_extractable", "_hash", "_more", "_name", "_secret", "_type", "_usages")

    def __init__(
        self,
        name: str,
        secret: Any,
        *,
        hash_: str,
        usages: list[str],
        extractable: bool,
        type_: str = "secret",
        more: Mapping[str, Any] | None = None,
    ) -> None:
        """``secret`` is bytes, or a key of ``crypto_pairs``; ``more`` is part of ``algorithm``."""
        self._name = name
        self._secret = secret
        self._hash = hash_
        self._usages = usages
        self._extractable = extractable
        self._type = type_
        self._more = more or {}

    @js_property
    def type(self) -> str:
        return self._type

    @js_property
    def extractable(self) -> bool:
        return self._extractable

    @js_property
    def usages(self) -> JsArray:
        return JsArray(list(self._usages))

    @js_property
    def algorithm(self) -> JsObject:
        described: dict[str, Any] = {"name": self._name, **self._more}
        if self._hash:
            described["hash"] = JsObject({"name": WEB_NAMES[self._hash]})
        if self._hash and self._type == "secret":
            described["length"] = 8 * len(self._secret)
        return JsObject(described)

    def _require(self, usage: str, algorithm: str) -> None:
        if self._name.upper() != algorithm:
            raise DOMException(
                f'Requested algorithm "{algorithm}" does not match this CryptoKey\'s algorithm '
                f'"{self._name}".',
                "InvalidAccessError",
            )
        if usage not in self._usages:
            raise DOMException(
                f'Requested key usage "{usage}" does not match any usage listed in this CryptoKey.',
                "InvalidAccessError",
            )


CryptoKeyClass = CryptoKey.constructor


def import_key(
    format_: Any = None,
    data: Any = None,
    algorithm: Any = None,
    extractable: Any = None,
    usages: Any = None,
) -> CryptoKey:
    name = algorithm_name(algorithm)
    if name in PAIR_NAMES:
        key: CryptoKey = pairs().import_key(
            to_string(format_), data, algorithm, extractable, usages
        )
        return key
    if name != "HMAC" and name not in _DERIVING:
        raise unsupported(name)
    secret = _secret(to_string(format_), data)
    hash_ = hash_name(member(algorithm, "hash")) if name == "HMAC" else ""
    if name == "HMAC" and not secret:
        raise DOMException("HMAC key length must be a non-zero multiple of eight.", "DataError")
    return CryptoKey(
        name, secret, hash_=hash_, usages=usages_of(usages), extractable=truthy(extractable)
    )


def _secret(format_: str, data: Any) -> bytes:
    if format_ == "jwk":
        key = to_string(member(data, "k"))
        return base64.urlsafe_b64decode(key + "=" * (-len(key) % 4))
    if format_ != "raw":
        raise unsupported(f"key format {format_!r}")
    secret = bytes_of(data)
    if secret is None:
        raise type_error(
            'Import data provided for "raw" import format must be an ArrayBuffer or '
            "ArrayBufferView."
        )
    return secret


def usages_of(usages: Any) -> list[str]:
    if isinstance(usages, PyProxy):
        return [str(usage) for usage in usages._unwrap()]
    return [to_string(usage) for usage in iterate_js(usages)]


def export_key(format_: str, key: CryptoKey) -> Any:
    if not key._extractable:
        raise DOMException("Attempt to export non-extractable key.", "InvalidAccessError")
    if key._type != "secret":
        return pairs().export_key(format_, key)
    if format_ == "raw":
        return ArrayBuffer(key._secret)
    if format_ != "jwk":
        raise unsupported(f"key format {format_!r}")
    encoded = base64.urlsafe_b64encode(key._secret).rstrip(b"=").decode()
    members = {"kty": "oct", "alg": WEB_NAMES[key._hash].replace("SHA-", "HS"), "k": encoded}
    return jwk(members, key)


#: Members of a JsonWebKey, as the runtime orders them.
_JWK_MEMBERS = (
    "kty", "use", "key_ops", "alg", "ext", "crv", "x", "y", "d", "n", "e", "p", "q", "dp", "dq",
    "qi", "oth", "k",
)  # fmt: skip


def jwk(members: dict[str, Any], key: CryptoKey) -> JsObject:
    known = members | {"ext": True, "key_ops": JsArray(list(key._usages))}
    return struct({name: known.get(name) for name in _JWK_MEMBERS})


def generate_key(algorithm: Any, usages: Any, *, extractable: bool) -> CryptoKey | JsObject:
    """A key, or the two keys of a pair."""
    name = algorithm_name(algorithm)
    if name in PAIR_NAMES:
        pair: JsObject = pairs().generate_pair(algorithm, usages, extractable=extractable)
        return pair
    if name != "HMAC":
        raise unsupported(name)
    hash_ = hash_name(member(algorithm, "hash"))
    bits = member(algorithm, "length")
    size = hashlib.new(hash_).block_size if bits is None else int(to_number(bits)) // 8
    return CryptoKey(
        name,
        secrets.token_bytes(size),
        hash_=hash_,
        usages=usages_of(usages),
        extractable=extractable,
    )


def derive(algorithm: Any, key: CryptoKey, length_bits: Any, usage: str) -> bytes:
    """``deriveBits``: key material by PBKDF2 or HKDF."""
    name = algorithm_name(algorithm)
    if name not in _DERIVING:
        raise unsupported(name)
    key._require(usage, name)
    hash_ = hash_name(member(algorithm, "hash"))
    salt = bytes_of(member(algorithm, "salt")) or b""
    size = int(to_number(length_bits)) // 8
    if name == "HKDF":
        return _hkdf(hash_, key._secret, salt, bytes_of(member(algorithm, "info")) or b"", size)
    iterations = int(to_number(member(algorithm, "iterations")))
    if iterations > MAX_PBKDF2_ITERATIONS:
        raise DOMException(
            f"Pbkdf2 failed: iteration counts above {MAX_PBKDF2_ITERATIONS} are not supported "
            f"(requested {iterations}).",
            "NotSupportedError",
        )
    return hashlib.pbkdf2_hmac(hash_, key._secret, salt, iterations, size)


def _hkdf(hash_: str, secret: bytes, salt: bytes, info: bytes, size: int) -> bytes:
    digest_size = hashlib.new(hash_).digest_size
    pseudorandom = hmac.digest(salt or bytes(digest_size), secret, hash_)
    blocks = [b""]
    while digest_size * (len(blocks) - 1) < size:
        blocks.append(hmac.digest(pseudorandom, blocks[-1] + info + bytes([len(blocks)]), hash_))
    return b"".join(blocks)[:size]
