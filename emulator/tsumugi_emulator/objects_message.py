"""A Worker's Durable Objects as its child is told of them, and as the supervisor files them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.durable.ids import namespace_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tsumugi_emulator.config.model import WorkerConfig

OBJECTS_DIRECTORY = "do"


def objects_message(config: WorkerConfig, state: Path) -> dict[str, Any]:
    """Plain values, as frames carry them: what lives in this Worker."""
    own = [binding for binding in config.durable_objects if binding.script is None]
    return {
        "worker": config.name,
        "directory": str(state / OBJECTS_DIRECTORY),
        #: Binding, class, namespace key, whether it may use SQL.
        "classes": [
            [b.binding, b.class_name, namespace_key(config.name, b.first_class_name), b.has_sql]
            for b in own
        ],
        #: Class, namespace key, whether it may use SQL, of those migrations have created.
        "created": [
            [c.name, namespace_key(config.name, c.first_name), c.has_sql]
            for c in config.object_classes
        ],
    }


def namespaces(config: WorkerConfig, exported: Iterable[str]) -> list[str]:
    """The keys of the namespaces whose objects live in this Worker."""
    bound = [
        namespace_key(config.name, binding.first_class_name)
        for binding in config.durable_objects
        if binding.script is None
    ]
    return list(dict.fromkeys([*bound, *(key_of(config, name) for name in exported)]))


def key_of(config: WorkerConfig, class_name: str) -> str:
    """The namespace of a class that a Worker exports."""
    firsts = {c.name: c.first_name for c in config.object_classes}
    return namespace_key(config.name, firsts.get(class_name, class_name))


def objects_elsewhere(
    config: WorkerConfig, find: Callable[[str], WorkerConfig | None]
) -> list[list[str]]:
    """Bindings to another Worker's objects: binding, Worker, namespace key."""
    found = []
    for binding in config.durable_objects:
        if binding.script is not None:
            other = find(binding.script)
            name = binding.class_name
            key = namespace_key(binding.script, name) if other is None else key_of(other, name)
            found.append([binding.binding, binding.script, key])
    return found
