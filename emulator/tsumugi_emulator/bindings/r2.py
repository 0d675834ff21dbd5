"""``env.FILES``: an R2 bucket and its multipart uploads, with workerd's rules and texts.

What is kept is ``storage.r2``'s business. Not emulated: customer keys, and storage classes beyond
their name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.bindings import r2_arguments as arguments
from tsumugi_emulator.bindings.arguments import int32, option
from tsumugi_emulator.bindings.operation import Operation, answering
from tsumugi_emulator.bindings.r2_objects import GetResult, HeadResult
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.arrays import JsArray
from tsumugi_emulator.javascript.errors import js_error, range_error, type_error
from tsumugi_emulator.javascript.functions import js_class, js_method
from tsumugi_emulator.javascript.promise import promise_of
from tsumugi_emulator.javascript.strings import to_string
from tsumugi_emulator.javascript.structs import struct
from tsumugi_emulator.javascript.values import JsObject, JsProxy, jsnull
from tsumugi_emulator.javascript.web.headers import Headers
from tsumugi_emulator.javascript.web.streams import ReadableStream
from tsumugi_emulator.storage.r2 import encoded_key
from tsumugi_emulator.storage.r2_rules import MAX_LISTED, R2Error
from tsumugi_emulator.storage.r2_uploads import Uploads

if TYPE_CHECKING:
    from collections.abc import Callable

    from tsumugi_emulator.javascript.futures import PyodideFuture
    from tsumugi_emulator.storage.r2 import Description, NewBody, R2Store
    from tsumugi_emulator.storage.r2_rules import Condition, Range

_MISSING = arguments.MISSING
MAX_PARTS = 10_000
#: As documented. Its refusal's text is not known, so that more is only told.
MAX_DELETED = 1000


class _Bucket:
    """The bucket as its binding and its uploads use it: a name for messages, a store, refusals."""

    __slots__ = ("name", "open")

    def __init__(self, name: str, open_: Callable[[], R2Store]) -> None:
        self.name = name
        self.open = open_

    def start(self, method: str, work: Callable[[], Any], action: str = "") -> PyodideFuture:
        """``action`` is what the service's refusals begin with."""

        def run() -> Any:
            try:
                return work()
            except R2Error as error:
                raise js_error("Error", f"{action or method}: {error}") from None

        return Operation(run, f"env.{self.name}.{method}()")

    def store_content(
        self,
        method: str,
        content: bytes | ReadableStream,
        keep: Callable[[bytes | NewBody], Any],
        algorithm: str | None = None,
    ) -> PyodideFuture:
        """Hand the whole content to ``keep``; a stream is written piece by piece meanwhile."""
        if not isinstance(content, ReadableStream):
            return self.start(method, lambda: keep(content))

        async def write() -> Any:
            writer = self.open().writer(algorithm)
            async for chunk in content._chunks():
                writer.write(chunk)
            return await self.start(method, lambda: keep(writer.finish()))

        future = promise_of(write())
        io_context.require().track(future)
        return future


@js_class("R2Bucket", constructible=False)
class R2Bucket(JsProxy):
    __slots__ = ("_bucket",)

    def __init__(self, name: str, open_: Callable[[], R2Store]) -> None:
        self._bucket = _Bucket(name, open_)

    # -- Reading ----------------------------------------------------------------------------------

    @js_method
    def head(self, key: Any = _MISSING, *_rest: Any) -> PyodideFuture:
        return answering(self._head, key)

    def _head(self, key: Any) -> PyodideFuture:
        name = arguments.key_name(key, "head")

        def work() -> Any:
            stored = self._bucket.open().head(name)
            return jsnull if stored is None else HeadResult(stored, (0, stored.size))

        return self._bucket.start("head", work)

    @js_method
    def get(self, key: Any = _MISSING, options: Any = None, *_rest: Any) -> PyodideFuture:
        return answering(self._get_object, key, options)

    def _get_object(self, key: Any, options: Any) -> PyodideFuture:
        name = arguments.key_name(key, "get")
        options = arguments.options_of(options, "get", 2, "GetOptions")
        condition = arguments.condition(options, "GetOptions")
        asked = arguments.byte_range(options)
        return self._bucket.start("get", lambda: self._read(name, condition, asked))

    def _read(self, key: str, condition: Condition | None, asked: Range | Headers | None) -> Any:
        store = self._bucket.open()
        stored = store.head(key)
        if stored is None:
            return jsnull
        whole = (0, stored.size)
        if condition is not None and not condition.holds((stored.etag, stored.uploaded_ms)):
            return HeadResult(stored, whole)
        if isinstance(asked, Headers):
            return GetResult(store, stored, arguments.header_range(asked, stored.size))
        return GetResult(store, stored, whole if asked is None else asked.resolve(stored.size))

    @js_method
    def list(self, options: Any = None, *_rest: Any) -> PyodideFuture:
        return answering(self._list, options)

    def _list(self, options: Any) -> PyodideFuture:
        options = arguments.options_of(options, "list", 1, "ListOptions")
        texts = {name: _text(options, key) for name, key in _LIST_TEXTS.items()}
        given = option(options, "limit")
        limit = MAX_LISTED if given is None else int32(given)
        included = _includes(option(options, "include"))

        def work() -> JsObject:
            if limit == 0 or limit > MAX_LISTED:
                raise R2Error(10022)
            page = self._bucket.open().list(limit=limit if limit > 0 else MAX_LISTED, **texts)
            bare: dict[str, Any] = {name: {} for name in ("http", "custom")}
            for name in included:
                del bare[_INCLUDED[name]]
            objects = [HeadResult(stored._replace(**bare)) for stored in page.objects]
            return struct(
                {
                    "objects": JsArray(objects),
                    "truncated": page.cursor is not None,
                    "cursor": page.cursor,
                    "delimitedPrefixes": JsArray(page.prefixes),
                }
            )

        return self._bucket.start("list", work)

    # -- Writing ----------------------------------------------------------------------------------

    @js_method
    def put(
        self, key: Any = _MISSING, value: Any = _MISSING, options: Any = None, *_rest: Any
    ) -> PyodideFuture:
        return answering(self._put, key, value, options)

    def _put(self, key: Any, value: Any, options: Any) -> PyodideFuture:
        name = arguments.key_name(key, "put")
        if value is _MISSING:
            raise arguments.wrong_type("put", 2, arguments.VALUE_TYPES)
        content = arguments.content(value, "put")
        options = arguments.options_of(options, "put", 3, "PutOptions")
        described = arguments.description(options, "PutOptions")
        condition = arguments.condition(options, "PutOptions")
        checksum = arguments.checksum(options)

        def keep(body: bytes | NewBody) -> Any:
            arguments.check_description(described)
            stored = self._bucket.open().put(
                name, body, described, condition=condition, checksum=checksum
            )
            return jsnull if stored is None else HeadResult(stored)

        algorithm = checksum[0] if checksum is not None else None
        return self._bucket.store_content("put", content, keep, algorithm)

    @js_method
    def delete(self, keys: Any = _MISSING, *_rest: Any) -> PyodideFuture:
        return answering(self._delete, keys)

    def _delete(self, keys: Any) -> PyodideFuture:
        if isinstance(keys, JsArray):
            names = [to_string(key) for key in keys._items]
            if len(names) > MAX_DELETED:
                io_context.require().warn(
                    f"{io_context.user_line()}in production this fails: delete() takes up to "
                    f"{MAX_DELETED} keys, and these are {len(names)}"
                )
        else:
            names = [arguments.key_name(keys, "delete", "string or Array")]
        return self._bucket.start("delete", lambda: self._bucket.open().delete(names))

    # -- Uploads in parts -------------------------------------------------------------------------

    @js_method
    def createMultipartUpload(
        self, key: Any = _MISSING, options: Any = None, *_rest: Any
    ) -> PyodideFuture:
        return answering(self._create, key, options)

    def _create(self, key: Any, options: Any) -> PyodideFuture:
        name = arguments.key_name(key, "createMultipartUpload")
        options = arguments.options_of(options, "createMultipartUpload", 2, "MultipartOptions")
        described: Description = arguments.description(options, "MultipartOptions")

        def work() -> R2MultipartUpload:
            arguments.check_description(described)
            upload = Uploads(self._bucket.open()).create(name, described)
            return R2MultipartUpload(self._bucket, name, upload)

        return self._bucket.start("createMultipartUpload", work)

    @js_method
    def resumeMultipartUpload(
        self, key: Any = _MISSING, upload: Any = _MISSING, *_rest: Any
    ) -> R2MultipartUpload:
        """Asks nothing: whether there is such an upload shows when it is used."""
        name = arguments.key_name(key, "resumeMultipartUpload")
        if upload is _MISSING:
            raise arguments.wrong_type("resumeMultipartUpload", 2, "string")
        return R2MultipartUpload(self._bucket, name, to_string(upload))


@js_class("R2MultipartUpload", constructible=False)
class R2MultipartUpload(JsProxy):
    __slots__ = ("_bucket", "key", "uploadId")

    def __init__(self, bucket: _Bucket, key: str, upload: str) -> None:
        self._bucket = bucket
        self.key = key
        self.uploadId = upload

    @js_method
    def uploadPart(self, number: Any = _MISSING, value: Any = None, *_rest: Any) -> PyodideFuture:
        return answering(self._upload_part, number, value)

    def _upload_part(self, number: Any, value: Any) -> PyodideFuture:
        part = 0 if number is _MISSING else int32(number)
        if not 1 <= part <= MAX_PARTS:
            raise type_error(
                f"Part number must be between 1 and {MAX_PARTS} (inclusive). Actual value was: "
                f"{part}"
            )
        content = arguments.content(value, "uploadPart", "R2MultipartUpload")

        def keep(body: bytes | NewBody) -> JsObject:
            uploads = Uploads(self._bucket.open())
            etag = uploads.put_part(self.key, self.uploadId, part, body)
            return JsObject({"partNumber": part, "etag": etag})

        return self._bucket.store_content("uploadPart", content, keep)

    @js_method
    def complete(self, parts: Any = None, *_rest: Any) -> PyodideFuture:
        return answering(self._complete, parts)

    def _complete(self, parts: Any) -> PyodideFuture:
        if not isinstance(parts, JsArray):
            raise arguments.wrong_type("complete", 1, "Array", "R2MultipartUpload")
        chosen = [_part(index, item) for index, item in enumerate(parts._items)]

        def work() -> HeadResult:
            uploads = Uploads(self._bucket.open())
            return HeadResult(uploads.complete(self.key, self.uploadId, chosen))

        return self._bucket.start("complete", work, "completeMultipartUpload")

    @js_method
    def abort(self, *_rest: Any) -> PyodideFuture:
        def work() -> None:
            encoded_key(self.key)
            Uploads(self._bucket.open()).abort(self.key, self.uploadId)

        return answering(self._bucket.start, "abort", work, "abortMultipartUpload")

    def _entries(self) -> dict[str, Any]:
        return {"uploadId": self.uploadId, "key": self.key}


def _part(index: int, item: Any) -> tuple[int, str]:
    if not isinstance(item, JsProxy):
        raise type_error(
            f"Incorrect type for array element {index}: the provided value is not of type "
            "'UploadedPart'."
        )
    return int32(option(item, "partNumber")), to_string(option(item, "etag"))


_LIST_TEXTS = {
    "prefix": "prefix",
    "delimiter": "delimiter",
    "cursor": "cursor",
    "start_after": "startAfter",
}
_INCLUDED = {"httpMetadata": "http", "customMetadata": "custom"}


def _text(options: Any, key: str) -> str:
    value = option(options, key)
    return "" if value is None or value is jsnull else to_string(value)


def _includes(value: Any) -> set[str]:
    if value is None or value is jsnull:
        return set()
    if not isinstance(value, JsArray):
        raise type_error(
            "Incorrect type for the 'include' field on 'ListOptions': the provided value is not "
            "of type 'Array'."
        )
    names = {to_string(item) for item in value._items}
    for name in names - _INCLUDED.keys():
        raise range_error(f"Unsupported include value {name}")
    return names
