"""Values that contain themselves: their objects in a list, each other by number. Pure.

The twin of ``pyodide_host/graphs.mjs``. Everything else crosses as a tree (``values``), which is
shorter and has no end for these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgpack import ExtType

from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.maps import JsMap, JsSet
from tsumugi_emulator.javascript.values import JsObject
from tsumugi_emulator.pyodide_runtime.protocol import Value, pack

if TYPE_CHECKING:
    from collections.abc import Callable

_CONTAINERS = (JsObject, JsArray, JsMap, JsSet)


class Reference:
    """Stands for an object of the graph until all are made."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


def graph_of(root: Any, give: Callable[[Any], Any]) -> ExtType:
    """What MessagePack writes for a container; ``give`` is for what it holds besides."""
    indices = {id(root): 0}
    waiting = [root]

    def refer(value: Any) -> Any:
        if type(value) not in _CONTAINERS:
            return give(value)
        if id(value) not in indices:
            indices[id(value)] = len(indices)
            waiting.append(value)
        return ExtType(int(Value.REFERENCE), pack(indices[id(value)]))

    nodes = [_node(value, refer) for value in waiting]  # it grows meanwhile
    return ExtType(int(Value.GRAPH), pack(nodes))


def is_container(value: Any) -> bool:
    return type(value) in _CONTAINERS


def _node(value: Any, refer: Callable[[Any], Any]) -> list[Any]:
    if isinstance(value, JsArray):
        return ["array", [refer(item) for item in value._items]]
    if isinstance(value, JsMap):
        return ["map", [[refer(key), refer(item)] for key, item in value._data.values()]]
    if isinstance(value, JsSet):
        return ["set", [refer(item) for item in value._data.values()]]
    return ["object", [[refer(key), refer(item)] for key, item in value._props.items()]]


_SHELLS: dict[str, Callable[[], Any]] = {
    "array": lambda: JsArray([]),
    "map": JsMap,
    "set": lambda: JsSet([]),
    "object": lambda: JsObject({}),
}


def restored_graph(nodes: list[Any], take: Callable[[Any], Any]) -> Any:
    """The JavaScript value; ``take`` answers :class:`Reference` for references."""
    made = [_SHELLS[kind]() for kind, _ in nodes]

    def real(tree: Any) -> Any:
        value = take(tree)
        return made[value.index] if isinstance(value, Reference) else value

    for (kind, items), shell in zip(nodes, made, strict=True):
        if kind == "array":
            shell._items.extend([real(item) for item in items])
        elif kind == "set":
            for item in items:
                shell.add(real(item))
        elif kind == "map":
            for key, item in items:
                shell.set(real(key), real(item))
        else:
            shell._props.update({real(key): real(item) for key, item in items})
    return made[0]
