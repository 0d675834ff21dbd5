"""What is not awaited, is awaited in vain, or outlives its event (TSU5xx)."""

from __future__ import annotations

import ast

from tsumugi_emulator.check import findings
from tsumugi_emulator.check.facts import Draft, Role
from tsumugi_emulator.check.handlers import uses_of
from tsumugi_emulator.check.kinds import BindingCall
from tsumugi_emulator.check.ruleset import (
    At,
    Drafts,
    on_bare_call,
    on_binding,
    on_call,
    on_method,
    on_node,
)
from tsumugi_emulator.check.surfaces import Kind

LOST = findings.error(
    "TSU501",
    "A send or a write that a queue handler does not await",
    "When the handler returns first, it is lost: no error, no message.",
)
NOT_AWAITED = findings.warning(
    "TSU502",
    "A call of a binding that nobody awaits",
    "Its errors are never seen, and it is lost if the event ends first.",
)
NEVER_RUNS = findings.error(
    "TSU503",
    "A coroutine that is never awaited",
    "Its body never runs: `RuntimeWarning: coroutine ... was never awaited`.",
)
LEFT_RUNNING = findings.warning(
    "TSU504",
    "A task left running when the handler returns",
    "It runs up to its first wait and is dropped there when the event ends.",
)
USED_UNAWAITED = findings.error(
    "TSU505",
    "The result of a binding's call, used without await",
    "It is a coroutine, not the result: `AttributeError`, `TypeError`, or always true.",
)
NOTHING_TO_AWAIT = findings.error(
    "TSU506",
    "An await of what returns at once",
    "`TypeError: object NoneType can't be used in 'await' expression`, after the call has worked.",
)
NEVER_CAUGHT = findings.warning(
    "TSU507",
    "An except clause that a binding's errors do not reach",
    "They are `pyodide.ffi.JsException`, whatever their JavaScript name.",
)
NOT_CALLED = findings.error(
    "TSU509",
    "A method that is named but not called",
    "Nothing, and no error: a message whose retry is named is acknowledged when the handler "
    "returns.",
)
BREAKS_ATOMICITY = findings.warning(
    "TSU508",
    "time.sleep() in a Durable Object",
    "Other events enter the object meanwhile, also between a read and a write.",
)


@on_binding
def call_not_awaited(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    if not (_gives_coroutine(call, at) and at.is_statement):
        return
    # An object's writes are kept also when nobody waits for them.
    if call.value.kind is Kind.STORAGE:
        return
    is_in_handler = at.method_name == "queue" and at.place.scope.function is at.place.scope.method
    # These were seen to be lost; a statement of D1 was seen to be carried out.
    if is_in_handler and call.value.kind in (Kind.QUEUE, Kind.KV):
        rule, what = LOST, "the queue handler may return first, and then it is lost"
    else:
        rule, what = NOT_AWAITED, "its errors are never seen"
    yield at.draft(
        rule, node, f"{call} is not awaited: {what}.", f"Write `await {_shown(node, call)}`."
    )


def _gives_coroutine(call: BindingCall, at: At) -> bool:
    # Any class may have a method fetch(); its argument is a request in those the runtime calls.
    return call.is_awaited and (call.value.kind is not Kind.REQUEST or at.role is not None)


def _shown(node: ast.Call, call: BindingCall) -> str:
    written = ast.unparse(node.func)
    return f"….{call.method}(...)" if "(" in written else f"{written}(...)"


@on_binding
def result_used_without_await(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    if call.value.kind is Kind.UNKNOWN or not _gives_coroutine(call, at):
        return
    if _is_used(node, at):
        yield at.draft(
            USED_UNAWAITED,
            node,
            f"{call} gives a coroutine, which is used here as if it were the result.",
            f"Write `(await {_shown(node, call)})`.",
        )


#: What takes a value, and no coroutine. A Response is made of it, too.
_TAKES_VALUES = frozenset(
    f"builtins.{name}" for name in ("bool", "bytes", "dict", "float", "int", "len", "list", "str")
) | {"json.dumps", "json.loads", "workers.Response", "workers.Response.from_json"}


def _is_used(node: ast.Call, at: At) -> bool:
    parent = at.parent
    if isinstance(parent, ast.Attribute | ast.Subscript):
        return parent.value is node
    if isinstance(parent, ast.Call):
        return node in parent.args and at.qualified(parent.func) in _TAKES_VALUES
    if isinstance(parent, ast.If | ast.While | ast.IfExp | ast.Assert):
        return parent.test is node
    return isinstance(parent, ast.Compare) or (
        isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    )


@on_binding
def variable_used_without_await(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    """``value = env.KV.get(...)``, and every use of it takes it for the result."""
    if call.value.kind is not Kind.UNKNOWN and _gives_coroutine(call, at):
        yield from _taken_for_result(node, at, str(call), _shown(node, call))


def _taken_for_result(node: ast.Call, at: At, call: str, shown: str) -> Drafts:
    parent, function = at.parent, at.place.scope.function
    targets = parent.targets if isinstance(parent, ast.Assign) else []
    if function is None or len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return
    name = targets[0].id
    if len(function.names.get(name, ())) != 1:
        return
    uses = list(uses_of(function.node.body, name))  # type: ignore[attr-defined]
    if uses and all(_takes_for_result(use, holder, at) for use, holder in uses):
        yield at.draft(
            USED_UNAWAITED,
            min((use for use, _ in uses), key=lambda use: (use.lineno, use.col_offset)),
            f"{name} is the coroutine of {call}, which is used here as if it were the result.",
            f"Write `{name} = await {shown}`.",
        )


def _takes_for_result(use: ast.Name, holder: ast.AST, at: At) -> bool:
    if isinstance(holder, ast.Attribute | ast.Subscript):
        return holder.value is use
    if isinstance(holder, ast.Call):
        return use in holder.args and at.qualified(holder.func) in _TAKES_VALUES
    if isinstance(holder, ast.Dict | ast.List):
        return _is_part_of_a_value(holder, at)
    takers = ast.Compare | ast.If | ast.IfExp | ast.BoolOp | ast.For | ast.FormattedValue
    return isinstance(holder, takers)


def _is_part_of_a_value(display: ast.Dict | ast.List, at: At) -> bool:
    """``Response.from_json({"id": value})``: a display that is given to what takes values."""
    function = at.place.scope.function
    assert function is not None
    return any(
        isinstance(call, ast.Call)
        and at.qualified(call.func) in _TAKES_VALUES
        and any(part is display for argument in call.args for part in ast.walk(argument))
        for call in ast.walk(function.node)
    )


@on_binding
def nothing_to_await(node: ast.Call, at: At, call: BindingCall) -> Drafts:
    if call.returns_at_once and at.is_awaited and not call.value.is_raw:
        yield at.draft(
            NOTHING_TO_AWAIT,
            node,
            f"{call} returns at once; what it returns cannot be awaited.",
            "Remove the `await`.",
        )


@on_node(ast.Expr)
def named_but_not_called(node: ast.Expr, at: At) -> Drafts:
    """``message.retry`` as a statement."""
    named = node.value
    if not isinstance(named, ast.Attribute):
        return
    value = at.kind(named.value)
    call = BindingCall(value, named.attr) if value is not None else None
    if call is None or not (call.returns_at_once or _gives_coroutine(call, at)):
        return
    written = f"{ast.unparse(named)}()"
    yield at.draft(
        NOT_CALLED,
        named,
        f"{str(call).removesuffix('()')} is named here, but not called: nothing happens.",
        f"Write `await {written}`." if call.is_awaited else f"Write `{written}`.",
    )


@on_bare_call
def own_coroutine_not_awaited(node: ast.Call, at: At) -> Drafts:
    called = at.module.definition(node.func, at.place.scope) or at.module.method(
        node.func, at.place.scope
    )
    if isinstance(called, ast.AsyncFunctionDef) and not called.decorator_list:
        yield never_runs(node, at)


@on_call("asyncio.sleep", "asyncio.wait_for", "workers.fetch", "pyodide.http.pyfetch")
def library_coroutine_not_awaited(node: ast.Call, at: At) -> Drafts:
    if at.is_statement:
        yield never_runs(node, at)


@on_method("enqueue", "enqueue_many")
def enqueue_not_awaited(node: ast.Call, at: At) -> Drafts:
    """Of ``tsumugi.enqueue(self.env, ...)``: the job does not exist."""
    env = at.kind(node.args[0]) if node.args else None
    if env is None or env.kind is not Kind.ENV:
        return
    if at.is_statement:
        yield never_runs(node, at)
    name = ast.unparse(node.func)
    yield from _taken_for_result(node, at, f"{name}()", f"{name}(...)")


@on_method("heartbeat", "log")
def job_context_not_awaited(node: ast.Call, at: At) -> Drafts:
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if at.is_statement and isinstance(owner, ast.Name) and owner.id == _context_name(at):
        yield never_runs(node, at)


def _context_name(at: At) -> str | None:
    """What ``perform`` of a performer of jobs calls its context."""
    method = at.place.scope.method
    if method is None or at.method_name != "perform" or not at.is_performer:
        return None
    parameters = method.node.args.args  # type: ignore[attr-defined]
    return parameters[2].arg if len(parameters) > 2 else None


def never_runs(node: ast.Call, at: At) -> Draft:
    name = ast.unparse(node.func)  # as it is written: what is said to write works there
    return at.draft(
        NEVER_RUNS,
        node,
        f"{name}() is called but not awaited: its body never runs.",
        f"Write `await {name}(...)`.",
    )


@on_call("asyncio.create_task", "asyncio.ensure_future")
def task_left_running(node: ast.Call, at: At) -> Drafts:
    yield from _left_running(node, at)


@on_method("create_task")
def loop_task_left_running(node: ast.Call, at: At) -> Drafts:
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    name = at.qualified(owner.func) if isinstance(owner, ast.Call) else None
    if name in ("asyncio.get_running_loop", "asyncio.get_event_loop"):
        yield from _left_running(node, at)


def _left_running(node: ast.Call, at: At) -> Drafts:
    if at.is_statement and (at.role is Role.ENTRYPOINT or at.is_performer):
        yield at.draft(
            LEFT_RUNNING,
            node,
            "Nothing waits for this task, and it is dropped when the handler returns.",
            # A performer's ctx is its attempt's, and has no waitUntil.
            "Await it, or enqueue a job for it."
            if at.is_performer
            else "Await it, or hand it over with `self.ctx.waitUntil(task)`.",
        )


@on_node(ast.Try)
def except_out_of_reach(node: ast.Try, at: At) -> Drafts:
    calls = [_only_call(statement, at) for statement in node.body]
    if not calls or None in calls or len(node.handlers) == 0:
        return
    for handler in node.handlers:
        names = [at.qualified(name) or getattr(name, "id", "") for name in _types(handler)]
        if not names or not set(names) <= {"TypeError", "ValueError", "RuntimeError"}:
            return
    first = node.handlers[0]
    listed = " or ".join(getattr(name, "id", "") for name in _types(first))
    yield at.draft(
        NEVER_CAUGHT,
        first,
        f"{calls[0]} raises JsException when it fails, which `except {listed}` does not catch.",
        "Catch `pyodide.ffi.JsException`, and look at its `name` and `message`.",
    )


def _types(handler: ast.ExceptHandler) -> list[ast.expr]:
    if handler.type is None:
        return []
    return list(handler.type.elts) if isinstance(handler.type, ast.Tuple) else [handler.type]


def _only_call(statement: ast.stmt, at: At) -> str | None:
    """The awaited call of a binding that a statement is, its arguments being plain."""
    if not isinstance(statement, ast.Expr | ast.Assign | ast.Return):
        return None
    awaited = statement.value
    if not isinstance(awaited, ast.Await) or not isinstance(awaited.value, ast.Call):
        return None
    call = awaited.value
    value = at.kind(call.func.value) if isinstance(call.func, ast.Attribute) else None
    # A request's json() is the SDK's own Python, and raises ValueError.
    if value is None or value.kind is Kind.REQUEST:
        return None
    if not BindingCall(value, call.func.attr).is_awaited:  # type: ignore[attr-defined]
        return None
    arguments = (*call.args, *(keyword.value for keyword in call.keywords))
    if not all(isinstance(argument, ast.Name | ast.Constant) for argument in arguments):
        return None
    name = value.name and f"env.{value.name}"
    return f"{name or value.kind}.{call.func.attr}()"  # type: ignore[attr-defined]


@on_call("time.sleep")
def sleep_in_an_object(node: ast.Call, at: At) -> Drafts:
    if at.role is Role.OBJECT:
        yield at.draft(
            BREAKS_ATOMICITY,
            node,
            "time.sleep() lets other events into the object while it waits.",
            "Use `await asyncio.sleep(...)` and expect the same, or set an alarm.",
        )
