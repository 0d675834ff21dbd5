"""Plain values survive the way to Node and back. All go through one Node process."""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from tsumugi_emulator import pyodide_runtime
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.buffers import ArrayBuffer, Uint8Array
from tsumugi_emulator.javascript.date import JsDate
from tsumugi_emulator.javascript.errors import DOMException, JsException
from tsumugi_emulator.javascript.maps import JsMap, JsSet
from tsumugi_emulator.javascript.regexp import RegExp
from tsumugi_emulator.javascript.values import JsBigInt, JsObject, jsnull, normalize_number
from tsumugi_emulator.pyodide_runtime.handles import Handles
from tsumugi_emulator.pyodide_runtime.protocol import Decoder, encode
from tsumugi_emulator.pyodide_runtime.values import Values

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")

HOST = Path(pyodide_runtime.__file__).parent.parent / "pyodide_host"
ECHO = Path(__file__).with_name("echo.mjs")
EXAMPLES = 40

NOWHERE: Any = SimpleNamespace(take_promise=None)
VALUES = Values(Handles(), NOWHERE, NOWHERE)

numbers = st.one_of(
    st.integers(-(2**53) + 1, 2**53 - 1), st.floats(allow_nan=False).map(normalize_number)
)
leaves = st.one_of(
    st.none(),
    st.just(jsnull),
    st.booleans(),
    numbers,
    st.text(st.characters()),
    st.integers(2**53, 2**80).map(JsBigInt),
    st.integers(-(10**12), 10**12).map(JsDate),
    st.binary(max_size=300).map(lambda data: Uint8Array(ArrayBuffer(bytearray(data)))),
)
keys = st.text(st.characters(codec="utf-8"), max_size=8).filter(lambda key: not key.isdecimal())
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5).map(JsArray),
        st.dictionaries(keys, inner, max_size=5).map(JsObject),
        st.lists(st.tuples(st.text(max_size=5), inner), max_size=3).map(JsMap),
        st.lists(numbers, max_size=3).map(JsSet),
    ),
    max_leaves=20,
)


def there_and_back(values: list[Any]) -> list[Any]:
    data = b"".join(encode(VALUES.give(value)) for value in values)
    done = subprocess.run(
        ["node", str(ECHO), str(HOST)], input=data, capture_output=True, check=True, timeout=30
    )
    return [VALUES.take(frame) for frame in Decoder().feed(done.stdout)]


def shown(value: Any) -> Any:
    """A form in which equal values are equal, whatever their identity."""
    if isinstance(value, JsObject):
        return "object", [(key, shown(item)) for key, item in value._props.items()]
    if isinstance(value, JsArray):
        return "array", [shown(item) for item in value._items]
    if isinstance(value, JsMap):
        return "map", [(shown(k), shown(v)) for k, v in value._data.values()]
    if isinstance(value, JsSet):
        return "set", [shown(item) for item in value._data.values()]
    if isinstance(value, JsDate):
        return "date", value._ms
    if isinstance(value, ArrayBuffer | Uint8Array):
        return value._class_name(), bytes(value._view())
    if isinstance(value, float):
        return "float", math.copysign(1, value), value
    return type(value).__name__, value


@settings(max_examples=3, deadline=None)
@given(st.lists(trees, min_size=EXAMPLES, max_size=EXAMPLES))
def test_any_plain_value_comes_back_equal(values: list[Any]) -> None:
    assert [shown(value) for value in there_and_back(values)] == [shown(v) for v in values]


@pytest.fixture(scope="module")
def errors() -> list[Any]:
    return there_and_back(
        [
            JsException("TypeError", "wrong", cause=JsException("Error", "inner")),
            JsException("CustomError", "own name"),
            DOMException("no copy", "DataCloneError"),
            RegExp("a+", "gi"),
        ]
    )


def test_an_error_keeps_its_class_text_and_cause(errors: list[Any]) -> None:
    assert (errors[0].name, errors[0].message, str(errors[0].cause)) == (
        "TypeError",
        "wrong",
        "Error: inner",
    )


def test_an_error_keeps_a_name_of_its_own(errors: list[Any]) -> None:
    assert (errors[1].name, errors[1].message) == ("CustomError", "own name")


def test_a_dom_exception_stays_one(errors: list[Any]) -> None:
    assert isinstance(errors[2], DOMException)
    assert errors[2].name == "DataCloneError"


def test_a_regular_expression_keeps_its_flags(errors: list[Any]) -> None:
    assert (errors[3]._source, errors[3].flags) == ("a+", "gi")


def test_a_value_that_contains_itself_comes_back_as_such() -> None:
    inner = JsMap([("name", "é")])
    outer = JsObject({"list": JsArray([1, inner]), "nothing": None})
    inner.set("back", outer)
    (found,) = there_and_back([outer])
    assert list(found._props) == ["list", "nothing"]
    assert found.list[1].get("back") is found
    assert found.list[1].get("name") == "é"
