"""Structured clones of values that contain themselves or are very deep."""

from __future__ import annotations

import pytest
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.clone import FIRST_SPECIAL, deserialize, serialize
from tsumugi_emulator.javascript.date import JsDate
from tsumugi_emulator.javascript.errors import JsException
from tsumugi_emulator.javascript.maps import JsMap, JsSet
from tsumugi_emulator.javascript.values import JsBigInt, JsObject, JsSymbol, jsnull


def test_an_object_that_contains_itself_still_does() -> None:
    value = JsObject({"name": "x", "null": jsnull, "undefined": None, "big": JsBigInt(2**70)})
    value._props["self"] = value
    copy = deserialize(serialize(value))
    assert copy is not value
    assert copy._props["self"] is copy
    assert {key: copy._props[key] for key in ("name", "null", "undefined", "big")} == {
        "name": "x", "null": jsnull, "undefined": None, "big": 2**70,
    }  # fmt: skip


def test_containers_of_every_kind_may_contain_each_other() -> None:
    array, members, table = JsArray([1]), JsSet(), JsMap()
    array._items.append(table)
    table.set(members, array)
    table.set("date", JsDate(5))
    members.add(array)
    copy = deserialize(serialize(JsObject({"array": array})))._props["array"]
    copied_table = copy._items[1]
    ((copied_members, back), (_, date)) = copied_table._data.values()
    assert back is copy
    assert next(iter(copied_members._data.values())) is copy
    assert date._ms == 5


@pytest.mark.parametrize("depth", [100, 600, 20_000])
def test_depth_is_no_limit(depth: int) -> None:
    value: JsArray = JsArray([])
    for _ in range(depth):
        value = JsArray([value])
    copy = deserialize(serialize(value))
    levels = 0
    while copy._items:
        (copy,) = copy._items
        levels += 1
    assert levels == depth


def test_what_only_the_caller_knows_may_be_in_a_cycle() -> None:
    value = JsArray([JsSymbol("known")])
    value._items.append(value)
    data = serialize(value, lambda leaf: (FIRST_SPECIAL, leaf.description.encode()))
    copy = deserialize(data, lambda code, content: (code, content))
    assert copy._items[0] == (FIRST_SPECIAL, b"known")
    assert copy._items[1] is copy


def test_what_cannot_be_cloned_is_named_also_in_a_cycle() -> None:
    value = JsArray([JsSymbol("why")])
    value._items.append(value)
    with pytest.raises(JsException, match=r"Symbol\(why\) could not be cloned"):
        serialize(value)
