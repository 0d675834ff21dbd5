"""Annotations no Worker can evaluate: their names are imported for type checkers alone. Pure."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsumugi_emulator.check.scopes import How

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi_emulator.check.module import Module
    from tsumugi_emulator.check.scopes import FunctionNode, Scope


def missing_type(
    module: Module, node: FunctionNode | ast.AnnAssign, scope: Scope
) -> tuple[ast.Name, str] | None:
    """The first such name in the annotations of what ``scope`` defines."""
    walked = module.walked
    if not walked.never_imported or walked.has_star_import or _are_text(module):
        return None
    for annotation in _annotations(node):
        for part in ast.walk(annotation):
            if isinstance(part, ast.Name) and _is_missing(module, part.id, scope):
                return part, part.id
    return None


def _annotations(node: FunctionNode | ast.AnnAssign) -> Iterator[ast.expr]:
    if isinstance(node, ast.AnnAssign):
        yield node.annotation
        return
    arguments = node.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    for one in (*every, arguments.vararg, arguments.kwarg):
        if one is not None and one.annotation is not None:
            yield one.annotation
    if node.returns is not None:
        yield node.returns


def _are_text(module: Module) -> bool:
    """Whether the file says ``from __future__ import annotations``."""
    return any(
        isinstance(site.node, ast.ImportFrom)
        and site.node.module == "__future__"
        and any(alias.name == "annotations" for alias in site.node.names)
        for site in module.walked.imports
    )


def _is_missing(module: Module, name: str, scope: Scope) -> bool:
    found = scope.lookup(name)
    if found is None or name not in module.walked.never_imported:
        return False
    bindings, owner = found
    only = len(bindings) == 1 and bindings[0].how is How.IMPORT
    return only and owner is module.walked.scope
