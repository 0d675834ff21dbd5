"""The user's module: importing it, finding its entrypoint, calling its handlers.

Rules: python-workers-runtime 1.3 as corrected by the verified reference. Not here: events and
frames.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.paths import shown
from tsumugi_emulator.worker import imports

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

EVENT_HANDLERS = ("fetch", "queue", "scheduled")
#: The runtime passes these many arguments after ``self``; queue and scheduled take all of them.
HANDLER_ARGUMENTS = 3


class ProgramError(Exception):
    """The module imported, but it is not a Worker; the message says what to change."""


@dataclass(slots=True)
class Program:
    """A loaded Worker: its ``Default`` class, or its legacy top-level functions."""

    module: ModuleType
    entrypoint: type[Any] | None
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    #: Positional arguments to pass to ``queue`` and ``scheduled`` where fewer than production's
    #: three are taken (ADR-0004).
    arity: dict[str, int] = field(default_factory=dict)
    #: Every class the module exports to the runtime, by its own name.
    exported: dict[str, type[Any]] = field(default_factory=dict)

    @property
    def file(self) -> str:
        return str(self.module.__file__)

    def handlers(self) -> list[str]:
        if self.entrypoint is not None:
            return [
                name for name in EVENT_HANDLERS if callable(getattr(self.entrypoint, name, None))
            ]
        return list(self.functions)

    def entrypoints(self) -> dict[str, type[Any]]:
        """Classes of entrypoints by the name they are called by from outside."""
        from workers import WorkerEntrypoint

        return {
            "default" if name == "Default" else name: cls
            for name, cls in self.exported.items()
            if issubclass(cls, WorkerEntrypoint)
        }

    def object_classes(self) -> dict[str, type[Any]]:
        """Classes of Durable Objects by name."""
        from workers import DurableObject

        return {name: cls for name, cls in self.exported.items() if issubclass(cls, DurableObject)}


def load(main: Path, project: Path) -> Program:
    """Import the main module and find its entrypoint.

    Raises:
        ProgramError: there is no entrypoint the runtime would accept.
        BaseException: whatever the user's code raised while importing.
    """
    imports.prepare(main, project)
    return inspect_module(imports.import_main(main))


def inspect_module(module: ModuleType) -> Program:
    from workers import DurableObject, WorkerEntrypoint, WorkflowEntrypoint

    bases = (DurableObject, WorkerEntrypoint, WorkflowEntrypoint)
    names = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
    exported = {
        cls.__name__: cls
        for cls in (getattr(module, name, None) for name in names)
        if isinstance(cls, type) and issubclass(cls, bases) and cls not in bases
    }
    functions = _legacy_functions(module)
    entrypoint = exported.get("Default")
    if entrypoint is not None and not issubclass(entrypoint, WorkerEntrypoint):
        entrypoint = None
    if entrypoint is not None and functions:
        raise ProgramError("Cannot define multiple default entrypoints")
    if entrypoint is None and not functions:
        raise ProgramError(_no_entrypoint(module, exported))
    program = Program(module, entrypoint, functions, exported=exported)
    if entrypoint is not None:
        _check_handlers(program, entrypoint)
    return program


def _legacy_functions(module: ModuleType) -> dict[str, Callable[..., Any]]:
    if MODE.flag("python_no_global_handlers"):
        return {}
    found = {name: getattr(module, f"on_{name}", None) for name in EVENT_HANDLERS}
    return {name: function for name, function in found.items() if callable(function)}


def _no_entrypoint(module: ModuleType, exported: dict[str, type[Any]]) -> str:
    others = ", ".join(sorted(exported))
    legacy = [n for n in EVENT_HANDLERS if callable(getattr(module, f"on_{n}", None))]
    text = (
        f"{shown(module.__file__ or '')}: no class named Default. Define "
        "`class Default(WorkerEntrypoint)` with a fetch, queue or scheduled method."
    )
    if legacy:
        text += (
            f" Top-level on_{legacy[0]} is ignored from compatibility date 2025-08-14 on "
            "(add the flag disable_python_no_global_handlers to keep it)."
        )
    if others:
        text += f" Exported classes: {others}."
    return text


def _check_handlers(program: Program, entrypoint: type[Any]) -> None:
    for name in ("queue", "scheduled"):
        function = _written_by_user(entrypoint, name)
        if function is None:
            continue
        if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
            program.warnings.append(
                f"{_place(function)}: {entrypoint.__name__}.{name} contains `yield`, so its body "
                "never runs and the event counts as handled, as in production. Remove the yield."
            )
        if MODE.strict:
            continue
        taken = accepted_arguments(function, HANDLER_ARGUMENTS)
        if taken is None or taken == HANDLER_ARGUMENTS:
            continue
        program.arity[name] = taken
        given = 1 + HANDLER_ARGUMENTS
        takes = taken + 1
        plural = "argument" if takes == 1 else "arguments"
        first = "batch" if name == "queue" else "controller"
        program.warnings.append(
            f"{_place(function)}: in production this handler fails with `TypeError: "
            f"{function.__qualname__}() takes {takes} positional {plural} but {given} were given`. "
            f"Write `async def {name}(self, {first}, env=None, ctx=None)`."
        )


def _written_by_user(cls: type[Any], name: str) -> Any:
    function = inspect.unwrap(getattr(cls, name)) if callable(getattr(cls, name, None)) else None
    return function if inspect.isfunction(function) else None


def _unevaluated() -> dict[str, Any]:
    """Options of ``inspect.signature``: production does not ask strict handlers what they take."""
    if sys.version_info >= (3, 14):
        from annotationlib import Format

        return {"annotation_format": Format.FORWARDREF}
    return {}


_UNEVALUATED = _unevaluated()


def accepted_arguments(function: Callable[..., Any], most: int) -> int | None:
    """How many positional arguments after ``self``, at most ``most``, the function accepts.

    None when it accepts none of them (then the call must fail as it does in production).
    """
    signature = inspect.signature(function, **_UNEVALUATED)
    for count in range(most, -1, -1):
        try:
            signature.bind(None, *[None] * count)
        except TypeError:
            continue
        return count
    return None


def relaxed_arguments(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The leading arguments a relaxed call passes: extra ones are dropped.

    Raises:
        TypeError: a required parameter would be left without a value.
        NameError: an annotation cannot be evaluated (Python 3.14; production evaluates it, too).
    """
    signature = inspect.signature(function)
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return args
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    count = sum(kind in positional for kind in kinds)
    signature.bind(*args[:count])
    return args[:count]


def _place(function: Any) -> str:
    code = inspect.unwrap(function).__code__
    return f"{shown(code.co_filename)}:{code.co_firstlineno}"
