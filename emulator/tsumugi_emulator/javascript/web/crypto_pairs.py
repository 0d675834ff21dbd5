"""Keys in pairs, for RSASSA-PKCS1-v1_5 and ECDSA: import, export, generate, sign, verify.

The mathematics is the package ``cryptography``'s, texts of errors are the runtime's.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

from tsumugi_emulator.javascript.buffers import ArrayBuffer, bytes_of, typed_array_from_buffer
from tsumugi_emulator.javascript.errors import DOMException, type_error
from tsumugi_emulator.javascript.strings import to_number, to_string, truthy
from tsumugi_emulator.javascript.values import JsObject, jsnull
from tsumugi_emulator.javascript.web.crypto_keys import (
    PAIR_NAMES,
    WEB_NAMES,
    CryptoKey,
    algorithm_name,
    hash_name,
    jwk,
    unsupported,
    usages_of,
)
from tsumugi_emulator.javascript.web.members import member

_CURVES: Final[dict[str, ec.EllipticCurve]] = {
    "P-256": ec.SECP256R1(),
    "P-384": ec.SECP384R1(),
    "P-521": ec.SECP521R1(),
}
_CURVE_NAMES: Final = {curve.name: name for name, curve in _CURVES.items()}
_DIGESTS: Final[dict[str, hashes.HashAlgorithm]] = {
    "sha1": hashes.SHA1(),
    "sha256": hashes.SHA256(),
    "sha384": hashes.SHA384(),
    "sha512": hashes.SHA512(),
}
#: Members of a private RSA key beside ``n`` and ``e`` (RFC 7518, section 6.3).
_RSA_PRIVATE: Final = ("d", "p", "q", "dp", "dq", "qi")
_USAGE: Final = {"public": "verify", "private": "sign"}
_PUBLIC: Final = (rsa.RSAPublicKey, ec.EllipticCurvePublicKey)

type _Public = rsa.RSAPublicKey | ec.EllipticCurvePublicKey
type _Private = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


def import_key(format_: str, data: Any, algorithm: Any, extractable: Any, usages: Any) -> CryptoKey:
    name = algorithm_name(algorithm)
    hash_ = "" if name == "ECDSA" else _hash(algorithm)
    try:
        key = _read(name, format_, data, algorithm, hash_)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise DOMException(f"Invalid {format_} key: {error}", "DataError") from None
    return _key(name, key, hash_, usages_of(usages), extractable=truthy(extractable))


def generate_pair(algorithm: Any, usages: Any, *, extractable: bool) -> JsObject:
    name = algorithm_name(algorithm)
    wanted = usages_of(usages)
    private: _Private
    if name == "ECDSA":
        hash_, private = "", ec.generate_private_key(_curve(algorithm))
    else:
        hash_ = _hash(algorithm)
        exponent = int.from_bytes(bytes_of(member(algorithm, "publicExponent")) or b"")
        bits = int(to_number(member(algorithm, "modulusLength")))
        try:
            private = rsa.generate_private_key(exponent, bits)
        except ValueError as error:
            raise DOMException(str(error), "OperationError") from None
    public = private.public_key()
    keys = {
        # Public keys may always be exported.
        "publicKey": _key(name, public, hash_, [u for u in wanted if u == "verify"], True),
        "privateKey": _key(name, private, hash_, [u for u in wanted if u == "sign"], extractable),
    }
    return JsObject(dict(keys))


def sign(key: CryptoKey, algorithm: Any, data: bytes) -> bytes:
    private = key._secret
    if isinstance(private, rsa.RSAPrivateKey):
        return private.sign(data, padding.PKCS1v15(), _DIGESTS[key._hash])
    r, s = utils.decode_dss_signature(private.sign(data, ec.ECDSA(_digest(algorithm))))
    size = _coordinate_bytes(private.curve)
    return r.to_bytes(size) + s.to_bytes(size)


def verify(key: CryptoKey, algorithm: Any, signature: bytes, data: bytes) -> bool:
    public = key._secret
    try:
        if isinstance(public, rsa.RSAPublicKey):
            public.verify(signature, data, padding.PKCS1v15(), _DIGESTS[key._hash])
            return True
        size = _coordinate_bytes(public.curve)
        if len(signature) != 2 * size:
            return False
        r, s = int.from_bytes(signature[:size]), int.from_bytes(signature[size:])
        public.verify(utils.encode_dss_signature(r, s), data, ec.ECDSA(_digest(algorithm)))
    except InvalidSignature:
        return False
    return True


def export_key(format_: str, key: CryptoKey) -> Any:
    material: Any = key._secret
    public = material if key._type == "public" else material.public_key()
    if format_ == "jwk":
        return _as_jwk(key, public)
    encodings, kinds = serialization.Encoding, serialization.PublicFormat
    match format_, key._type:
        case "spki", "public":
            return ArrayBuffer(material.public_bytes(encodings.DER, kinds.SubjectPublicKeyInfo))
        case "raw", "public" if isinstance(material, ec.EllipticCurvePublicKey):
            return ArrayBuffer(material.public_bytes(encodings.X962, kinds.UncompressedPoint))
        case "pkcs8", "private":
            return ArrayBuffer(
                material.private_bytes(
                    encodings.DER,
                    serialization.PrivateFormat.PKCS8,
                    serialization.NoEncryption(),
                )
            )
    raise DOMException(f"Unimplemented key export format {format_!r}.", "InvalidAccessError")


# -- Reading ------------------------------------------------------------------------------------


def _read(name: str, format_: str, data: Any, algorithm: Any, hash_: str) -> _Public | _Private:
    key: Any
    if format_ == "jwk":
        key = _ec_of(data, algorithm) if name == "ECDSA" else _rsa_of(data, hash_)
    elif format_ == "spki":
        key = serialization.load_der_public_key(_bytes(data, format_))
    elif format_ == "pkcs8":
        key = serialization.load_der_private_key(_bytes(data, format_), None)
    elif format_ == "raw" and name == "ECDSA":
        key = ec.EllipticCurvePublicKey.from_encoded_point(_curve(algorithm), _bytes(data, format_))
    else:
        raise unsupported(f"key format {format_!r} for {PAIR_NAMES[name]}")
    if isinstance(key, ec.EllipticCurvePublicKey | ec.EllipticCurvePrivateKey):
        if name == "ECDSA" and key.curve.name == _curve(algorithm).name:
            return key
    elif isinstance(key, rsa.RSAPublicKey | rsa.RSAPrivateKey) and name != "ECDSA":
        return key
    raise ValueError(f"it is no key for this {PAIR_NAMES[name]}")


def _rsa_of(jwk: Any, hash_: str) -> _Public | _Private:
    _check_jwk(jwk, "RSA", alg=WEB_NAMES[hash_].replace("SHA-", "RS"))
    public = rsa.RSAPublicNumbers(_number(jwk, "e"), _number(jwk, "n"))
    if _text(jwk, "d") is None:
        return public.public_key()
    d, p, q, dp, dq, qi = (_number(jwk, name) for name in _RSA_PRIVATE)
    return rsa.RSAPrivateNumbers(p, q, d, dp, dq, qi, public).private_key()


def _ec_of(jwk: Any, algorithm: Any) -> _Public | _Private:
    _check_jwk(jwk, "EC", alg=None)
    if _text(jwk, "crv") != _CURVE_NAMES[_curve(algorithm).name]:
        raise ValueError("crv is not namedCurve")
    public = ec.EllipticCurvePublicNumbers(_number(jwk, "x"), _number(jwk, "y"), _curve(algorithm))
    if _text(jwk, "d") is None:
        return public.public_key()
    return ec.EllipticCurvePrivateNumbers(_number(jwk, "d"), public).private_key()


def _check_jwk(jwk: Any, kty: str, *, alg: str | None) -> None:
    if _text(jwk, "kty") != kty:
        raise ValueError(f'kty must be "{kty}"')
    if _text(jwk, "use") not in (None, "sig"):
        raise ValueError('use must be "sig"')
    if alg is not None and _text(jwk, "alg") not in (None, alg):
        raise ValueError(f'alg must be "{alg}"')


def _text(jwk: Any, name: str) -> str | None:
    value = member(jwk, name)
    return None if value is None or value is jsnull else to_string(value)


def _number(jwk: Any, name: str) -> int:
    text = _text(jwk, name)
    if text is None:
        raise ValueError(f"{name} is missing")
    try:
        return int.from_bytes(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, UnicodeEncodeError):
        raise ValueError(f"{name} is not base64url") from None


def _bytes(data: Any, format_: str) -> bytes:
    found = bytes_of(data)
    if found is None:
        raise type_error(
            f'Import data provided for "{format_}" import format must be an ArrayBuffer or '
            "ArrayBufferView."
        )
    return found


# -- Describing ---------------------------------------------------------------------------------


def _key(name: str, material: Any, hash_: str, usages: list[str], extractable: bool) -> CryptoKey:
    type_ = "public" if isinstance(material, _PUBLIC) else "private"
    if set(usages) - {_USAGE[type_]} or (type_ == "private" and not usages):
        raise DOMException(f"Invalid key usages for a {type_} key.", "SyntaxError")
    more: dict[str, Any]
    if name == "ECDSA":
        more = {"namedCurve": _CURVE_NAMES[material.curve.name]}
    else:
        public = material if type_ == "public" else material.public_key()
        exponent = public.public_numbers().e
        more = {
            "modulusLength": material.key_size,
            "publicExponent": typed_array_from_buffer(
                exponent.to_bytes((exponent.bit_length() + 7) // 8)
            ),
        }
    return CryptoKey(
        PAIR_NAMES[name],
        material,
        hash_=hash_,
        usages=usages,
        extractable=extractable,
        type_=type_,
        more=more,
    )


def _as_jwk(key: CryptoKey, public: Any) -> JsObject:
    numbers = public.public_numbers()
    private = key._secret.private_numbers() if key._type == "private" else None
    members: dict[str, Any]
    if isinstance(public, rsa.RSAPublicKey):
        members = {"kty": "RSA", "alg": WEB_NAMES[key._hash].replace("SHA-", "RS")}
        members |= {"n": _encoded(numbers.n), "e": _encoded(numbers.e)}
        if private is not None:
            values = (private.d, private.p, private.q, private.dmp1, private.dmq1, private.iqmp)
            members |= dict(zip(_RSA_PRIVATE, map(_encoded, values), strict=True))
    else:
        size = _coordinate_bytes(public.curve)
        members = {"kty": "EC", "crv": _CURVE_NAMES[public.curve.name]}
        members |= {"x": _encoded(numbers.x, size), "y": _encoded(numbers.y, size)}
        if private is not None:
            members["d"] = _encoded(private.private_value, size)
    return jwk(members, key)


def _encoded(number: int, size: int | None = None) -> str:
    data = number.to_bytes(size or (number.bit_length() + 7) // 8)
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _curve(algorithm: Any) -> ec.EllipticCurve:
    name = to_string(member(algorithm, "namedCurve"))
    if name not in _CURVES:
        raise DOMException(
            f'Unrecognized or unimplemented EC curve "{name}" requested.', "NotSupportedError"
        )
    return _CURVES[name]


def _digest(algorithm: Any) -> hashes.HashAlgorithm:
    return _DIGESTS[_hash(algorithm)]


def _hash(algorithm: Any) -> str:
    name = hash_name(member(algorithm, "hash"))
    if name not in _DIGESTS:
        raise DOMException(
            "Unrecognized or unimplemented digest algorithm requested.", "NotSupportedError"
        )
    return name


def _coordinate_bytes(curve: ec.EllipticCurve) -> int:
    return (curve.key_size + 7) // 8
