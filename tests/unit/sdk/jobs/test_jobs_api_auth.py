"""Who may use the jobs API: nobody without auth, nobody by accident, those with the token."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest
from jobs_api_harness import Api, Request
from tsumugi.jobs.api.auth import bearer_auth, cookie_of, is_own_site, same

TOKEN = "s3cret+token/="


def guarded(**options: Any) -> Api:
    api = Api(auth=bearer_auth(lambda env: env.TSUMUGI_TOKEN, **options))
    api.env.TSUMUGI_TOKEN = TOKEN
    return api


def status(api: Api, method: str = "GET", **headers: str) -> int:
    path = "/api/bindings" if method == "GET" else "/api/jobs/bulk-retry"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return api.ask(method, path, {} if method == "POST" else None, headers=named).status


@pytest.mark.parametrize("path", ["/api", "/api/jobs", "/api/openapi.json", "/api/nothing"])
def test_without_auth_there_is_no_api(path: str) -> None:
    answer = Api(auth=None).get(path)
    assert (answer.status, answer.body) == (404, {"error": "not found"})


@pytest.mark.parametrize(
    "authorization", [f"Bearer {TOKEN}", f"bearer {TOKEN}", f"BEARER   {TOKEN}  "]
)
def test_the_token_lets_in(authorization: str) -> None:
    assert status(guarded(), authorization=authorization) == 200


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer",
        "Bearer ",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN.upper()}",
        f"Bearer {TOKEN} {TOKEN}",
        "Bearer ü",
    ],
)
def test_nothing_but_the_token_lets_in(authorization: str) -> None:
    api = guarded()
    assert status(api, authorization=authorization) == 401
    # The cookie counts only where it was asked for.
    assert status(api, cookie=f"tsumugi_token={TOKEN}") == 401


@pytest.mark.parametrize("path", ["/api/jobs", "/api/nothing", "/api/openapi.json"])
def test_whoever_is_not_let_in_learns_how_and_nothing_else(path: str) -> None:
    answer = guarded(cookie="tsumugi_token").get(path)
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="tsumugi"'
    assert "Authorization: Bearer <token>" in answer.body["error"]
    assert "tsumugi_token" in answer.body["error"]
    assert TOKEN not in answer.body["error"]


@pytest.mark.parametrize("token", ["", "  ", None, 5, True])
def test_a_token_that_is_empty_or_missing_lets_nobody_in(
    token: Any, caplog: pytest.LogCaptureFixture
) -> None:
    api = guarded(cookie="c")
    api.env.TSUMUGI_TOKEN = token
    for presented in (str(token), "", "None", "  "):
        assert status(api, authorization=f"Bearer {presented}") == 401
        assert status(api, cookie=f"c={presented}") == 401
    answer = api.get("/api/jobs")
    assert "no token to compare with" in answer.body["error"]
    assert "Nobody is let in: set the secret" in caplog.text


def test_a_secret_that_is_not_there_lets_nobody_in_and_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api = guarded()
    del api.env.TSUMUGI_TOKEN
    assert status(api, authorization="Bearer None") == 401
    (record,) = caplog.records
    assert "bearer_auth cannot read its token" in record.message


def test_a_token_in_the_code_is_refused() -> None:
    with pytest.raises(TypeError, match="function of env"):
        bearer_auth("secret")  # type: ignore[arg-type]


def test_the_cookie_lets_in_escaped_or_not() -> None:
    api = guarded(cookie="tsumugi_token")
    assert status(api, cookie=f"a=b; tsumugi_token={TOKEN}") == 200
    assert status(api, cookie="tsumugi_token=s3cret%2Btoken%2F%3D; x=y") == 200
    assert status(api, cookie="tsumugi_token=s3cret") == 401
    assert status(api, cookie="tsumugi_token") == 401
    # A wrong header is an answer: the cookie is not asked then.
    assert status(api, cookie=f"tsumugi_token={TOKEN}", authorization="Bearer x") == 401


@pytest.mark.parametrize(
    ("headers", "own"),
    [
        ({}, True),
        ({"origin": "https://worker.test"}, True),
        ({"origin": "https://evil.test"}, False),
        ({"origin": "null"}, False),
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "same-origin", "origin": "https://evil.test"}, False),
    ],
)
def test_another_site_changes_nothing_with_a_cookie(headers: dict[str, str], own: bool) -> None:
    assert is_own_site(Request("POST", "https://worker.test/api/jobs", headers)) is own
    assert is_own_site(Request("GET", "https://worker.test/api/jobs", headers)) is True
    api = guarded(cookie="c")
    named = {name.replace("-", "_"): value for name, value in headers.items()}
    assert (status(api, "POST", cookie=f"c={TOKEN}", **named) == 200) is own
    # Browsers do not add the header by themselves.
    assert status(api, "POST", authorization=f"Bearer {TOKEN}", **named) == 200


def test_comparing_reads_all_of_both_and_takes_any_text() -> None:
    assert same("ü\ud800", "ü\ud800")
    assert not same("", "x")
    assert not same("x" * 10_000, "x")


def test_comparing_is_the_constant_time_comparison_of_equal_lengths(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tsumugi.jobs.api import auth

    seen: list[tuple[int, int]] = []

    def compare(left: bytes, right: bytes) -> bool:
        seen.append((len(left), len(right)))
        return left == right

    monkeypatch.setattr(auth, "hmac", SimpleNamespace(compare_digest=compare))
    assert same("short", "a much longer secret") is False
    assert seen == [(32, 32)]


def test_cookies_are_read_by_their_whole_name() -> None:
    request = Request("GET", "https://w.test", {"cookie": 'xc=1; c="2"; c=3'})
    assert cookie_of(request, "c") == "2"
    assert cookie_of(request, "d") is None


# -- Functions of one's own -----------------------------------------------------------------------


def test_any_function_can_decide() -> None:
    async def by_header(request: Any, env: Any) -> bool:
        return bool(request.headers.get("x-door") == env.DOOR)

    api = Api(auth=by_header)
    api.env.DOOR = "open"
    assert status(api, x_door="open") == 200
    assert status(api) == 401
    assert api.get("/api/jobs").headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("decided", [None, 1, "yes", [True], object()])
def test_only_true_lets_in(decided: Any) -> None:
    async def undecided(_request: Any, _env: Any) -> Any:
        return decided

    assert status(Api(auth=undecided)) == 401


def test_a_function_that_fails_lets_nobody_in(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(_request: Any, _env: Any) -> bool:
        raise RuntimeError("the directory is down")

    with caplog.at_level(logging.ERROR):
        answer = Api(auth=broken).get("/api/jobs")
    assert answer.status == 401
    assert "the directory" not in answer.body["error"]
    assert "the directory is down" in caplog.text


def test_a_plain_function_can_decide_too() -> None:
    assert status(Api(auth=lambda _request, _env: True)) == 200
    assert status(Api(auth=lambda _request, _env: False)) == 401
