"""Bad input, bad tokens, bad origins: every answer is an envelope with a code."""

from __future__ import annotations

import json
from typing import Any

import pytest
from api_harness import Api, with_api

UNKNOWN = "0" * 32
#: Method and path of everything that reads a body.
WITH_BODY = [
    ("POST", ""),
    ("PUT", "/{queue}"),
    ("PATCH", "/{queue}"),
    ("POST", "/{queue}/consumers"),
    ("PUT", "/{queue}/consumers/{consumer}"),
    ("POST", "/{queue}/messages"),
    ("POST", "/{queue}/messages/batch"),
    ("POST", "/{queue}/messages/pull"),
    ("POST", "/{queue}/messages/ack"),
    ("POST", "/{queue}/messages/preview"),
    ("POST", "/{queue}/messages/preview/ack"),
    ("POST", "/{queue}/messages/peek"),
    ("POST", "/{queue}/messages/purge"),
    ("POST", "/{queue}/messages/redrive"),
    ("POST", "/{queue}/purge"),
]
WITHOUT_BODY = [
    ("GET", "/{queue}"),
    ("DELETE", "/{queue}"),
    ("GET", "/{queue}/metrics"),
    ("GET", "/{queue}/purge"),
    ("GET", "/{queue}/consumers"),
    ("GET", "/{queue}/consumers/{consumer}"),
    ("DELETE", "/{queue}/consumers/{consumer}"),
]
BAD_BODIES = [
    b"", b"{", b"nonsense", b"\xff\xfe", b"[]", b"null", b"1", b'"text"', b"NaN",
    b"[" * 100_000, b'{"a":' * 2_000,
]  # fmt: skip
WRONG_VALUES: list[Any] = [
    None, True, -1, 1.5, 2**70, "", "x", [[]], {"a": 1}, [None],
]  # fmt: skip
FIELDS = [
    "queue_name", "settings", "type", "script_name", "dead_letter_queue", "body", "content_type",
    "delay_seconds", "messages", "batch_size", "visibility_timeout_ms", "visibility_timeout",
    "acks", "retries", "refs", "destination_queue", "through", "delete_messages_permanently",
]  # fmt: skip
SETTINGS = [
    "delivery_delay", "delivery_paused", "message_retention_period", "batch_size",
    "max_concurrency", "max_retries", "max_wait_time_ms", "retry_delay", "visibility_timeout_ms",
]  # fmt: skip


async def in_an_envelope(api: Api, method: str, path: str, content: bytes) -> tuple[int, Any]:
    response = await api.http.request(method, path, content=content)
    body = response.json()
    assert {"success", "errors", "messages", "result"} <= set(body)
    assert body["success"] is (response.status_code == 200)
    assert response.status_code == 200 or body["errors"][0]["code"] >= 1000
    assert response.status_code < 500, body
    return response.status_code, body


async def setup(api: Api) -> dict[str, str]:
    queue = await api.pulled_queue()
    await api.send(queue, "a")
    [consumer] = (await api.http.get(f"/{queue}/consumers")).json()["result"]
    return {"queue": queue, "consumer": consumer["consumer_id"]}


@pytest.mark.parametrize(("method", "path"), WITH_BODY)
def test_bodies_that_are_no_json_objects_are_refused(method: str, path: str) -> None:
    @with_api
    async def scenario(api: Api) -> None:
        names = await setup(api)
        for content in BAD_BODIES:
            status, body = await in_an_envelope(api, method, path.format(**names), content)
            if content:
                assert status == 400, (content[:20], body)
                assert body["errors"][0]["code"] in (10207, 10208)
        assert api.logged == []

    scenario()


@pytest.mark.parametrize(("method", "path"), WITH_BODY)
def test_values_of_wrong_types_never_break_it(method: str, path: str) -> None:
    @with_api
    async def scenario(api: Api) -> None:
        names = await setup(api)
        right = {"queue_name": "new", "type": "http_pull", "body": "x", "destination_queue": "q"}
        for value in WRONG_VALUES:
            bodies = [right | {field: value} for field in FIELDS]
            bodies += [right | {"settings": {field: value}} for field in SETTINGS]
            bodies += [
                {field: [{"lease_id": value, "ref": value, "body": value}]}
                for field in ("acks", "retries", "refs", "messages")
            ]
            bodies += [
                {
                    "messages": [{"body": "x", field: value}],
                    "retries": [{"lease_id": "x", field: value}],
                }
                for field in ("body", "content_type", "delay_seconds", "lease_id")
            ]
            for body in bodies:
                await in_an_envelope(api, method, path.format(**names), json.dumps(body).encode())
        assert api.logged == []

    scenario()


@pytest.mark.parametrize(("method", "path"), WITH_BODY)
def test_huge_bodies_are_refused_before_they_are_read(method: str, path: str) -> None:
    @with_api
    async def scenario(api: Api) -> None:
        names = await setup(api)
        content = b'{"body":"' + b"x" * 5_000_000 + b'"}'
        status, body = await in_an_envelope(api, method, path.format(**names), content)
        assert (status, body["errors"][0]["code"]) == (413, 10205)

    scenario()


@pytest.mark.parametrize(("method", "path"), [*WITH_BODY[1:], *WITHOUT_BODY])
def test_queues_that_do_not_exist_and_ids_that_are_none_are_told_apart(
    method: str, path: str
) -> None:
    @with_api
    async def scenario(api: Api) -> None:
        body = {
            "delete_messages_permanently": True, "body": 1, "messages": [{"body": 1}],
            "destination_queue": "x", "type": "http_pull",
        }  # fmt: skip
        for queue, expected in ((UNKNOWN, (404, 10104)), ("my-queue", (400, 10107))):
            known = path.format(queue=queue, consumer=UNKNOWN)
            assert await api.refused(known, method=method, json=body) == expected

    scenario()


@pytest.mark.parametrize(
    ("field", "values", "code"),
    [
        ("batch_size", [0, -1, 101, 1.5, True, "5", []], 10206),
        ("visibility_timeout_ms", [-1, 43_200_001, 0.5, "1", True], 10207),
    ],
)
def test_a_pull_takes_whole_numbers_in_range(field: str, values: list[Any], code: int) -> None:
    @with_api
    async def scenario(api: Api) -> None:
        names = await setup(api)
        pull = f"/{names['queue']}/messages/pull"
        for value in values:
            assert await api.refused(pull, json={field: value}) == (400, code)
        assert (await api.http.post(pull, json={field: 100.0})).status_code == 200

    scenario()


@pytest.mark.parametrize("delay", [-1, 86_401, 0.5, "5", True, [], 2**64])
def test_delays_are_whole_seconds_up_to_a_day_and_nothing_is_done_otherwise(delay: Any) -> None:
    @with_api
    async def scenario(api: Api) -> None:
        names = await setup(api)
        base = f"/{names['queue']}/messages"
        [held] = await api.pull(names["queue"])
        retry = {"lease_id": held.lease_id, "delay_seconds": delay}
        for path, body in (
            (base, {"body": 1, "delay_seconds": delay}),
            (f"{base}/batch", {"messages": [{"body": 1}], "delay_seconds": delay}),
            (f"{base}/batch", {"messages": [{"body": 1}, {"body": 1, "delay_seconds": delay}]}),
            (f"{base}/ack", {"acks": [{"lease_id": "x"}], "retries": [retry]}),
        ):
            assert await api.refused(path, json=body) == (400, 10203)
        answer = await api.ack(names["queue"], held)
        assert answer.ack_count == 1

    scenario()


@with_api
async def test_the_limits_of_messages_are_the_services(api: Api) -> None:
    names = await setup(api)
    base = f"/{names['queue']}/messages"
    large = {"body": "x" * 128_001, "content_type": "text"}
    assert await api.refused(base, json=large) == (413, 10204)
    assert await api.refused(f"{base}/batch", json={"messages": [{"body": 1}] * 101}) == (
        413,
        10206,
    )
    heavy = {"messages": [{"body": "x" * 100_000}] * 3}
    assert await api.refused(f"{base}/batch", json=heavy) == (413, 10205)
    kind = {"body": 1, "content_type": "xml"}
    assert await api.refused(base, json=kind) == (400, 10203)


@with_api
async def test_one_call_names_at_most_ten_thousand_leases_to_ack_and_to_retry(api: Api) -> None:
    names = await setup(api)
    path = f"/{names['queue']}/messages/ack"
    leases = [{"lease_id": f"x{n}"} for n in range(10_001)]
    for acks, retries in ((10_001, 0), (0, 10_001), (5_000, 5_001)):
        body = {"acks": leases[:acks], "retries": leases[:retries]}
        assert await api.refused(path, json=body) == (413, 10206)
    answer = await api.post(path, acks=leases[:5_000], retries=leases[5_000:10_000])
    assert len(answer["warnings"]) == 10_000


@pytest.mark.parametrize(
    "query", ["page=0", "page=-1", "page=x", "page=1.5", "page=²", "per_page=0"]
)
def test_pages_are_counted_from_one(query: str) -> None:
    @with_api
    async def scenario(api: Api) -> None:
        assert await api.refused(f"?{query}", method="GET") == (400, 10207)

    scenario()


@with_api
async def test_settings_out_of_range_have_wranglers_codes(api: Api) -> None:
    names = await setup(api)
    delay = {"queue_name": "n", "settings": {"delivery_delay": 99_999}}
    assert await api.refused("", json=delay) == (400, 100128)
    retries = {"type": "http_pull", "settings": {"max_retries": 101}}
    path = f"/{names['queue']}/consumers"
    assert await api.refused(path, json=retries) == (400, 100127)


@with_api
async def test_unknown_paths_and_methods_are_answered_in_the_envelope(api: Api) -> None:
    names = await setup(api)
    assert await api.refused("/a/b/c/d", method="GET") == (404, 7003)
    assert await api.refused(f"/{names['queue']}/messages", method="GET") == (405, 7001)
    away = "http://localhost:8788/client/v4/user/tokens/verify"
    assert await api.refused(away, method="GET") == (404, 7003)


class TestTokens:
    @staticmethod
    def test_are_required_and_must_be_known() -> None:
        @with_api
        async def scenario(api: Api) -> None:
            for sent, expected in (
                ("", (401, 10106)),
                ("Basic abc", (401, 10106)),
                ("Bearer ", (401, 10106)),
                ("Bearer wrong", (403, 10106)),
                (f"Bearer {api.token}x", (403, 10106)),
            ):
                headers = {"authorization": sent}
                assert await api.refused("", method="GET", headers=headers) == expected

        scenario()

    @staticmethod
    def test_allow_what_their_scopes_say() -> None:
        @with_api
        async def scenario(api: Api) -> None:
            names = await setup(api)
            reader = {
                "authorization": "Bearer " + api.tokens.create("r", ["queues:read"], now_ms=0)[1]
            }
            writer = {
                "authorization": "Bearer " + api.tokens.create("w", ["queues:write"], now_ms=0)[1]
            }
            pull = f"/{names['queue']}/messages/pull"
            refused = (403, 10106)
            assert (await api.http.get("", headers=reader)).status_code == 200
            assert await api.refused("", headers=reader, json={"queue_name": "n"}) == refused
            assert await api.refused("", method="GET", headers=writer) == refused
            assert await api.refused(pull, headers=reader, json={}) == refused
            assert await api.refused(pull, headers=writer, json={}) == refused

        scenario()

    @staticmethod
    def test_in_a_broken_file_let_nobody_in() -> None:
        @with_api
        async def scenario(api: Api) -> None:
            for text in ("{", "[1]", '[{"id": 1}]', "null"):
                (api.directory / "tokens.json").write_text(text)
                assert await api.refused("", method="GET") == (403, 10106)

        scenario()

    @staticmethod
    def test_that_are_revoked_end_at_once_and_none_is_kept_in_clear() -> None:
        @with_api
        async def scenario(api: Api) -> None:
            text = api.tokens.create("short", ["queues:read"], now_ms=0)[1]
            headers = {"authorization": f"Bearer {text}"}
            assert (await api.http.get("", headers=headers)).status_code == 200
            assert text not in (api.directory / "tokens.json").read_text()
            assert (api.directory / "tokens.json").stat().st_mode & 0o077 == 0
            api.tokens.revoke("short")
            assert await api.refused("", method="GET", headers=headers) == (403, 10106)

        scenario()


@pytest.mark.parametrize(
    ("headers", "answered"),
    [
        ({"host": "localhost:8788"}, True),
        ({"host": "127.0.0.1:8788"}, True),
        ({"host": "[::1]:8788"}, True),
        ({"host": "LOCALHOST"}, True),
        ({"host": "evil.example"}, False),
        ({"host": "evil.example:8788"}, False),
        ({"host": "localhost.evil.example"}, False),
        ({"host": "127.0.0.1.evil.example:8788"}, False),
        ({"host": ""}, False),
        ({"host": "localhost:8788", "origin": "http://localhost:8788"}, True),
        ({"host": "localhost:8788", "origin": "https://evil.example"}, False),
        ({"host": "localhost:8788", "origin": "http://localhost:3000"}, False),
        ({"host": "localhost:8788", "origin": "null"}, False),
        ({"host": "localhost:8788", "sec-fetch-site": "cross-site"}, False),
    ],
)
def test_only_this_machines_own_clients_are_answered(
    headers: dict[str, str], answered: bool
) -> None:
    @with_api
    async def scenario(api: Api) -> None:
        if answered:
            assert (await api.http.get("", headers=headers)).status_code == 200
        else:
            assert await api.refused("", method="GET", headers=headers) == (403, 10106)

    scenario()
