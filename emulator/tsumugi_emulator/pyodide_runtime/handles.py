"""Objects of the host as Node holds them: their numbers, and what their classes look like.

Node makes a class of the same name with the same members (``stubs.mjs``). Calls nothing.
"""

from __future__ import annotations

from typing import Any

from tsumugi_emulator.javascript.functions import JsFunction, js_method, js_property
from tsumugi_emulator.javascript.values import JsProxy

#: Python's names for members that JavaScript calls otherwise.
_SUFFIX = "_"
#: What every object, or every class, has of its own in Node.
_GIVEN = frozenset({"constructor", "prototype", "typeof"})


class Handles:
    """All objects that Node holds."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._objects: dict[int, Any] = {}
        self._given: dict[int, int] = {}
        self._classes: dict[type, int] = {}
        self._next = 0

    def give(self, obj: Any) -> list[Any]:
        """What tells Node of it: [number, class, description or None, own names or None]."""
        number = self._numbers.get(id(obj))
        if number is None:
            self._next += 1
            number = self._numbers[id(obj)] = self._next
            self._objects[number] = obj
            self._given[number] = 0
        self._given[number] += 1
        cls = type(obj)
        known = self._classes.get(cls)
        described = None
        if known is None:
            known = self._classes[cls] = len(self._classes) + 1
            described = describe(cls, obj)
        return [number, known, described, _own_names(obj)]

    def get(self, number: int) -> Any:
        return self._objects[number]

    def release(self, number: int, count: int) -> None:
        """Node let go of what it was given ``count`` times."""
        if number not in self._given:
            return
        self._given[number] -= count
        if self._given[number] <= 0:
            del self._given[number]
            del self._numbers[id(self._objects.pop(number))]


def describe(cls: type, example: Any) -> dict[str, Any]:
    """What Node has to know of a class; JavaScript's view of ``example`` stands for all."""
    methods, attributes = members_of(cls)
    return {
        "name": example._class_name() if not isinstance(example, JsFunction) else _name(cls),
        "methods": methods,
        "attributes": attributes,
        "callable": example.typeof == "function",
        "iterable": hasattr(cls, "__iter__"),
        "thenable": hasattr(cls, "__await__"),
        # Of what is called over RPC, any name exists until it is used.
        "dynamic": hasattr(cls, "_rpc_call") or hasattr(cls, "_has_every_name"),
    }


def members_of(cls: type) -> tuple[list[str], list[str]]:
    """JavaScript names of methods and of attributes, without what every proxy has."""
    methods: dict[str, None] = {}
    attributes: dict[str, None] = {}
    for base in cls.__mro__:
        if base in (JsProxy, JsFunction, object):
            continue
        for name, member in vars(base).items():
            if name.startswith("_"):
                continue
            if isinstance(member, js_method):
                methods[name.rstrip(_SUFFIX)] = None
            elif isinstance(member, js_property):
                attributes[name.rstrip(_SUFFIX)] = None
            elif type(member).__name__ == "member_descriptor":
                attributes[name] = None
    return list(methods), [name for name in attributes if name not in methods]


def python_name(cls: type, name: str) -> str:
    """What Python calls the member ``name``."""
    return name + _SUFFIX if not hasattr(cls, name) and hasattr(cls, name + _SUFFIX) else name


def _name(cls: type) -> str:
    constructor = getattr(cls, "constructor", None)
    return getattr(constructor, "name", "Function")


def _own_names(obj: Any) -> list[str] | None:
    """Names that JavaScript lists, and attributes this one object has."""
    names = [name for name in getattr(obj, "__dict__", ()) if not name.startswith("_")]
    if type(obj)._entries is not JsProxy._entries:
        names = [*obj._entries(), *names]
    for cls in type(obj).__mro__:
        if cls is JsProxy:
            break
        optional = [n for n, m in vars(cls).items() if isinstance(m, property) and n[0] != "_"]
        names += [n for n in optional if n not in _GIVEN and hasattr(obj, n)]
    return list(dict.fromkeys(names)) or None
