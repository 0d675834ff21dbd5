"""The global ``JSON``: ``json_text`` with the arguments that change what is written or read."""

from __future__ import annotations

from typing import Any

from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.functions import JsFunction
from tsumugi_emulator.javascript.iterators import call_back
from tsumugi_emulator.javascript.json_render import render
from tsumugi_emulator.javascript.json_text import parse, prepare, stringify
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.values import JsObject, PyProxy

#: JSON.stringify indents by no more.
MAX_INDENT = 10


def json_stringify(value: Any = None, replacer: Any = None, space: Any = None) -> Any:
    """``JSON.stringify``; undefined where the value has no JSON text."""
    if isinstance(replacer, (JsFunction, PyProxy)):
        value = _replaced(replacer, "", value)
    elif isinstance(replacer, JsArray):
        value = _only(value, {to_string(name) for name in replacer._items})
    indent = " " * min(space, MAX_INDENT) if isinstance(space, int) else (space or "")[:MAX_INDENT]
    if not indent:
        return stringify(value)
    prepared = prepare(value)
    return None if prepared is None else render(prepared[0], indent)


def _replaced(replacer: Any, key: str, value: Any) -> Any:
    value = call_back(replacer, key, value)
    if isinstance(value, JsObject):
        return JsObject({k: _replaced(replacer, k, v) for k, v in value._props.items()})
    if isinstance(value, JsArray):
        return JsArray([_replaced(replacer, str(i), v) for i, v in enumerate(value._items)])
    return value


def _only(value: Any, names: set[str]) -> Any:
    if isinstance(value, JsObject):
        return JsObject({k: _only(v, names) for k, v in value._props.items() if k in names})
    if isinstance(value, JsArray):
        return JsArray([_only(item, names) for item in value._items])
    return value


def json_parse(text: Any = None, reviver: Any = None) -> Any:
    value = parse(to_string(text))
    return value if reviver is None else _revived(reviver, "", value)


def _revived(reviver: Any, key: str, value: Any) -> Any:
    if isinstance(value, JsObject):
        revived = {name: _revived(reviver, name, item) for name, item in value._props.items()}
        value = JsObject({name: item for name, item in revived.items() if item is not None})
    elif isinstance(value, JsArray):
        value = JsArray([_revived(reviver, str(i), item) for i, item in enumerate(value._items)])
    return call_back(reviver, key, value)
