"""Cloudflare Access: real keys, real signatures, and every way a token can be no good."""

from __future__ import annotations

import asyncio
import base64
import json
from functools import cache
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from jobs_api_harness import Request
from tsumugi.jobs.api.access import AccessAuth, cloudflare_access
from tsumugi.jobs.api.keys import FAILED_EVERY_S, KEEP_S, UNKNOWN_EVERY_S, usable_keys

NOW_S = 1_790_000_000
TEAM, AUD = "team", "0123456789abcdef"
ISSUER = f"https://{TEAM}.cloudflareaccess.com"
CERTS = f"{ISSUER}/cdn-cgi/access/certs"


def encoded(data: bytes | dict[str, Any]) -> str:
    if isinstance(data, dict):
        data = json.dumps(data).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value: int) -> str:
    return encoded(value.to_bytes((value.bit_length() + 7) // 8))


@cache
def rsa_key(name: str) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@cache
def ec_key(name: str) -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def jwk(name: str, algorithm: str = "RS256") -> dict[str, Any]:
    if algorithm == "RS256":
        numbers = rsa_key(name).public_key().public_numbers()
        key = {"kty": "RSA", "n": number(numbers.n), "e": number(numbers.e)}
    else:
        point = ec_key(name).public_key().public_numbers()
        key = {"kty": "EC", "crv": "P-256"}
        key |= {"x": encoded(point.x.to_bytes(32)), "y": encoded(point.y.to_bytes(32))}
    return key | {"kid": name, "alg": algorithm, "use": "sig"}


def claims(**changed: Any) -> dict[str, Any]:
    found = {"iss": ISSUER, "aud": [AUD], "exp": NOW_S + 60, "nbf": NOW_S - 60, "iat": NOW_S - 60}
    found |= {"email": "a@example.com", "type": "app"}
    return {name: value for name, value in (found | changed).items() if value is not ...}


def token(
    key: str = "one",
    algorithm: str = "RS256",
    *,
    header: dict[str, Any] | None = None,
    **changed: Any,
) -> str:
    head = {"alg": algorithm, "kid": key, "typ": "JWT"} | (header or {})
    text = f"{encoded(head)}.{encoded(claims(**changed))}"
    if algorithm == "RS256":
        signature = rsa_key(key).sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
    else:
        der = ec_key(key).sign(text.encode(), ec.ECDSA(hashes.SHA256()))
        r, s = utils.decode_dss_signature(der)
        signature = r.to_bytes(32) + s.to_bytes(32)
    return f"{text}.{encoded(signature)}"


async def verified(key: Any, algorithm: str, signature: bytes, signed: bytes) -> bool:
    """What the runtime's Web Crypto does; ``test_web_crypto_pairs`` tests the emulated one."""

    def whole(name: str) -> int:
        text = key[name]
        return int.from_bytes(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))

    try:
        if algorithm == "RS256":
            public = rsa.RSAPublicNumbers(whole("e"), whole("n")).public_key()
            public.verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
            return True
        point = ec.EllipticCurvePublicNumbers(whole("x"), whole("y"), ec.SECP256R1())
        r, s = int.from_bytes(signature[:32]), int.from_bytes(signature[32:])
        der = utils.encode_dss_signature(r, s)
        point.public_key().verify(der, signed, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


class Door:
    """Access with a clock and a key server of its own."""

    def __init__(self, *keys: dict[str, Any], **options: Any) -> None:
        self.now_s = float(NOW_S)
        self.document: Any = {"keys": list(keys or (jwk("one"),))}
        self.fetched: list[str] = []
        self.auth = AccessAuth(
            options.get("team_domain", TEAM),
            options.get("aud", AUD),
            fetch=self._fetch,
            verify=options.get("verify", verified),
            now_s=lambda: self.now_s,
        )

    async def _fetch(self, url: str) -> Any:
        self.fetched.append(url)
        if isinstance(self.document, Exception):
            raise self.document
        return self.document

    def refusal(self, text: str, method: str = "GET", **headers: str) -> str | None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if text:
            named.setdefault("cf-access-jwt-assertion", text)
        request = Request(method, "https://worker.test/api/jobs", named)
        return asyncio.run(self.auth.refusal(request, None))


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_a_token_that_access_signed_lets_in(algorithm: str) -> None:
    door = Door(jwk("one", algorithm))
    assert door.refusal(token(algorithm=algorithm)) is None
    assert door.fetched == [CERTS]


@pytest.mark.parametrize("team", ["team", "team.cloudflareaccess.com", f"{ISSUER}/"])
def test_the_team_may_be_written_in_three_ways(team: str) -> None:
    assert Door(team_domain=team).refusal(token()) is None


def test_settings_may_come_from_env() -> None:
    assert Door(team_domain=lambda _env: TEAM, aud=lambda _env: AUD).refusal(token()) is None
    for options in ({"team_domain": lambda _env: ""}, {"aud": lambda _env: None}):
        assert Door(**options).refusal(token()) == "team_domain or aud is empty"


def test_the_cookie_counts_when_there_is_no_header() -> None:
    assert Door().refusal("", cookie=f"CF_Authorization={token()}") is None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"iss": "https://other.cloudflareaccess.com"}, "not from"),
        ({"iss": ...}, "not from"),
        ({"aud": ["other"]}, "another application"),
        ({"aud": "other"}, "another application"),
        ({"aud": ...}, "another application"),
        ({"aud": {AUD: 1}}, "another application"),
        ({"exp": NOW_S}, "expired"),
        ({"exp": NOW_S - 1}, "expired"),
        ({"exp": ...}, "expired"),
        ({"exp": "9999999999"}, "expired"),
        ({"exp": True}, "expired"),
        ({"exp": float("nan")}, "expired"),
        ({"nbf": NOW_S + 31}, "not valid yet"),
        ({"nbf": "0"}, "not valid yet"),
    ],
)
def test_claims_must_be_for_us_from_them_and_valid_now(changed: dict[str, Any], said: str) -> None:
    refusal = Door().refusal(token(**changed))
    assert refusal is not None
    assert said in refusal


@pytest.mark.parametrize("changed", [{"aud": AUD}, {"nbf": ...}, {"nbf": NOW_S + 30}])
def test_what_the_standard_allows_is_allowed(changed: dict[str, Any]) -> None:
    assert Door().refusal(token(**changed)) is None


@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_token_that_was_changed_anywhere_is_refused(part: int) -> None:
    door = Door()
    parts = token().split(".")
    if part == 0:
        parts[0] = encoded({"alg": "RS256", "kid": "one", "typ": "jwt"})
    elif part == 1:
        parts[1] = encoded(claims(email="root@example.com"))
    else:
        parts[2] = encoded(bytes(256))
    assert door.refusal(".".join(parts)) == "the signature is wrong"


@pytest.mark.parametrize("answer", [None, 1, "true", object()])
def test_only_true_says_that_a_signature_is_right(answer: object) -> None:
    async def undecided(*_: Any) -> object:
        return answer

    assert Door(verify=undecided).refusal(token()) == "the signature is wrong"


def test_another_key_of_the_same_name_is_refused() -> None:
    door = Door(jwk("other") | {"kid": "one"})
    assert door.refusal(token("one")) == "the signature is wrong"


def hmac_token() -> str:
    import hashlib
    import hmac

    # The old trick: the public key, which everybody has, taken as a shared secret.
    secret = json.dumps(jwk("one")).encode()
    text = f"{encoded({'alg': 'HS256', 'kid': 'one'})}.{encoded(claims())}"
    return f"{text}.{encoded(hmac.digest(secret, text.encode(), hashlib.sha256))}"


@pytest.mark.parametrize("algorithm", ["none", "None", "", "HS256", "PS256", "RS512", None, 5])
def test_the_sender_does_not_choose_how_it_is_checked(algorithm: Any) -> None:
    head, body, signature = token().split(".")
    head = encoded({"alg": algorithm, "kid": "one"})
    for text in (f"{head}.{body}.{signature}", f"{head}.{body}.", f"{head}.{body}.AA"):
        refusal = Door().refusal(text)
        assert refusal is not None
        assert "not RS256 or ES256" in refusal or "base64url" in refusal
    assert "HS256" in (Door().refusal(hmac_token()) or "")


def test_a_key_is_not_used_for_another_algorithm() -> None:
    text = token("one", "ES256")
    assert Door(jwk("one", "RS256")).refusal(text) == "no key 'one' for ES256 is known"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a.b",
        "a.b.c",
        "a.b.c.d",
        "..",
        f"{encoded(b'[]')}.{encoded(b'{}')}.AA",
        f"{encoded({'alg': 'RS256', 'kid': 'one'})}.{encoded(b'[1]')}.AA",
        f"{encoded({'alg': 'RS256'})}.{encoded(claims())}.AA",
        f"{encoded({'alg': 'RS256', 'kid': 7})}.{encoded(claims())}.AA",
        f"{encoded({'alg': 'RS256', 'kid': 'one', 'crit': ['x']})}.{encoded(claims())}.AA",
        f"{encoded({'alg': 'RS256', 'kid': 'one'})}.{encoded(claims())}.A+/=",
        f"{encoded({'alg': 'RS256', 'kid': 'one'})}.{encoded(claims())}.A",
        "x" * 20_000,
        f"{encoded(b'[' * 5000)}.{encoded(b'{}')}.AA",
        "\ud800.ü.x",
    ],
)
def test_what_is_no_token_is_refused_without_asking_anybody(text: str) -> None:
    door = Door()
    assert door.refusal(text) is not None
    assert door.fetched == []


def test_requests_of_other_sites_change_nothing() -> None:
    # Access turns the cookie that a browser sends along into the header.
    headers = {"sec_fetch_site": "cross-site"}
    assert Door().refusal(token(), "POST", **headers) == "the request comes from another site"
    assert Door().refusal(token(), "GET", **headers) is None
    assert Door().refusal(token(), "POST", sec_fetch_site="same-origin") is None


# -- Keys -----------------------------------------------------------------------------------------


def test_keys_are_fetched_once_an_hour() -> None:
    door = Door()
    for _ in range(3):
        assert door.refusal(token()) is None
    assert len(door.fetched) == 1
    door.now_s += KEEP_S
    assert door.refusal(token(exp=door.now_s + 60)) is None
    assert len(door.fetched) == 2


def test_a_new_key_is_found_and_an_old_one_forgotten() -> None:
    door = Door(jwk("one"))
    assert door.refusal(token("one")) is None
    door.document = {"keys": [jwk("two")]}
    door.now_s += UNKNOWN_EVERY_S
    valid = {"exp": door.now_s + 60}
    assert door.refusal(token("two", **valid)) is None
    assert door.refusal(token("one", **valid)) is not None


def test_made_up_key_names_do_not_cause_a_fetch_each() -> None:
    door = Door()
    assert door.refusal(token()) is None
    for name in "abc":
        refusal = door.refusal(token(header={"kid": name}))
        assert refusal == f"no key {name!r} for RS256 is known"
    assert len(door.fetched) == 1


def test_without_keys_nobody_is_let_in_and_asking_waits_a_moment() -> None:
    door = Door()
    good, door.document = door.document, OSError("down")
    for _ in range(3):
        assert door.refusal(token()) is not None
    assert len(door.fetched) == 1
    door.document = good
    door.now_s += FAILED_EVERY_S
    assert door.refusal(token()) is None


def test_keys_that_are_too_old_let_nobody_in_while_new_ones_cannot_be_fetched() -> None:
    door = Door()
    assert door.refusal(token()) is None
    door.document = OSError("down")
    door.now_s += KEEP_S
    assert door.refusal(token(exp=door.now_s + 60)) is not None
    # Within the hour they still count, whatever a look for an unknown one came to.
    fresh = Door()
    assert fresh.refusal(token()) is None
    fresh.document = OSError("down")
    fresh.now_s += UNKNOWN_EVERY_S
    assert fresh.refusal(token("two", exp=fresh.now_s + 60)) is not None
    assert fresh.refusal(token(exp=fresh.now_s + 60)) is None


def test_requests_at_the_same_time_each_get_the_keys() -> None:
    door = Door()

    async def both() -> list[str | None]:
        headers = {"cf-access-jwt-assertion": token()}
        request = Request("GET", "https://worker.test/api/jobs", headers)
        return await asyncio.gather(*(door.auth.refusal(request, None) for _ in range(3)))

    assert asyncio.run(both()) == [None] * 3


@pytest.mark.parametrize("document", [None, [], {}, {"keys": 5}, {"keys": [None]}, "keys"])
def test_a_document_that_holds_no_keys_lets_nobody_in(document: Any) -> None:
    door = Door()
    door.document = document
    assert door.refusal(token()) is not None


def test_weak_and_foreign_keys_are_left_out() -> None:
    weak = rsa.generate_private_key(65537, 1024).public_key().public_numbers()
    keys = [
        jwk("one") | {"use": "enc"},
        jwk("one") | {"alg": "RS512"},
        jwk("one") | {"kid": 5},
        jwk("one") | {"n": number(weak.n)},
        jwk("one", "ES256") | {"crv": "P-384"},
        {"kty": "oct", "k": "AAAA", "kid": "one", "alg": "HS256"},
    ]
    assert usable_keys({"keys": keys}) == {}
    assert list(usable_keys({"keys": [jwk("one") | {"d": "secret"}]}).values()) == [
        {name: jwk("one")[name] for name in ("kty", "n", "e")}
    ]


@pytest.mark.parametrize(("team", "aud"), [("", AUD), (TEAM, ""), (TEAM, " "), (None, AUD)])
def test_access_without_its_settings_is_refused_at_once(team: Any, aud: Any) -> None:
    with pytest.raises(ValueError, match="without it nothing is checked"):
        cloudflare_access(team, aud)
