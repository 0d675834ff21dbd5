"""``crypto``: randomness, digests, HMAC, PBKDF2, HKDF, and signatures by ``crypto_pairs``.

Not here: AES, and everything else RSA and elliptic curves do. It answers with a NotSupportedError
that says so.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
import uuid
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.buffers import ArrayBuffer, TypedArray, bytes_of
from tsumugi_emulator.javascript.errors import DOMException, type_error
from tsumugi_emulator.javascript.functions import js_class, js_method, js_property
from tsumugi_emulator.javascript.futures import PyodideFuture
from tsumugi_emulator.javascript.promise import rejected, resolved
from tsumugi_emulator.javascript.strings import to_string, truthy
from tsumugi_emulator.javascript.values import JsProxy, PyProxy
from tsumugi_emulator.javascript.web.crypto_keys import (
    PAIR_NAMES,
    CryptoKey,
    algorithm_name,
    derive,
    export_key,
    generate_key,
    hash_name,
    import_key,
    pairs,
    unsupported,
)
from tsumugi_emulator.javascript.web.members import member
from tsumugi_emulator.javascript.web.writable import WritableStream

if TYPE_CHECKING:
    from collections.abc import Callable

#: getRandomValues refuses more (Web Cryptography, section 10.1.1).
MAX_RANDOM_BYTES = 65_536


def buffer_argument(value: Any, method: str, position: int) -> bytes:
    data = bytes_of(value)
    if data is None:
        raise type_error(
            f"Failed to execute '{method}' on 'SubtleCrypto': parameter {position} is not of type "
            "'ArrayBuffer or ArrayBufferView'."
        )
    return data


def _promise(work: Callable[[], Any]) -> PyodideFuture:
    """The promise of ``work``; its errors appear at await."""
    try:
        return resolved(work())
    except Exception as error:
        return rejected(error)


@js_class("SubtleCrypto", constructible=False)
class SubtleCrypto(JsProxy):
    __slots__ = ()

    @js_method
    def digest(self, algorithm: Any = None, data: Any = None) -> PyodideFuture:
        def work() -> ArrayBuffer:
            digest = hashlib.new(hash_name(algorithm), usedforsecurity=False)
            digest.update(buffer_argument(data, "digest", 2))
            return ArrayBuffer(digest.digest())

        return _promise(work)

    @js_method
    def timingSafeEqual(self, left: Any = None, right: Any = None) -> bool:
        first = buffer_argument(left, "timingSafeEqual", 1)
        second = buffer_argument(right, "timingSafeEqual", 2)
        if len(first) != len(second):
            raise type_error("Input buffers must have the same byte length.")
        return hmac.compare_digest(first, second)

    @js_method
    def importKey(self, *args: Any) -> PyodideFuture:
        return _promise(lambda: import_key(*args))

    @js_method
    def exportKey(self, format_: Any = None, key: Any = None) -> PyodideFuture:
        return _promise(lambda: export_key(to_string(format_), key))

    @js_method
    def generateKey(
        self, algorithm: Any = None, extractable: Any = None, usages: Any = None
    ) -> PyodideFuture:
        io_context.require()
        return _promise(lambda: generate_key(algorithm, usages, extractable=truthy(extractable)))

    @js_method
    def sign(self, algorithm: Any = None, key: Any = None, data: Any = None) -> PyodideFuture:
        def work() -> ArrayBuffer:
            name = _signing_key(algorithm, key, "sign")
            signed = buffer_argument(data, "sign", 3)
            if name in PAIR_NAMES:
                return ArrayBuffer(pairs().sign(key, algorithm, signed))
            return ArrayBuffer(hmac.digest(key._secret, signed, key._hash))

        return _promise(work)

    @js_method
    def verify(
        self, algorithm: Any = None, key: Any = None, signature: Any = None, data: Any = None
    ) -> PyodideFuture:
        def work() -> bool:
            name = _signing_key(algorithm, key, "verify")
            claimed = buffer_argument(signature, "verify", 3)
            signed = buffer_argument(data, "verify", 4)
            if name in PAIR_NAMES:
                return bool(pairs().verify(key, algorithm, claimed, signed))
            return hmac.compare_digest(hmac.digest(key._secret, signed, key._hash), claimed)

        return _promise(work)

    @js_method
    def deriveBits(
        self, algorithm: Any = None, key: Any = None, length: Any = None
    ) -> PyodideFuture:
        return _promise(lambda: ArrayBuffer(derive(algorithm, key, length, "deriveBits")))

    @js_method
    def deriveKey(self, *args: Any) -> PyodideFuture:
        def work() -> CryptoKey:
            algorithm, key, target, extractable, usages = (*args, *[None] * 5)[:5]
            if algorithm_name(target) != "HMAC":
                raise unsupported(algorithm_name(target))
            block_bytes = hashlib.new(hash_name(member(target, "hash"))).block_size
            size = member(target, "length") or 8 * block_bytes
            data = ArrayBuffer(derive(algorithm, key, size, "deriveKey"))
            return import_key("raw", data, target, extractable, usages)

        return _promise(work)

    @js_method
    def encrypt(self, algorithm: Any = None, *_rest: Any) -> PyodideFuture:
        return rejected(unsupported(algorithm_name(algorithm)))

    @js_method
    def decrypt(self, algorithm: Any = None, *_rest: Any) -> PyodideFuture:
        return rejected(unsupported(algorithm_name(algorithm)))


def _signing_key(algorithm: Any, key: Any, method: str) -> str:
    """The algorithm's name, if this key may do it."""
    name = algorithm_name(algorithm)
    if name != "HMAC" and name not in PAIR_NAMES:
        raise unsupported(name)
    if not isinstance(key, CryptoKey):
        raise type_error(
            f"Failed to execute '{method}' on 'SubtleCrypto': parameter 2 is not of type "
            "'CryptoKey'."
        )
    key._require(method, name)
    return name


@js_class("Crypto", constructible=False)
class Crypto(JsProxy):
    __slots__ = ("_subtle",)

    def __init__(self) -> None:
        self._subtle = SubtleCrypto()

    @js_property
    def subtle(self) -> SubtleCrypto:
        return self._subtle

    @js_property
    def DigestStream(self) -> Any:
        return DigestStream.constructor

    @js_method
    def randomUUID(self) -> str:
        io_context.require()
        return str(uuid.uuid4())

    @js_method
    def getRandomValues(self, target: Any = None) -> Any:
        io_context.require()
        if not isinstance(target, TypedArray) or target._format in "fd":
            hint = " (pass js.Uint8Array.new(n))" if isinstance(target, PyProxy) else ""
            raise DOMException(
                "ArrayBufferView argument to getRandomValues() must be an integer-typed view."
                + hint,
                "TypeMismatchError",
            )
        view = target._view()
        if len(view) > MAX_RANDOM_BYTES:
            raise DOMException(
                f"getRandomValues() only accepts buffers of size <= 64K but provided {len(view)} "
                "bytes.",
                "QuotaExceededError",
            )
        view[:] = secrets.token_bytes(len(view))
        return target


class _DigestSink:
    __slots__ = ("_digest", "_hash")

    def __init__(self, name: str, digest: PyodideFuture) -> None:
        self._hash = hashlib.new(name, usedforsecurity=False)
        self._digest = digest

    def write(self, chunk: Any) -> None:
        data = bytes_of(chunk)
        if data is None:
            raise type_error(
                "DigestStream is a byte stream but received an object of "
                "non-ArrayBuffer/ArrayBufferView/string type on its writable side."
            )
        self._hash.update(data)

    def close(self) -> None:
        if not self._digest.done():
            self._digest.set_result(ArrayBuffer(self._hash.digest()))

    def abort(self, reason: Any) -> None:
        self._digest.cancel()


@js_class("DigestStream")
class DigestStream(WritableStream):
    """``new crypto.DigestStream("SHA-256")``: a writable whose ``digest`` is a promise."""

    __slots__ = ("_digest",)

    _digest: PyodideFuture

    @classmethod
    def _construct(cls, algorithm: Any = None) -> DigestStream:  # type: ignore[override]
        pending = PyodideFuture(loop=asyncio.get_running_loop())
        made = cls(_DigestSink(hash_name(algorithm), pending))
        made._digest = pending
        return made

    @js_property
    def digest(self) -> PyodideFuture:
        return self._digest


crypto = Crypto()
CryptoClass = Crypto.constructor
SubtleCryptoClass = SubtleCrypto.constructor
