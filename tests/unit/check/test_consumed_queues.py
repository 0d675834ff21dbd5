"""Queues of the configuration against those that the methods of a QueueConsumer name."""

from __future__ import annotations

import pytest
from checking import CONFIGURATION, MAIN, Workers, configuration

CONSUMES = {"consumers": [{"queue": "orders"}, {"queue": "mail-out"}]}


def unrouted(body: str, *, base: str = "QueueConsumer") -> list[str]:
    text = f"""
from tsumugi import QueueConsumer, consumes
from workers import WorkerEntrypoint
MAIL = "mail-out"
def other(method): return method

class Default({base}):
{body}
"""
    files = {
        MAIN: text,
        CONFIGURATION: configuration(queues=CONSUMES),
        "pyproject.toml": "[project]\ndependencies = ['tsumugi-workers']\n",
    }
    found = [one for one in Workers(files).findings() if one.code == "TSU118"]
    assert all(one.line > 1 for one in found)
    return [one.message for one in found]


def method(*decorators: str) -> str:
    lines = [*decorators, "async def take(self, body): ..."]
    return "".join(f"    {line}\n" for line in lines)


def test_a_queue_that_no_method_names_is_found_with_those_that_are_named() -> None:
    assert unrouted(method('@consumes("oders", "mail-out")')) == [
        'No method of Default consumes "orders"; the queues it names: "mail-out", "oders".'
    ]


@pytest.mark.parametrize(
    "body",
    [
        method('@consumes("orders", "mail-*")'),
        method('@consumes("*")'),
        method('@consumes("orders", MAIL)'),
        method("@other"),
        method('@consumes("x")') + "    async def queue(self, batch, env=None, ctx=None): ...\n",
    ],
)
def test_what_is_named_or_cannot_be_known_is_no_fault(body: str) -> None:
    assert unrouted(body) == []


def test_other_entrypoints_have_no_such_methods() -> None:
    body = "    async def queue(self, batch, env=None, ctx=None): ...\n"
    assert unrouted(body, base="WorkerEntrypoint") == []
