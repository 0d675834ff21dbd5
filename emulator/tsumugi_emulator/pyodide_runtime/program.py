"""The user's program as the host calls it: its classes and handlers are in Pyodide.

Takes the place of ``worker.program`` and ``worker.object_class``. Which handler gets how many
arguments, and every conversion, is decided there (``pyodide_host/python``).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.errors import type_error
from tsumugi_emulator.javascript.functions import JsFunction
from tsumugi_emulator.javascript.promise import promise_of
from tsumugi_emulator.javascript.web.response import Response
from tsumugi_emulator.pyodide_runtime.failures import failure
from tsumugi_emulator.worker.no_response import NOT_A_RESPONSE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsumugi_emulator.javascript.web.request import Request
    from tsumugi_emulator.pyodide_runtime.calls import Calls
    from tsumugi_emulator.pyodide_runtime.node_link import NodeLink
    from tsumugi_emulator.worker.object_class import AlarmInvocationInfo


class NodeProgram:
    """What the module in Pyodide offers."""

    def __init__(self, offered: dict[str, Any], link: NodeLink, calls: Calls) -> None:
        """``offered`` is what ``Entry.boot`` answers."""
        self._offered = offered
        self._link = link
        self._calls = calls

    @property
    def warnings(self) -> list[str]:
        warnings: list[str] = self._offered["warnings"]
        return warnings

    @property
    def functions(self) -> list[str]:
        """Legacy top-level handlers."""
        functions: list[str] = self._offered["functions"]
        return functions

    @property
    def file(self) -> str:
        return str(self._offered["file"])

    def handlers(self) -> list[str]:
        handlers: list[str] = self._offered["handlers"]
        return handlers

    def entrypoints(self) -> dict[str, list[str]]:
        """Names of methods by the entrypoint's name."""
        entrypoints: dict[str, list[str]] = self._offered["entrypoints"]
        return entrypoints

    def object_classes(self) -> dict[str, dict[str, Any]]:
        classes: dict[str, dict[str, Any]] = self._offered["classes"]
        return classes

    async def run(self, kind: str, target: Any, name: str, ctx: Any, args: Sequence[Any]) -> Any:
        """Run something in the current event; its JavaScript result.

        Raises:
            BaseException: what it raised, with its report.
        """
        give = self._calls.values.give
        content = ([kind, target, name], give(ctx), [give(arg) for arg in args])
        return self._outcome(*await self._link.invoke("event", *content))

    def forget(self, number: int) -> None:
        """Nobody here knows the instance any more."""
        self._calls.forget_instance(number)

    def _outcome(self, ok: bool, tree: Any) -> Any:
        if ok or not isinstance(tree, list):
            return self._calls.outcome(ok, tree)
        return self._fail(tree)

    def _fail(self, tree: list[Any]) -> Any:
        report, summary, name, thrown = (self._calls.values.take(part) for part in tree)
        raise failure(report, summary, name, thrown)


class NodeInstance:
    """An object's instance in Pyodide."""

    __slots__ = ("_program", "number")

    def __init__(self, number: int, program: NodeProgram) -> None:
        self.number = number
        self._program = program

    def __del__(self) -> None:
        self._program.forget(self.number)


class NodeClass:
    """What ``ObjectClass.cls`` is elsewhere, for those who ask its name."""

    def __init__(self, name: str) -> None:
        self.__name__ = name


_instance_numbers = itertools.count(1)


class NodeObjectClass:
    """One class of Durable Objects, as ``worker.object_class.ObjectClass``."""

    def __init__(self, name: str, program: NodeProgram, *, has_sql: bool) -> None:
        described = program.object_classes()[name]
        self.cls = NodeClass(name)
        self.has_sql = has_sql
        self.has_alarm = bool(described["alarm"])
        self._methods = frozenset(described["methods"])
        self._program = program

    async def make(self, state: Any, _env: Any) -> NodeInstance:
        instance = NodeInstance(next(_instance_numbers), self._program)
        name = self.cls.__name__
        await self._program.run("construct", instance.number, name, None, [state])
        return instance

    async def call(self, instance: NodeInstance, name: str, args: list[Any]) -> Any:
        check_method(name, self._methods)
        return await self._program.run("object", instance.number, name, None, args)

    def is_method(self, _name: str) -> bool:
        """Whether it can be called with Python's values: not on this side of the line."""
        return False

    def property(self, instance: NodeInstance, name: str) -> JsFunction:
        return JsFunction(lambda *args: promise_of(self.call(instance, name, list(args))), name)

    async def fetch(self, instance: NodeInstance, request: Request) -> Response:
        if "fetch" not in self._methods:
            raise type_error("Handler does not export a fetch() function.")
        run = self._program.run("object fetch", instance.number, "fetch", None, [request])
        return as_response(await run)

    async def socket_event(self, instance: NodeInstance, name: str, args: tuple[Any, ...]) -> None:
        if name in self._methods:
            await self._program.run("object event", instance.number, name, None, args)

    async def alarm(self, instance: NodeInstance, info: AlarmInvocationInfo) -> None:
        if "alarm" not in self._methods:
            raise type_error("Handler does not export an alarm() function.")
        await self._program.run("object event", instance.number, "alarm", None, [info])


class NodeEntrypoint:
    """One entrypoint: as ``NodeObjectClass``, with a new instance for each call."""

    def __init__(self, name: str, program: NodeProgram) -> None:
        self._name = name
        self._program = program
        self._methods = frozenset(program.entrypoints()[name])

    def cls(self, ctx: Any, _env: Any) -> Any:
        """What stands for an instance until it is made: its context."""
        return ctx

    async def call(self, ctx: Any, name: str, args: list[Any]) -> Any:
        check_method(name, self._methods)
        return await self._program.run("entrypoint", self._name, name, ctx, args)

    def property(self, ctx: Any, name: str) -> JsFunction:
        return JsFunction(lambda *args: promise_of(self.call(ctx, name, list(args))), name)


def check_method(name: str, methods: frozenset[str]) -> None:
    """Raises:
    JsException: TypeError, when there is no such method.
    """
    if name not in methods:
        raise type_error(f"Method {name} does not exist")


def as_response(result: Any) -> Response:
    if not isinstance(result, Response):
        raise type_error(NOT_A_RESPONSE)
    return result
