"""Give a Worker its Durable Objects: namespaces in ``env``, classes from its module, frames."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.durable_object_namespace import DurableObjectNamespace
from tsumugi_emulator.durable.ids import namespace_key
from tsumugi_emulator.javascript.web.timers import CLOCK
from tsumugi_emulator.paths import shown
from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.object_alarms import ObjectAlarms
from tsumugi_emulator.worker.object_class import ObjectClass
from tsumugi_emulator.worker.objects import Objects
from tsumugi_emulator.worker.program import ProgramError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.javascript.values import JsObject
    from tsumugi_emulator.worker.events import Events
    from tsumugi_emulator.worker.objects import Sender
    from tsumugi_emulator.worker.program import Program


@dataclass(frozen=True, slots=True)
class BoundObjects:
    objects: Objects
    handlers: dict[type, Callable[[Any], None]]


def bind_objects(
    settings: dict[str, Any],
    program: Program,
    env: JsObject,
    *,
    events: Events,
    channel: Sender,
    log: Callable[[str, str], None],
    make_class: Callable[[str, bool], ObjectClass] | None = None,
) -> BoundObjects:
    """Add the namespaces of ``settings`` (``objects_message``) to ``env``.

    Classes that are exported but not bound have objects too, for those who reach them otherwise.
    ``make_class(name, has_sql)`` makes a class whose code is not in this process.

    Raises:
        ProgramError: a class that is bound, or has objects, is not in the module.
    """
    directory = Path(settings["directory"])
    classes = _classes(settings, program, make_class or _local_class(program))
    alarms = ObjectAlarms(directory, channel, log)
    objects = Objects(
        directory,
        classes,
        env=env,
        events=events,
        channel=channel,
        clock=CLOCK[0],
        alarms=alarms,
        warn=lambda text: log("warning", text),
    )
    for binding, _class_name, key, _has_sql in settings["classes"]:
        # What code at import kept of the binding is the binding.
        namespace = env._props.setdefault(binding, DurableObjectNamespace(key))
        namespace._connect(objects)
    return BoundObjects(
        objects,
        {
            frames.ObjectGranted: objects.granted,
            frames.ObjectWanted: objects.wanted,
            frames.Alarm: lambda frame: alarms.run(objects, frame),
        },
    )


def _local_class(program: Program) -> Callable[[str, bool], ObjectClass]:
    from workers import python_from_rpc, python_to_rpc

    classes = program.object_classes()
    return lambda name, has_sql: ObjectClass(
        classes[name], has_sql=has_sql, to_python=python_from_rpc, to_javascript=python_to_rpc
    )


def _classes(
    settings: dict[str, Any], program: Program, make: Callable[[str, bool], ObjectClass]
) -> dict[str, ObjectClass]:
    """By namespace key."""
    found = {
        key: make(_exported(program, class_name, binding), has_sql)
        for binding, class_name, key, has_sql in settings["classes"]
    }
    created = {name: (key, has_sql) for name, key, has_sql in settings.get("created", ())}
    for name in program.object_classes():
        key, has_sql = created.get(name) or (namespace_key(settings["worker"], name), True)
        if key not in found:
            found[key] = make(name, has_sql)
    return found


def _exported(program: Program, class_name: str, binding: str) -> str:
    classes = program.object_classes()
    if class_name in classes:
        return class_name
    known = ", ".join(sorted(classes))
    raise ProgramError(
        f'{shown(program.file)}: the Durable Object binding "{binding}" needs a class '
        f"{class_name} that derives from DurableObject, and the module exports "
        f"{known or 'none'}. Define or import it there, or change durable_objects.bindings."
    )
