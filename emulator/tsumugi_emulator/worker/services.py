"""Calls between Workers in this child: to itself in the process, to others over links.

It answers what ``env.SERVICE`` and ``ctx.exports`` ask for, and what other Workers ask of this one.
Not here: how an entrypoint is called (``entrypoints``) and what travels (``links``).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.object_port import ObjectAddress
from tsumugi_emulator.bindings.rpc_bodies import hand_over_request
from tsumugi_emulator.bindings.rpc_values import Answer, RpcStub, dispose, remote_error, transfer
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.depth import Invocations, deeper, invoke
from tsumugi_emulator.javascript.errors import JsException, js_error
from tsumugi_emulator.javascript.futures import PyodideFuture
from tsumugi_emulator.javascript.promise import rejected
from tsumugi_emulator.worker.links import OWN_CALL, Link, Links
from tsumugi_emulator.worker.object_calls import ObjectCall

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.bindings.object_port import ObjectPort
    from tsumugi_emulator.bindings.service import ServiceTarget
    from tsumugi_emulator.javascript.io_context import IoContext
    from tsumugi_emulator.javascript.web.request import Request
    from tsumugi_emulator.worker.entrypoints import Entrypoints
    from tsumugi_emulator.worker.events import EventRun, Events
    from tsumugi_emulator.worker.link_frames import Connect
    from tsumugi_emulator.worker.links import Sender
    from tsumugi_emulator.worker.objects import Objects


class Services:
    """A :class:`~tsumugi_emulator.bindings.service.ServicePort`, and the callee of links."""

    def __init__(
        self,
        worker: str,
        entrypoints: Entrypoints,
        *,
        events: Events,
        channel: Sender,
        objects: Callable[[], Objects | None],
    ) -> None:
        self._worker = worker
        self._entrypoints = entrypoints
        self._events = events
        self._objects = objects
        self.links = Links(channel, self)

    # -- Calling --------------------------------------------------------------------------------

    def call(self, target: ServiceTarget, method: str, args: list[Any] | None) -> PyodideFuture:
        lent: list[RpcStub] = []
        depth, counted = deeper(), invoke(io_context.require(), io_context.user_line)
        copied = None if args is None else transfer(args, lent)
        if target.worker != self._worker:
            where = (target.worker, _address(target))
            return self.links.call(where, method, copied, depth=depth, invocations=counted)
        name, props = target.entrypoint, target.props

        async def handler(event: IoContext) -> Any:
            return await self._entrypoints.call(event, name, props, method, copied)

        return self._run_here(handler, depth, counted, lent)

    def fetch(self, target: ServiceTarget, request: Request) -> PyodideFuture:
        depth, counted = deeper(), invoke(io_context.require(), io_context.user_line)
        sent = hand_over_request(request)
        if target.worker != self._worker:
            where = (target.worker, _address(target))
            return self.links.call(where, None, [sent], depth=depth, invocations=counted)
        name, props = target.entrypoint, target.props

        async def handler(event: IoContext) -> Any:
            return await self._entrypoints.fetch(event, name, props, sent)

        return self._run_here(handler, depth, counted, [])

    def _run_here(
        self,
        handler: Callable[[IoContext], Any],
        depth: int,
        counted: Invocations | None,
        lent: list[RpcStub],
    ) -> PyodideFuture:
        """Run a call of this Worker by itself; it was ``lent`` these functions."""
        caller = io_context.require()
        future = PyodideFuture(loop=asyncio.get_running_loop())
        answer = Answer(caller, future)

        def on_result(result: Any, error: BaseException | None) -> None:
            stubs: list[RpcStub] = []
            if error is None:
                try:
                    (result,) = transfer([result], stubs)
                except JsException as refusal:
                    error = refusal
            if stubs:
                caller.on_end.append(_keep(run))
            answer.deliver(result, None if error is None else remote_error(error))
            dispose(lent)

        run = self._events.run("RPC", handler, on_result, depth=depth)
        run.context.invocations = counted
        _end_with(caller, run, future)
        return future

    # -- Being called ---------------------------------------------------------------------------

    def connected(self, frame: Connect) -> None:
        """Another Worker calls this one."""
        link = self.links.accept(frame.link)
        kind, *target = frame.target
        if kind == "entrypoint":
            self._run_entrypoint(link, frame, *target)
        else:
            self._run_object(link, frame, ObjectAddress(*target))

    def _run_entrypoint(self, link: Link, frame: Connect, name: str | None, props: bytes) -> None:
        lent: list[RpcStub] = []

        async def handler(event: IoContext) -> Any:
            link.enter(event)
            args = _arguments(link, frame, lent)
            if frame.method is None:
                return await self._entrypoints.fetch(event, name, props, *(args or ()))
            return await self._entrypoints.call(event, name, props, frame.method, args)

        def on_result(result: Any, error: BaseException | None) -> None:
            if link.answer(OWN_CALL, result, error):
                link.on_close = _keep(run)
            dispose(lent)

        run = self._events.run("RPC", handler, on_result, depth=frame.depth)
        if frame.invocations:
            run.context.invocations = Invocations(frame.invocations)
        link.on_close = run.cancel

    def _run_object(self, link: Link, frame: Connect, address: ObjectAddress) -> None:
        objects = self._objects()
        if objects is None or not objects.has(address.namespace):
            text = f'The Worker "{self._worker}" has no Durable Objects {address.namespace}.'
            link.answer(OWN_CALL, None, js_error("Error", text))
            return
        live = objects.find(address)
        lent: list[RpcStub] = []

        async def work(instance: Any) -> Any:
            link.enter(live.context)
            args = _arguments(link, frame, lent)
            if frame.method is None:
                return await live.kind.fetch(instance, *(args or ()))
            if args is None:
                return live.kind.property(instance, frame.method)
            return await live.kind.call(instance, frame.method, args)

        def settle(result: Any, error: BaseException | None) -> None:
            if link.answer(OWN_CALL, result, error, broken=live.broken is not None):
                live.context.begin()  # in memory as long as its functions can be called
                link.on_close = live.context.finish
            dispose(lent)

        live.deliver(ObjectCall(live, work, settle, frame.depth))

    # -- Names of objects -----------------------------------------------------------------------

    def name_of(self, port: ObjectPort, address: ObjectAddress) -> tuple[Any, ...]:
        worker = port.worker if isinstance(port, RemoteObjects) else self._worker
        return (worker, *address)

    def port_of(self, worker: str) -> ObjectPort:
        if worker != self._worker:
            return RemoteObjects(worker, self.links)
        objects = self._objects()
        if objects is None:
            raise js_error("Error", f'The Worker "{worker}" has no Durable Objects.')
        return objects


def _address(target: ServiceTarget) -> tuple[Any, ...]:
    return ("entrypoint", target.entrypoint, target.props)


def _arguments(link: Link, frame: Connect, lent: list[RpcStub]) -> list[Any] | None:
    """What a call brings; the functions among it go to ``lent``."""
    if not frame.args:
        return None
    args, functions = link.arguments(frame.args)
    lent += functions
    return args


def _keep(run: EventRun) -> Callable[[], None]:
    """Keep an event alive whose functions others hold, until what this returns is called."""
    held: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    run.hold(held)
    run.context.track(held)

    def release() -> None:
        if not held.done():
            held.set_result(None)

    return release


def _end_with(caller: IoContext, run: EventRun, future: PyodideFuture) -> None:
    """Stop the call when its caller has ended without waiting for it."""
    caller.on_end.append(run.cancel)

    def answered(_future: Any) -> None:
        if run.cancel in caller.on_end:
            caller.on_end.remove(run.cancel)

    future.add_done_callback(answered)


class RemoteObjects:
    """An :class:`~tsumugi_emulator.bindings.object_port.ObjectPort` of another Worker's objects."""

    def __init__(self, worker: str, links: Links) -> None:
        self.worker = worker
        self._links = links

    def route(self, address: ObjectAddress) -> RemoteRoute:
        return RemoteRoute((self.worker, ("object", *address)), self._links)


class RemoteRoute:
    """A stub's way to an object in another child; it stays broken once it broke."""

    def __init__(self, where: tuple[str, tuple[Any, ...]], links: Links) -> None:
        self._where = where
        self._links = links
        self._broken: JsException | None = None

    def call(self, method: str, args: list[Any] | None) -> PyodideFuture:
        return self._send(method, None if args is None else transfer(args))

    def takes_plain(self, _name: str) -> bool:
        return False  # values leave the process

    def call_plain(self, method: str, args: list[Any]) -> PyodideFuture:
        raise NotImplementedError(f"{method} is called with JavaScript values")

    def fetch(self, request: Request) -> PyodideFuture:
        return self._send(None, [hand_over_request(request)])

    def _send(self, method: str | None, args: list[Any] | None) -> PyodideFuture:
        if self._broken is not None:
            return rejected(remote_error(self._broken))
        return self._links.call(self._where, method, args, depth=deeper(), on_broken=self._break)

    def _break(self, error: JsException) -> None:
        self._broken = error
