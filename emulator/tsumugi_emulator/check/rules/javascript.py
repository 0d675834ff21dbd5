"""JavaScript's objects and functions as Python code meets them (TSU43x to TSU45x)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsumugi_emulator.check import findings, literals
from tsumugi_emulator.check.facts import Role
from tsumugi_emulator.check.rules.values import UNCOPYABLE
from tsumugi_emulator.check.ruleset import (
    At,
    Drafts,
    on_binding,
    on_call,
    on_method,
    on_node,
)
from tsumugi_emulator.check.surfaces import SURFACES, Kind

if TYPE_CHECKING:
    from tsumugi_emulator.check.kinds import BindingCall, Value

ENV_IS_NO_DICT = findings.error(
    "TSU430",
    "env used as a dict",
    "`TypeError: '_EnvWrapper' object is not subscriptable`",
)
RAW_PROXY = findings.error(
    "TSU431",
    "A JavaScript object used as a dict",
    "`TypeError: 'pyodide.ffi.JsProxy' object is not subscriptable`: it is not converted.",
)
NO_TO_PY = findings.error(
    "TSU432",
    ".to_py() on what is converted already",
    "`AttributeError: to_py`: the SDK converts messages and the results of bindings (since 1.4.0).",
)
RESPONSE_BODY = findings.error(
    "TSU433",
    "A Response with a body of another type",
    "`TypeError: Unsupported type in Response: dict`",
)
RESPONSE_NEW = findings.error(
    "TSU434",
    "Response.new() on the SDK's class",
    "`AttributeError: type object 'Response' has no attribute 'new'`",
)
BORROWED = findings.error(
    "TSU435",
    "A Python function that JavaScript keeps",
    "`Error: This borrowed proxy was automatically destroyed at the end of a function call`: it "
    "is never called.",
)
WAIT_UNTIL = findings.error(
    "TSU436",
    "A coroutine given to a waitUntil that does not keep it",
    "It never runs; workers.waitUntil also fails the event, so that a batch is retried.",
)
MAP_FOR_OBJECT = findings.warning(
    "TSU437",
    "to_js() of a dict without a dict_converter",
    "Before Python 3.14 it becomes a Map, whose entries JavaScript's APIs do not see.",
)
CODE_FROM_TEXT = findings.error(
    "TSU438",
    "JavaScript made from text",
    "`EvalError: Code generation from strings disallowed for this context`",
)
NOT_ITERABLE = findings.error(
    "TSU439",
    "A batch used as if it were its messages",
    "`TypeError: 'QueueController' object is not iterable`, or has no len(), or is not "
    "subscriptable.",
)


# -- Objects that are no dicts --------------------------------------------------------------------


@on_node(ast.Subscript)
def env_subscript(node: ast.Subscript, at: At) -> Drafts:
    name = literals.constant(node.slice)
    if not isinstance(name, str):
        return
    value = at.kind(node.value)
    if value is None:
        return
    if value.kind is Kind.ENV and _is_surely_env(node.value, at):
        yield at.draft(
            ENV_IS_NO_DICT,
            node,
            f'env["{name}"]: env has attributes, no items.',
            f'Write `env.{name}`, or `getattr(env, "{name}", None)`.',
        )
    elif (what := _raw(value)) is not None:
        yield at.draft(
            RAW_PROXY,
            node,
            f'["{name}"] on {what}, which is a JavaScript object.',
            f"Write `.{name}`.",
        )


def _is_surely_env(expression: ast.expr, at: At) -> bool:
    """``self.env`` of a performer or a class of the runtime, ``env`` of the SDK or ``on_*``."""
    if at.qualified(expression) == "workers.env":
        return True
    if isinstance(expression, ast.Attribute) and isinstance(expression.value, ast.Name):
        is_own = expression.value.id == "self" and expression.attr == "env"
        return is_own and (at.role is not None or at.is_performer)
    function = at.place.scope.function
    if isinstance(expression, ast.Name) and function is not None:
        name = getattr(function.node, "name", "")
        if name in ("on_fetch", "on_queue", "on_scheduled"):
            return expression.id == "env"
        found = at.place.scope.lookup(expression.id)
        values = [binding.node for binding in found[0]] if found else []
        return (
            len(values) == 1
            and isinstance(values[0], ast.Attribute)
            and _is_surely_env(values[0], at)
        )
    return False


def _raw(value: Value) -> str | None:
    if value.kind is Kind.CONTROLLER:
        return "the scheduled controller"
    if value.kind is Kind.ALARM_INFO:
        return "the alarm's info"
    if value.kind is Kind.JSON_VAR:
        return f"the JSON variable env.{value.name}"
    if value.kind is Kind.CF:
        return "request.cf"
    if value.kind is Kind.BODY and value.is_raw:
        return "the body of a message in on_queue"
    return None


@on_method("get", "items", "keys", "values", "pop")
def dict_method_of_proxy(node: ast.Call, at: At) -> Drafts:
    value = at.kind(node.func.value) if isinstance(node.func, ast.Attribute) else None
    what = _raw(value) if value is not None else None
    if what is not None:
        yield at.draft(
            RAW_PROXY,
            node,
            f".{node.func.attr}() on {what}, which is a JavaScript object.",  # type: ignore[attr-defined]
            "Read attributes, or write `.to_py()` first.",
        )


@on_node(ast.Compare)
def name_in_env(node: ast.Compare, at: At) -> Drafts:
    if isinstance(node.ops[0], ast.In | ast.NotIn) and isinstance(node.left, ast.Constant):
        value = at.kind(node.comparators[0])
        if value and value.kind is Kind.ENV and _is_surely_env(node.comparators[0], at):
            yield at.draft(
                ENV_IS_NO_DICT,
                node,
                f"{node.left.value!r} in env: env is no container.",
                f"Write `hasattr(env, {node.left.value!r})`.",
            )


@on_node(ast.For, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
def iteration_over_batch(node: ast.AST, at: At) -> Drafts:
    for loop in getattr(node, "generators", [node]):
        if _is_batch(loop.iter, at):
            yield at.draft(
                NOT_ITERABLE,
                loop.iter,
                "A batch is not iterable; its messages are.",
                "Write `batch.messages`.",
            )


@on_call("builtins.len")
def length_of_batch(node: ast.Call, at: At) -> Drafts:
    if len(node.args) == 1 and _is_batch(node.args[0], at):
        yield at.draft(NOT_ITERABLE, node, "A batch has no length.", "Write `len(batch.messages)`.")


def _is_batch(expression: ast.expr, at: At) -> bool:
    value = at.kind(expression)
    return value is not None and value.kind is Kind.BATCH


@on_method("to_py")
def to_py_on_converted(node: ast.Call, at: At) -> Drafts:
    value = at.kind(node.func.value) if isinstance(node.func, ast.Attribute) else None
    if value is None or value.is_raw or not at.settings.sdk_converts:
        return
    if value.kind not in (Kind.BODY, Kind.CONVERTED):
        return
    asked_first = any("to_py" in ast.dump(test) for test in at.place.tests)
    # A clause for everything is for other failures.
    if not asked_first and "AttributeError" not in at.place.caught:
        yield at.draft(
            NO_TO_PY,
            node,
            "This is a Python value already; it has no to_py().",
            "Remove `.to_py()`.",
        )


# -- Responses ------------------------------------------------------------------------------------


@on_call("workers.Response")
def response_body(node: ast.Call, at: At) -> Drafts:
    body = node.args[0] if node.args else literals.keyword(node, "body")
    if body is None:
        return
    what = literals.described(body, at)
    if what is None or what in ("a str", "a bytes", "None"):
        return
    is_json = what in ("a dict", "a list")
    yield at.draft(
        RESPONSE_BODY,
        body,
        f"A Response is given {what}; it takes text, bytes or a form.",
        "Write `Response.from_json(...)`." if is_json else "Give a str or bytes.",
    )


@on_call("workers.Response.new", "workers.Request.new")
def new_on_sdk_class(node: ast.Call, at: At) -> Drafts:
    name = (at.qualified(node.func) or "").split(".")[1]
    yield at.draft(
        RESPONSE_NEW,
        node,
        f"{name}.new() is JavaScript's; this {name} is the SDK's class.",
        f"Write `{name}(...)`, or import {name} from js.",
    )


# -- Functions that JavaScript keeps --------------------------------------------------------------


@on_call("js.setTimeout", "js.setInterval", "js.queueMicrotask")
def callback_of_timer(node: ast.Call, at: At) -> Drafts:
    if node.args and _is_function(node.args[0], at):
        yield from _borrowed(node, at, at.qualified(node.func) or "")


@on_call("js.addEventListener")
def callback_of_global_listener(node: ast.Call, at: At) -> Drafts:
    if not isinstance(node.func, ast.Attribute):
        yield from callback_of_listener(node, at)


@on_method("addEventListener")
def callback_of_listener(node: ast.Call, at: At) -> Drafts:
    if len(node.args) >= 2 and _is_function(node.args[1], at):
        yield from _borrowed(node, at, "addEventListener")


def _is_function(node: ast.expr, at: At) -> bool:
    if isinstance(node, ast.Lambda):
        return True
    found = at.module.definition(node, at.place.scope) or at.module.method(node, at.place.scope)
    return isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef) and not found.decorator_list


def _borrowed(node: ast.Call, at: At, name: str) -> Drafts:
    yield at.draft(
        BORROWED,
        node,
        f"{name}() keeps a Python function, which is destroyed when the call returns.",
        "Pass `create_proxy(function)`, or `create_once_callable(function)`.",
    )


@on_call("workers.waitUntil", "workers.wait_until")
def wait_until_of_module(node: ast.Call, at: At) -> Drafts:
    if node.args and _is_coroutine(node.args[0], at):
        yield at.draft(
            WAIT_UNTIL,
            node,
            "workers.waitUntil() does not keep a coroutine: it never runs, and the event fails.",
            "Write `self.ctx.waitUntil(...)`, or pass `create_proxy(task)`.",
        )


@on_method("waitUntil")
def wait_until_of_object(node: ast.Call, at: At) -> Drafts:
    value = at.kind(node.func.value) if isinstance(node.func, ast.Attribute) else None
    is_own = value is not None and value.kind is Kind.CTX and at.role is Role.OBJECT
    if is_own and node.args and _is_coroutine(node.args[0], at):
        yield at.draft(
            WAIT_UNTIL,
            node,
            "waitUntil() of a Durable Object does not keep a coroutine: it never runs.",
            "Pass `create_proxy(asyncio.ensure_future(...))`; an object lives on by itself.",
        )


def _is_coroutine(node: ast.expr, at: At) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = at.module.definition(node.func, at.place.scope) or at.module.method(
        node.func, at.place.scope
    )
    if isinstance(called, ast.AsyncFunctionDef):
        return True
    value = at.kind(node.func.value) if isinstance(node.func, ast.Attribute) else None
    surface = SURFACES.get(value.kind) if value else None
    return surface is not None and node.func.attr in surface.awaited  # type: ignore[attr-defined]


# -- Conversions ----------------------------------------------------------------------------------

#: What is a proxy on JavaScript's side, which nothing there can copy.
_CONTAINERS = (ast.Dict, ast.List, ast.Set, ast.Tuple, ast.DictComp, ast.ListComp, ast.SetComp)


@on_method("serializeAttachment")
def unconverted_attachment(node: ast.Call, at: At) -> Drafts:
    """A socket is JavaScript's own object: its arguments are not converted."""
    if len(node.args) == 1 and isinstance(node.args[0], _CONTAINERS):
        yield at.draft(
            UNCOPYABLE,
            node.args[0],
            "serializeAttachment() is given a Python object, which it cannot copy.",
            "Give `json.dumps(...)` of it, or `to_js(..., dict_converter=Object.fromEntries)`.",
        )


@on_call("pyodide.ffi.to_js")
def dict_becomes_map(node: ast.Call, at: At) -> Drafts:
    if at.settings.python_version not in ("3.12", "3.13") or not node.args:
        return
    has_converter = any(one.arg in ("dict_converter", None) for one in node.keywords)
    # Object.fromEntries(to_js({...})) is another way to write it.
    is_entries = isinstance(at.parent, ast.Call) and at.qualified(at.parent.func) == (
        "js.Object.fromEntries"
    )
    if literals.is_dict(node.args[0], at) and not has_converter and not is_entries:
        yield at.draft(
            MAP_FOR_OBJECT,
            node,
            "This dict becomes a Map, whose entries are no properties.",
            "Write `to_js(value, dict_converter=Object.fromEntries)`.",
        )


@on_call("js.eval", "js.Function.new", "pyodide.code.run_js", "js.Function")
def javascript_from_text(node: ast.Call, at: At) -> Drafts:
    yield at.draft(
        CODE_FROM_TEXT,
        node,
        f"{at.qualified(node.func)}() makes code from text, which Workers refuse.",
        "Call JavaScript's objects from Python instead.",
    )


@on_binding
def controller_in_snake_case(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    if call.value.kind is Kind.CONTROLLER and call.method == "no_retry":
        yield at.draft(
            RAW_PROXY, node, "The controller has no no_retry().", "Write `controller.noRetry()`."
        )
