"""What the methods do that the runtime calls: uses of parameters that are None, and returns. Pure.

The runtime passes class handlers the event and two times None: ``self.env`` and ``self.ctx`` are
the real ones.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsumugi_emulator.check.facts import ParameterUse, Spot
from tsumugi_emulator.check.scopes import How

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi_emulator.check.module import Module
    from tsumugi_emulator.check.scopes import Scope

#: Called with the event, None and None.
HANDLERS = ("fetch", "queue", "scheduled")
#: How many arguments that is.
HANDLER_ARGUMENTS = 3

_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def none_uses(module: Module, scope: Scope) -> Iterator[ParameterUse]:
    """Where a handler uses the second and third argument as if they were env and ctx.

    Nothing for a parameter that the handler sets or tests first: it knows.
    """
    node = scope.node
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
    for name in names[2 : 1 + HANDLER_ARGUMENTS]:
        if any(binding.how is not How.PARAMETER for binding in scope.names[name]):
            continue
        uses = list(uses_of(node.body, name))
        if not any(_is_tested(parent) for _, parent in uses):
            for use, parent in uses:
                yield from _none_use(module, use, parent, name)


def uses_of(body: list[ast.stmt], name: str) -> Iterator[tuple[ast.Name, ast.AST]]:
    """Reads of a local name, each with what it is part of; nested functions that rebind it not."""
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, _NESTED) and name in _parameters(node):
            continue
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Name) and child.id == name:
                if isinstance(child.ctx, ast.Load):
                    yield child, node
            else:
                pending.append(child)


def _parameters(node: ast.AST) -> set[str]:
    arguments = getattr(node, "args", None)
    if not isinstance(arguments, ast.arguments):
        return set()
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return {one.arg for one in every}


def _is_tested(parent: ast.AST) -> bool:
    return isinstance(
        parent, ast.BoolOp | ast.Compare | ast.If | ast.IfExp | ast.While | ast.UnaryOp | ast.Assert
    )


def _none_use(module: Module, use: ast.Name, parent: ast.AST, name: str) -> Iterator[ParameterUse]:
    if isinstance(parent, ast.Attribute):
        yield ParameterUse(spot=module.spot(use), parameter=name, attribute=parent.attr)
    elif isinstance(parent, ast.Subscript) and parent.value is use:
        yield ParameterUse(spot=module.spot(use), parameter=name, attribute="[...]")
    elif isinstance(parent, ast.keyword) or (
        isinstance(parent, ast.Call) and use in parent.args and not _is_super_call(parent)
    ):
        yield ParameterUse(spot=module.spot(use), parameter=name, attribute=None)


def _is_super_call(call: ast.Call) -> bool:
    function = call.func
    owner = function.value if isinstance(function, ast.Attribute) else None
    return (
        isinstance(owner, ast.Call)
        and isinstance(owner.func, ast.Name)
        and owner.func.id == "super"
    )


def tuple_returns(module: Module, scope: Scope) -> Iterator[Spot]:
    for one in scope.returns:
        if isinstance(one.value, ast.Tuple):
            yield module.spot(one)


def no_responses(module: Module, scope: Scope) -> Iterator[tuple[Spot, str]]:
    """Returns of literals, none of which is a response, and the end of what returns nothing."""
    for one in scope.returns:
        what = _literal(one.value)
        if what is not None:
            yield module.spot(one), what
    if not scope.returns and not scope.has_yield:
        last = scope.node.body[-1]  # type: ignore[attr-defined]
        if _goes_on(last, module, scope):
            yield module.spot(last), "nothing"


def _goes_on(last: ast.stmt, module: Module, scope: Scope) -> bool:
    """Whether a method's last statement surely comes to its end: a call may always raise."""
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        return module.qualified(last.value.func, scope) == "workers.Response"
    return isinstance(last, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For) or (
        isinstance(last, ast.Expr) and isinstance(last.value, ast.Await)
    )


def _literal(value: ast.expr | None) -> str | None:
    if value is None:
        return "nothing"
    if isinstance(value, ast.Constant):
        return "None" if value.value is None else f"a {type(value.value).__name__}"
    if isinstance(value, ast.JoinedStr):
        return "a str"
    kinds = {ast.Dict: "a dict", ast.List: "a list", ast.Set: "a set", ast.Tuple: "a tuple"}
    return kinds.get(type(value))
