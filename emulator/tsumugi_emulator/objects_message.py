"""A Worker's Durable Objects as its child is told of them, and as the supervisor files them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.durable.ids import namespace_key

if TYPE_CHECKING:
    from pathlib import Path

    from tsumugi_emulator.config.model import WorkerConfig

OBJECTS_DIRECTORY = "do"
#: Cross-Worker objects: the seam is ``bindings.object_port.Route``.
ELSEWHERE = "Durable Object (of another Worker)"


def objects_message(config: WorkerConfig, state: Path) -> dict[str, Any]:
    """Plain values, as frames carry them; empty for a Worker without objects of its own."""
    own = [binding for binding in config.durable_objects if binding.script is None]
    if not own:
        return {}
    return {
        "directory": str(state / OBJECTS_DIRECTORY),
        #: Binding, class, namespace key, whether it may use SQL.
        "classes": [
            [b.binding, b.class_name, namespace_key(config.name, b.first_class_name), b.has_sql]
            for b in own
        ],
    }


def namespaces(config: WorkerConfig) -> list[str]:
    """The keys of the namespaces whose objects live in this Worker."""
    return list(
        dict.fromkeys(
            namespace_key(config.name, binding.first_class_name)
            for binding in config.durable_objects
            if binding.script is None
        )
    )


def bound_elsewhere(config: WorkerConfig) -> list[list[str]]:
    """Bindings to another Worker's objects, which are not emulated yet."""
    return [[b.binding, ELSEWHERE] for b in config.durable_objects if b.script is not None]
