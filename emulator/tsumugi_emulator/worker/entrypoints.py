"""This Worker's entrypoints as others call them: a new instance and a new event for each call.

Not here: requests, batches and ticks from the supervisor (``dispatch``), and where a call comes
from or its outcome goes.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.clone import deserialize
from tsumugi_emulator.javascript.errors import js_error, type_error
from tsumugi_emulator.javascript.wait_until import ExecutionContext
from tsumugi_emulator.javascript.web.response import Response
from tsumugi_emulator.worker.no_response import not_a_response
from tsumugi_emulator.worker.object_class import ObjectClass
from tsumugi_emulator.worker.program import relaxed_arguments

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.assets.site import Site
    from tsumugi_emulator.javascript.io_context import IoContext
    from tsumugi_emulator.javascript.values import JsObject
    from tsumugi_emulator.javascript.web.request import Request
    from tsumugi_emulator.worker.program import Program

#: How the class ``Default`` is called outside.
DEFAULT = "default"


class Entrypoints:
    def __init__(
        self,
        worker: str,
        program: Program,
        env: JsObject,
        *,
        exports: Callable[[], Any] | None,
        site: Site | None = None,
    ) -> None:
        """``site`` answers requests before the default entrypoint, as from outside."""
        from workers import python_from_rpc, python_to_rpc

        self._worker = worker
        self._program = program
        self._env = env
        self._site = site
        self._exports = exports
        self._to_python: Callable[[Any], Any] = python_from_rpc
        self._to_javascript: Callable[[Any], Any] = python_to_rpc
        #: How methods are found and called is the same as for objects.
        self._classes = {
            name: ObjectClass(
                cls, has_sql=False, to_python=python_from_rpc, to_javascript=python_to_rpc
            )
            for name, cls in program.entrypoints().items()
        }

    def names(self) -> list[str]:
        return list(self._classes)

    async def call(
        self,
        event: IoContext,
        entrypoint: str | None,
        props: bytes,
        method: str,
        args: list[Any] | None,
    ) -> Any:
        """Call a method with transferred values, in a new event; its JavaScript result.

        Without values it is read, which gives a function to call in that event.
        """
        found = self._find(entrypoint)
        if found is None:
            raise type_error(f"Method {method} does not exist")
        instance = self._instance(found, event, props)
        if args is None:
            return found.property(instance, method)
        return await found.call(instance, method, args)

    async def fetch(
        self, event: IoContext, entrypoint: str | None, props: bytes, request: Request
    ) -> Response:
        found = self._find(entrypoint)
        if self._site is not None and entrypoint in (None, DEFAULT):
            from tsumugi_emulator.bindings.assets import asset_request, response_of

            answer = self._site.before_worker(asset_request(request))
            if answer is not None:
                return response_of(answer)
        return await self._fetch(found, self._context(event, props), entrypoint, request)

    async def _fetch(
        self,
        found: ObjectClass | None,
        context: ExecutionContext,
        _entrypoint: str | None,
        request: Request,
    ) -> Response:
        arguments: tuple[Any, ...]
        if found is None:
            arguments = (request, self._env, context)
            handler = self._program.functions.get("fetch")
        else:
            handler = getattr(found.cls(context, self._env), "fetch", None)
            arguments = (self._to_python(request), None, None)
        if handler is None:
            raise type_error("Method fetch does not exist")
        result = handler(*relaxed_arguments(handler, arguments))
        if inspect.isawaitable(result):
            result = await result
        response = self._to_javascript(result)
        if not isinstance(response, Response):
            raise not_a_response(handler, result)
        return response

    def _find(self, name: str | None) -> ObjectClass | None:
        """None is the legacy Worker, whose handlers are functions.

        Raises:
            JsException: there is no such entrypoint.
        """
        name = name or DEFAULT
        found = self._classes.get(name)
        if found is None and not (name == DEFAULT and self._program.functions):
            known = ", ".join(self._classes) or "none"
            raise js_error(
                "Error",
                f'The Worker "{self._worker}" has no entrypoint "{name}" (it exports: {known}).',
            )
        return found

    def _instance(self, found: ObjectClass, event: IoContext, props: bytes) -> Any:
        return found.cls(self._context(event, props), self._env)

    def _context(self, event: IoContext, props: bytes) -> ExecutionContext:
        given = deserialize(props) if props else None
        return ExecutionContext(event, given, self._exports)
