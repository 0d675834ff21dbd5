"""Values that do not cross into JavaScript, or arrive as something else (TSU4xx, first half)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsumugi_emulator.check import findings, literals
from tsumugi_emulator.check.ruleset import At, Drafts, on_attribute, on_binding, on_call, on_method
from tsumugi_emulator.check.surfaces import SURFACES, Kind

if TYPE_CHECKING:
    from tsumugi_emulator.check.kinds import BindingCall

REFUSED = findings.error(
    "TSU401",
    "A tuple or bytearray given to a binding",
    "`TypeError: <class 'tuple'> cannot be sent over RPC.`",
)
CHANGED_BY_JSON = findings.error(
    "TSU402",
    "A value that JSON does not keep, sent to a queue",
    "The message arrives with `{}` or an object of numbers in its place, without an error.",
)
UNCOPYABLE = findings.error(
    "TSU403",
    "A Python object given to storage, D1 or another Worker",
    "`DataCloneError: ... could not be cloned`, or the D1 and RPC texts for it.",
)
BIG_INT = findings.error(
    "TSU404",
    "An integer that JavaScript has no number for",
    "It becomes a BigInt, which JSON queues, SQL storage and D1 refuse with a TypeError.",
)
KV_VALUE = findings.error(
    "TSU405",
    "A value that KV does not store",
    "`TypeError: KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and "
    "ReadableStreams as values.`",
)
SQL_TEXT = findings.warning(
    "TSU406",
    "A value that SQL storage stores as text",
    "True is stored as the text 'true', a dict as '[object Object]', without an error.",
)
TRANSACTION_VALUE = findings.error(
    "TSU407",
    "An unconverted value put in a transaction",
    "The transaction is JavaScript's own object: `DataCloneError`, or `TypeError: put() called "
    "with undefined value.` for None.",
)
ALARM_TIME = findings.error(
    "TSU408",
    "An alarm time that is not milliseconds",
    "Seconds are a time long past, so the alarm fires at once; other types are a TypeError.",
)
VIEW_IS_NOT_BYTES = findings.error(
    "TSU409",
    "A memoryview used as bytes",
    "`AttributeError: 'memoryview' object has no attribute 'decode'`",
)
AWARE_AND_NAIVE = findings.error(
    "TSU410",
    "A message's timestamp compared with an aware datetime",
    "`TypeError: can't compare offset-naive and offset-aware datetimes`: it is naive, in UTC.",
)

_STORES = (Kind.STORAGE, Kind.SYNC_KV)
_REMOTE = (Kind.STUB, Kind.SERVICE)


@on_binding
def refused_value(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    if not _converts(call):
        return
    for argument in _arguments(node):
        for part in literals.parts(argument):
            what = literals.refused(at.meant(part), at)
            if what is not None:
                kept = "bytes(...)" if what == "a bytearray" else "a list"
                yield at.draft(
                    REFUSED, part, f"{call} is given {what}, which cannot cross.", f"Give {kept}."
                )


def _converts(call: BindingCall) -> bool:
    """Whether arguments go through the SDK's conversion, which has these rules."""
    kind = call.value.kind
    if kind in (Kind.NAMESPACE, Kind.REQUEST):
        return False
    return kind in SURFACES and not call.value.is_raw


def _arguments(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(one.value for one in node.keywords)]


# -- Queues ---------------------------------------------------------------------------------------


@on_binding
def changed_by_json(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    for body in _json_bodies(node, at, call):
        for part in literals.parts(body):
            if isinstance(part, ast.Set | ast.SetComp):
                yield at.draft(
                    CHANGED_BY_JSON, part, "A set in a JSON message arrives as {}.", "Send a list."
                )
            elif isinstance(part, ast.Constant) and isinstance(part.value, bytes):
                yield at.draft(
                    CHANGED_BY_JSON,
                    part,
                    'Bytes in a JSON message arrive as an object of numbers: {"0": 1, ...}.',
                    'Send them alone with contentType="bytes", or as text.',
                )
            elif (what := literals.uncopyable(at.meant(part), at)) is not None:
                yield at.draft(
                    CHANGED_BY_JSON,
                    part,
                    f"{what.capitalize()} in a JSON message arrives as {{}}.",
                    "Send what it consists of: a dict, a str.",
                )


def _json_bodies(node: ast.Call, at: At, call: BindingCall) -> list[ast.expr]:
    """Bodies that certainly travel as JSON."""
    if call.value.kind is not Kind.QUEUE or "queues_json_messages" not in at.settings.flags:
        return []
    if call.method == "send" and len(node.args) == 1:
        options = {one.arg for one in node.keywords}
        return [] if options - {"delaySeconds"} else node.args
    if call.method == "sendBatch" and node.args:
        return [body for body, options in batch_items(node.args[0]) if "contentType" not in options]
    return []


def batch_items(messages: ast.expr) -> list[tuple[ast.expr, set[object]]]:
    """The bodies of a literal batch, each with the names of all fields of its message."""
    if isinstance(messages, ast.ListComp):
        items: list[ast.expr] = [messages.elt]
    else:
        items = messages.elts if isinstance(messages, ast.List) else []
    found = []
    for item in items:
        if isinstance(item, ast.Dict) and None not in item.keys:
            fields = {literals.constant(key) for key in item.keys}
            values = zip(item.keys, item.values, strict=True)
            found += [(value, fields) for key, value in values if literals.constant(key) == "body"]
    return found


# -- Storage, D1, RPC -----------------------------------------------------------------------------


def _instead(what: str) -> str:
    """What D1 takes for what it refuses."""
    if what == "a datetime":
        return "Give its `isoformat()`."
    if what in ("a dict", "a list"):
        return "Give `json.dumps(...)` of it."
    return "Give a str, a number, bytes or None."


@on_binding
def uncopyable_value(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    kind, method = call.value.kind, call.method
    if kind in _STORES and method == "put":
        arguments = node.args[1:] or node.args
    elif kind in _REMOTE and method != "fetch":
        arguments = _arguments(node)
    elif kind is Kind.STATEMENT and method == "bind":
        arguments = node.args
    else:
        return
    for argument in arguments:
        for part in literals.parts(argument):
            meant = at.meant(part)
            what = literals.uncopyable(meant, at)
            if what is None and kind is Kind.STATEMENT and part is argument:
                what = _no_d1_type(meant, at)
            if what is not None:
                yield at.draft(
                    UNCOPYABLE,
                    part,
                    f"{call} is given {what}, which it refuses.",
                    _instead(what)
                    if kind is Kind.STATEMENT
                    else "Give what it consists of: a dict, a str, a number.",
                )


def _no_d1_type(node: ast.expr, at: At) -> str | None:
    if literals.is_dict(node, at):
        return "a dict"
    if isinstance(node, ast.Set | ast.SetComp):
        return "a set"
    name = at.qualified(node.func) if isinstance(node, ast.Call) else None
    return "a datetime" if name in _DATETIMES else None


_DATETIMES = frozenset(
    {"datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today"}
)


@on_binding
def big_integer(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    is_sql = (call.value.kind, call.method) in (
        (Kind.SQL, "exec"),
        (Kind.STATEMENT, "bind"),
    )
    for argument in node.args if is_sql else _json_bodies(node, at, call):
        for part in literals.parts(argument):
            if literals.is_big_integer(at.meant(part), at):
                yield at.draft(
                    BIG_INT,
                    part,
                    f"{call} is given an integer beyond 2**53 - 2, which becomes a BigInt.",
                    "Give it as text.",
                )


@on_binding
def value_kv_does_not_store(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    if call.value.kind is not Kind.KV or call.method != "put" or len(node.args) < 2:
        return
    value = node.args[1]
    what = (
        "a dict" if literals.is_dict(value, at) else "a list" if literals.is_list(value) else None
    )
    if isinstance(value, ast.Call) and at.qualified(value.func) in _DATETIMES:
        what = "a datetime"
    if what is not None:
        yield at.draft(
            KV_VALUE,
            value,
            f"{call} is given {what}; KV stores text and bytes.",
            "Give `json.dumps(...)` of it." if what != "a datetime" else "Give its isoformat().",
        )


@on_binding
def value_stored_as_text(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    if call.value.kind is not Kind.SQL or call.method != "exec":
        return
    for argument in node.args[1:]:
        what = _stored_as(argument, at)
        if what is not None:
            yield at.draft(
                SQL_TEXT, argument, f"SQL storage stores this as {what}.", _SQL_STEPS[what]
            )


_SQL_STEPS = {
    "the text 'true' or 'false'": "Give 1 or 0.",
    "the text '[object Object]'": "Give `json.dumps(...)` of it.",
    "its items, joined by commas": "Give `json.dumps(...)` of it, or one parameter for each.",
    "the text of a JavaScript date": "Give its isoformat() or timestamp().",
}


def _stored_as(node: ast.expr, at: At) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return "the text 'true' or 'false'"
    if literals.is_dict(node, at):
        return "the text '[object Object]'"
    if literals.is_list(node):
        return "its items, joined by commas"
    name = at.qualified(node.func) if isinstance(node, ast.Call) else None
    return "the text of a JavaScript date" if name in _DATETIMES else None


@on_method("transaction")
def value_in_a_transaction(node: ast.Call, at: At) -> Drafts:
    value = at.kind(node.func.value) if isinstance(node.func, ast.Attribute) else None
    if value is None or value.kind is not Kind.STORAGE or not node.args:
        return
    callback = at.module.definition(node.args[0], at.place.scope)
    if not isinstance(callback, ast.FunctionDef | ast.AsyncFunctionDef) or not callback.args.args:
        return
    name = callback.args.args[0].arg
    for call in ast.walk(callback):
        if isinstance(call, ast.Call) and _is_put_on(call, name) and len(call.args) >= 2:
            what = literals.described(call.args[1], at)
            if what in ("a dict", "a list", "a bytes", "None"):
                yield at.draft(
                    TRANSACTION_VALUE,
                    call.args[1],
                    f"{name}.put() is given {what} as it is, which a transaction does not convert.",
                    "Give `to_js(value, dict_converter=Object.fromEntries)`.",
                )


def _is_put_on(call: ast.Call, name: str) -> bool:
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "put"
        and isinstance(function.value, ast.Name)
        and function.value.id == name
    )


@on_binding
def alarm_time(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    if call.value.kind is not Kind.STORAGE or call.method != "setAlarm" or not node.args:
        return
    time = node.args[0]
    if _in_seconds(time, at):
        yield at.draft(
            ALARM_TIME,
            time,
            "This time is in seconds, which is 1970 in milliseconds: the alarm fires at once.",
            "Give milliseconds, or a datetime.",
        )
        return
    what = literals.described(time, at)
    if isinstance(time, ast.Call) and at.qualified(time.func) == "datetime.timedelta":
        what = "a timedelta"
    if what in ("a str", "None", "a timedelta", "a bool", "a dict"):
        yield at.draft(
            ALARM_TIME,
            time,
            f"setAlarm() is given {what}, which is no time.",
            "Give milliseconds since 1970, or a datetime.",
        )


def _in_seconds(node: ast.expr, at: At) -> bool:
    """``time.time()``, plus or minus plain numbers below a day's worth of seconds."""
    if isinstance(node, ast.Call):
        name = at.qualified(node.func)
        if isinstance(node.func, ast.Name) and node.func.id in ("int", "round") and node.args:
            return _in_seconds(node.args[0], at)
        return name == "time.time"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        other = literals.constant(node.right)
        is_plain = other is None or (literals.is_number(other) and abs(other) <= 86_400)
        return is_plain and _in_seconds(node.left, at)
    return False


# -- What comes back ------------------------------------------------------------------------------


@on_method("decode", "startswith", "endswith", "split")
def view_used_as_bytes(node: ast.Call, at: At) -> Drafts:
    value = at.kind(node.func.value) if isinstance(node.func, ast.Attribute) else None
    if value is not None and value.kind is Kind.VIEW:
        yield at.draft(
            VIEW_IS_NOT_BYTES,
            node,
            f"This is a memoryview, which has no {node.func.attr}().",  # type: ignore[attr-defined]
            "Write `bytes(value)` first.",
        )


@on_call("json.loads")
def view_parsed_as_json(node: ast.Call, at: At) -> Drafts:
    value = at.kind(node.args[0]) if node.args else None
    if value is not None and value.kind is Kind.VIEW:
        yield at.draft(
            VIEW_IS_NOT_BYTES,
            node,
            "json.loads() does not take a memoryview.",
            "Write `json.loads(bytes(value))`.",
        )


@on_attribute("timestamp")
def timestamp_with_aware(node: ast.Attribute, at: At) -> Drafts:
    value = at.kind(node)
    if value is None or value.kind is not Kind.TIMESTAMP or value.is_raw:
        return
    parent = at.parent
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Sub):
        others = [parent.left, parent.right]
    elif isinstance(parent, ast.Compare):
        others = [parent.left, *parent.comparators]
    else:
        return
    if any(_is_aware(other, at) for other in others):
        yield at.draft(
            AWARE_AND_NAIVE,
            node,
            "A message's timestamp is naive, and the other datetime is aware.",
            "Write `message.timestamp.replace(tzinfo=UTC)`.",
        )


def _is_aware(node: ast.expr, at: At) -> bool:
    if not isinstance(node, ast.Call) or at.qualified(node.func) != "datetime.datetime.now":
        return False
    zone = [*node.args, literals.keyword(node, "tz")]
    return zone[0] is not None and literals.described(zone[0], at) != "None"
