"""Listing a bucket of R2, and deleting several objects at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from binding_harness import Bench


FILES = """
for key in ("a/1", "a/2", "b/1", "b/c/1", "top", "z"):
    await env.R2.put(key, key, customMetadata={"k": key}, httpMetadata={"contentType": "x/y"})
def keys(page):
    return [o.key for o in page["objects"]]
"""


def test_a_list_is_in_order_and_holds_raw_objects(bench: Bench) -> None:
    body = f"""
{FILES}
page = await env.R2.list()
first = page["objects"][0]
return [keys(page), page.truncated, page.get("cursor"), isinstance(first, JsProxy), first.size,
        first.customMetadata.object_keys().to_py()]
"""
    names = ["a/1", "a/2", "b/1", "b/c/1", "top", "z"]
    assert bench.run(body) == [names, False, None, True, 3, []]


@pytest.mark.parametrize(
    ("options", "keys", "prefixes"),
    [
        ("prefix='a/'", ["a/1", "a/2"], []),
        ("delimiter='/'", ["top", "z"], ["a/", "b/"]),
        ("delimiter='/', prefix='b/'", ["b/1"], ["b/c/"]),
        ("startAfter='b/1'", ["b/c/1", "top", "z"], []),
        ("startAfter='a/1', prefix='a/'", ["a/2"], []),
        ("delimiter='1'", ["a/2", "top", "z"], ["a/1", "b/1", "b/c/1"]),
    ],
)
def test_a_list_is_cut_and_grouped(
    bench: Bench, options: str, keys: list[str], prefixes: list[str]
) -> None:
    body = f"""
{FILES}
page = await env.R2.list({options})
return [keys(page), page["delimitedPrefixes"]]
"""
    assert bench.run(body) == [keys, prefixes]


def test_a_list_goes_on_from_its_cursor(bench: Bench) -> None:
    body = f"""
{FILES}
pages, cursor = [], None
while True:
    page = await env.R2.list(limit=1, delimiter="/", cursor=cursor)
    pages.append(keys(page) + page["delimitedPrefixes"])
    cursor = page.get("cursor")
    if not page.truncated:
        return pages
"""
    assert bench.run(body) == [["a/"], ["b/"], ["top"], ["z"]]


def test_a_list_includes_metadata_when_asked(bench: Bench) -> None:
    body = f"""
{FILES}
page = await env.R2.list(limit=1, include=["customMetadata"])
first = page["objects"][0]
return [first.customMetadata.k, first.httpMetadata.object_keys().to_py()]
"""
    assert bench.run(body) == ["a/1", []]


def test_several_objects_are_deleted_at_once(bench: Bench) -> None:
    body = f"""
{FILES}
await env.R2.delete(["a/1", "a/2", "never was"])
return keys(await env.R2.list())
"""
    assert bench.run(body) == ["b/1", "b/c/1", "top", "z"]


@pytest.mark.parametrize("count", [1000, 1001])
def test_more_keys_than_production_deletes_at_once_are_told(bench: Bench, count: int) -> None:
    body = f"await env.R2.delete([str(number) for number in range({count})])"
    with bench.worker(body) as under_test:
        under_test.fetch()
        told = "delete() takes up to 1000 keys, and these are 1001"
        assert [told in warning for warning in under_test.warnings] == [True] * (count - 1000)
