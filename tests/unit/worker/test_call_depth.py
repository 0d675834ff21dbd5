"""Calls that call themselves end with production's error, however they come round."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest
from object_harness import objects_child
from service_harness import services_child
from tsumugi_emulator.javascript.depth import (
    DEPTH_TEXT,
    HEADER,
    INVOCATIONS_TEXT,
    MAX_DEPTH,
    depth_of,
    header_for,
)
from tsumugi_emulator.javascript.mode import MODE

if TYPE_CHECKING:
    from pathlib import Path

SERVICE = """
class Named(WorkerEntrypoint):
    async def down(self, level):
        try:
            return await self.env.NAMED.down(level + 1)
        except JsException as error:
            return [level, error.message]

    async def fetch(self, request):
        level = int(request.url.rpartition("/")[2])
        try:
            return await self.env.NAMED.fetch(f"http://x/{level + 1}")
        except Exception as error:
            return Response(f"{level} {error}")

    async def call(self, function):
        return await function()

async def main(self):
    {code}
"""


def test_a_service_that_calls_itself_is_stopped() -> None:
    with services_child(SERVICE.replace("{code}", "return await self.env.NAMED.down(1)")) as worker:
        assert ast.literal_eval(worker.text()) == [MAX_DEPTH, DEPTH_TEXT]


def test_a_service_that_requests_itself_is_stopped() -> None:
    code = "return await (await self.env.NAMED.fetch('http://x/1')).text()"
    with services_child(SERVICE.replace("{code}", code)) as worker:
        assert DEPTH_TEXT in worker.text()
        assert worker.text().startswith(f"'{MAX_DEPTH} ")


def test_functions_that_call_each_other_are_stopped() -> None:
    code = """
    count = 0
    async def again():
        nonlocal count
        count += 1
        return await self.env.NAMED.call(again)
    return [await outcome(self.env.NAMED.call(again)), count]
"""
    with services_child(SERVICE.replace("{code}", code.strip())) as worker:
        text, count = ast.literal_eval(worker.text())
    assert DEPTH_TEXT in text
    assert count == MAX_DEPTH // 2  # each way counts


def test_calls_one_after_the_other_are_not_deep() -> None:
    code = "return [await self.env.NAMED.call(lambda: n) for n in range(40)][-1]"
    with services_child(SERVICE.replace("{code}", code)) as worker:
        assert worker.text() == "39"


@pytest.mark.parametrize(
    ("code", "warns"),
    [
        pytest.param("[await self.env.NAMED.call(ok) for _ in range(31)]", False, id="as many"),
        pytest.param("[await self.env.NAMED.call(ok) for _ in range(40)]", True, id="too many"),
        pytest.param("[await self.env.NAMED.twice(1) for _ in range(11)]", True, id="by others"),
        pytest.param(
            "await asyncio.gather(*[self.env.NAMED.call(ok) for _ in range(32)])",
            True,
            id="at once",
        ),
    ],
)
def test_a_request_that_invokes_workers_too_often_is_warned_once(code: str, warns: bool) -> None:
    program = SERVICE.replace("{code}", f"ok = lambda: 1\n    {code}\n    return 'done'").replace(
        "    async def call(",
        "    async def twice(self, level):\n"
        "        return [await self.env.NAMED.call(lambda: 1) for _ in '12']\n\n"
        "    async def call(",
    )
    with services_child(program) as worker:
        assert worker.text() == "'done'"
        assert [INVOCATIONS_TEXT in text for text in worker.warnings] == [True] * warns
        worker.text()
        assert len(worker.warnings) == 2 * warns, "each request counts for itself"


def test_the_call_that_is_one_too_many_fails_when_strict() -> None:
    code = """
    ok = lambda: 1
    return [await outcome(self.env.NAMED.call(ok)) for _ in range(33)][30:]
"""
    with services_child(SERVICE.replace("{code}", code.strip())) as worker:
        MODE.strict = True
        last, *failed = ast.literal_eval(worker.text())
    assert last == 1
    assert all(DEPTH_TEXT in text for text in failed)
    assert len(failed) == 2


OBJECT = """
class Box(DurableObject):
    async def down(self, level):
        try:
            return await self.env.BOX.getByName(str(level + 1)).down(level + 1)
        except JsException as error:
            return [level, error.message]

    async def fetch(self, request):
        level = int(request.url.rpartition("/")[2])
        stub = self.env.BOX.getByName(str(level + 1))
        try:
            return await stub.fetch(f"http://x/{level + 1}")
        except Exception as error:
            return Response(f"{level} {error}")

    async def tick(self, times):
        stub = self.env.BOX.getByName("other")
        return [await stub.echo(n) for n in range(times)][-1]

    async def echo(self, n):
        return n

async def main(env):
    {code}
"""


@pytest.mark.parametrize(
    "code",
    [
        "return await env.BOX.getByName('1').down(1)",
        "return (await (await env.BOX.getByName('1').fetch('http://x/1')).text()).split(' ', 1)",
    ],
)
def test_objects_that_call_each_other_are_stopped(code: str, tmp_path: Path) -> None:
    with objects_child(OBJECT.replace("{code}", code), tmp_path) as worker:
        level, text = ast.literal_eval(worker.text())
    assert int(level) == MAX_DEPTH
    assert DEPTH_TEXT in text


def test_an_object_counts_each_of_its_events_for_itself(tmp_path: Path) -> None:
    code = """
    stub = env.BOX.getByName("1")
    return [await stub.tick(20) for _ in range(20)][-1]
"""
    with objects_child(OBJECT.replace("{code}", code.strip()), tmp_path) as worker:
        assert worker.text() == "19"


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://localhost:8787/", True),
        ("http://127.0.0.1:8787/x", True),
        ("ws://[::1]:1/", True),
        ("https://example.com/", False),
        ("http://192.168.0.1/", False),
    ],
)
def test_only_this_machine_is_told_how_deep_a_request_is(url: str, *, told: bool) -> None:
    assert header_for(url) == ([(HEADER, "1")] if told else [])


@pytest.mark.parametrize(
    ("value", "depth"),
    [("3", 3), ("16", 16), ("99", 16), ("-1", 0), ("x", 0), ("1" * 5000, 0), ("³", 0)],
)
def test_a_request_may_say_anything_of_its_depth(value: str, depth: int) -> None:
    assert depth_of([("host", "x"), (HEADER, value)]) == depth
