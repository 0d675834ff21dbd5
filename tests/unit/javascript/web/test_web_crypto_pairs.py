"""Signatures with two keys: RSASSA-PKCS1-v1_5 and ECDSA."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import js
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from pyodide.ffi import JsException, to_js

if TYPE_CHECKING:
    from web_event import Event

RSA = {"name": "RSASSA-PKCS1-v1_5", "hash": "SHA-256"}
EC = {"name": "ECDSA", "namedCurve": "P-256", "hash": "SHA-256"}
VERIFY, SIGN = ["verify"], ["sign"]

#: RFC 7515, appendix A.3: the key, what was signed, and the signature.
RFC_KEY = {
    "kty": "EC",
    "crv": "P-256",
    "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
}
RFC_SIGNED = (
    b"eyJhbGciOiJFUzI1NiJ9"
    b".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
    b"cGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
)
RFC_SIGNATURE = (
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
)


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encoded(number: int) -> str:
    data = number.to_bytes((number.bit_length() + 7) // 8)
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@pytest.fixture(scope="module")
def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def jwk_of(key: rsa.RSAPrivateKey) -> dict[str, Any]:
    numbers = key.public_key().public_numbers()
    return {"kty": "RSA", "n": encoded(numbers.n), "e": encoded(numbers.e), "alg": "RS256"}


async def imported(format_: str, data: Any, algorithm: dict[str, Any], usages: list[str]) -> Any:
    return await js.crypto.subtle.importKey(
        format_, to_js(data), to_js(algorithm), True, to_js(usages)
    )


async def verified(
    key: Any, algorithm: dict[str, Any], signature: bytes, data: bytes = b"data"
) -> Any:
    return await js.crypto.subtle.verify(to_js(algorithm), key, to_js(signature), to_js(data))


def test_the_example_of_the_standard_verifies(event: Event) -> None:
    async def handler() -> None:
        key = await imported("jwk", RFC_KEY, EC, VERIFY)
        signature = decoded(RFC_SIGNATURE)
        assert await verified(key, EC, signature, RFC_SIGNED) is True
        assert await verified(key, EC, signature, RFC_SIGNED + b"x") is False
        assert await verified(key, EC, signature[:-1], RFC_SIGNED) is False

    event.run(handler)


def test_what_others_sign_verifies_and_what_we_sign_others_verify(
    event: Event, rsa_key: rsa.RSAPrivateKey
) -> None:
    async def handler() -> None:
        key = await imported("jwk", jwk_of(rsa_key), RSA, VERIFY)
        signature = rsa_key.sign(b"data", padding.PKCS1v15(), hashes.SHA256())
        assert await verified(key, RSA, signature) is True
        assert await verified(key, RSA, signature, b"dat") is False
        assert await verified(key, RSA, b"") is False
        der = rsa_key.private_bytes(
            serialization.Encoding.DER,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        private = await imported("pkcs8", der, RSA, SIGN)
        ours = await js.crypto.subtle.sign(to_js(RSA), private, to_js(b"data"))
        assert ours.to_bytes() == signature

    event.run(handler)


@pytest.mark.parametrize("curve", ["P-256", "P-384", "P-521"])
def test_a_pair_signs_verifies_and_moves_in_every_format(event: Event, curve: str) -> None:
    algorithm = EC | {"namedCurve": curve}

    async def handler() -> None:
        subtle = js.crypto.subtle
        pair = await subtle.generateKey(to_js(algorithm), True, to_js(["sign", "verify"]))
        assert (pair.privateKey.type, pair.publicKey.type) == ("private", "public")
        assert pair.publicKey.algorithm.namedCurve == curve
        moved_private = []
        for format_ in ("jwk", "pkcs8"):
            exported = await subtle.exportKey(format_, pair.privateKey)
            moved_private.append(
                await subtle.importKey(format_, exported, to_js(algorithm), True, to_js(SIGN))
            )
        for format_ in ("jwk", "spki", "raw"):
            exported = await subtle.exportKey(format_, pair.publicKey)
            public = await subtle.importKey(
                format_, exported, to_js(algorithm), True, to_js(VERIFY)
            )
            for private in moved_private:
                signature = await subtle.sign(to_js(algorithm), private, to_js(b"data"))
                assert await subtle.verify(to_js(algorithm), public, signature, to_js(b"data"))

    event.run(handler)


def test_an_rsa_pair_moves_in_every_format(event: Event) -> None:
    algorithm = RSA | {"modulusLength": 2048, "publicExponent": b"\x01\x00\x01"}

    async def handler() -> None:
        subtle = js.crypto.subtle
        pair = await subtle.generateKey(to_js(algorithm), True, to_js(["sign", "verify"]))
        described = pair.publicKey.algorithm
        assert (described.name, described.hash.name) == ("RSASSA-PKCS1-v1_5", "SHA-256")
        assert (described.modulusLength, described.publicExponent.to_bytes()) == (2048, b"\1\0\1")
        jwk = await subtle.exportKey("jwk", pair.privateKey)
        assert (jwk.kty, jwk.alg) == ("RSA", "RS256")
        private = await subtle.importKey("jwk", jwk, to_js(RSA), True, to_js(SIGN))
        spki = await subtle.exportKey("spki", pair.publicKey)
        public = await subtle.importKey("spki", spki, to_js(RSA), True, to_js(VERIFY))
        signature = await subtle.sign(to_js(RSA), private, to_js(b"data"))
        assert await subtle.verify(to_js(RSA), public, signature, to_js(b"data"))

    event.run(handler)


@pytest.mark.parametrize(
    ("changed", "algorithm", "usages", "said"),
    [
        ({"kty": "oct"}, RSA, VERIFY, "DataError.*kty"),
        ({"alg": "RS512"}, RSA, VERIFY, "DataError.*alg"),
        ({"use": "enc"}, RSA, VERIFY, "DataError.*use"),
        ({"n": "!"}, RSA, VERIFY, "DataError"),
        ({}, RSA | {"hash": "MD5"}, VERIFY, "NotSupportedError"),
        ({}, RSA, SIGN, "SyntaxError.*usages"),
        ({"kty": "EC"}, EC, VERIFY, "DataError"),
    ],
)
def test_what_is_no_key_for_this_is_refused(
    event: Event,
    rsa_key: rsa.RSAPrivateKey,
    changed: dict[str, Any],
    algorithm: dict[str, Any],
    usages: list[str],
    said: str,
) -> None:
    async def handler() -> None:
        with pytest.raises(JsException, match=said):
            await imported("jwk", jwk_of(rsa_key) | changed, algorithm, usages)

    event.run(handler)


def test_a_point_that_is_not_on_the_curve_is_refused(event: Event) -> None:
    async def handler() -> None:
        for wrong in ({"y": RFC_KEY["x"]}, {"crv": "P-384"}):
            with pytest.raises(JsException, match="DataError"):
                await imported("jwk", RFC_KEY | wrong, EC, VERIFY)
        with pytest.raises(JsException, match="NotSupportedError"):
            await imported("jwk", RFC_KEY, EC | {"namedCurve": "P-1"}, VERIFY)

    event.run(handler)


def test_a_signature_is_of_two_numbers_in_full_width(event: Event) -> None:
    async def handler() -> None:
        private = ec.generate_private_key(ec.SECP256R1())
        numbers = private.public_key().public_numbers()
        jwk = RFC_KEY | {
            "x": base64.urlsafe_b64encode(numbers.x.to_bytes(32)).decode(),
            "y": base64.urlsafe_b64encode(numbers.y.to_bytes(32)).decode(),
        }
        key = await imported("jwk", jwk, EC, VERIFY)
        der = private.sign(b"data", ec.ECDSA(hashes.SHA256()))
        r, s = utils.decode_dss_signature(der)
        assert await verified(key, EC, r.to_bytes(32) + s.to_bytes(32)) is True
        assert await verified(key, EC, der) is False

    event.run(handler)


def test_a_key_verifies_only_by_its_own_algorithm(event: Event, rsa_key: rsa.RSAPrivateKey) -> None:
    async def handler() -> None:
        key = await imported("jwk", jwk_of(rsa_key), RSA, VERIFY)
        with pytest.raises(JsException, match="InvalidAccessError"):
            await verified(key, EC, b"")
        with pytest.raises(JsException, match="InvalidAccessError"):
            await verified(key, {"name": "HMAC"}, b"")

    event.run(handler)
