"""The Durable Objects of this child: finding them, owning them one at a time, letting go of them.

An object is the supervisor's to give (ADR-0071): before its first use here it is asked for, and
once it has left memory it is given back. Not here: what happens inside one (``live_object``).
"""

from __future__ import annotations

import contextvars
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Protocol

from tsumugi_emulator.bindings import rpc_plain
from tsumugi_emulator.bindings.rpc_bodies import hand_over_request, hand_over_response
from tsumugi_emulator.bindings.rpc_property import entrypoint_refusal
from tsumugi_emulator.bindings.rpc_values import Answer, RpcStub, dispose, remote_error, transfer
from tsumugi_emulator.durable.limits import IDLE_MS, MAX_IDLE_OBJECTS
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.depth import deeper
from tsumugi_emulator.javascript.errors import JsException, js_error, with_traits
from tsumugi_emulator.javascript.futures import PyodideFuture
from tsumugi_emulator.javascript.promise import rejected
from tsumugi_emulator.worker import frames
from tsumugi_emulator.worker.live_object import UPDATED_TEXT, LiveObject
from tsumugi_emulator.worker.object_calls import MethodCall, ObjectCall

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tsumugi_emulator.bindings.object_port import ObjectAddress
    from tsumugi_emulator.clock import Clock, Timer
    from tsumugi_emulator.javascript.values import JsObject
    from tsumugi_emulator.javascript.web.request import Request
    from tsumugi_emulator.worker.events import Events
    from tsumugi_emulator.worker.hibernation import Hibernation
    from tsumugi_emulator.worker.object_alarms import ObjectAlarms
    from tsumugi_emulator.worker.object_class import ObjectClass


class Sender(Protocol):
    def send(self, frame: Any) -> None: ...


class Objects:
    """An :class:`~tsumugi_emulator.bindings.object_port.ObjectPort` over this process."""

    def __init__(
        self,
        directory: Path,
        classes: Mapping[str, ObjectClass],
        *,
        env: JsObject,
        events: Events,
        channel: Sender,
        clock: Clock,
        alarms: ObjectAlarms,
        warn: Callable[[str], None],
    ) -> None:
        """``classes`` by namespace key."""
        self._directory = directory
        self._classes = classes
        self._channel = channel
        self._alarms = alarms
        self.env = env
        self.events = events
        self.clock = clock
        self.warn = warn
        self._live: dict[str, LiveObject] = {}
        #: Granted to this process; a key stays until its object has left.
        self._owned: set[str] = set()
        #: What is wanted elsewhere as soon as nothing runs in it.
        self._wanted: set[str] = set()
        #: Idle objects by when they became so, the longest first.
        self._idle: OrderedDict[LiveObject, int] = OrderedDict()
        self._idle_timer: Timer | None = None
        self._unwritten: set[LiveObject] = set()
        self._draining = False
        #: Set where there may be WebSockets (``worker.hibernation``).
        self.hibernation: Hibernation | None = None
        #: Makes ``ctx.exports``, if there is one.
        self.exports: Callable[[], Any] | None = None

    # -- Finding ----------------------------------------------------------------------------------

    def route(self, address: ObjectAddress) -> LocalRoute:
        return LocalRoute(self, address)

    def has(self, namespace: str) -> bool:
        return namespace in self._classes

    def kind_of(self, address: ObjectAddress) -> ObjectClass:
        return self._classes[address.namespace]

    def namespaces(self) -> list[tuple[str, str]]:
        """Names of classes with the keys of their namespaces."""
        return [(kind.cls.__name__, key) for key, kind in self._classes.items()]

    def find(self, address: ObjectAddress) -> LiveObject:
        """The object in memory, or a new one that waits to be granted."""
        key = object_key(address)
        found = self._live.get(key)
        if found is not None:
            self._idle.pop(found, None)
            return found
        path = self._directory / f"{address.namespace}/{address.object_id}.sqlite"
        kind = self.kind_of(address)
        made = LiveObject(self, kind, address, path, self._alarms.book(address))
        self._live[key] = made
        self._channel.send(frames.AcquireObject(key))
        return made

    def in_use(self, live: LiveObject) -> None:
        """It is about to get a call: it is not idle."""
        self._idle.pop(live, None)

    # -- Owning -----------------------------------------------------------------------------------

    def granted(self, frame: frames.ObjectGranted) -> None:
        self._owned.add(frame.key)
        live = self._live.get(frame.key)
        if live is None:
            self._release(frame.key)
            return
        if frame.wanted:
            self._wanted.add(frame.key)
        live.construct()

    def wanted(self, frame: frames.ObjectWanted) -> None:
        """Another process waits for an object of ours."""
        live = self._live.get(frame.key)
        if live is None or frame.key not in self._owned:
            return  # its release is on the way
        if frame.force:
            live.reset(with_traits(js_error("Error", UPDATED_TEXT), "retryable"))
            return
        self._wanted.add(frame.key)
        if not live.calls:
            live.evict()

    def left(self, live: LiveObject) -> None:
        """It is closed: whoever waits for it may have it."""
        key = object_key(live.address)
        self._idle.pop(live, None)
        self._unwritten.discard(live)
        if self._live.get(key) is live:
            del self._live[key]
        if key in self._owned:
            self._release(key)

    def _release(self, key: str) -> None:
        self._owned.discard(key)
        self._wanted.discard(key)
        self._channel.send(frames.ReleaseObject(key))

    # -- Leaving memory ---------------------------------------------------------------------------

    def became_idle(self, live: LiveObject) -> None:
        """It has answered all its calls; tasks of its own may still run."""
        if live.broken is not None or live.evicted:
            return
        if self._draining or (self._wanted and object_key(live.address) in self._wanted):
            live.evict()
            return
        self._idle[live] = self.clock.now_ms() + IDLE_MS
        self._idle.move_to_end(live)
        if len(self._idle) > MAX_IDLE_OBJECTS:
            self._evict_oldest()
        if self._idle_timer is None:
            self._watch_idle(IDLE_MS)

    def _evict_oldest(self) -> None:
        for live in self._idle:
            if live.is_idle:
                live.evict()
                return

    def _watch_idle(self, delay_ms: int) -> None:
        self._idle_timer = contextvars.Context().run(
            self.clock.call_at, self.clock.now_ms() + delay_ms, self._sweep
        )

    def _sweep(self) -> None:
        self._idle_timer = None
        now_ms = self.clock.now_ms()
        for live, until_ms in list(self._idle.items()):
            if until_ms > now_ms:
                break
            if live.is_idle:
                live.evict()
            else:
                self._idle[live] = now_ms + IDLE_MS
                self._idle.move_to_end(live)
        if self._idle:
            self._watch_idle(max(1, next(iter(self._idle.values())) - now_ms))

    def drain(self) -> None:
        """New code serves: what is idle goes now, the rest when its calls have ended."""
        self._draining = True
        for live in list(self._live.values()):
            if not live.calls:
                live.evict()

    def close(self) -> None:
        """Leave everything at once; calls that run are cut off."""
        for live in list(self._live.values()):
            live.evict()
        self._alarms.write()

    # -- Writing ----------------------------------------------------------------------------------

    def write_soon(self, live: LiveObject) -> None:
        """Something was written: it is durable by the end of this turn."""
        if not self._unwritten:
            self.events.loop.at_turn_end(self.write_all)
        self._unwritten.add(live)

    def write_all(self) -> None:
        """Make everything durable that any object has written, before anything leaves."""
        while self._unwritten:
            self._unwritten.pop().commit()
        self._alarms.write()


def object_key(address: ObjectAddress) -> str:
    return f"{address.namespace}/{address.object_id}"


class LocalRoute:
    """A stub's way to an object of this process."""

    __slots__ = ("_address", "_kind", "_live", "_objects")

    def __init__(self, objects: Objects, address: ObjectAddress) -> None:
        self._objects = objects
        self._address = address
        self._kind = objects.kind_of(address)
        self._live: LiveObject | None = None

    def _connected(self) -> LiveObject:
        """The object; one that broke under this stub stays broken for it.

        Raises:
            JsException: what the object ended with.
        """
        live = self._live
        if live is not None:
            if live.broken is not None:
                raise remote_error(live.broken)
            if not live.evicted:
                self._objects.in_use(live)
                return live
        self._live = live = self._objects.find(self._address)
        return live

    def call(self, method: str, args: list[Any] | None) -> PyodideFuture:
        if args is None:
            return self._read(method)
        lent: list[RpcStub] = []
        try:
            if self.takes_plain(method):
                plain = rpc_plain.arguments_or_none(args)
                if plain is not None:
                    return self.call_plain(method, plain, for_python=False)
            depth = deeper()
            given = transfer(args, lent)
            live = self._connected()
        except JsException as error:
            return rejected(error)
        future = PyodideFuture(loop=self._objects.events.loop)
        answer = Answer(io_context.require(), future)
        kind = live.kind

        async def work(instance: Any) -> Any:
            return await kind.call(instance, method, given)

        def settle(result: Any, error: BaseException | None) -> None:
            answer.settle(result, error)
            dispose(lent)

        live.deliver(ObjectCall(live, work, settle, depth))
        return future

    def takes_plain(self, name: str) -> bool:
        return self._kind.is_method(name) and entrypoint_refusal(name) is None

    def call_plain(self, method: str, args: list[Any], *, for_python: bool = True) -> PyodideFuture:
        try:
            depth = deeper()
            live = self._connected()
        except JsException as error:
            return rejected(error)
        future = PyodideFuture(loop=self._objects.events.loop)
        answer = Answer(io_context.require(), future)
        live.deliver(MethodCall(live, method, args, answer, depth=depth, for_python=for_python))
        return future

    def _read(self, name: str) -> PyodideFuture:
        try:
            depth = deeper()
            live = self._connected()
        except JsException as error:
            return rejected(error)
        future = PyodideFuture(loop=self._objects.events.loop)
        answer = Answer(io_context.require(), future)

        async def work(instance: Any) -> Any:
            return live.kind.property(instance, name)

        live.deliver(ObjectCall(live, work, answer.settle, depth))
        return future

    def fetch(self, request: Request) -> PyodideFuture:
        try:
            depth = deeper()
            sent = hand_over_request(request)
            live = self._connected()
        except JsException as error:
            return rejected(error)
        future = PyodideFuture(loop=self._objects.events.loop)
        answer = Answer(io_context.require(), future)
        kind = live.kind

        async def work(instance: Any) -> Any:
            return hand_over_response(await kind.fetch(instance, sent))

        def settle(response: Any, error: BaseException | None) -> None:
            answer.deliver(response, None if error is None else remote_error(error))

        live.deliver(ObjectCall(live, work, settle, depth))
        return future


__all__ = ["LocalRoute", "Objects", "object_key"]
