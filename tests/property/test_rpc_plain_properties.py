"""Plain data crosses RPC in one pass exactly as the SDK's conversions and a copy would take it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "worker"))
from object_harness import objects_child

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Mostly plain, with some of everything that has to take the long way.
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**60), 2**60),
        st.floats(),
        st.text(max_size=5),
        st.binary(max_size=3),
        st.sets(st.integers(0, 3), max_size=2),
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3) | st.just("constructor"), inner, max_size=3)
        | st.dictionaries(st.integers(0, 99).map(str), inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module", autouse=True)
def boundary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with objects_child("async def main(env): pass", tmp_path_factory.mktemp("objects")):
        yield


def shown(value: Any) -> Any:
    """Everything a program can tell about a value."""
    if isinstance(value, dict):
        return [type(value).__name__, [[key, shown(item)] for key, item in value.items()]]
    if isinstance(value, list | set):
        return [type(value).__name__, [shown(item) for item in value]]
    if isinstance(value, memoryview):
        return ["memoryview", value.format, bytes(value)]
    return [type(value).__name__, repr(value)]


@settings(deadline=None)
@given(VALUES)
def test_arguments_arrive_as_on_the_long_way(value: Any) -> None:
    from tsumugi_emulator.bindings import rpc_plain
    from tsumugi_emulator.bindings.rpc_values import transfer
    from tsumugi_emulator.javascript.values import js_to_python
    from workers import python_from_rpc, python_to_rpc

    sent = [python_to_rpc(value)]
    try:
        (got,) = rpc_plain.arguments(sent)
    except rpc_plain.NotPlain:
        return
    (copied,) = transfer(sent)
    assert shown(got) == shown(python_from_rpc(js_to_python(copied)))


@settings(deadline=None)
@given(VALUES)
def test_results_arrive_as_on_the_long_way(value: Any) -> None:
    from tsumugi_emulator.bindings import rpc_plain
    from tsumugi_emulator.bindings.rpc_values import transfer
    from tsumugi_emulator.javascript.values import js_to_python
    from workers import python_from_rpc, python_to_rpc

    if "constructor" in repr(value):
        return  # the SDK itself cannot read those back
    try:
        got = rpc_plain.result(value)
    except rpc_plain.NotPlain:
        return
    (copied,) = transfer([python_to_rpc(value)])
    assert shown(python_from_rpc(js_to_python(got))) == shown(python_from_rpc(js_to_python(copied)))


@settings(deadline=None)
@given(VALUES)
def test_from_python_to_python_values_arrive_as_on_the_long_way(value: Any) -> None:
    from tsumugi_emulator.bindings import rpc_plain
    from tsumugi_emulator.bindings.rpc_values import transfer
    from tsumugi_emulator.javascript.values import js_to_python
    from workers import python_from_rpc, python_to_rpc

    try:
        got = rpc_plain.across(value)
    except rpc_plain.NotPlain:
        return
    (copied,) = transfer([python_to_rpc(value)])
    assert shown(got) == shown(python_from_rpc(js_to_python(copied)))
