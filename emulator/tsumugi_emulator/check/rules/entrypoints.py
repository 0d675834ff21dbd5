"""Which classes the main module exports, and which it should (TSU1xx)."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from tsumugi_emulator.check import findings
from tsumugi_emulator.check.facts import Role, Spot
from tsumugi_emulator.check.handlers import HANDLERS
from tsumugi_emulator.check.rules.methods import is_legacy, of_class

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi_emulator.check.facts import ModuleFacts
    from tsumugi_emulator.check.findings import Finding
    from tsumugi_emulator.check.project import Project

NO_DEFAULT = findings.error(
    "TSU105",
    "No default entrypoint",
    "`Handler does not export a fetch() function.`, or there is no handler for the event.",
)
TWO_DEFAULTS = findings.error(
    "TSU106",
    "A Default class and top-level handlers",
    "`Cannot define multiple default entrypoints`",
)
NO_QUEUE_HANDLER = findings.error(
    "TSU107",
    "A consumed queue without a queue handler",
    "`TypeError: Method queue does not exist`: every batch fails.",
)
NO_SCHEDULED_HANDLER = findings.error(
    "TSU108",
    "A cron trigger without a scheduled handler",
    "`TypeError: Method scheduled does not exist`: every run fails.",
)
CLASS_NOT_EXPORTED = findings.error(
    "TSU116",
    "A bound Durable Object class that the main module does not have",
    "The upload is refused: the script does not export the class.",
)
NO_CONSUMING_METHOD = findings.error(
    "TSU118",
    "A consumed queue that no method consumes",
    "`UnknownQueue: no method consumes queue ...`: every batch fails.",
)


def check(project: Project) -> Iterator[Finding]:
    yield from default_entrypoint(project)
    for module, fact, lineage in project.exported.values():
        yield from of_class(project, module, fact, lineage)
    yield from missing_handlers(project)
    yield from unrouted_queues(project)
    yield from object_classes(project)


# -- The entrypoint -------------------------------------------------------------------------------


def _legacy_functions(project: Project) -> list[str]:
    main = project.main_module
    names = [f"on_{name}" for name in HANDLERS]
    return [name for name in names if main is not None and name in main.names]


def default_entrypoint(project: Project) -> Iterator[Finding]:
    main = project.main_module
    if main is None or project.may_export_more or not main.is_read:
        return
    functions = _legacy_functions(project)
    default = project.exported.get("Default")
    if is_legacy(project) and functions:
        if default is not None:
            yield project.finding(
                TWO_DEFAULTS,
                main.path,
                default[1].spot,
                f"There are both a class Default and {functions[0]}().",
                "Keep one of them.",
            )
        return
    if default is None and not _may_be_default(project, main):
        yield project.finding(NO_DEFAULT, main.path, *_no_default(project, main, functions))


def _may_be_default(project: Project, main: ModuleFacts) -> bool:
    """Whether a name ``Default`` is there about whose class nothing certain is known."""
    if main.exported is not None and "Default" not in main.exported:
        return False
    if "Default" not in main.names:
        return False
    known = project.find_class(f"{project.main}.Default")
    if known is None:
        return True
    _, fact = known
    return fact.name == "Default" and project.lineage(*known).is_open


def _no_default(project: Project, main: ModuleFacts, functions: list[str]) -> tuple[Spot, str, str]:
    step = "Define `class Default(WorkerEntrypoint)` in the main module."
    if functions:
        return (
            main.functions[functions[0]].spot if functions[0] in main.functions else Spot(1, 1),
            f"Top-level {functions[0]}() is ignored from compatibility date 2025-08-14 on, and "
            "there is no class Default.",
            step,
        )
    others = [name for name, (*_, one) in project.exported.items() if one.role is Role.ENTRYPOINT]
    if others:
        name = others[0]
        return (
            project.exported[name][1].spot if project.exported[name][0] is main else Spot(1, 1),
            f"The main module exports {name}, but no class named Default, which gets the events.",
            "Name the class itself Default: another name for it does not count.",
        )
    return Spot(1, 1), "The main module exports no class named Default.", step


_ROUTERS = ("tsumugi.QueueConsumer", "tsumugi.consumer.QueueConsumer")


def unrouted_queues(project: Project) -> Iterator[Finding]:
    """Of a ``tsumugi.QueueConsumer``: queues that its ``@consumes(...)`` do not name."""
    default = project.exported.get("Default")
    if default is None or not default[2].surely_inherits("queue", *_ROUTERS):
        return
    methods = [one for _, fact in default[2].classes for one in fact.methods.values()]
    named = [queue for method in methods for queue in method.consumes]
    if None in named:
        return
    known = sorted({queue for queue in named if queue is not None})
    for queue in sorted({one.queue for one in project.config.consumers}):
        if not any(fnmatchcase(queue, re.sub(r"[\[?]", "[\\g<0>]", one)) for one in known):
            names = ", ".join(f'"{one}"' for one in known) or "none"
            yield project.finding(
                NO_CONSUMING_METHOD,
                project.places.path,
                project.places.consumer(queue),
                f'No method of Default consumes "{queue}"; the queues it names: {names}.',
                f'Write `@consumes("{queue}")` at the method that is to have its messages.',
            )


# -- The configuration's wishes -------------------------------------------------------------------


def missing_handlers(project: Project) -> Iterator[Finding]:
    default = project.exported.get("Default")
    if default is None:
        return
    module, fact, lineage = default
    config = project.config
    if config.consumers and not lineage.may_have("queue"):
        queues = ", ".join(f'"{consumer.queue}"' for consumer in config.consumers)
        yield project.finding(
            NO_QUEUE_HANDLER,
            module.path,
            fact.spot,
            f"The configuration consumes {queues}, but class Default has no queue handler.",
            "Add `async def queue(self, batch, env=None, ctx=None)`.",
        )
    if config.crons and not lineage.may_have("scheduled"):
        crons = ", ".join(f'"{cron}"' for cron in config.crons)
        yield project.finding(
            NO_SCHEDULED_HANDLER,
            module.path,
            fact.spot,
            f"The configuration has cron triggers {crons}, but class Default has no scheduled "
            "handler.",
            "Add `async def scheduled(self, controller, env=None, ctx=None)`.",
        )


def object_classes(project: Project) -> Iterator[Finding]:
    main = project.main_module
    if main is None or project.may_export_more or not main.is_read:
        return
    for binding in project.config.durable_objects:
        name = binding.class_name
        if binding.script is not None or name in project.exported:
            continue
        if name in main.names and main.exported is None:
            known = project.find_class(f"{project.main}.{name}")
            if known is None or project.lineage(*known).is_open:
                continue
        yield project.finding(
            CLASS_NOT_EXPORTED,
            project.places.path,
            project.places.durable_object(binding.binding),
            f"env.{binding.binding} is bound to the class {name}, which the main module does not "
            "export.",
            f"Define `class {name}(DurableObject)` in the main module, or import it there.",
        )
