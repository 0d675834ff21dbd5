"""``crypto``, text encodings and the small globals (row j1)."""

from __future__ import annotations

import hashlib
import hmac
import importlib
import uuid

import js
import pytest
from pyodide.ffi import JsException, to_js
from tsumugi_emulator.javascript.web import NOT_EMULATED, WEB_GLOBALS
from web_event import Event, at_import


@pytest.mark.parametrize("name", ["SHA-1", "SHA-256", "SHA-384", "SHA-512", "MD5"])
def test_digests_agree_with_hashlib(event: Event, name: str) -> None:
    async def handler() -> None:
        digest = await js.crypto.subtle.digest(name, to_js(b"data"))
        assert digest.to_bytes() == hashlib.new(name.replace("-", ""), b"data").digest()
        named = await js.crypto.subtle.digest(to_js({"name": name.lower()}), to_js(b"data"))
        assert named.to_bytes() == digest.to_bytes()

    event.run(handler)


def test_an_unknown_digest_is_refused_at_await(event: Event) -> None:
    async def handler() -> None:
        promise = js.crypto.subtle.digest("SHA-9", to_js(b""))
        with pytest.raises(JsException, match="NotSupportedError"):
            await promise

    event.run(handler)


def test_hmac_signs_and_verifies(event: Event) -> None:
    async def handler() -> None:
        subtle = js.crypto.subtle
        algorithm = to_js({"name": "HMAC", "hash": "SHA-256"})
        usages = to_js(["sign", "verify"])
        key = await subtle.importKey("raw", to_js(b"secret"), algorithm, False, usages)
        signature = await subtle.sign("HMAC", key, to_js(b"data"))
        assert signature.to_bytes() == hmac.digest(b"secret", b"data", "sha256")
        assert await subtle.verify("HMAC", key, signature, to_js(b"data")) is True
        assert await subtle.verify("HMAC", key, signature, to_js(b"other")) is False
        with pytest.raises(JsException, match="InvalidAccessError"):
            await subtle.exportKey("raw", key)

    event.run(handler)


def test_a_key_does_only_what_it_was_imported_for(event: Event) -> None:
    async def handler() -> None:
        algorithm = to_js({"name": "HMAC", "hash": "SHA-256"})
        key = await js.crypto.subtle.generateKey(algorithm, True, to_js(["verify"]))
        with pytest.raises(JsException, match='"sign" does not match any usage'):
            await js.crypto.subtle.sign("HMAC", key, to_js(b""))
        exported = await js.crypto.subtle.exportKey("jwk", key)
        assert (exported.kty, exported.alg) == ("oct", "HS256")
        again = await js.crypto.subtle.importKey("jwk", exported, algorithm, True, to_js(["sign"]))
        assert (await js.crypto.subtle.exportKey("raw", again)).byteLength == 64

    event.run(handler)


def test_pbkdf2_and_hkdf_derive_known_bits(event: Event) -> None:
    async def handler() -> None:
        subtle = js.crypto.subtle
        usages = to_js(["deriveBits"])
        key = await subtle.importKey("raw", to_js(b"password"), "PBKDF2", False, usages)
        pbkdf2 = {"name": "PBKDF2", "hash": "SHA-256", "salt": b"salt", "iterations": 2}
        bits = await subtle.deriveBits(to_js(pbkdf2), key, 256)
        assert bits.to_bytes() == hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 2)
        # RFC 5869, test case 1
        secret = await subtle.importKey("raw", to_js(b"\x0b" * 22), "HKDF", False, usages)
        hkdf = {
            "name": "HKDF",
            "hash": "SHA-256",
            "salt": bytes(range(13)),
            "info": bytes(range(0xF0, 0xFA)),
        }
        derived = await subtle.deriveBits(to_js(hkdf), secret, 336)
        assert derived.to_bytes().hex() == (
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        )

    event.run(handler)


def test_what_is_not_emulated_says_so(event: Event) -> None:
    async def handler() -> None:
        with pytest.raises(JsException, match="AES-GCM exists in production but is not emulated"):
            await js.crypto.subtle.encrypt(to_js({"name": "AES-GCM"}))
        with pytest.raises(AttributeError, match="HTMLRewriter exists in production but is not"):
            _ = js.HTMLRewriter

    event.run(handler)


def test_randomness_needs_an_event(event: Event) -> None:
    async def handler() -> None:
        assert uuid.UUID(js.crypto.randomUUID()).version == 4
        array = js.Uint8Array.new(16)
        assert js.crypto.getRandomValues(array) is array
        assert array.to_bytes() != bytes(16)
        with pytest.raises(JsException, match="QuotaExceededError"):
            js.crypto.getRandomValues(js.Uint8Array.new(65_537))
        with pytest.raises(JsException, match="TypeMismatchError"):
            js.crypto.getRandomValues(bytearray(4))

    event.run(handler)
    with pytest.raises(JsException, match="Disallowed operation called within global scope"):
        at_import(js.crypto.randomUUID)


def test_timing_safe_equal_compares_bytes() -> None:
    equal = js.crypto.subtle.timingSafeEqual
    assert equal(to_js(b"ab"), to_js(b"ab")) is True
    assert equal(to_js(b"ab"), to_js(b"ac")) is False
    with pytest.raises(JsException, match="same byte length"):
        equal(to_js(b"a"), to_js(b"ab"))


def test_a_digest_stream_hashes_what_is_written(event: Event) -> None:
    async def handler() -> None:
        stream = js.crypto.DigestStream.new("SHA-256")
        await js.Response.new("data").body.pipeTo(stream)
        assert (await stream.digest).to_bytes() == hashlib.sha256(b"data").digest()

    event.run(handler)


def test_text_encoders_and_decoders() -> None:
    assert js.TextEncoder.new().encode("é\ud800").to_bytes() == b"\xc3\xa9\xef\xbf\xbd"
    decoder = js.TextDecoder.new()
    assert decoder.decode(to_js(b"\xef\xbb\xbf\xc3\xa9\xff")) == "é\ufffd"
    assert decoder.decode(to_js(b"\xc3"), stream=True) == ""
    assert decoder.decode(to_js(b"\xa9")) == "é"
    with pytest.raises(JsException, match=r"^TypeError: Failed to decode input\.$"):
        js.TextDecoder.new("utf-8", fatal=True).decode(to_js(b"\xff"))
    assert js.TextDecoder.new("latin1").decode(to_js(b"\x80")) == "€"
    with pytest.raises(JsException, match="RangeError"):
        js.TextDecoder.new("no-such-encoding")


def test_base64_of_latin1_strings() -> None:
    assert js.btoa("h\xe9") == "aOk="
    assert js.atob(" aO k= ") == "h\xe9"
    assert js.atob("aOk") == "h\xe9"
    for call in (lambda: js.atob("a"), lambda: js.atob("a=b="), lambda: js.btoa("€")):
        with pytest.raises(JsException, match="InvalidCharacterError"):
            call()


def test_the_small_globals_answer_as_in_production() -> None:
    assert js.navigator.userAgent == "Cloudflare-Workers"
    assert js.performance.now() > 1_700_000_000_000
    assert js.structuredClone(to_js({"a": [1]})).a.to_py() == [1]
    assert js.DOMException.new("text", "AbortError").code == 20
    assert js.Cloudflare.compatibilityFlags.constructor.name == "Object"
    with pytest.raises(JsException, match="EvalError: Code generation from strings disallowed"):
        js.eval("1 + 1")


@pytest.mark.parametrize("name", sorted(WEB_GLOBALS))
def test_every_registered_global_exists(name: str) -> None:
    assert getattr(js, name) is not None
    module, _, attribute = WEB_GLOBALS[name].partition(":")
    assert hasattr(importlib.import_module(module), attribute)


def test_no_global_is_both_emulated_and_not() -> None:
    assert not NOT_EMULATED & WEB_GLOBALS.keys()
