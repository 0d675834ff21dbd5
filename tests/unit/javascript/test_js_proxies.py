"""What a proxy shows and does to Python beyond what the transcripts of real Pyodide cover."""

from __future__ import annotations

import copy
from typing import Any

import js
import pytest
from pyodide.ffi import JsException, JsProxy, create_once_callable, create_proxy, jsnull, to_js


def error() -> JsException:
    made = js.TypeError.new("typed")
    assert isinstance(made, JsException)
    return made


def test_names_of_the_classes_are_production_s() -> None:
    assert type(js.Object.new()).__name__ == "JsProxy"
    assert repr(type(js.Array.new())) == "<class 'pyodide.ffi.JsProxy'>"
    assert type(error()).__name__ == "JsException"
    assert repr(type(error())) == "<class 'pyodide.ffi.JsException'>"


def test_c_texts_name_the_class_as_production_does() -> None:
    with pytest.raises(TypeError, match=r"'pyodide\.ffi\.JsProxy' object is not subscriptable"):
        js.Object.new()["a"]
    with pytest.raises(TypeError, match=r"unhashable type: 'pyodide\.ffi\.JsException'"):
        hash(error())


def test_an_error_copies_though_it_does_not_hash() -> None:
    assert str(copy.copy(error())) == "TypeError: typed"


def test_objects_compare_as_javascript_compares_them() -> None:
    assert js.Object.new() <= js.Object.new()
    assert not js.Object.new() < js.Object.new()
    with pytest.raises(TypeError, match="'<' not supported"):
        js.Date.new(1) < 5  # noqa: B015


def test_length_or_size_gives_len_and_an_empty_container_is_false() -> None:
    assert len(to_js({"size": 3})) == 3
    assert len(js.URLSearchParams.new("a=b")) == 1
    assert len(js.Blob.new()) == 0
    assert not js.Blob.new()
    assert not js.ArrayBuffer.new(0)
    assert js.Object.new()
    with pytest.raises(TypeError, match=r"object of type 'pyodide.ffi.JsProxy' has no len\(\)"):
        len(js.Headers.new())


def test_get_set_and_has_are_item_access() -> None:
    headers = js.Headers.new([("a", "1"), ("b", "2")])
    headers["c"] = "3"
    assert headers["c"] == "3"
    assert "c" in headers
    assert headers["absent"] is jsnull
    with pytest.raises(KeyError):  # Headers.delete() answers nothing: "absent" to Pyodide
        del headers["a"]
    assert dict(headers) == {"b": "2", "c": "3"}
    assert not hasattr(headers, "items")


def test_get_with_a_size_is_a_mapping() -> None:
    params = js.URLSearchParams.new("a=1&b=2")
    assert list(params) == ["a", "b"]
    assert list(params.items()) == [("a", "1"), ("b", "2")]
    assert params.get("a") == "1"


def test_a_map_takes_objects_as_keys_by_identity() -> None:
    key, other = js.Object.new(), js.Object.new()
    mapping = js.Map.new()
    mapping.set(key, 1)
    assert mapping.get(key) == 1
    assert not mapping.has(other)
    assert js.Set.new(js.Array.of(key, key, other)).size == 2


def test_a_method_equals_itself_and_is_no_constructor() -> None:
    assert js.Date.now == js.Date.now
    assert js.Headers.new().get != js.Headers.new().get
    with pytest.raises(JsException, match=r"function max\(\) .* is not a constructor"):
        js.Math.max.new(5)


def test_frozen_objects_refuse_every_change() -> None:
    frozen = js.Object.freeze(to_js({"a": 1}))
    with pytest.raises(JsException, match="Cannot add property b, object is not extensible"):
        frozen.b = 5
    with pytest.raises(JsException, match="Cannot delete property 'a' of #<Object>"):
        del frozen.a


def test_bigint_arithmetic_stays_bigint_except_multiplication() -> None:
    number = js.BigInt(5)
    for result in (number + 1, number - 1, number // 2, number**2, -number, abs(number), ~number):
        assert type(result).__name__ == "JsBigInt"
    for result in (1 + number, number * 2, divmod(number, 2)[0], int(number)):
        assert type(result) is int
    assert number / 2 == 2.5


@pytest.mark.parametrize(
    "value",
    [{"toString": 1}, {True: 1, "true": 2}, {"a": 1, 5: 2, "5": 3}, {None: 2, "undefined": 3}],
)
def test_two_keys_of_one_name_collide(value: Any) -> None:
    with pytest.raises(Exception, match="Key collision when converting Python dictionary"):
        to_js(value)


def test_a_handle_made_by_create_proxy_comes_back_as_one() -> None:
    target = [1, 2]
    handle = create_proxy(target)
    held = js.Array.of(handle).at(0)
    assert isinstance(held, JsProxy)
    assert held.unwrap() is target
    assert js.Array.of(create_proxy(target, roundtrip=False)).at(0) is target


def test_a_handle_shows_the_attributes_of_its_object() -> None:
    class Counter:
        count = 1

    handle = create_proxy(Counter())
    assert (handle.count, handle.type, handle.typeof) == (1, "Counter", "object")
    with pytest.raises(AttributeError, match=r"^missing$"):
        handle.missing  # noqa: B018


def test_a_once_callable_cannot_be_destroyed_after_its_call() -> None:
    once = create_once_callable(lambda: 5)
    assert once() == 5
    with pytest.raises(JsException, match="OnceProxy has already been destroyed"):
        once.destroy()


def test_what_a_python_iterable_lends_dies_with_the_loop() -> None:
    array = js.Array.from_([[1]])
    with pytest.raises(JsException, match="automatically destroyed when an iterator was exhausted"):
        array.at(0)
    assert js.Object.fromEntries([["a", 1]]).a == 1
