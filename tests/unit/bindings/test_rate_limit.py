"""The rate limit binding: counted for each key, in windows."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from binding_harness import Bench


def test_a_key_is_limited_until_its_window_ends(bench: Bench) -> None:
    body = """
async def allowed(key):
    return (await env.LIMIT.limit({"key": key})).success
return [await allowed("a"), await allowed("a"), await allowed("a"), await allowed("b")]
"""
    assert bench.run(body) == [True, True, False, True]
    asyncio.run(bench.clock.advance(9_999))
    assert bench.run('return (await env.LIMIT.limit(key="a")).success') is False
    asyncio.run(bench.clock.advance(1))
    assert bench.run('return (await env.LIMIT.limit(key="a"))["success"]') is True


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("", "invalid rate limit options"),
        ('"a"', "invalid rate limit options"),
        ('{"key": 5}', "invalid key: 5"),
        ('{"key": "a", "x": 1}', "bad rate limit options: [x]"),
    ],
)
def test_bad_options_are_refused(bench: Bench, options: str, text: str) -> None:
    assert bench.run(f"return await error_of(env.LIMIT.limit({options}))") == f"Error: {text}"
