"""How the runtime's objects are called: names, options, limits (TSU4xx, second half)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsumugi_emulator.check import findings, literals
from tsumugi_emulator.check.facts import Role
from tsumugi_emulator.check.ruleset import At, Drafts, on_binding
from tsumugi_emulator.check.surfaces import Kind, meant_method, meant_option

if TYPE_CHECKING:
    from tsumugi_emulator.check.kinds import BindingCall

IGNORED_OPTION = findings.error(
    "TSU420",
    "An option that is ignored for its spelling",
    "Keywords become a JavaScript object as they are: an unknown name has no effect, and no error.",
)
POSITIONAL_OPTION = findings.error(
    "TSU421",
    "An option given by position",
    "`TypeError: Failed to execute 'retry' on 'QueueMessage': parameter 1 is not of type "
    "'QueueRetryOptions'.`",
)
NO_SUCH_METHOD = findings.error(
    "TSU422",
    "A method that has another name",
    "`AttributeError`: methods have JavaScript's names.",
)
BODY_AS_KEYWORD = findings.error(
    "TSU423",
    "A message's body given as a keyword",
    'Keywords become one object, so that the body itself is `{"body": ...}`.',
)
KEYWORDS_OVER_RPC = findings.warning(
    "TSU424",
    "Keyword arguments in a call of another Worker or object",
    "They arrive as one dict, after the positional arguments.",
)
CONTENT_TYPE = findings.error(
    "TSU425",
    "A body that does not fit its content type",
    '`TypeError: Content Type "text" requires a value of type string`, or `Unsupported queue '
    "message content type`.",
)
OUT_OF_RANGE = findings.error(
    "TSU426",
    "A number that the platform refuses",
    "`Queue send failed`, `KV PUT failed: 400 Invalid expiration_ttl`, or the like.",
)
BAD_BATCH = findings.error(
    "TSU427",
    "A batch that is refused as a whole",
    "`TypeError: sendBatch() requires at least one message`, `Message body cannot be undefined`, "
    "or the like; nothing is sent.",
)
NOT_CONFIGURED = findings.warning(
    "TSU428",
    "A binding that is not configured",
    "`AttributeError`: `env` has no such name.",
)

MAX_DELAY_S = 86_400
MIN_TTL_S = 60
MAX_BATCH = 100
_CONTENT_TYPES = frozenset({"json", "text", "bytes", "v8"})
_BODY_NAMES = frozenset({"body", "message", "msg", "payload", "content", "data"})


@on_binding
def ignored_option(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    for one in node.keywords:
        meant = meant_option(call.value.kind, call.method, one.arg) if one.arg else None
        if meant is not None:
            yield at.draft(
                IGNORED_OPTION, one, f"{call} ignores `{one.arg}=`.", f"Write `{meant}=`."
            )
    for options in (*node.args[1:], *node.args[: call.method in ("retry", "retryAll")]):
        yield from _ignored_in_dict(options, at, call)
    if (call.value.kind, call.method) == (Kind.QUEUE, "sendBatch") and node.args:
        for message in getattr(node.args[0], "elts", [getattr(node.args[0], "elt", None)]):
            yield from _ignored_in_dict(message, at, call, of="send")


def _ignored_in_dict(
    options: ast.expr | None, at: At, call: BindingCall, *, of: str | None = None
) -> Drafts:
    """Of a dict given as options, or as one message of a batch."""
    takes_value = (call.value.kind, call.method) in ((Kind.STORAGE, "put"), (Kind.KV, "put"))
    if not isinstance(options, ast.Dict) or takes_value:
        return
    for key in options.keys:
        name = literals.constant(key)
        if key is None or not isinstance(name, str):
            continue
        meant = meant_option(call.value.kind, of or call.method, name)
        if meant is not None:
            yield at.draft(IGNORED_OPTION, key, f'{call} ignores "{name}".', f'Write "{meant}".')


@on_binding
def positional_option(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    kind, method = call.value.kind, call.method
    position = {
        (Kind.MESSAGE, "retry"): 0,
        (Kind.BATCH, "retryAll"): 0,
        (Kind.QUEUE, "send"): 1,
        (Kind.QUEUE, "sendBatch"): 1,
    }.get((kind, method))
    if position is None or len(node.args) <= position:
        return
    option = node.args[position]
    what = literals.described(option, at)
    if what is None or what in ("a dict", "None"):
        return
    yield at.draft(
        POSITIONAL_OPTION,
        option,
        f"{call} takes its options as keywords or as a dict, not {what}.",
        'Write `contentType="text"`.' if what == "a str" else "Write `delaySeconds=...`.",
    )


@on_binding
def method_with_another_name(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    meant = meant_method(call.value.kind, call.method)
    if meant is not None:
        yield at.draft(
            NO_SUCH_METHOD,
            node,
            f"{call.value.kind.capitalize()} has no method {call.method}.",
            f"Write `{meant}`.",
        )


@on_binding
def body_as_keyword(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    if (call.value.kind, call.method) != (Kind.QUEUE, "send") or node.args:
        return
    named = [one for one in node.keywords if one.arg in _BODY_NAMES]
    if named:
        yield at.draft(
            BODY_AS_KEYWORD,
            named[0],
            f"{call} takes the body by position; `{named[0].arg}=` makes the body "
            f'{{"{named[0].arg}": ...}}.',
            f"Write `{call.method}(value, ...)`.",
        )


@on_binding
def keywords_over_rpc(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    named = [one for one in node.keywords if one.arg is not None]
    if call.value.kind in (Kind.STUB, Kind.SERVICE) and call.method != "fetch" and named:
        yield at.draft(
            KEYWORDS_OVER_RPC,
            named[0],
            f"Keywords of {call} arrive there as one dict.",
            "Give positional arguments, or one dict.",
        )


@on_binding
def content_type(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    if (call.value.kind, call.method) != (Kind.QUEUE, "send"):
        return
    option = literals.keyword(node, "contentType")
    name = literals.constant(option)
    if option is None or not isinstance(option, ast.Constant):
        return
    if not isinstance(name, str) or name.lower() not in _CONTENT_TYPES:
        listed = ", ".join(sorted(_CONTENT_TYPES))
        yield at.draft(
            CONTENT_TYPE, option, f"There is no content type {name!r}.", f"Use one of {listed}."
        )
        return
    body = literals.described(node.args[0], at) if node.args else None
    wanted = {"text": "a str", "bytes": "a bytes"}.get(name.lower())
    if wanted is not None and body is not None and body != wanted:
        yield at.draft(
            CONTENT_TYPE,
            node.args[0],
            f'With contentType="{name}" the body is {wanted}, but this is {body}.',
            "Leave out contentType, or give text." if wanted == "a str" else "Give bytes.",
        )


@on_binding
def out_of_range(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    delay, delay_s = _number(node, "delaySeconds")
    takes_delay = call.value.kind in (Kind.QUEUE, Kind.MESSAGE, Kind.BATCH)
    if delay is not None and takes_delay and not 0 <= delay_s <= MAX_DELAY_S:
        yield at.draft(
            OUT_OF_RANGE,
            delay,
            f"A delay is from 0 to {MAX_DELAY_S} seconds, not {delay_s}.",
            "Choose one in that range.",
        )
    ttl, ttl_s = _number(node, "expirationTtl")
    if ttl is not None and call.value.kind is Kind.KV and ttl_s < MIN_TTL_S:
        yield at.draft(
            OUT_OF_RANGE,
            ttl,
            f"expirationTtl is at least {MIN_TTL_S} seconds, not {ttl_s}.",
            f"Give {MIN_TTL_S} or more.",
        )


def _number(node: ast.Call, name: str) -> tuple[ast.expr | None, float]:
    """A keyword that is a plain number, and the number."""
    given = literals.keyword(node, name)
    value = literals.constant(given)
    return (given, value) if literals.is_number(value) else (None, 0)


@on_binding
def bad_batch(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    if (call.value.kind, call.method) != (Kind.QUEUE, "sendBatch") or not node.args:
        return
    messages = node.args[0]
    if isinstance(messages, ast.GeneratorExp):
        yield at.draft(
            BAD_BATCH,
            messages,
            "sendBatch() is given a generator, and finds it empty.",
            "Write a list: `[... for ...]`.",
        )
        return
    if not isinstance(messages, ast.List | ast.ListComp):
        return
    items = messages.elts if isinstance(messages, ast.List) else [messages.elt]
    has_splice = any(isinstance(item, ast.Starred) for item in items)
    if not items or len(items) > MAX_BATCH:
        yield at.draft(
            BAD_BATCH,
            messages,
            f"sendBatch() takes 1 to {MAX_BATCH} messages, not {len(items)}.",
            "Send what there is, in batches of that size.",
        )
    for item in () if has_splice else items:
        fault = _bad_message(item, at)
        if fault is not None:
            yield at.draft(BAD_BATCH, item, fault, 'Write {"body": value}.')


def _bad_message(item: ast.expr, at: At) -> str | None:
    if isinstance(item, ast.Dict):
        names = [literals.constant(key) for key in item.keys]
        known = all(isinstance(name, str) for name in names)
        return None if "body" in names or not known else 'This message has no "body".'
    what = literals.described(item, at)
    return f'A message is a dict with a "body", not {what}.' if what and what != "a dict" else None


@on_binding
def binding_not_configured(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    """Only names in capitals, called on an entrypoint's own env: what else is meant is unknown."""
    name = call.value.name or ""
    if call.value.kind is not Kind.UNKNOWN or not name.isupper() or at.role is None:
        return
    if call.method in _BINDING_METHODS and at.role in Role:
        yield at.draft(
            NOT_CONFIGURED,
            node,
            f"env.{name} is called, but the configuration has no binding of that name.",
            "Add the binding to the configuration.",
        )


#: Methods that bindings have, and strings do not.
_BINDING_METHODS = frozenset(
    {
        "send", "sendBatch", "prepare", "idFromName", "newUniqueId", "getByName", "put",
        "getWithMetadata", "fetch", "writeDataPoint", "limit",
    }
)  # fmt: skip
