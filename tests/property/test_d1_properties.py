"""The short way of D1's statements and the SDK's own give the same, whatever is bound and read."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st
from tsumugi_emulator.bindings.d1 import D1Database
from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.storage.d1 import D1Store
from tsumugi_emulator.worker import frames

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "bindings"))
from binding_harness import child, source

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = """
from workers.rpc import _BindingWrapper, python_from_rpc, python_to_rpc
import worker_case

def plain(value):
    if isinstance(value, memoryview):
        return ["memoryview", bytes(value)]
    if isinstance(value, dict):
        items = [[key, type(item).__name__ if key == "duration" else plain(item)]
                 for key, item in value.items()]
        return [type(value).__name__, items]
    if isinstance(value, list):
        return [plain(item) for item in value]
    return [type(value).__name__, repr(value)]

async def outcome(work):
    try:
        return repr(plain(await work()))
    except Exception as error:
        return [type(error).__name__, str(error)]

async def batch_untouched():
    return await env.DB.batch([env.DB.prepare(worker_case.query).bind(*worker_case.values)] * 2)

async def batch_touched():
    statement = env.DB.prepare(worker_case.query).bind(*worker_case.values)
    results = await env.DB._binding.batch(python_to_rpc([statement] * 2))
    results.length, results[0]
    return python_from_rpc(results)

def detour():
    return _BindingWrapper(env.DB.prepare(worker_case.query)._binding)

def detour_bound():
    return _BindingWrapper(detour().bind(*worker_case.values)._binding)

def short():
    return env.DB.prepare(worker_case.query).bind(*worker_case.values)

def awaiting(make, method):
    async def run():
        return await getattr(make(), method)()
    return run

pairs = [
    (awaiting(short, "run"), awaiting(detour_bound, "run")),
    (awaiting(short, "all"), awaiting(detour_bound, "all")),
    (batch_untouched, batch_touched),
]
return [[await outcome(one), await outcome(other)] for one, other in pairs]
"""
#: Python values a program may bind, and what makes no sense as well.
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.lists(st.integers(0, 300), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=1),
)
QUERIES = st.sampled_from(
    [
        "SELECT ? AS a, ? AS b",
        "SELECT typeof(?) AS a, ? AS b UNION ALL SELECT 1, 9007199254740993",
        'SELECT ? AS "1", ? AS a, 3 AS "0"',
        "SELECT ? AS constructor, ? AS a",
        "SELECT ? AS a, ? AS a",
        "SELECT 1 WHERE ? = ?",
        "SELECT 1e999, ?, ?",
        "SELECT ?",
        "SELEC ?, ?",
    ]
)


class Case:
    """Imported by the Worker: what is asked this time."""

    query = ""
    values: tuple[Any, ...] = ()


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    store = D1Store.open(tmp_path_factory.mktemp("d1") / "x.sqlite")
    database = D1Database("DB", lambda: store, FakeClock(1))
    sys.modules["worker_case"] = Case  # type: ignore[assignment]
    with child(source(PROGRAM), env={"DB": database}) as under_test:
        yield under_test
    del sys.modules["worker_case"]
    store.close()


@settings(deadline=None, max_examples=100)
@given(QUERIES, st.tuples(VALUES, VALUES))
def test_the_short_way_and_the_sdks_agree(both: Any, query: str, values: tuple[Any, Any]) -> None:
    Case.query, Case.values = query, values
    answer = both.fetch()
    assert not isinstance(answer, frames.Failed), answer
    for short, detour in ast.literal_eval(answer.body.decode()):
        assert short == detour
