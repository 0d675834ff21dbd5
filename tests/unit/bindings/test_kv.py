"""KV over the boundary: the rows "KV" of the verified reference, their texts and limits."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from binding_harness import Bench

NOW_S = 1_767_225_600

#: The SDK's wrapper is a coroutine, and Python warns of one that is not awaited.
not_awaited = pytest.mark.filterwarnings(
    "ignore:coroutine:RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


def error(bench: Bench, expression: str) -> str:
    text: str = bench.run(f"return await error_of({expression})")
    return text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("'é'", "é"),
        ("b'bytes'", "bytes"),
        ("1", "1"),
        ("1.5", "1.5"),
        ("True", "true"),
        ("None", "null"),
        ("2**60", "1152921504606846976"),
        ("''", ""),
        ("Response('streamed').js_object.body", "streamed"),
    ],
)
def test_what_can_be_put_comes_back_as_text(bench: Bench, value: str, text: str) -> None:
    assert bench.run(f'await env.KV.put("k", {value})\nreturn await env.KV.get("k")') == text


@pytest.mark.parametrize(
    "value",
    ["{'a': 1}", "[1]", "datetime.datetime(2026, 1, 1)", "Response('x')", "decimal.Decimal(1)"],
)
def test_objects_cannot_be_put(bench: Bench, value: str) -> None:
    assert error(bench, f'env.KV.put("k", {value})') == (
        "TypeError: KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and "
        "ReadableStreams as values."
    )


def test_tuples_and_bytearrays_fail_in_python(bench: Bench) -> None:
    body = """
found = []
for value in ((1,), bytearray(b"x")):
    try:
        await env.KV.put("k", value)
    except TypeError as error:
        found.append(str(error))
return found
"""
    assert bench.run(body) == [
        "<class 'tuple'> cannot be sent over RPC.",
        "<class 'bytearray'> cannot be sent over RPC.",
    ]


def test_each_type_of_get(bench: Bench) -> None:
    body = """
await env.KV.put("k", '{"a": [1, null]}')
stream = await env.KV.get("k", "stream")
return [
    await env.KV.get("k", "json"),
    await env.KV.get("k", type="json"),
    await env.KV.get("k", {"type": "json"}),
    bytes(await env.KV.get("k", "arrayBuffer"))[:4],
    type(await env.KV.get("k", "arrayBuffer")).__name__,
    (await Response(stream).text())[:4],
    await env.KV.get("missing"),
    await env.KV.get("missing", "json"),
]
"""
    value = {"a": [1, None]}
    assert bench.run(body) == [
        value, value, value, b'{"a"', "memoryview", '{"a"', None, None,
    ]  # fmt: skip


def test_json_is_attribute_accessible(bench: Bench) -> None:
    body = """
await env.KV.put("k", '{"a": {"b": 2}}')
return (await env.KV.get("k", "json")).a.b
"""
    assert bench.run(body) == 2


def test_metadata_comes_with_the_value(bench: Bench) -> None:
    body = """
await env.KV.put("k", "v", metadata={"a": 1}, expirationTtl=60)
found = await env.KV.getWithMetadata("k")
missing = await env.KV.getWithMetadata("missing")
return [found.value, found["metadata"], found.metadata.a, missing]
"""
    missing = {"value": None, "metadata": None, "cacheStatus": None}
    assert bench.run(body) == ["v", {"a": 1}, 1, missing]


def test_several_keys_are_read_at_once(bench: Bench) -> None:
    body = """
await env.KV.put("a", "1", metadata="m")
await env.KV.put("b", "2")
return [
    await env.KV.get(["b", "missing", "a", "a"]),
    await env.KV.get(["a"], "json"),
    await env.KV.getWithMetadata(["a", "missing"]),
]
"""
    assert bench.run(body) == [
        {"b": "2", "missing": None, "a": "1"},
        {"a": 1},
        {"a": {"value": "1", "metadata": "m"}, "missing": None},
    ]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("get([])", "400 You must request a minimum of 1 key"),
        ("get([str(n) for n in range(101)])", "400 You can request a maximum of 100 keys"),
        ("get(['a', ''])", "400 Key names must not be empty"),
        (
            "get(['a'], 'arrayBuffer')",
            '400 "arrayBuffer" is not a valid type. Use "json" or "text"',
        ),
        ("get(['a'], cacheTtl=29)", "400 Invalid cache_ttl of 29. Cache TTL must be at least 30."),
        (
            "get(['k' * 513])",
            "414 UTF-8 encoded length of 513 exceeds key length limit of 512.",
        ),
    ],
)
def test_reading_several_keys_has_limits(bench: Bench, call: str, text: str) -> None:
    assert error(bench, f"env.KV.{call}") == f"Error: KV GET_BULK failed: {text}"


def test_reading_several_keys_as_json_needs_json(bench: Bench) -> None:
    body = 'await env.KV.put("k", "{x")\nreturn await error_of(env.KV.get(["k"], "json"))'
    assert bench.run(body) == (
        "Error: KV GET_BULK failed: 400 At least one of the requested keys corresponds to a "
        "non-json value"
    )


def test_a_value_that_is_no_json_is_a_syntax_error(bench: Bench) -> None:
    body = 'await env.KV.put("k", "{x")\nreturn await error_of(env.KV.get("k", "json"))'
    assert bench.run(body).startswith("SyntaxError: ")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("get('')", "TypeError: Key name cannot be empty."),
        ("put('.', 'x')", 'TypeError: "." is not allowed as a key name.'),
        ("delete('..')", 'TypeError: ".." is not allowed as a key name.'),
        (
            "get('k', 'xml')",
            "TypeError: Unknown response type. Possible types are "
            '"text", "arrayBuffer", "json", and "stream".',
        ),
        (
            "get()",
            "TypeError: Failed to execute 'get' on 'KvNamespace': parameter 1 is not of type "
            "'string or Array'.",
        ),
        (
            "put('k')",
            "TypeError: Failed to execute 'put' on 'KvNamespace': parameter 2 is not of type "
            "'string or JsObject'.",
        ),
        (
            "put('k', 'v', 5)",
            "TypeError: Failed to execute 'put' on 'KvNamespace': parameter 3 is not of type "
            "'PutOptions'.",
        ),
        (
            "list(5)",
            "TypeError: Failed to execute 'list' on 'KvNamespace': parameter 1 is not of type "
            "'ListOptions'.",
        ),
        (
            "get('k' * 513)",
            "Error: KV GET failed: 414 UTF-8 encoded length of 513 exceeds key length limit of "
            "512.",
        ),
        (
            "put('é' * 257, 'x')",
            "Error: KV PUT failed: 414 UTF-8 encoded length of 514 exceeds key length limit of "
            "512.",
        ),
        (
            "get('k', cacheTtl=29)",
            "Error: KV GET failed: 400 Invalid cache_ttl of 29. Cache TTL must be at least 30.",
        ),
        (
            "list(limit=1001)",
            "Error: KV GET failed: 400 Invalid key_count_limit of 1001. Please specify an integer "
            "less than 1000.",
        ),
        (
            "put('k', 'x' * (25 * 1024 * 1024 + 1))",
            "Error: KV PUT failed: 413 Value length of 26214401 exceeds limit of 26214400.",
        ),
        (
            "put('k', 'v', metadata='x' * 1023)",
            "Error: KV PUT failed: 413 Metadata length of 1025 exceeds limit of 1024.",
        ),
    ],
)
def test_what_kv_refuses_and_how(bench: Bench, call: str, text: str) -> None:
    assert error(bench, f"env.KV.{call}") == text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            "expirationTtl=59",
            "Invalid expiration_ttl of 59. Expiration TTL must be at least 60.",
        ),
        (
            "expirationTtl='abc'",
            "Invalid expiration_ttl of 0. Please specify integer greater than 0.",
        ),
        (
            "expirationTtl=float('inf')",
            "Invalid expiration_ttl of 0. Please specify integer greater than 0.",
        ),
        (
            "expirationTtl=-1",
            "Invalid expiration_ttl of -1. Please specify integer greater than 0.",
        ),
        (
            "expiration=1000",
            "Invalid expiration of 1000. Please specify integer greater than the current number "
            "of seconds since the UNIX epoch.",
        ),
        (
            f"expiration={NOW_S + 30}",
            f"Invalid expiration of {NOW_S + 30}. Expiration times must be at least 60 seconds in "
            "the future.",
        ),
    ],
)
def test_expiry_is_at_least_a_minute_away(bench: Bench, options: str, text: str) -> None:
    assert error(bench, f"env.KV.put('k', 'v', {options})") == f"Error: KV PUT failed: 400 {text}"


def test_an_expiration_that_is_a_date_is_out_of_range(bench: Bench) -> None:
    assert error(bench, "env.KV.put('k', 'v', expiration=datetime.datetime.now())").startswith(
        "TypeError: Value out of range."
    )


def test_snake_case_options_are_ignored(bench: Bench) -> None:
    body = """
await env.KV.put("k", "v", expiration_ttl=60)
return (await env.KV.list())["keys"]
"""
    assert bench.run(body) == [{"name": "k"}]


def test_an_entry_is_gone_when_its_time_has_come(bench: Bench) -> None:
    bench.run('await env.KV.put("k", "v", expirationTtl=60)\nawait env.KV.put("l", "v")')
    asyncio.run(bench.clock.advance(59_999))
    assert bench.run('return await env.KV.get("k")') == "v"
    asyncio.run(bench.clock.advance(1))
    assert bench.run('return await env.KV.get("k")') is None
    assert bench.run('return [key.name for key in (await env.KV.list())["keys"]]') == ["l"]


def test_keys_are_listed_in_order_with_what_belongs_to_them(bench: Bench) -> None:
    body = """
await env.KV.put("b", "x", expirationTtl=100, metadata={"m": 1})
await env.KV.put("é", "x")
await env.KV.put("a", "x")
await env.KV.delete("a")
await env.KV.delete("never was")
return await env.KV.list()
"""
    assert bench.run(body) == {
        "keys": [{"name": "b", "expiration": NOW_S + 100, "metadata": {"m": 1}}, {"name": "é"}],
        "list_complete": True,
        "cacheStatus": None,
    }


def test_a_list_goes_on_from_its_cursor(bench: Bench) -> None:
    body = """
for name in ("user:1", "user:2", "user:3", "other", "user;"):
    await env.KV.put(name, "x")
pages, cursor = [], None
while True:
    page = await env.KV.list(prefix="user:", limit=2, cursor=cursor)
    pages.append([key.name for key in page["keys"]])
    if page.list_complete:
        return [pages, hasattr(page, "cursor")]
    cursor = page.cursor
"""
    assert bench.run(body) == [[["user:1", "user:2"], ["user:3"]], False]


def test_at_most_a_thousand_keys_are_listed(bench: Bench) -> None:
    body = """
for number in range(1001):
    await env.KV.put(f"{number:04}", "")
page = await env.KV.list()
rest = await env.KV.list(cursor=page.cursor)
return [len(page["keys"]), page.list_complete, [key.name for key in rest["keys"]]]
"""
    assert bench.run(body) == [1000, False, ["1000"]]


def test_binding_calls_need_an_event(bench: Bench) -> None:
    from tsumugi_emulator.javascript.errors import JsException

    namespace = bench.env["KV"]
    for call in (lambda: namespace.get("k"), lambda: namespace.put("k", "v"), namespace.list):
        with pytest.raises(JsException, match="Disallowed operation called within global scope"):
            call()


@not_awaited
def test_what_a_queue_handler_does_not_await_does_not_happen(bench: Bench) -> None:
    from binding_harness import child

    source = """
from workers import Response, WorkerEntrypoint
class Default(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        self.env.KV.put("k", "v")
    async def fetch(self, request):
        return Response(repr(await self.env.KV.get("k")))
"""
    with child(source, env=bench.env) as it:
        it.queue()
        assert it.fetch().body == b"None"
    (warning,) = it.warnings
    assert "env.KV.put() was not awaited and its handler has returned" in warning


@not_awaited
def test_what_a_fetch_handler_does_not_await_still_happens(bench: Bench) -> None:
    bench.run('env.KV.put("k", "v")')
    assert bench.run('return await env.KV.get("k")') == "v"


@not_awaited
def test_a_get_sees_a_put_that_was_started_before_it(bench: Bench) -> None:
    assert bench.run('env.KV.put("k", "v")\nreturn await env.KV.get("k")') == "v"


def test_operations_run_together(bench: Bench) -> None:
    body = """
await asyncio.gather(*(env.KV.put(str(n), str(n)) for n in range(20)))
return await asyncio.gather(*(env.KV.get(str(n)) for n in range(20)))
"""
    assert bench.run(body) == [str(n) for n in range(20)]


def test_version_metadata_is_a_plain_object(bench: Bench) -> None:
    found: list[Any] = bench.run("v = env.VERSION\nreturn [len(v.id), v.tag, v.timestamp]")
    assert found == [36, "", "2026-01-01T00:00:00.000Z"]


def test_names_that_are_paths_are_refused_among_several_too(bench: Bench) -> None:
    assert error(bench, "env.KV.get(['k', '..'])") == (
        'Error: KV GET_BULK failed: 400 Illegal key name "..". Please use a different name.'
    )
