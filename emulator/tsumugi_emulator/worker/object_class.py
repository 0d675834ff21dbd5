"""One class of Durable Objects: how its methods are found and called. Rules: verified 1.3, 3.4.

Not here: when a call may run, and what its result becomes for the caller.
"""

from __future__ import annotations

import inspect
from types import CoroutineType, FunctionType
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings.rpc_values import python_failure
from tsumugi_emulator.javascript.crossing import python_to_js
from tsumugi_emulator.javascript.errors import JsException, type_error
from tsumugi_emulator.javascript.functions import JsFunction, js_class
from tsumugi_emulator.javascript.promise import promise_of
from tsumugi_emulator.javascript.values import JsProxy, js_to_python
from tsumugi_emulator.javascript.web.response import Response
from tsumugi_emulator.worker.no_response import not_a_response
from tsumugi_emulator.worker.program import relaxed_arguments

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.javascript.web.request import Request


@js_class("AlarmInvocationInfo", constructible=False)
class AlarmInvocationInfo(JsProxy):
    __slots__ = ("isRetry", "retryCount", "scheduledTime")

    def __init__(self, retry_count: int, scheduled_ms: int) -> None:
        self.isRetry = retry_count > 0
        self.retryCount = retry_count
        self.scheduledTime = scheduled_ms


class ObjectClass:
    def __init__(
        self, cls: type[Any], *, has_sql: bool, to_python: Any, to_javascript: Any
    ) -> None:
        self.cls = cls
        self.has_sql = has_sql
        self.has_alarm = callable(getattr(cls, "alarm", None))
        self._to_python: Callable[[Any], Any] = to_python
        self._to_javascript: Callable[[Any], Any] = to_javascript
        self._known: dict[str, bool] = {}
        #: Handler -> how many arguments it is given.
        self._takes: dict[str, int] = {}

    async def make(self, state: Any, env: Any) -> Any:
        """An instance; its constructor may wait (``run_sync``)."""
        return self.cls(state, env)

    def is_method(self, name: str) -> bool:
        known = self._known.get(name)
        if known is None:
            found = inspect.getattr_static(self.cls, name, None)
            known = self._known[name] = isinstance(
                found, FunctionType | staticmethod | classmethod
            ) or (callable(found) and not isinstance(found, type))
        return known

    def _relaxed(self, name: str, method: Any, argument: Any) -> tuple[Any, ...]:
        """The arguments of a handler that may take none.

        Raises:
            TypeError: it wants more than there is.
        """
        takes = self._takes.get(name)
        if takes is None:
            takes = self._takes[name] = len(relaxed_arguments(method, (argument,)))
        return (argument,)[:takes]

    async def call(self, instance: Any, name: str, args: list[Any]) -> Any:
        """An RPC method with JavaScript arguments and result, converted as the SDK does.

        Raises:
            JsException: TypeError, when there is no such method.
        """
        if not self.is_method(name):
            raise type_error(f"Method {name} does not exist")
        to_python = self._to_python
        try:
            given = [to_python(js_to_python(arg)) for arg in args]
            result = await self._run(instance, name, given)
            return self.result(result)
        except JsException as error:
            raise python_failure(error) from None  # it came through Python

    def property(self, instance: Any, name: str) -> JsFunction:
        """What reading an RPC property gives: every name is a method, until it is called."""
        return JsFunction(lambda *args: promise_of(self.call(instance, name, list(args))), name)

    def result(self, value: Any) -> Any:
        """What a method returned, as JavaScript has it."""
        return python_to_js(self._to_javascript(value))

    async def _run(self, instance: Any, name: str, args: list[Any]) -> Any:
        """An RPC method in Python: strict arguments."""
        result = getattr(instance, name)(*args)
        if type(result) is CoroutineType or inspect.isawaitable(result):
            result = await result
        return result

    async def fetch(self, instance: Any, request: Request) -> Response:
        method = getattr(instance, "fetch", None)
        if method is None:
            raise type_error("Method fetch does not exist")
        try:
            result = method(*self._relaxed("fetch", method, self._to_python(request)))
            if inspect.isawaitable(result):
                result = await result
            response = self._to_javascript(result)
        except JsException as error:
            raise python_failure(error) from None  # it came through Python
        if not isinstance(response, Response):
            raise not_a_response(method, result)
        return response

    async def socket_event(self, instance: Any, name: str, args: tuple[Any, ...]) -> None:
        """``webSocketMessage`` and its siblings; one that is missing is no error."""
        method = getattr(instance, name, None)
        if method is None:
            return
        result = method(*relaxed_arguments(method, args))
        if inspect.isawaitable(result):
            await result

    async def alarm(self, instance: Any, info: AlarmInvocationInfo) -> None:
        method = getattr(instance, "alarm", None)
        if method is None:
            raise type_error("Handler does not export an alarm() function.")
        result = method(*self._relaxed("alarm", method, info))
        if inspect.isawaitable(result):
            await result
