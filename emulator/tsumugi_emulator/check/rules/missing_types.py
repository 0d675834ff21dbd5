"""Annotations that fail when they are evaluated (TSU117), and when that is."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsumugi_emulator.check import findings
from tsumugi_emulator.check.facts import Role
from tsumugi_emulator.check.missing_types import missing_type
from tsumugi_emulator.check.ruleset import At, Drafts, on_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi_emulator.check.findings import Finding
    from tsumugi_emulator.check.project import Lineage, Project

MISSING_TYPE = findings.error(
    "TSU117",
    "An annotation that only type checkers can read",
    "`NameError`: Python 3.14 evaluates a handler's annotations at every call, older ones evaluate "
    "all annotations when the module is imported.",
)

#: Pythons that evaluate annotations as soon as they come to them.
_EAGER = ("3.12", "3.13")
#: Handlers that the runtime asks what they take, by role.
_ASKED = {
    Role.ENTRYPOINT: ("fetch",),
    Role.OBJECT: ("fetch", "alarm", "webSocketMessage", "webSocketClose", "webSocketError"),
    Role.WORKFLOW: ("run",),
}


@on_node(ast.FunctionDef, ast.AsyncFunctionDef, ast.AnnAssign)
def evaluated_while_importing(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.AnnAssign, at: At
) -> Drafts:
    is_local = isinstance(node, ast.AnnAssign) and not at.place.scope.runs_at_import
    if at.settings.python_version not in _EAGER or is_local or not at.runs_at_import:
        return
    found = missing_type(at.module, node, at.place.scope)
    if found is not None:
        part, name = found
        message = f"Importing this file fails: NameError: name '{name}' is not defined."
        yield at.draft(MISSING_TYPE, part, message, _step(name))


def missing_types(project: Project, lineage: Lineage) -> Iterator[Finding]:
    """Of handlers, which Python 3.14 evaluates when the runtime calls them."""
    if project.config.compatibility.python_version in _EAGER or lineage.role is None:
        return
    for name in _ASKED.get(lineage.role, ()):
        found = lineage.method(name)
        if found is None or found[1].missing_type is None or found[1].is_decorated:
            continue
        module, (spot, missing) = found[0], found[1].missing_type
        message = f"{name} fails at every call: NameError: name '{missing}' is not defined."
        yield project.finding(MISSING_TYPE, module.path, spot, message, _step(missing))


def _step(name: str) -> str:
    return (
        f"Import {name} outside of TYPE_CHECKING, or add `from __future__ import annotations` at "
        "the top of the file."
    )
