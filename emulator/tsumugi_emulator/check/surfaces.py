"""What the objects of the runtime offer: methods, options, results. Tables only (ADR-0202).

Names are JavaScript's. Source: the runtime and queue references, as verified in the real runtime.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """A kind of value whose behaviour is known."""

    ENV = "env"
    #: A name in ``env`` that the configuration does not mention; a secret, or missing.
    UNKNOWN = "an unconfigured binding"
    QUEUE = "a queue"
    KV = "a KV namespace"
    D1 = "a D1 database"
    STATEMENT = "a D1 statement"
    R2 = "an R2 bucket"
    NAMESPACE = "a Durable Object namespace"
    STUB = "a Durable Object stub"
    SERVICE = "a service binding"
    RATE_LIMIT = "a rate limiter"
    ANALYTICS = "an Analytics Engine dataset"
    JSON_VAR = "a JSON variable"
    OTHER_BINDING = "another binding"
    #: ``self.ctx`` of an entrypoint or an object.
    CTX = "ctx"
    STORAGE = "Durable Object storage"
    SQL = "SQL storage"
    SYNC_KV = "synchronous KV storage"
    CURSOR = "a SQL cursor"
    BATCH = "a message batch"
    MESSAGES = "messages"
    MESSAGE = "a message"
    BODY = "a message body"
    TIMESTAMP = "a message's timestamp"
    REQUEST = "a request"
    #: What Cloudflare knows about a request.
    CF = "request.cf"
    CONTROLLER = "the scheduled controller"
    ALARM_INFO = "the alarm's info"
    VIEW = "a memoryview"
    #: What the SDK has made of a result: dicts, lists and plain values.
    CONVERTED = "a converted result"


class Surface(NamedTuple):
    #: Return at once.
    sync: frozenset[str] = frozenset()
    #: Return something to await.
    awaited: frozenset[str] = frozenset()
    #: Any method exists, and is awaited.
    is_remote: bool = False


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SURFACES: dict[Kind, Surface] = {
    Kind.QUEUE: Surface(awaited=_names("send sendBatch metrics")),
    Kind.KV: Surface(awaited=_names("get getWithMetadata put delete list")),
    Kind.D1: Surface(
        sync=_names("prepare withSession getBookmark"), awaited=_names("batch exec dump")
    ),
    Kind.STATEMENT: Surface(sync=_names("bind"), awaited=_names("run all first raw")),
    Kind.R2: Surface(
        sync=_names("resumeMultipartUpload"),
        awaited=_names("get put head delete list createMultipartUpload"),
    ),
    Kind.NAMESPACE: Surface(
        sync=_names("idFromName idFromString newUniqueId get getByName jurisdiction")
    ),
    Kind.STUB: Surface(is_remote=True),
    Kind.SERVICE: Surface(is_remote=True),
    Kind.RATE_LIMIT: Surface(awaited=_names("limit")),
    Kind.ANALYTICS: Surface(sync=_names("writeDataPoint")),
    Kind.STORAGE: Surface(
        sync=_names("transactionSync"),
        awaited=_names(
            "get put delete deleteAll list transaction getAlarm setAlarm deleteAlarm sync"
        ),
    ),
    Kind.SQL: Surface(sync=_names("exec")),
    Kind.SYNC_KV: Surface(sync=_names("get put delete list")),
    Kind.BATCH: Surface(sync=_names("ackAll retryAll")),
    Kind.MESSAGE: Surface(sync=_names("ack retry")),
    Kind.REQUEST: Surface(awaited=_names("json text bytes buffer blob form_data")),
}

#: What an attribute of a kind is.
ATTRIBUTES: dict[tuple[Kind, str], Kind] = {
    (Kind.CTX, "storage"): Kind.STORAGE,
    (Kind.STORAGE, "sql"): Kind.SQL,
    (Kind.STORAGE, "kv"): Kind.SYNC_KV,
    (Kind.BATCH, "messages"): Kind.MESSAGES,
    (Kind.MESSAGE, "body"): Kind.BODY,
    (Kind.MESSAGE, "timestamp"): Kind.TIMESTAMP,
    (Kind.REQUEST, "cf"): Kind.CF,
    (Kind.CONVERTED, "results"): Kind.CONVERTED,
}

#: What a call returns, without awaiting.
RESULTS: dict[tuple[Kind, str], Kind] = {
    (Kind.D1, "prepare"): Kind.STATEMENT,
    (Kind.D1, "withSession"): Kind.D1,
    (Kind.STATEMENT, "bind"): Kind.STATEMENT,
    (Kind.NAMESPACE, "get"): Kind.STUB,
    (Kind.NAMESPACE, "getByName"): Kind.STUB,
    (Kind.NAMESPACE, "jurisdiction"): Kind.NAMESPACE,
    (Kind.SQL, "exec"): Kind.CURSOR,
    (Kind.CURSOR, "toArray"): Kind.CONVERTED,
    (Kind.CURSOR, "one"): Kind.CONVERTED,
    (Kind.SYNC_KV, "get"): Kind.CONVERTED,
}

#: Methods whose result, once awaited, is made of Python's own values.
CONVERTING: dict[Kind, frozenset[str]] = {
    Kind.KV: _names("get getWithMetadata list"),
    Kind.D1: _names("batch exec"),
    Kind.STATEMENT: _names("run all first raw"),
    Kind.STORAGE: _names("get list"),
}

#: What iterating over a kind gives.
ITEMS: dict[Kind, Kind] = {
    Kind.MESSAGES: Kind.MESSAGE,
    Kind.CONVERTED: Kind.CONVERTED,
}

_SEND = _names("contentType delaySeconds")
_RETRY = _names("delaySeconds")
_LIST = _names("prefix limit cursor")
_STORAGE_WRITE = _names("allowUnconfirmed noCache allowConcurrency")

#: Options that a call takes as keywords; every other keyword is ignored without an error.
OPTIONS: dict[tuple[Kind, str], frozenset[str]] = {
    (Kind.QUEUE, "send"): _SEND,
    (Kind.QUEUE, "sendBatch"): _RETRY,
    (Kind.MESSAGE, "retry"): _RETRY,
    (Kind.BATCH, "retryAll"): _RETRY,
    (Kind.KV, "get"): _names("type cacheTtl"),
    (Kind.KV, "getWithMetadata"): _names("type cacheTtl"),
    (Kind.KV, "put"): _names("expiration expirationTtl metadata"),
    (Kind.KV, "list"): _LIST,
    (Kind.STORAGE, "put"): _STORAGE_WRITE,
    (Kind.STORAGE, "delete"): _STORAGE_WRITE,
    (Kind.STORAGE, "get"): _names("noCache allowConcurrency"),
    (Kind.STORAGE, "list"): _names("start startAfter end prefix reverse limit noCache"),
    (Kind.R2, "put"): _names("httpMetadata customMetadata onlyIf storageClass ssecKey md5 sha256"),
    (Kind.R2, "get"): _names("onlyIf range ssecKey"),
    (Kind.R2, "list"): _names("prefix limit cursor delimiter include startAfter"),
    (Kind.NAMESPACE, "get"): _names("locationHint"),
    (Kind.NAMESPACE, "getByName"): _names("locationHint"),
    (Kind.STATEMENT, "raw"): _names("columnNames"),
}

#: Spellings that are not merely snake case.
OTHER_SPELLINGS = {
    "delay": "delaySeconds",
    "delay_s": "delaySeconds",
    "delay_secs": "delaySeconds",
    "expiration_ttl_seconds": "expirationTtl",
    "expire_ttl": "expirationTtl",
    "expires_in": "expirationTtl",
    "ttl": "expirationTtl",
}


def meant_option(kind: Kind, method: str, keyword: str) -> str | None:
    """The option that a keyword, which names none, was meant to be; None without a good guess."""
    options = OPTIONS.get((kind, method), frozenset())
    if keyword in options:
        return None
    plain = _plain(keyword)
    for option in options:
        if _plain(option) == plain:
            return option
    other = OTHER_SPELLINGS.get(keyword)
    return other if other in options else None


def meant_method(kind: Kind, name: str) -> str | None:
    """The method of ``kind`` that a name in snake case was meant to be."""
    surface = SURFACES.get(kind)
    if surface is None or "_" not in name:
        return None
    plain = _plain(name)
    known = surface.sync | surface.awaited
    return next((method for method in sorted(known) if _plain(method) == plain), None)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
