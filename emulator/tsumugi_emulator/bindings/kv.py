"""``env.CACHE``: a KV namespace with workerd's arguments and the service's refusals.

Texts: python-workers-verified section 4, rows KV. What is kept is ``storage.kv``'s business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings import kv_arguments as arguments
from tsumugi_emulator.bindings.arguments import option, options_object
from tsumugi_emulator.bindings.operation import Operation, answering
from tsumugi_emulator.javascript import io_context, json_text as js_json
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.buffers import ArrayBuffer
from tsumugi_emulator.javascript.functions import js_class, js_method
from tsumugi_emulator.javascript.maps import JsMap
from tsumugi_emulator.javascript.promise import promise_of
from tsumugi_emulator.javascript.values import JsObject, JsProxy, jsnull
from tsumugi_emulator.javascript.web.streams import ReadableStream

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.clock import Clock
    from tsumugi_emulator.javascript.futures import PyodideFuture
    from tsumugi_emulator.storage.kv import Entry, KvStore

_MISSING = arguments.MISSING
_OWNER = "KvNamespace"


@js_class(_OWNER, constructible=False)
class KvNamespace(JsProxy):
    __slots__ = ("_clock", "_name", "_open")

    def __init__(self, name: str, open_: Callable[[], KvStore], clock: Clock) -> None:
        self._name = name
        self._open = open_
        self._clock = clock

    @js_method
    def get(self, key: Any = _MISSING, options: Any = None, *_rest: Any) -> PyodideFuture:
        return self._read("get", key, options, _value_of)

    @js_method
    def getWithMetadata(
        self, key: Any = _MISSING, options: Any = None, *_rest: Any
    ) -> PyodideFuture:
        return self._read("getWithMetadata", key, options, _value_with_metadata)

    @js_method
    def put(
        self, key: Any = _MISSING, value: Any = _MISSING, options: Any = None, *_rest: Any
    ) -> PyodideFuture:
        return answering(self._put, key, value, options)

    def _put(self, key: Any, value: Any, options: Any) -> PyodideFuture:
        name = arguments.key_name(key, method="put")
        if value is _MISSING:
            raise arguments.wrong_type("put", 2, "string or JsObject")
        options = options_object(
            options, method="put", owner=_OWNER, position=3, expected="PutOptions"
        )
        metadata = arguments.metadata(option(options, "metadata"))
        expiry = arguments.Expiry.read(options)
        content = arguments.content(value)
        if isinstance(content, ReadableStream):
            return self._put_stream(name, content, metadata, expiry)
        return self._start("put", lambda: self._store(name, content, metadata, expiry))

    def _put_stream(
        self,
        name: str,
        stream: ReadableStream,
        metadata: str | None,
        expiry: arguments.Expiry,
    ) -> PyodideFuture:
        async def collect_and_put() -> None:
            content = await stream._collect()
            await self._start("put", lambda: self._store(name, content, metadata, expiry))

        future = promise_of(collect_and_put())
        io_context.require().track(future)
        return future

    def _store(
        self, name: str, content: bytes, metadata: str | None, expiry: arguments.Expiry
    ) -> None:
        key = arguments.key_bytes(name, "PUT")
        expires_s = expiry.at_s(now_s=self._clock.now_ms() // 1000)
        arguments.check_sizes(content, metadata)
        self._open().put(key, content, metadata=metadata, expires_s=expires_s)

    @js_method
    def delete(self, key: Any = _MISSING, *_rest: Any) -> PyodideFuture:
        return answering(self._delete, key)

    def _delete(self, key: Any) -> PyodideFuture:
        name = arguments.key_name(key, method="delete")
        return self._start(
            "delete", lambda: self._open().delete(arguments.key_bytes(name, "DELETE"))
        )

    @js_method
    def list(self, options: Any = None, *_rest: Any) -> PyodideFuture:
        return answering(self._list, options)

    def _list(self, options: Any) -> PyodideFuture:
        options = options_object(
            options, method="list", owner=_OWNER, position=1, expected="ListOptions"
        )
        asked = arguments.Listing.read(options)

        def work() -> JsObject:
            limit = asked.checked_limit()
            prefix = arguments.key_bytes(asked.prefix, "GET")
            page = self._open().list(prefix=prefix, limit=limit, cursor=asked.cursor)
            props: dict[str, Any] = {
                "keys": JsArray([_listed(*entry) for entry in page.entries]),
                "list_complete": page.cursor is None,
            }
            if page.cursor is not None:
                props["cursor"] = page.cursor
            return JsObject({**props, "cacheStatus": jsnull})

        return self._start("list", work)

    # -- Reading ----------------------------------------------------------------------------------

    def _read(
        self, method: str, key: Any, options: Any, answer: Callable[[Entry | None, Any], Any]
    ) -> PyodideFuture:
        reader = self._read_many if isinstance(key, JsArray) else self._read_one
        return answering(reader, method, key, options, answer)

    def _read_one(
        self, method: str, key: Any, options: Any, answer: Callable[[Entry | None, Any], Any]
    ) -> PyodideFuture:
        name = arguments.key_name(key, method=method, expected="string or Array")
        kind, cache_ttl_s = arguments.reading(options)
        convert = _CONVERTERS.get(kind)
        if convert is None:
            raise arguments.unknown_type()

        def work() -> Any:
            arguments.check_cache_ttl(cache_ttl_s, "GET")
            return answer(self._open().get(arguments.key_bytes(name, "GET")), convert)

        return self._start(method, work)

    def _read_many(
        self, method: str, keys: JsArray, options: Any, answer: Callable[[Entry | None, Any], Any]
    ) -> PyodideFuture:
        names = arguments.key_names(keys)
        kind, cache_ttl_s = arguments.reading(options)

        def work() -> JsMap:
            arguments.check_cache_ttl(cache_ttl_s, "GET_BULK")
            convert = arguments.bulk_converter(kind, names)
            encoded = {name: arguments.key_bytes(name, "GET_BULK") for name in names}
            found = self._open().get_many(list(encoded.values()))
            arguments.check_bulk_size(found.values())
            many = method == "getWithMetadata"
            return JsMap(
                (name, _bulk_value(found.get(key), convert, with_metadata=many))
                for name, key in encoded.items()
            )

        return self._start(method, work)

    def _start(self, method: str, work: Callable[[], Any]) -> PyodideFuture:
        return Operation(work, f"env.{self._name}.{method}()")


def _value_of(entry: Entry | None, convert: Callable[[bytes], Any]) -> Any:
    return jsnull if entry is None else convert(entry.value)


def _value_with_metadata(entry: Entry | None, convert: Callable[[bytes], Any]) -> JsObject:
    metadata = jsnull if entry is None or entry.metadata is None else js_json.parse(entry.metadata)
    value = _value_of(entry, convert)
    return JsObject({"value": value, "metadata": metadata, "cacheStatus": jsnull})


def _bulk_value(
    entry: Entry | None, convert: Callable[[bytes], Any], *, with_metadata: bool
) -> Any:
    if entry is None or not with_metadata:
        return _value_of(entry, convert)
    metadata = jsnull if entry.metadata is None else js_json.parse(entry.metadata)
    return JsObject({"value": convert(entry.value), "metadata": metadata})


def _listed(key: bytes, metadata: str | None, expires_s: int | None) -> JsObject:
    props: dict[str, Any] = {"name": key.decode()}
    if expires_s is not None:
        props["expiration"] = expires_s
    if metadata is not None:
        props["metadata"] = js_json.parse(metadata)
    return JsObject(props)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


_CONVERTERS: dict[str, Callable[[bytes], Any]] = {
    "text": _text,
    "json": lambda value: js_json.parse(_text(value)),
    "arrayBuffer": lambda value: ArrayBuffer(bytearray(value)),
    "stream": ReadableStream._from_bytes,
}
