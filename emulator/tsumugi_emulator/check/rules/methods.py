"""How the methods of exported classes are written (TSU1xx): what the runtime calls, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsumugi_emulator.check import findings
from tsumugi_emulator.check.facts import Role
from tsumugi_emulator.check.handlers import HANDLER_ARGUMENTS, HANDLERS
from tsumugi_emulator.check.rules.missing_types import missing_types

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi_emulator.check.facts import ClassFact, MethodFact, ModuleFacts
    from tsumugi_emulator.check.findings import Finding
    from tsumugi_emulator.check.project import Lineage, Project

ARITY = findings.error(
    "TSU101",
    "A handler that does not take three arguments",
    "`TypeError: Default.queue() takes 2 positional arguments but 4 were given`: the handler gets "
    "the event, None and None. Batches are retried and dead-lettered.",
)
NONE_USED = findings.error(
    "TSU102",
    "The env or ctx parameter of a handler",
    "`AttributeError: 'NoneType' object has no attribute ...`: on classes they are None.",
)
NONE_PASSED = findings.warning(
    "TSU103", "The env or ctx parameter passed on", "On classes they are None."
)
YIELDS = findings.error(
    "TSU104",
    "A handler with yield",
    "Its body never runs, and the event counts as handled: the batch is acknowledged.",
)
NEVER_CALLED = findings.warning(
    "TSU109",
    "A method named almost like a handler",
    "The runtime never calls it.",
)
LEGACY_NAMES = findings.error(
    "TSU110",
    "A class handler without its older name",
    "`Method on_fetch does not exist`: before 2025-08-14 classes need the names with on_.",
)
TOO_MANY_REQUIRED = findings.error(
    "TSU111",
    "A handler with more required parameters than arguments",
    "`TypeError: missing a required argument`",
)
NO_BASE_INIT = findings.error(
    "TSU112",
    "An __init__ that leaves out the base class",
    "`AttributeError`: self.env and self.ctx are set by the base class's `__init__`.",
)
NO_RESPONSE = findings.error(
    "TSU113",
    "A fetch handler that returns no Response",
    "`Incorrect type for Promise: the Promise did not resolve to 'Response'.`",
)
TUPLE_RETURNED = findings.error(
    "TSU114",
    "A queue or cron handler that returns a tuple",
    "`TypeError: <class 'tuple'> cannot be sent over RPC.`, after the work is done, which is then "
    "repeated.",
)
TUPLE_OVER_RPC = findings.warning(
    "TSU115",
    "A method called from outside that returns a tuple",
    "`TypeError: <class 'tuple'> cannot be sent over RPC.`",
)

_STRICT = ("queue", "scheduled")
_ARGUMENT = {"queue": "batch", "scheduled": "controller"}
#: Names that people give to handlers, and the handlers' real names, by role.
_ALMOST = {
    Role.ENTRYPOINT: {
        "onFetch": "fetch", "handle_fetch": "fetch", "on_request": "fetch",
        "onQueue": "queue", "handle_queue": "queue", "on_message_batch": "queue", "queues": "queue",
        "onScheduled": "scheduled", "schedule": "scheduled", "cron": "scheduled",
        "on_cron": "scheduled", "handle_scheduled": "scheduled", "on_fetch": "fetch",
        "on_queue": "queue", "on_scheduled": "scheduled",
    },
    Role.OBJECT: {
        "on_alarm": "alarm", "onAlarm": "alarm", "handle_alarm": "alarm", "on_fetch": "fetch",
        "web_socket_message": "webSocketMessage", "websocket_message": "webSocketMessage",
        "webSocketMessages": "webSocketMessage", "on_webSocketMessage": "webSocketMessage",
        "web_socket_close": "webSocketClose", "websocket_close": "webSocketClose",
        "web_socket_error": "webSocketError", "websocket_error": "webSocketError",
    },
}  # fmt: skip
#: How many arguments an object's alarm handler is given.
ALARM_ARGUMENTS = 1


def is_legacy(project: Project) -> bool:
    """Whether top-level ``on_*`` functions are handlers."""
    return "python_no_global_handlers" not in project.config.compatibility.flags


def of_class(
    project: Project, module: ModuleFacts, fact: ClassFact, lineage: Lineage
) -> Iterator[Finding]:
    if lineage.role is Role.ENTRYPOINT:
        for name in HANDLERS:
            found = lineage.method(name)
            if found is not None and not (is_legacy(project) and name == "fetch"):
                yield from _handler(project, fact, *found)
    yield from _relaxed(project, lineage)
    yield from missing_types(project, lineage)
    yield from _names(project, module, fact, lineage)
    yield from _returns(project, module, fact, lineage)
    if fact.skips_base_init and fact.first_use_of_base is not None and not lineage.is_open:
        yield project.finding(
            NO_BASE_INIT,
            module.path,
            fact.methods["__init__"].spot,
            f"{fact.name}.__init__ does not call the base class, so self.env and self.ctx are "
            "missing.",
            "Call `super().__init__(ctx, env)` first.",
        )


def _handler(
    project: Project, fact: ClassFact, module: ModuleFacts, method: MethodFact
) -> Iterator[Finding]:
    if method.is_decorated:
        return
    name = method.name
    if name in _STRICT:
        fault = _arity_fault(fact, method)
        if fault is not None:
            yield project.finding(
                ARITY,
                module.path,
                method.spot,
                f"In production this handler fails: {fault}.",
                f"Write `async def {name}(self, {_ARGUMENT[name]}, env=None, ctx=None)`.",
            )
        if method.has_yield:
            yield project.finding(
                YIELDS,
                module.path,
                method.spot,
                f"{fact.name}.{name} contains `yield`, so its body never runs.",
                "Remove the yield.",
            )
    yield from _none_uses(project, module, method)


def _none_uses(project: Project, module: ModuleFacts, method: MethodFact) -> Iterator[Finding]:
    for use in method.none_uses:
        real = "self.ctx" if use.parameter == "ctx" else "self.env"
        fault = f"The parameter {use.parameter} of {method.name} is None in production"
        if use.attribute is None:
            yield project.finding(
                NONE_PASSED, module.path, use.spot, f"{fault}.", f"Pass `{real}`."
            )
        else:
            read = "[...]" if use.attribute == "[...]" else f".{use.attribute}"
            message = f"{fault}: {use.parameter}{read} fails."
            yield project.finding(NONE_USED, module.path, use.spot, message, f"Use `{real}`.")


def _arity_fault(fact: ClassFact, method: MethodFact) -> str | None:
    given = 1 + HANDLER_ARGUMENTS
    name = f"{fact.name}.{method.name}()"
    takes = len(method.parameters)
    if takes < given and not method.takes_any_positional:
        plural = "argument" if takes == 1 else "arguments"
        return f"TypeError: {name} takes {takes} positional {plural} but {given} were given"
    if method.is_static:
        return None
    if method.required > given or method.required_keywords:
        missing = (*method.parameters[given : method.required], *method.required_keywords)
        return f"TypeError: {name} is not given {', '.join(missing)}"
    return None


def _relaxed(project: Project, lineage: Lineage) -> Iterator[Finding]:
    """An object's alarm gets as many of its arguments as it takes."""
    found = lineage.method("alarm") if lineage.role is Role.OBJECT else None
    if found is None or found[1].is_decorated or found[1].is_static:
        return
    module, method = found
    if method.required - 1 > ALARM_ARGUMENTS:
        missing = method.parameters[1 + ALARM_ARGUMENTS]
        yield project.finding(
            TOO_MANY_REQUIRED,
            module.path,
            method.spot,
            f"alarm is given {ALARM_ARGUMENTS} argument, so {missing} is missing.",
            f"Write `async def alarm(self, info)`, or give {missing} a default.",
        )


def _names(
    project: Project, module: ModuleFacts, fact: ClassFact, lineage: Lineage
) -> Iterator[Finding]:
    legacy = is_legacy(project)
    fetch = lineage.method("fetch") if lineage.role is Role.ENTRYPOINT else None
    if legacy and fetch is not None and not lineage.may_have("on_fetch"):
        yield project.finding(
            LEGACY_NAMES,
            fetch[0].path,
            fetch[1].spot,
            "With this compatibility date a class's fetch is looked for as on_fetch.",
            "Add the compatibility flag python_no_global_handlers, or a date from 2025-08-14 on.",
        )
    almost = _ALMOST.get(lineage.role, {}) if lineage.role else {}
    for name, meant in almost.items():
        method_fact = fact.methods.get(name)
        if method_fact is None or name in fact.called_by_itself or lineage.may_have(meant):
            continue
        if legacy and name.startswith("on_"):
            continue
        yield project.finding(
            NEVER_CALLED,
            module.path,
            method_fact.spot,
            f"{fact.name}.{name} looks like a handler, but the runtime calls {meant}.",
            f"Name it {meant}.",
        )


def _returns(
    project: Project, module: ModuleFacts, fact: ClassFact, lineage: Lineage
) -> Iterator[Finding]:
    fetch = lineage.method("fetch")
    if fetch is not None and lineage.role in (Role.ENTRYPOINT, Role.OBJECT):
        owner, method = fetch
        for spot, what in method.other_returns if not method.is_decorated else ():
            yield project.finding(
                NO_RESPONSE,
                owner.path,
                spot,
                f"fetch returns {what} here, and has to return a Response.",
                "Write `return Response(...)`.",
            )
    for name, method in fact.methods.items():
        if not method.tuple_returns or method.is_decorated or name.startswith("_"):
            continue
        is_handler = name in _STRICT and lineage.role is Role.ENTRYPOINT
        if name == "fetch" or (name in fact.called_by_itself and not is_handler):
            continue
        if lineage.role is Role.WORKFLOW:
            continue
        rule = TUPLE_RETURNED if is_handler else TUPLE_OVER_RPC
        what = "returns" if is_handler else "can be called from outside, and returns"
        for spot in method.tuple_returns:
            yield project.finding(
                rule,
                module.path,
                spot,
                f"{fact.name}.{name} {what} a tuple, which cannot cross.",
                "Return nothing." if is_handler else "Return a list, or name it with a leading _.",
            )
