"""The module ``pyodide.ffi``: Pyodide's names for the classes and functions of this package."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.javascript.arrays import JsArray, JsIterator
from tsumugi_emulator.javascript.buffers import Buffer, TypedArray
from tsumugi_emulator.javascript.convert import to_js
from tsumugi_emulator.javascript.double_proxy import JsDoubleProxy
from tsumugi_emulator.javascript.errors import ConversionError, InternalError, JsException
from tsumugi_emulator.javascript.functions import JsFunction
from tsumugi_emulator.javascript.maps import JsMap, JsWeakRef
from tsumugi_emulator.javascript.mode import MODE
from tsumugi_emulator.javascript.promise import JsPromise
from tsumugi_emulator.javascript.proxies import create_once_callable, create_proxy, destroy_proxies
from tsumugi_emulator.javascript.stack import can_run_sync, run_sync
from tsumugi_emulator.javascript.values import JsBigInt, JsNull, JsProxy, jsnull

if TYPE_CHECKING:
    from collections.abc import Iterable


class _Protocol(type(JsProxy)):  # type: ignore[misc]
    """Pyodide's synthetic proxy types: a proxy is one when it has the members."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, JsProxy) and cls._holds(instance)


class JsSequence(JsProxy, metaclass=_Protocol, shown="JsArray"):
    """Pyodide's ``JsArray``, which typed arrays are too."""

    @classmethod
    def _holds(cls, value: Any) -> bool:
        return isinstance(value, JsArray | TypedArray)


class JsBuffer(JsProxy, metaclass=_Protocol, shown="JsBuffer"):
    @classmethod
    def _holds(cls, value: Any) -> bool:
        return isinstance(value, Buffer)


class JsIterable(JsProxy, metaclass=_Protocol, shown="JsIterable"):
    @classmethod
    def _holds(cls, value: Any) -> bool:
        return getattr(value, "__iter__", None) is not None


class JsAsyncIterable(JsProxy, metaclass=_Protocol, shown="JsAsyncIterable"):
    @classmethod
    def _holds(cls, value: Any) -> bool:
        return isinstance(value, AsyncIterable)


class JsAsyncIterator(JsProxy, metaclass=_Protocol, shown="JsAsyncIterator"):
    @classmethod
    def _holds(cls, value: Any) -> bool:
        return isinstance(value, AsyncIterator)


class JsFetchResponse(JsProxy, metaclass=_Protocol, shown="JsFetchResponse"):
    @classmethod
    def _holds(cls, value: Any) -> bool:
        return bool(value._class_name() == "Response")


class JsDomElement(JsProxy, metaclass=_Protocol, shown="JsDomElement"):
    @classmethod
    def _holds(cls, value: Any) -> bool:
        return False


#: Exported under the name each shows.
_PROTOCOLS: tuple[type[JsProxy], ...] = (
    JsAsyncIterable,
    JsAsyncIterator,
    JsBuffer,
    JsDomElement,
    JsFetchResponse,
    JsIterable,
    JsSequence,
)


def _refuse_js_module(name: str, *_args: Any) -> None:
    raise NotImplementedError(f"register_js_module({name!r}) is not emulated by tsumugi")


#: Attributes of ``pyodide.ffi`` that are not in its ``__all__``.
_UNLISTED = frozenset({"InternalError", "can_run_sync"})
#: New with Python 3.13's Pyodide, at least in ``__all__``.
_SINCE_3_13 = frozenset(
    {"JsCallableDoubleProxy", "JsNull", "JsOnceCallable", "JsWeakRef", "ToJsConverter"}
    | {"can_run_sync", "jsnull"}
)


def names() -> dict[str, Any]:
    """What ``pyodide.ffi`` has, for the Python version imitated."""
    found: dict[str, Any] = {
        "ConversionError": ConversionError,
        "InternalError": InternalError,
        "IN_PYODIDE" if MODE.has_bigint_type else "IN_BROWSER": True,
        **{cls.__name__: cls for cls in _PROTOCOLS},
        "JsAsyncGenerator": JsAsyncIterator,
        "JsCallable": JsFunction,
        "JsCallableDoubleProxy": JsDoubleProxy,
        "JsDoubleProxy": JsDoubleProxy,
        "JsException": JsException,
        "JsGenerator": JsIterator,
        "JsIterator": JsIterator,
        "JsMap": JsMap,
        "JsMutableMap": JsMap,
        "JsNull": JsNull,
        "JsOnceCallable": JsFunction,
        "JsPromise": JsPromise,
        "JsProxy": JsProxy,
        "JsTypedArray": TypedArray,
        "JsWeakRef": JsWeakRef,
        "ToJsConverter": object,
        "can_run_sync": can_run_sync,
        "create_once_callable": create_once_callable,
        "create_proxy": create_proxy,
        "destroy_proxies": destroy_proxies,
        "jsnull": jsnull,
        "register_js_module": _refuse_js_module,
        "run_sync": run_sync,
        "to_js": to_js,
        "unregister_js_module": _refuse_js_module,
    }
    if MODE.null_is_none:
        found = {name: value for name, value in found.items() if name not in _SINCE_3_13}
    if MODE.has_bigint_type:
        found["JsBigInt"] = JsBigInt
    return found


def listed(names: Iterable[str]) -> list[str]:
    """``pyodide.ffi.__all__``."""
    unlisted = _UNLISTED | {"run_sync"} if MODE.null_is_none else _UNLISTED
    return sorted(set(names) - unlisted)


def pose_as_pyodide() -> None:
    """Give the classes the module their tracebacks and reprs show in production."""
    for cls in (JsNull, JsBigInt, ConversionError, InternalError):
        cls.__module__ = "pyodide.ffi"
