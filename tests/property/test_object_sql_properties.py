"""The short way of ``sql.exec`` and the SDK's own give the same, whatever is bound and read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "worker"))
from object_harness import objects_child

PROGRAM = """
class Both(DurableObject):
    def compare(self, query, values):
        from workers.rpc import _BindingWrapper
        short = self.ctx.storage.sql
        detour = _BindingWrapper(short._binding)

        def show(value):
            if isinstance(value, memoryview):
                return ["memoryview", value.format, bytes(value).hex()]
            return [type(value).__name__, repr(value)]

        def run(sql):
            found = []
            for read in (
                lambda c: c.toArray(), lambda c: [r for r in c], lambda c: [c.one()],
                lambda c: [c.next().get("value", {})],
                lambda c: [dict(zip("abc", r)) for r in c.raw()],
                lambda c: [{"n": c.columnNames}], lambda c: [{"r": c.rowsRead}],
            ):
                try:
                    rows = read(sql.exec(query, *values))
                    found.append([
                        [type(row).__name__, [[k, show(v)] for k, v in row.items()]]
                        for row in rows
                    ])
                except Exception as error:
                    found.append([type(error).__name__, str(error)])
            return found

        one, other = run(short), run(detour)
        return "same" if one == other else [repr(one), repr(other)]

async def main(env):
    raise AssertionError
"""
#: Python values a program may bind, and what makes no sense as well.
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.binary(),
    st.lists(st.integers(0, 9), max_size=3),
)
QUERIES = st.sampled_from(
    [
        "SELECT ? AS a, ? AS b",
        "SELECT typeof(?) AS a, ? AS b UNION ALL SELECT 1, 9007199254740993",
        "SELECT ? AS a, ? AS a",
        "SELECT 1 WHERE ? = ?",
        "SELECT ?",
        "SELECT ? AS a, ? AS b, ? AS c",
        "SELEC ?, ?",
        "",
    ]
)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with objects_child(PROGRAM, tmp_path_factory.mktemp("objects")) as child:
        yield child


@settings(deadline=None, max_examples=60)
@given(QUERIES, st.lists(VALUES, min_size=1, max_size=3) | st.lists(VALUES, min_size=2, max_size=2))
def test_the_short_way_and_the_sdks_agree(both: Any, query: str, values: list[Any]) -> None:
    from tsumugi_emulator.bindings.object_port import ObjectAddress
    from tsumugi_emulator.durable.ids import from_name, namespace_key

    namespace = namespace_key("test-worker", "Both")
    address = ObjectAddress(namespace, from_name(namespace, "a"), "a")
    answers: list[Any] = []

    async def ask() -> None:
        live = both.objects.find(address)
        from tsumugi_emulator.worker.object_calls import ObjectCall

        async def work(instance: Any) -> Any:
            return instance.compare(query, values)

        import asyncio

        done = asyncio.get_running_loop().create_future()
        live.deliver(ObjectCall(live, work, lambda *outcome: done.set_result(outcome)))
        answers.append(await done)

    both.loop.run_until_complete(ask())
    ((result, error),) = answers
    assert error is None
    assert result == "same", result
