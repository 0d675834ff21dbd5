"""Become a Worker whose code is in Pyodide: bindings and events here, the module there.

What ``worker.boot`` does where the code is in the child itself; everything that is not code is the
same (ADR-0210).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings import operation, queue_producer
from tsumugi_emulator.javascript.io_context import IoContext
from tsumugi_emulator.paths import shown
from tsumugi_emulator.pyodide_runtime.modules import PyodidePackage
from tsumugi_emulator.pyodide_runtime.program import (
    NodeEntrypoint,
    NodeObjectClass,
    NodeProgram,
    as_response,
)
from tsumugi_emulator.worker import boot as local, gates, output
from tsumugi_emulator.worker.dispatch import Dispatcher
from tsumugi_emulator.worker.entrypoints import DEFAULT, Entrypoints
from tsumugi_emulator.worker.events import Events
from tsumugi_emulator.worker.program import ProgramError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.assets.site import Site
    from tsumugi_emulator.javascript.values import JsObject
    from tsumugi_emulator.javascript.wait_until import ExecutionContext
    from tsumugi_emulator.javascript.web.request import Request
    from tsumugi_emulator.javascript.web.response import Response
    from tsumugi_emulator.pyodide_runtime.calls import Calls
    from tsumugi_emulator.pyodide_runtime.node_link import NodeLink
    from tsumugi_emulator.worker.spawn import WarmOptions

#: Where Pyodide has the Worker's folder (``python.mjs``).
MAIN_FOLDER = "/session/metadata/"
#: What nobody awaits starts when nothing runs in Node, and by no clock.
UNAWAITED_S = 3600.0


@dataclass(frozen=True, slots=True)
class Node:
    """The Node process as the boot needs it."""

    link: NodeLink
    calls: Calls
    options: WarmOptions


def package_of(options: WarmOptions, project: Path) -> PyodidePackage:
    found = options.pyodide
    assert found is not None, "whoever starts it has found it"
    return PyodidePackage(Path(found.folder), found.version, options.python_version, project)


class NodeRuntime(local.Runtime):
    def __init__(self, node: Node) -> None:
        self._node = node
        self.make_entrypoints = NodeEntrypoints

    def load(self, worker: dict[str, Any], env: JsObject) -> Any:
        """Let Pyodide import the user's module.

        Raises:
            ProgramError: with the report of why it does not load.
        """
        node, main = self._node, Path(worker["main"])
        project, options = Path(worker["project"]), node.options
        node.calls.package = package_of(options, project)
        folder = shown(str(main)).removesuffix(main.name)
        node.calls.shown = lambda path: path.replace(MAIN_FOLDER, folder, 1)
        modules = project / "python_modules"
        message = {
            "prefix": output.prefix_of(worker["name"], colour=worker["colour"]),
            "folder": str(main.parent),
            "main": main.name,
            "shown": folder,
            "modules": str(modules) if modules.is_dir() else None,
            "strict": options.strict,
            "env": node.calls.values.give(env),
        }
        answer = node.calls.outcome(*node.link.invoke_now("boot", message))
        offered = _plain(answer)
        if "failure" in offered:
            raise ProgramError(offered["failure"])
        return NodeProgram(offered, node.link, node.calls)

    def bound(self, env: JsObject) -> None:
        node = self._node
        node.calls.outcome(*node.link.invoke_now("bind", node.calls.values.give(env)))

    def events(self, *args: Any) -> Events:
        operation.UNAWAITED_S = queue_producer.UNAWAITED_SEND_S = UNAWAITED_S
        gates.ELSEWHERE[:] = [self._node.link.holds_back]
        return NodeEvents(self._node.link, *args)

    def dispatcher(self, *args: Any, **options: Any) -> Dispatcher:
        return NodeDispatcher(*args, **options)

    def make_class(self, program: Any) -> Callable[[str, bool], Any]:
        return lambda name, has_sql: NodeObjectClass(name, program, has_sql=has_sql)


class NodeEvents(Events):
    """Events whose code is in Node: one is stuck only if nothing is left to do there."""

    def __init__(self, link: NodeLink, *args: Any) -> None:
        super().__init__(*args)
        self._link = link

    def make_context(self, kind: str, warn: Callable[[str], None]) -> IoContext:
        return NodeContext(kind, warn, self._link)

    def _find_stuck(self) -> bool:
        """The loop is about to sleep, so what Node has said is dealt with: events have ended."""
        if not self._link.is_busy and self._start_unawaited():
            return True
        return not self._link.is_waiting and super()._find_stuck()

    def _start_unawaited(self) -> bool:
        """No code runs: what was called is awaited, or its event lives on."""
        unsent = [one for event in self._link.scopes.events() for one in event.unsent.values()]
        for one in unsent:
            one.leave()
        return bool(unsent)


class NodeContext(IoContext):
    """An event whose code runs in Node: what comes from outside waits for its turn to end."""

    __slots__ = ("_link",)

    def __init__(self, kind: str, warn: Callable[[str], None], link: NodeLink) -> None:
        super().__init__(kind, warn)
        self._link = link

    def resumer(self) -> Callable[[Callable[[], None]], None]:
        return self._link.after_turn


class NodeDispatcher(Dispatcher):
    async def _call(self, context: IoContext, name: str, argument: Any) -> Any:
        program: Any = self._program
        return await program.run("handler", None, name, self._context(context), [argument])


class NodeEntrypoints(Entrypoints):
    def __init__(
        self,
        worker: str,
        program: Any,
        env: JsObject,
        *,
        exports: Callable[[], Any] | None,
        site: Site | None = None,
    ) -> None:
        self._worker = worker
        self._program = program
        self._env = env
        self._site = site
        self._exports = exports
        self._classes: Any = {name: NodeEntrypoint(name, program) for name in program.entrypoints()}

    async def _fetch(
        self, found: Any, context: ExecutionContext, entrypoint: str | None, request: Request
    ) -> Response:
        program: Any = self._program
        kind = "handler" if found is None else "entrypoint"
        name = entrypoint or DEFAULT
        return as_response(await program.run(kind, name, "fetch", context, [request]))


def _plain(value: Any) -> Any:
    """The JSON-like value of a JavaScript one."""
    from tsumugi_emulator.javascript.json_text import prepare

    prepared = prepare(value)
    return None if prepared is None else prepared[0]
