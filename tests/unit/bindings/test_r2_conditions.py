"""Reading a part of an object of R2, and doing something only if it is the one that is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from binding_harness import HELLO_MD5, PUT_HELLO, error_with_hello

if TYPE_CHECKING:
    from binding_harness import Bench


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            '{"range": {"offset": 2.5}}',
            "RangeError: Invalid range. Starting offset (2.5) must be an integer, not floating "
            "point.",
        ),
        (
            '{"onlyIf": js.Headers.new(to_js([["if-none-match", "x"]]))}',
            "Error: Invalid ETag in if-none-match header",
        ),
        (
            '{"onlyIf": js.Headers.new(to_js([["if-match", chr(34) + "x"]]))}',
            "Error: Unclosed double quote for Etag",
        ),
    ],
)
def test_odd_ranges_and_entity_tags_are_refused(bench: Bench, options: str, text: str) -> None:
    body = f'await env.R2.put("k", "hello")\nreturn await error_of(env.R2.get("k", {options}))'
    assert bench.run(body) == text


def test_a_range_without_an_end_may_be_infinite(bench: Bench) -> None:
    body = """
await env.R2.put("k", "hello")
return await (await env.R2.get("k", range={"offset": 2, "length": float("inf")})).text()
"""
    assert bench.run(body) == "llo"


@pytest.mark.parametrize(
    ("asked", "text", "where"),
    [
        ('{"offset": 1}', "ello", {"offset": 1, "length": 4}),
        ('{"offset": 1, "length": 2}', "el", {"offset": 1, "length": 2}),
        ('{"length": 2}', "he", {"offset": 0, "length": 2}),
        ('{"suffix": 2}', "lo", {"offset": 3, "length": 2}),
        ('{"suffix": 20}', "hello", {"offset": 0, "length": 5}),
        ('{"offset": 1, "length": 200}', "ello", {"offset": 1, "length": 4}),
        ('js.Headers.new(to_js([["range", "bytes=1-2"]]))', "el", {"offset": 1, "length": 2}),
        ('js.Headers.new(to_js([["range", "bytes=-2"]]))', "lo", {"offset": 3, "length": 2}),
        ('js.Headers.new(to_js([["range", "bytes=10-12"]]))', "hello", {"offset": 0, "length": 5}),
    ],
)
def test_a_range_gives_that_part_and_says_where_it_is(
    bench: Bench, asked: str, text: str, where: dict[str, int]
) -> None:
    body = f"""
{PUT_HELLO}
o = await env.R2.get("k", range={asked})
return [await o.text(), o.range]
"""
    assert bench.run(body) == [text, where]


@pytest.mark.parametrize("asked", ['{"offset": 5}', '{"offset": 10}', '{"length": 0}'])
def test_a_range_that_leaves_nothing(bench: Bench, asked: str) -> None:
    text = "Error: get: The requested range is not satisfiable (10039)"
    assert error_with_hello(bench, f'env.R2.get("k", range={asked})') == text


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (
            '{"offset": -1}',
            "RangeError: Invalid range. Starting offset (-1) must be greater than or equal to 0.",
        ),
        ('{"suffix": 1, "offset": 1}', "TypeError: Suffix is incompatible with offset."),
        (
            '"bytes=1-2"',
            "TypeError: Incorrect type for the 'range' field on 'GetOptions': the provided value "
            "is not of type 'Range or Headers'.",
        ),
    ],
)
def test_ranges_that_are_none(bench: Bench, asked: str, text: str) -> None:
    assert error_with_hello(bench, f'env.R2.get("k", range={asked})') == text


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (f'{{"etagMatches": "{HELLO_MD5}"}}', True),
        ('{"etagMatches": "x"}', False),
        ('{"etagMatches": "*"}', True),
        (f'{{"etagDoesNotMatch": "{HELLO_MD5}"}}', False),
        ('{"etagDoesNotMatch": "x"}', True),
        ('{"etagDoesNotMatch": "*"}', False),
        ('{"uploadedBefore": datetime.datetime(1970, 1, 2)}', False),
        ('{"uploadedBefore": datetime.datetime(2030, 1, 1)}', True),
        ('{"uploadedAfter": datetime.datetime(1970, 1, 2)}', True),
        ('{"uploadedAfter": datetime.datetime(2030, 1, 1)}', False),
        (
            f'{{"etagMatches": "{HELLO_MD5}", "uploadedBefore": datetime.datetime(1970, 1, 2)}}',
            True,
        ),
        (f'js.Headers.new(to_js([["if-match", \'"{HELLO_MD5}"\']]))', True),
        (f'js.Headers.new(to_js([["if-none-match", \'W/"{HELLO_MD5}"\']]))', False),
        (
            'js.Headers.new(to_js([["if-modified-since", "Sun, 09 Sep 2040 01:46:40 GMT"]]))',
            False,
        ),
        ("{}", True),
    ],
)
def test_conditions_decide_over_bodies_and_writes(
    bench: Bench, condition: str, holds: bool
) -> None:
    body = f"""
{PUT_HELLO}
condition = {condition}
got = await env.R2.get("k", onlyIf=condition)
put = await env.R2.put("k", "hello", onlyIf=condition)
return [hasattr(got, "body"), put is not None]
"""
    assert bench.run(body) == [holds, holds]


def test_conditions_on_what_is_not_there(bench: Bench) -> None:
    body = """
async def created(**condition):
    made = await env.R2.put("new", "x", onlyIf=condition)
    await env.R2.delete("new")
    return made is not None
return [await created(etagDoesNotMatch="*"), await created(etagMatches="x"),
        await created(uploadedAfter=datetime.datetime(1970, 1, 2))]
"""
    assert bench.run(body) == [True, False, False]


def test_a_big_object_comes_back_in_any_range(bench: Bench) -> None:
    body = """
data = bytes(range(256)) * (3 * 4096 + 1)
await env.R2.put("big", data)
whole = bytes(await (await env.R2.get("big")).arrayBuffer())
at = 2**20 - 3
some = await env.R2.get("big", range={"offset": at, "length": 2**20 + 7})
part = bytes(await some.arrayBuffer())
return [whole == data, part == data[at : at + 2**20 + 7]]
"""
    assert bench.run(body) == [True, True]
