"""What Node may ask of the host: members of host objects, timers, fetch, streams, modules.

All run in the event that Node names, with JavaScript values, and answer one. Not here: frames.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import itertools
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript import io_context, wait_until
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.crossing import python_to_js
from tsumugi_emulator.javascript.errors import js_error, type_error
from tsumugi_emulator.javascript.functions import JsClass, JsFunction, js_method, js_property
from tsumugi_emulator.javascript.promise import as_awaitable, promise_of
from tsumugi_emulator.javascript.values import JsProxy, js_to_python, jsnull
from tsumugi_emulator.javascript.web import WEB_GLOBALS
from tsumugi_emulator.pyodide_runtime.foreign import Held
from tsumugi_emulator.pyodide_runtime.handles import Handles, python_name
from tsumugi_emulator.pyodide_runtime.modules import locate
from tsumugi_emulator.pyodide_runtime.protocol import Hear
from tsumugi_emulator.pyodide_runtime.values import Values

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tsumugi_emulator.javascript.futures import PyodideFuture
    from tsumugi_emulator.javascript.web.streams import ReadableStream
    from tsumugi_emulator.pyodide_runtime.modules import PyodidePackage
    from tsumugi_emulator.pyodide_runtime.node_link import NodeLink

type Arguments = list[Any]


class Calls:
    """Both a :class:`~.foreign.ForeignPort` and a :class:`~.values.PromisePort` over the link."""

    def __init__(self, link: NodeLink, loop: asyncio.AbstractEventLoop) -> None:
        self._link = link
        self._loop = loop
        self.handles = Handles()
        self.values = Values(self.handles, self, self)
        #: Pyodide's npm package; set at the start.
        self.package: PyodidePackage
        #: How a file of Pyodide's is shown.
        self.shown: Callable[[str], str] = lambda path: path
        self._numbers = itertools.count(1)
        self._taken: dict[int, asyncio.Future[Any]] = {}
        self._streams: dict[int, AsyncIterator[bytes]] = {}
        self._timers: dict[int, asyncio.TimerHandle] = {}
        self._let_go: list[int] = []
        self._operations: dict[str, Callable[[int, str, Arguments], Any]] = {
            "call": self._call,
            "get": self._get,
            "set": self._set,
            "apply": self._apply,
            "new": self._new,
            "await": lambda target, _name, _args: _awaited(self.handles.get(target)),
            "list": self._list,
            "global": lambda _target, name, _args: _global(name),
            "fetch": self._fetch,
            "timer": self._timer,
            "clear": self._clear,
            "pull": self._pull,
            "drop": self._drop,
            "wait until": lambda _target, _name, args: wait_until.global_wait_until._call(*args),
            "module": self._module,
        }
        link.on_call = self.answer
        link.give_error = self.values.give_error

    def answer(self, place: str, operation: str, target: int, name: str, args: Any) -> Any:
        io_context.FOREIGN_PLACE[0] = self.shown(place)
        try:
            given = self._arguments(args)
            return self.values.give(self._operations[operation](target, name, given))
        finally:
            io_context.FOREIGN_PLACE[0] = ""

    def _arguments(self, args: Any) -> Arguments:
        if isinstance(args, list):
            return [self.values.take(arg) for arg in args]
        items: Arguments = self.values.take(args)._items  # one of them contains itself
        return items

    # -- Members --------------------------------------------------------------------------------

    def _call(self, target: int, name: str, args: Arguments) -> Any:
        obj = self.handles.get(target)
        python = python_name(type(obj), name)
        method = inspect.getattr_static(type(obj), python, None)
        if isinstance(method, js_method):
            return method.function(obj, *fitting(method.function, args, bound=1))
        return _applied(getattr(obj, python), args)

    def _get(self, target: int, name: str, _args: Arguments) -> Any:
        obj = self.handles.get(target)
        python = python_name(type(obj), name)
        member = inspect.getattr_static(type(obj), python, None)
        if isinstance(member, js_property):
            return member.getter(obj)
        if type(obj)._entries is not JsProxy._entries and name in (own := obj._entries()):
            return own[name]
        return _javascript(getattr(obj, python, None))

    def _set(self, target: int, name: str, args: Arguments) -> None:
        obj = self.handles.get(target)
        setattr(obj, python_name(type(obj), name), js_to_python(args[0]))

    def _apply(self, target: int, _name: str, args: Arguments) -> Any:
        return _applied(self.handles.get(target), args)

    def _new(self, target: int, _name: str, args: Arguments) -> Any:
        cls = self.handles.get(target)
        if not isinstance(cls, JsClass) or cls._construct is None:
            raise type_error("Illegal constructor")
        return cls._construct(*args)

    def _list(self, target: int, _name: str, _args: Arguments) -> JsArray:
        return JsArray([python_to_js(item) for item in self.handles.get(target)])

    # -- The platform ---------------------------------------------------------------------------

    def _fetch(self, _target: int, _name: str, args: Arguments) -> Any:
        from tsumugi_emulator.javascript.web.fetch import fetch

        return fetch._call(*args)

    def _timer(self, target: int, _name: str, args: Arguments) -> None:
        io_context.require()
        self._timers[target] = self._loop.call_later(args[0] / 1000, self._fire, target)

    def _fire(self, timer: int) -> None:
        if self._timers.pop(timer, None) is not None:
            self._link.tell(Hear.FIRE, timer)

    def _clear(self, target: int, _name: str, _args: Arguments) -> None:
        self.cancel_timers([target])

    def cancel_timers(self, timers: list[int]) -> None:
        for timer in timers:
            handle = self._timers.pop(timer, None)
            if handle is not None:
                handle.cancel()

    def _module(self, _target: int, name: str, _args: Arguments) -> Any:
        found = locate(name, self.package)
        return jsnull if found is None else JsArray(list(found))

    # -- Streams of the host --------------------------------------------------------------------

    def give_stream(self, stream: ReadableStream) -> int:
        number = next(self._numbers)
        self._streams[number] = stream._chunks()
        return number

    def _pull(self, target: int, _name: str, _args: Arguments) -> PyodideFuture:
        async def pull() -> Any:
            chunks = self._streams.get(target)
            try:
                return jsnull if chunks is None else await anext(chunks)
            except StopAsyncIteration:
                self._streams.pop(target, None)
                return jsnull

        return promise_of(pull())

    def _drop(self, target: int, _name: str, _args: Arguments) -> PyodideFuture:
        async def close() -> None:
            chunks: Any = self._streams.pop(target, None)
            if chunks is not None:
                await chunks.aclose()

        return promise_of(close())

    # -- Promises -------------------------------------------------------------------------------

    def give_promise(self, future: asyncio.Future[Any]) -> int:
        number = next(self._numbers)

        def settled(done: asyncio.Future[Any]) -> None:
            self._link.tell(Hear.SETTLED, number, *self.values.outcome(done))

        future.add_done_callback(settled)
        return number

    def take_promise(self, number: int) -> asyncio.Future[Any]:
        from tsumugi_emulator.javascript.futures import PyodideFuture

        future = self._taken[number] = PyodideFuture(loop=self._loop)
        return future

    def settle(self, number: int, ok: bool, tree: Any) -> None:
        """A promise of Node's has ended."""
        future = self._taken.pop(number, None)
        if future is None or future.done():
            return
        value = self.values.take(tree)
        if ok:
            future.set_result(js_to_python(value))
        else:
            future.set_exception(as_exception(value))
            future.exception()  # whoever waits is told; nobody has to wait

    # -- Objects of Node's ----------------------------------------------------------------------

    def call_foreign(self, number: int, args: Arguments) -> Any:
        given = [self.values.give(python_to_js(arg)) for arg in args]
        if self._link.node_waits:
            return self.outcome(*self._link.invoke_now("callback", number, given))
        promise = promise_of(self._call_later(number, given))
        self._keep_event(promise)
        return promise

    def _keep_event(self, promise: asyncio.Future[Any]) -> None:
        """The current event lives on until ``promise`` is done, as if it had run at once."""
        event = io_context.current()
        if event is None or event.ended:
            return
        held = self._loop.create_future()
        promise.add_done_callback(lambda _: None if held.done() else held.set_result(None))
        event.wait_until.append(held)

    async def _call_later(self, number: int, given: Arguments) -> Any:
        scope = self._link.scopes.name()
        try:
            result = self.outcome(*await self._link.invoke("callback", number, given))
            promise = as_awaitable(result)  # an async function's result is one of its own
            return js_to_python(result if promise is None else await promise)
        finally:
            self._link.scopes.section_over(scope)

    def read_foreign(self, number: int, name: str) -> Any:
        return self.outcome(*self._link.invoke_now("read", number, name))

    def list_foreign(self, number: int) -> list[Any]:
        items: list[Any] = self.outcome(*self._link.invoke_now("list", number))._items
        return items

    def pull_foreign(self, number: int) -> PyodideFuture:
        async def pull() -> Any:
            return self.outcome(*await self._link.invoke("pull", number))

        return promise_of(pull())

    def drop_foreign(self, number: int, reason: str) -> None:
        task = self._loop.create_task(self._link.invoke("drop", number, reason))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())

    def let_go(self, number: int) -> None:
        # At any moment the collector chooses: the link may be in the middle of a frame.
        if not self._let_go:
            self._loop.call_soon_threadsafe(self._release)
        self._let_go.append(number)

    def forget_instance(self, number: int) -> None:
        """As ``let_go``, of an instance of a class of Durable Objects."""
        self._loop.call_soon_threadsafe(self._link.start, "forget", number)

    def _release(self) -> None:
        numbers, self._let_go = self._let_go, []
        self._link.tell(Hear.RELEASE, [[number, 1] for number in numbers])

    def outcome(self, ok: bool, tree: Any) -> Any:
        """The JavaScript value of an answer of Node's.

        Raises:
            JsException: what it threw.
        """
        value = self.values.take(tree)
        if ok:
            return value
        raise as_exception(value)


def as_exception(value: Any) -> BaseException:
    return value if isinstance(value, BaseException) else js_error("Error", str(value))


def _applied(function: Any, args: Arguments) -> Any:
    if isinstance(function, JsFunction):
        return function._call(*fitting(function._call, args))
    if not callable(function):
        raise type_error("not a function")
    return _javascript(function(*args))


def _javascript(value: Any) -> Any:
    return value if asyncio.isfuture(value) else python_to_js(value)


def _awaited(obj: Any) -> PyodideFuture:
    async def wait() -> Any:
        return await obj

    return promise_of(wait())


def _global(name: str) -> Any:
    module, _, attribute = WEB_GLOBALS[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def fitting(function: Callable[..., Any], args: Arguments, *, bound: int = 0) -> Arguments:
    """The arguments a function takes: JavaScript drops what is too much."""
    most = _capacity(getattr(function, "__func__", function))
    if most is None:
        return args
    return args[: most - bound - (1 if hasattr(function, "__self__") else 0)]


@lru_cache(maxsize=1024)
def _capacity(function: Callable[..., Any]) -> int | None:
    """How many positional arguments it takes; None for any number."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARARGS:
        return None
    count: int = code.co_argcount
    return count


__all__ = ["Calls", "Held"]
