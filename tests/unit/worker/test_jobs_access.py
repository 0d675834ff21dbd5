"""Cloudflare Access inside a Worker: the same checks, with the runtime's own Web Crypto."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from child_harness import child
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

WORKER = """
    import json
    from workers import Request, Response, WorkerEntrypoint
    from tsumugi.jobs.api.access import AccessAuth

    KEYS = json.loads('''{keys}''')

    async def fetch(url):
        assert url == "https://team.cloudflareaccess.com/cdn-cgi/access/certs", url
        return KEYS

    auth = AccessAuth("team", "aud", fetch=fetch)

    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            headers = {{"cf-access-jwt-assertion": await request.text()}}
            asked = Request(request.url, headers=headers)
            return Response(str(await auth.refusal(asked, self.env)))
"""


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(header: dict[str, Any], sign: Any) -> str:
    claims = {"iss": "https://team.cloudflareaccess.com", "aud": ["aud"], "exp": 10**10}
    text = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
    return f"{text}.{encoded(sign(text.encode()))}"


@pytest.fixture(scope="module")
def rsa_case() -> tuple[dict[str, Any], str]:
    key = rsa.generate_private_key(65537, 2048)
    numbers = key.public_key().public_numbers()
    jwk = {"kty": "RSA", "kid": "r", "alg": "RS256", "use": "sig", "e": "AQAB"}
    jwk["n"] = encoded(numbers.n.to_bytes(256))
    token = signed(
        {"alg": "RS256", "kid": "r"},
        lambda data: key.sign(data, padding.PKCS1v15(), hashes.SHA256()),
    )
    return jwk, token


@pytest.fixture(scope="module")
def ec_case() -> tuple[dict[str, Any], str]:
    key = ec.generate_private_key(ec.SECP256R1())
    point = key.public_key().public_numbers()
    jwk = {"kty": "EC", "crv": "P-256", "kid": "e", "alg": "ES256"}
    jwk |= {"x": encoded(point.x.to_bytes(32)), "y": encoded(point.y.to_bytes(32))}

    def sign(data: bytes) -> bytes:
        r, s = utils.decode_dss_signature(key.sign(data, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32) + s.to_bytes(32)

    return jwk, signed({"alg": "ES256", "kid": "e"}, sign)


def test_the_runtime_verifies_what_access_signs(
    rsa_case: tuple[dict[str, Any], str], ec_case: tuple[dict[str, Any], str]
) -> None:
    keys = json.dumps({"keys": [rsa_case[0], ec_case[0]]})
    with child(WORKER.format(keys=keys)) as worker:
        for _, token in (rsa_case, ec_case):
            assert said(worker, token) == "None"
            head, claims, signature = token.split(".")
            other = encoded(
                base64.urlsafe_b64decode(claims + "==").replace(b"aud", b"aud", 1) + b" "
            )
            assert said(worker, f"{head}.{other}.{signature}") == "the signature is wrong"
            assert said(worker, f"{head}.{claims}.{encoded(bytes(64))}") == "the signature is wrong"


def test_a_key_that_is_none_lets_nobody_in(rsa_case: tuple[dict[str, Any], str]) -> None:
    jwk, token = rsa_case
    keys = json.dumps({"keys": [jwk | {"n": "!" * len(jwk["n"])}]})
    with child(WORKER.format(keys=keys)) as worker:
        assert said(worker, token) == "the signature is wrong"


def said(worker: Any, token: str) -> str:
    answer = worker.fetch(method="POST", body=token.encode())
    return bytes(answer.body).decode()
