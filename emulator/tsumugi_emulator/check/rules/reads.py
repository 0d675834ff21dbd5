"""What is read from JavaScript's own objects: null, items, and what the SDK reads once (TSU44x)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsumugi_emulator.check import findings, literals
from tsumugi_emulator.check.handlers import uses_of
from tsumugi_emulator.check.kinds import binding_at
from tsumugi_emulator.check.rules.javascript import RAW_PROXY
from tsumugi_emulator.check.ruleset import At, Drafts, on_attribute, on_method, on_node
from tsumugi_emulator.check.scopes import How
from tsumugi_emulator.check.surfaces import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

NULL_IS_NOT_NONE = findings.warning(
    "TSU440",
    "JavaScript's null compared with None",
    "From Python 3.13 on what is read from JavaScript's own objects is `jsnull` there: false, but "
    "not None.",
)
READ_ONCE = findings.warning(
    "TSU441",
    "An attribute whose first value is kept",
    "The SDK keeps what it reads from an object's attributes: later reads give the first value.",
)

METHOD_OF_A_DICT = findings.error(
    "TSU442",
    "A member with the name of a dict's method",
    "`TypeError: 'builtin_function_or_method' object is not iterable`, or the like: what the SDK "
    "has converted is a dict, whose own methods come first.",
)

#: Methods of JavaScript's own objects that answer null.
_NULLABLE = ("deserializeAttachment",)
_COUNTERS = ("rowsRead", "rowsWritten")


# -- null -----------------------------------------------------------------------------------------


@on_node(ast.Compare)
def null_compared_with_none(node: ast.Compare, at: At) -> Drafts:
    if at.settings.python_version == "3.12" or len(node.ops) != 1:
        return
    if not isinstance(node.ops[0], ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
        return
    other = node.comparators[0]
    if not isinstance(other, ast.Constant) or other.value is not None:
        return
    if _may_be_null(node.left, at):
        yield at.draft(
            NULL_IS_NOT_NONE,
            node,
            "What JavaScript has no value for is null here, which is not None.",
            "Ask for its truth: `if not value`.",
        )


def _may_be_null(expression: ast.expr, at: At) -> bool:
    if isinstance(expression, ast.Name):
        binding = binding_at(expression, at.place.scope)
        if binding is None or binding.how is not How.VALUE or binding.node is None:
            return False
        if _is_tested(expression.id, at):
            return False
        expression = binding.node  # type: ignore[assignment]
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute):
        return expression.func.attr in _NULLABLE and not expression.args
    if isinstance(expression, ast.Attribute):
        base = at.kind(expression.value)
        return base is not None and base.kind is Kind.JSON_VAR
    return False


def _is_tested(name: str, at: At) -> bool:
    """Whether the function also asks for the truth of the name: it knows what null is."""
    function = at.place.scope.function
    body = function.node.body if function is not None else []  # type: ignore[attr-defined]
    tests = (ast.UnaryOp, ast.If, ast.IfExp, ast.While, ast.BoolOp, ast.Assert)
    if any(isinstance(holder, tests) for _, holder in uses_of(body, name)):
        return True
    return any(
        isinstance(part, ast.NamedExpr) and part.target.id == name
        for statement in body
        for part in ast.walk(statement)
    )


# -- Members that are hidden by methods -----------------------------------------------------------

#: Calls that do nothing sensible with a method.
_NOT_FOR_METHODS = ("builtins.len", "builtins.list", "builtins.sorted", "builtins.str")


@on_attribute("keys", "items", "values", "get", "pop", "copy", "update", "clear")
def member_hidden_by_a_method(node: ast.Attribute, at: At) -> Drafts:
    """``body.items``, where ``body["items"]`` is meant."""
    value = at.kind(node.value) if at.settings.sdk_converts else None
    if value is None or value.kind not in (Kind.CONVERTED, Kind.BODY) or value.is_raw:
        return
    if _takes_no_method(node, at):
        yield at.draft(
            METHOD_OF_A_DICT,
            node,
            f".{node.attr} is the dict's method here, not a member of that name.",
            f'Write `["{node.attr}"]`, or `.{node.attr}()` for the method.',
        )


def _takes_no_method(node: ast.Attribute, at: At) -> bool:
    parent = at.parent
    if isinstance(parent, ast.For | ast.AsyncFor):
        return parent.iter is node
    if isinstance(parent, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return any(generator.iter is node for generator in parent.generators)
    if isinstance(parent, ast.Subscript):
        return parent.value is node
    if isinstance(parent, ast.Call):
        return node in parent.args and at.qualified(parent.func) in _NOT_FOR_METHODS
    return isinstance(parent, ast.Compare | ast.Starred | ast.FormattedValue | ast.BinOp)


# -- Results of a transaction ---------------------------------------------------------------------


@on_method("transaction")
def item_of_what_a_transaction_reads(node: ast.Call, at: At) -> Drafts:
    value = at.kind(node.func.value) if isinstance(node.func, ast.Attribute) else None
    if value is None or value.kind is not Kind.STORAGE or not node.args:
        return
    callback = at.module.definition(node.args[0], at.place.scope)
    if not isinstance(callback, ast.FunctionDef | ast.AsyncFunctionDef) or not callback.args.args:
        return
    transaction = callback.args.args[0].arg
    read = set(_read_once_from(callback, transaction))
    for part in ast.walk(callback):
        if not isinstance(part, ast.Subscript) or not isinstance(part.ctx, ast.Load):
            continue
        name = literals.constant(part.slice)
        owner = part.value
        is_read = owner.id in read if isinstance(owner, ast.Name) else _reads(owner, transaction)
        if isinstance(name, str) and is_read:
            yield at.draft(
                RAW_PROXY,
                part,
                f'["{name}"] on what {transaction}.get() gives, which is not converted.',
                f"Write `.{name}`, or `.to_py()` first.",
            )


def _read_once_from(callback: ast.AST, transaction: str) -> Iterator[str]:
    """Names that the callback binds once, to what it reads."""
    targets: dict[str, list[ast.AST]] = {}
    for part in ast.walk(callback):
        if isinstance(part, ast.Assign):
            for target in part.targets:
                if isinstance(target, ast.Name):
                    targets.setdefault(target.id, []).append(part.value)
    for name, values in targets.items():
        if len(values) == 1 and _reads(values[0], transaction):
            yield name


def _reads(value: ast.AST, transaction: str) -> bool:
    """``await transaction.get(...)``."""
    call = value.value if isinstance(value, ast.Await) else None
    function = call.func if isinstance(call, ast.Call) else None
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "get"
        and isinstance(function.value, ast.Name)
        and function.value.id == transaction
    )


# -- Kept values ----------------------------------------------------------------------------------


@on_attribute("databaseSize")
def size_is_kept(node: ast.Attribute, at: At) -> Drafts:
    value = at.kind(node.value)
    if value is not None and value.kind is Kind.SQL:
        yield at.draft(
            READ_ONCE,
            node,
            "databaseSize stays what it was when it was read first.",
            'Write `sql["databaseSize"]`, which reads it anew.',
        )


@on_attribute(*_COUNTERS)
def counter_is_kept(node: ast.Attribute, at: At) -> Drafts:
    """Of a cursor, read before its rows and after them."""
    value = at.kind(node.value)
    function = at.place.scope.function
    if value is None or value.kind is not Kind.CURSOR or not isinstance(node.value, ast.Name):
        return
    if function is None or len(function.names.get(node.value.id, ())) != 1:
        return
    name = node.value.id
    earlier = [
        part
        for part in ast.walk(function.node)
        if isinstance(part, ast.Attribute)
        and part.attr == node.attr
        and isinstance(part.value, ast.Name)
        and part.value.id == name
        and (part.lineno, part.col_offset) < (node.lineno, node.col_offset)
    ]
    if earlier:
        yield at.draft(
            READ_ONCE,
            node,
            f"{name}.{node.attr} stays what it was when it was read first.",
            f'Write `{name}["{node.attr}"]`, which reads it anew.',
        )
