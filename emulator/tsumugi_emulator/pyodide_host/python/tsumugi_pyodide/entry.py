"""Become a Worker and run its events, as the runtime's own Python side does.

Arguments and results are converted by the SDK. What an event is, when it may run and what becomes
of its result is the host's business.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyodide.ffi import JsException, to_js
from tsumugi_emulator import tracebacks
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.worker import imports, program as programs, recursion, unhandled

from tsumugi_pyodide import scopes

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.worker.program import Program


class Entry:
    """One Worker. Its methods are called by JavaScript (``main.mjs``)."""

    def __init__(self, env: Any, settled: Any, failed: Any, log: Any) -> None:
        """``settled(id, value)`` and ``failed(id, failure)`` take how an event ended.

        ``log(level, text)`` takes what nobody asked for.
        """
        from workers import python_from_rpc, python_to_rpc

        asyncio.get_event_loop().set_exception_handler(unhandled.reporter(log))
        self._env = env
        self._settled = settled
        self._failed = failed
        self._to_python: Callable[[Any], Any] = python_from_rpc
        self._to_javascript: Callable[[Any], Any] = python_to_rpc
        self._program: Program | None = None
        self._running: dict[int, asyncio.Task[Any]] = {}
        self._objects: dict[int, Any] = {}

    # -- Becoming a Worker ----------------------------------------------------------------------

    def boot(self, main: str, strict: bool, shown: Any) -> Any:
        """Import the user's module: what it offers, or the report of why it does not load.

        ``shown`` maps where files are here to where the user knows them.
        """
        _show_paths(dict(shown.to_py()))
        MODE.strict = strict
        sys.breakpointhook = _no_breakpoint
        recursion.cap()
        importlib.invalidate_caches()  # folders of the search path have only now been filled
        if MODE.flag("python_process_pth_files"):
            _patch_packages()
        try:
            program = self._program = programs.inspect_module(imports.import_main(Path(main)))
        except programs.ProgramError as error:
            return to_js({"failure": _with_paths(str(error))}, dict_converter=_object())
        except BaseException as error:
            return to_js({"failure": tracebacks.report(error)}, dict_converter=_object())
        classes = {
            name: {"methods": _methods(cls), "alarm": callable(getattr(cls, "alarm", None))}
            for name, cls in program.object_classes().items()
        }
        offered = {
            "handlers": program.handlers(),
            "warnings": program.warnings,
            "functions": list(program.functions),
            "entrypoints": {n: _methods(cls) for n, cls in program.entrypoints().items()},
            "classes": classes,
            "file": getattr(program.module, "__file__", main),
        }
        return to_js(offered, dict_converter=_object())

    # -- Events ---------------------------------------------------------------------------------

    def start(self, number: int, scope: str, call: Any, ctx: Any, args: Any) -> None:
        """Run a handler or method; ``call`` is [kind, target, name] of ``pyodide_runtime``."""
        kind, target, name = call
        work = _WORK[kind](self, target, name, ctx, list(args))
        context = scopes.context_of(scope)
        task = context.run(asyncio.get_event_loop().create_task, work)
        self._running[number] = task
        task.add_done_callback(lambda done: self._ended(number, done))

    def _ended(self, number: int, task: asyncio.Task[Any]) -> None:
        self._running.pop(number, None)
        try:
            value = task.result()
        except BaseException as error:
            self._fail(number, error)
            return
        try:
            self._settled(number, value)
        except BaseException as error:  # the value cannot cross
            self._fail(number, error)

    def _fail(self, number: int, error: BaseException) -> None:
        self._failed(number, *describe(error))

    def cancel(self, number: int) -> None:
        task = self._running.get(number)
        if task is not None:
            task.cancel()

    async def _handler(self, target: str, name: str, ctx: Any, args: list[Any]) -> Any:
        """``fetch``, ``queue`` or ``scheduled`` of the default entrypoint, or a function."""
        program = self._program
        assert program is not None, "events follow the start"
        if program.entrypoint is None:
            return await self._function(name, ctx, args)
        return await self._entrypoint_handler(program.entrypoint, name, ctx, args)

    async def _entrypoint_handler(
        self, cls: type[Any], name: str, ctx: Any, args: list[Any]
    ) -> Any:
        instance = cls(ctx, self._env)
        method = getattr(instance, name, None)
        if method is None:
            raise TypeError(f"Method {name} does not exist")
        given: tuple[Any, ...] = (self._to_python(args[0]), None, None)
        if name == "fetch":
            given = programs.relaxed_arguments(method, given)
        else:
            assert self._program is not None
            given = given[: self._program.arity.get(name, programs.HANDLER_ARGUMENTS)]
        return await self._converted(method(*given))

    async def _function(self, name: str, ctx: Any, args: list[Any]) -> Any:
        """Legacy top-level ``on_*``: relaxed, raw arguments, the real env and ctx."""
        assert self._program is not None
        function = self._program.functions.get(name)
        if function is None:
            raise TypeError(f"Method on_{name} does not exist")
        arguments = (args[0], self._env, ctx)
        return await self._converted(function(*programs.relaxed_arguments(function, arguments)))

    async def _entrypoint(self, target: str, name: str, ctx: Any, args: list[Any]) -> Any:
        """A method of a named entrypoint, called over RPC."""
        cls = self._class(target)
        if name == "fetch":
            return await self._entrypoint_handler(cls, name, ctx, args)
        return await self._method(cls(ctx, self._env), name, args)

    async def _object_method(self, target: int, name: str, ctx: Any, args: list[Any]) -> Any:
        return await self._method(self._objects[target], name, args)

    async def _method(self, instance: Any, name: str, args: list[Any]) -> Any:
        method = getattr(instance, name)
        return await self._converted(method(*[self._to_python(arg) for arg in args]))

    async def _object_fetch(self, target: int, name: str, ctx: Any, args: list[Any]) -> Any:
        method = getattr(self._objects[target], name)
        given = programs.relaxed_arguments(method, (self._to_python(args[0]),))
        return await self._converted(method(*given))

    async def _object_event(self, target: int, name: str, ctx: Any, args: list[Any]) -> None:
        """``alarm`` and ``webSocket...``: relaxed, raw arguments, no result."""
        method = getattr(self._objects[target], name, None)
        if method is None:
            return
        result = method(*programs.relaxed_arguments(method, tuple(args)))
        if inspect.isawaitable(result):
            await result

    async def _converted(self, result: Any) -> Any:
        if inspect.isawaitable(result):
            result = await result
        return self._to_javascript(result)

    def _class(self, name: str) -> type[Any]:
        assert self._program is not None
        return self._program.entrypoints()[name]

    # -- Durable Objects ------------------------------------------------------------------------

    async def _construct(self, target: int, name: str, _ctx: Any, args: list[Any]) -> None:
        assert self._program is not None
        (state,) = args
        self._objects[target] = self._program.object_classes()[name](state, self._env)

    def forget(self, number: int) -> None:
        self._objects.pop(number, None)

    # -- Functions the host was given -----------------------------------------------------------

    def callback(self, scope: str, function: Any, args: Any) -> Any:
        """Call it in the event it belongs to."""
        context = scopes.context_of(scope)
        result = context.run(function, *args)
        if inspect.iscoroutine(result):
            result = context.run(asyncio.get_event_loop().create_task, result)
        return result


_WORK: dict[str, Callable[..., Any]] = {
    "handler": Entry._handler,
    "entrypoint": Entry._entrypoint,
    "construct": Entry._construct,
    "object": Entry._object_method,
    "object fetch": Entry._object_fetch,
    "object event": Entry._object_event,
}


def describe(error: BaseException) -> tuple[str, str, str, Any]:
    """The report, its last line, the exception's class, and the JavaScript error behind it."""
    thrown = getattr(error, "js_error", error) if isinstance(error, JsException) else None
    name = type(error).__name__
    if isinstance(error, SystemExit):
        return str(error.code), "", name, None
    return tracebacks.report(error), tracebacks.summary(error), name, thrown


def _methods(cls: type[Any]) -> list[str]:
    """What can be called over RPC: functions of every kind, but no plain attributes."""
    return [name for name in dir(cls) if not name.startswith("__") and _is_method(cls, name)]


def _is_method(cls: type[Any], name: str) -> bool:
    found = inspect.getattr_static(cls, name, None)
    if isinstance(found, staticmethod | classmethod):
        return True
    return callable(found) and not isinstance(found, type)


def _no_breakpoint(*_args: Any, **_options: Any) -> None:
    frame = sys._getframe(1)
    place = _with_paths(f"{frame.f_code.co_filename}:{frame.f_lineno}")
    sys.stderr.write(f"{place}: breakpoint() does nothing in Pyodide: use --runtime cpython\n")


def _patch_packages() -> None:
    """Apply the SDK's patches of packages: production finds them by the SDK's .pth file."""
    from _cloudflare import import_patch_manager

    with contextlib.suppress(ImportError):  # an SDK without patches
        import_patch_manager.install()


def _object() -> Any:
    from js import Object

    return Object.fromEntries


#: Frames of JavaScript that an error has passed through: none is the user's.
_JAVASCRIPT = ("file://", "node:", "wasm://")
#: Where files are here -> where the user knows them.
_SHOWN: dict[str, str] = {}


def _with_paths(text: str) -> str:
    for here, there in _SHOWN.items():
        text = text.replace(here, there)
    return text


def _show_paths(prefixes: dict[str, str]) -> None:
    """Make reports name files as the user knows them."""
    _SHOWN.update(prefixes)

    def shown(path: str) -> str:
        for here, there in prefixes.items():
            if path.startswith(here):
                return there + path.removeprefix(here)
        return path

    tracebacks.shown = programs.shown = shown  # type: ignore[attr-defined]
    tracebacks._EMULATOR = str(Path(__file__).parent.parent)
    plain = tracebacks.is_machinery
    tracebacks.is_machinery = lambda path: path.startswith(_JAVASCRIPT) or plain(path)

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: Any = None,
        line: str | None = None,
    ) -> None:
        sys.stderr.write(f"{shown(filename)}:{lineno}: {category.__name__}: {message}\n")

    warnings.showwarning = show
