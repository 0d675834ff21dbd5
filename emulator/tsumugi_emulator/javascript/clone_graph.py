"""Structured clones of values that contain themselves, or are too deep to be walked recursively.

Containers become a numbered list in which they name each other; nothing here recurses. Everything
else is ``clone``'s, which comes here when its own, faster way does not end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.maps import JsMap, JsSet
from tsumugi_emulator.javascript.values import JsObject

if TYPE_CHECKING:
    from collections.abc import Callable

    #: A value that is no container as bytes can hold it, and back.
    type Leaf = Callable[[Any], Any]

#: The position is the code of a node.
_KINDS: tuple[type[Any], ...] = (JsObject, JsArray, JsMap, JsSet)
_OBJECT, _ARRAY, _MAP, _SET = range(len(_KINDS))


class Reference:
    """Stands for a container in a node."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


def flatten(value: Any, leaf: Leaf) -> list[Any]:
    """Nodes of the containers reachable from ``value``, itself the first; leaves are packed."""
    numbers: dict[int, int] = {id(value): 0}
    found = [value]

    def part(item: Any) -> Any:
        if type(item) not in _KINDS:
            return leaf(item)
        number = numbers.setdefault(id(item), len(found))
        if number == len(found):
            found.append(item)
        return Reference(number)

    nodes: list[Any] = []
    for container in found:  # grows while it is walked: breadth first
        kind = _KINDS.index(type(container))
        nodes.append([kind, _content(kind, container, part)])
    return nodes


def _content(kind: int, container: Any, part: Leaf) -> list[Any]:
    if kind == _OBJECT:
        return [[key, part(item)] for key, item in container._props.items()]
    if kind == _ARRAY:
        return [part(item) for item in container._items]
    if kind == _MAP:
        return [[part(key), part(item)] for key, item in container._data.values()]
    return [part(item) for item in container._data.values()]


def restore(nodes: list[Any], leaf: Leaf) -> Any:
    """The container that ``flatten`` was given, rebuilt."""
    made = [_KINDS[kind]([]) if kind == _ARRAY else _KINDS[kind]() for kind, _ in nodes]

    def part(item: Any) -> Any:
        return made[item.number] if isinstance(item, Reference) else leaf(item)

    for container, (kind, content) in zip(made, nodes, strict=True):
        if kind == _OBJECT:
            container._props.update((key, part(item)) for key, item in content)
        elif kind == _ARRAY:
            container._items.extend(part(item) for item in content)
        elif kind == _MAP:
            for key, item in content:
                container.set(part(key), part(item))
        else:
            for item in content:
                container.add(part(item))
    return made[0]
