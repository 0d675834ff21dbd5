"""Namespaces, ids, stubs and ``fetch`` of objects (python-workers-verified 3.5 and 1.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from object_harness import objects_child
from object_programs import CALLEE, called

if TYPE_CHECKING:
    from pathlib import Path


def test_a_stub_tells_its_id_and_name(tmp_path: Path) -> None:
    code = """
        object_id = env.CALLEE.idFromName("a")
        same = env.CALLEE.get(object_id)
        return [stub.name, stub.id.toString() == str(object_id), same.name,
                type(stub).__name__, type(stub.id).__name__]
    """
    assert called(tmp_path, code) == ["a", True, "a", "_FetcherWrapper", "_FetcherWrapper"]


OTHER_REQUEST = "Cannot perform I/O on behalf of a different request."


CACHED = """
    global kept
    if "kept" not in globals():
        kept = stub_of(env)
    return await outcome(kept.echo(1))
"""


def test_a_stub_kept_for_another_request_is_told(tmp_path: Path) -> None:
    with objects_child(CALLEE.replace("{code}", CACHED), tmp_path) as child:
        assert [child.text(), child.text()] == ["1", "1"]
        (warning,) = child.warnings
    assert OTHER_REQUEST in warning
    assert "(I/O type: OutgoingFactory)" in warning


def test_a_stub_kept_for_another_request_fails_when_strict(tmp_path: Path) -> None:
    with objects_child(CALLEE.replace("{code}", CACHED), tmp_path, strict=True) as child:
        assert child.text() == "1"
        assert OTHER_REQUEST in child.text()


def test_an_object_may_keep_a_stub(tmp_path: Path) -> None:
    keeper = """
class Keeper(DurableObject):
    async def ask(self):
        if not hasattr(self, "stub"):
            self.stub = stub_of(self.env)
        return await self.stub.append(1)

"""
    code = '    return [await env.KEEPER.getByName("k").ask() for _ in range(2)]'
    with objects_child(keeper + CALLEE.replace("{code}", code), tmp_path, strict=True) as child:
        assert child.text() == "[[1], [1, 1]]"


def test_fetch_reaches_the_handler_with_method_and_body(tmp_path: Path) -> None:
    code = """
        answer = await stub.fetch("http://x/text", method="POST", body="hi")
        plain = await stub.fetch("http://x/")
        return [type(answer).__name__, answer.status, await answer.text(), await plain.text()]
    """
    assert called(tmp_path, code) == ["Response", 201, "POST hi", "hello"]


def test_fetch_fails_as_fetch_does(tmp_path: Path) -> None:
    code = """
        return [await outcome(stub.fetch("http://x/bad")), await outcome(stub.fetch("http://x/boom"))]
    """
    bad, boom = called(tmp_path, code)
    assert "Incorrect type for Promise: the Promise did not resolve to 'Response'." in bad
    assert "ValueError: fetch boom" in boom


def test_a_streamed_body_passes_through_an_object(tmp_path: Path) -> None:
    code = """
        import js
        parts = js.TransformStream.new()
        writer = parts.writable.getWriter()
        async def write():
            for piece in (b"one ", b"two"):
                await writer.write(to_js(piece))
            await writer.close()
        writing = asyncio.ensure_future(write())
        answer = await stub.fetch("http://x/stream", method="POST", body=parts.readable)
        text = await answer.text()
        await writing
        return text
    """
    assert called(tmp_path, code) == "one two"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            "env.CALLEE.get('name')",
            "TypeError: Failed to execute 'get' on 'DurableObjectNamespace': parameter 1 is not of "
            "type 'DurableObjectId'.",
        ),
        (
            "env.CALLEE.idFromString('abc')",
            "TypeError: Invalid Durable Object ID: must be 64 hex digits",
        ),
        (
            "env.CALLEE.idFromString(str(env.OTHER.idFromName('a')))",
            "TypeError: Durable Object ID is not valid for this namespace.",
        ),
        (
            "env.CALLEE.getByName('a', routingMode='nearest')",
            "RangeError: unknown routingMode: nearest",
        ),
        (
            "env.CALLEE.jurisdiction('mars')",
            'TypeError: There is no jurisdiction "mars": use one of eu, fedramp, fedramp-high, us.',
        ),
        (
            "env.CALLEE.jurisdiction('eu').get(env.CALLEE.idFromName('a'))",
            "TypeError: get called on jurisdictional subnamespace with an ID from a different "
            "jurisdiction",
        ),
    ],
)
def test_a_namespace_refuses(call: str, expected: str, tmp_path: Path) -> None:
    code = f"""
        try:
            {call}
        except JsException as error:
            return str(error)
    """
    other = "class Other(DurableObject):\n    pass\n"
    assert called(tmp_path, code, beside=other) == expected


def test_ids_have_names_texts_and_equality(tmp_path: Path) -> None:
    code = """
        ns = env.CALLEE
        named, unique, five = ns.idFromName("a"), ns.newUniqueId(), ns.idFromName(5)
        again = ns.idFromString(str(named))
        return [named.name, unique.name, five.name, again.name, again.equals(named),
                unique.equals(named), len(str(unique)), named.toString() == str(named)]
    """
    assert called(tmp_path, code) == ["a", None, "5", None, True, False, 64, True]


def test_a_jurisdiction_is_a_part_of_the_namespace(tmp_path: Path) -> None:
    code = """
        ns = env.CALLEE
        eu = ns.jurisdiction("eu")
        named, plain = eu.idFromName("a"), ns.idFromName("a")
        unique = ns.newUniqueId(jurisdiction="us")
        again = ns.idFromString(str(named))
        made = [named, plain, unique, eu.newUniqueId(), again]
        return [*[found.jurisdiction for found in made],
                named.equals(plain), named.name, eu.jurisdiction().idFromName("a").equals(plain),
                await eu.getByName("a").where(), await ns.get(again).where(),
                await ns.getByName("a").where()]
    """
    assert called(tmp_path, code) == [
        *("eu", None, "us", "eu", "eu", False, "a", True),
        *(["a", "eu"], ["a", "eu"], ["a", None]),
    ]


def test_a_stub_takes_a_location_hint(tmp_path: Path) -> None:
    code = """
        ns = env.CALLEE
        return await ns.get(ns.newUniqueId(), locationHint="weur").echo(1)
    """
    assert called(tmp_path, code) == 1
