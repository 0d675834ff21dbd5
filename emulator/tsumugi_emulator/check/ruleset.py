"""How rules about single nodes are registered and found. A rule is a generator of drafts.

Rules are told everything through ``At``; they keep no state and touch no files.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.check.facts import Draft, Role
from tsumugi_emulator.check.kinds import binding_at
from tsumugi_emulator.check.scopes import How, ScopeKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tsumugi_emulator.check.facts import Settings
    from tsumugi_emulator.check.findings import Rule
    from tsumugi_emulator.check.kinds import BindingCall, Kinds, Value
    from tsumugi_emulator.check.module import Module
    from tsumugi_emulator.check.scopes import Scope, Site

type Drafts = Iterator[Draft]

#: Base classes outside the project, and what they make of a class.
BASES = {
    "workers.WorkerEntrypoint": Role.ENTRYPOINT,
    "workers.DurableObject": Role.OBJECT,
    "workers.WorkflowEntrypoint": Role.WORKFLOW,
    "workers.entrypoints.WorkerEntrypoint": Role.ENTRYPOINT,
    "workers.entrypoints.DurableObject": Role.OBJECT,
    "workers.entrypoints.WorkflowEntrypoint": Role.WORKFLOW,
    "tsumugi.QueueConsumer": Role.ENTRYPOINT,
    "tsumugi.consumer.QueueConsumer": Role.ENTRYPOINT,
    "tsumugi.Entrypoint": Role.ENTRYPOINT,
    "tsumugi.JobShard": Role.OBJECT,
}
#: How far base classes are followed.
MAX_BASES = 10


class At:
    """One node, and what can be asked about it."""

    __slots__ = ("kinds", "module", "parent", "place", "settings")

    def __init__(self, module: Module, kinds: Kinds, settings: Settings, site: Site) -> None:
        self.module = module
        self.kinds = kinds
        self.settings = settings
        self.parent = site.parent
        self.place = site.place

    def qualified(self, expression: ast.AST | None) -> str | None:
        return self.module.qualified(expression, self.place.scope)

    def kind(self, expression: ast.AST | None) -> Value | None:
        return self.kinds.of(expression, self.place.scope)

    def meant(self, expression: ast.expr) -> ast.expr:
        """For a local name that stands for one call or tuple, that; else the expression itself."""
        scope = self.place.scope
        if type(expression) is not ast.Name or expression.id not in scope.names:
            return expression
        binding = binding_at(expression, scope)
        if binding is None or binding.how is not How.VALUE or scope.kind is not ScopeKind.FUNCTION:
            return expression
        return binding.node if isinstance(binding.node, ast.Call | ast.Tuple) else expression

    @property
    def runs_at_import(self) -> bool:
        return self.module.runs_at_import(self.place)

    @property
    def is_awaited(self) -> bool:
        return type(self.parent) is ast.Await

    @property
    def is_statement(self) -> bool:
        """Whether nothing is done with the value."""
        return type(self.parent) is ast.Expr

    @property
    def role(self) -> Role | None:
        """What the class around is to the runtime, if that shows in this file."""
        owner = self.place.scope.owner
        return role_of(owner, self.module) if owner is not None else None

    @property
    def is_performer(self) -> bool:
        """Whether the class around derives from ``tsumugi.Performer``, as this file shows."""
        owner = self.place.scope.owner
        if owner is None or owner.parent is None or not isinstance(owner.node, ast.ClassDef):
            return False
        bases = (b.value if isinstance(b, ast.Subscript) else b for b in owner.node.bases)
        return any(self.module.qualified(b, owner.parent) == "tsumugi.Performer" for b in bases)

    @property
    def method_name(self) -> str | None:
        method = self.place.scope.method
        return getattr(method.node, "name", None) if method is not None else None

    def draft(
        self, rule: Rule, node: ast.AST, message: str, next_step: str, *, at_import: bool = False
    ) -> Draft:
        return Draft(
            code=rule.code,
            spot=self.module.spot(node),
            message=message,
            next_step=next_step,
            at_import=at_import,
        )


def role_of(owner: Scope, module: Module, steps: int = MAX_BASES) -> Role | None:
    """The role that a class gets from bases in this file or outside the project."""
    assert isinstance(owner.node, ast.ClassDef)
    scope = owner.parent
    if scope is None or steps <= 0:
        return None
    for base in owner.node.bases:
        role = BASES.get(module.qualified(base, scope) or "")
        if role is not None:
            return role
        definition = module.definition(base, scope)
        inner = next(
            (inner for site, inner in module.walked.classes if site.node is definition), None
        )
        if definition is not None and inner is not None:
            role = role_of(inner, module, steps - 1)
            if role is not None:
                return role
    return None


# -- Registration ---------------------------------------------------------------------------------

type NodeRule = Callable[[Any, At], Drafts]
type Register = Callable[[NodeRule], NodeRule]
type BindingRule = Callable[[ast.Call, At, BindingCall], Drafts]

NODE_RULES: dict[type, list[NodeRule]] = defaultdict(list)
#: By the full name of what is called.
FUNCTION_RULES: dict[str, list[NodeRule]] = defaultdict(list)
#: By the first part of that name.
ROOT_RULES: dict[str, list[NodeRule]] = defaultdict(list)
#: By the last part of what is called, whatever it belongs to.
METHOD_RULES: dict[str, list[NodeRule]] = defaultdict(list)
ATTRIBUTE_RULES: dict[str, list[NodeRule]] = defaultdict(list)
#: For calls whose value nobody uses.
STATEMENT_RULES: list[NodeRule] = []
#: For calls of the runtime's objects.
BINDING_RULES: list[BindingRule] = []


def on_node(*types: type) -> Register:
    return _register(NODE_RULES, types)


def on_call(*names: str) -> Register:
    """Calls of functions and classes, named in full."""
    return _register(FUNCTION_RULES, names)


def on_call_within(*roots: str) -> Register:
    """Calls of anything whose full name starts with one of these modules."""
    return _register(ROOT_RULES, roots)


def on_method(*names: str) -> Register:
    """Calls of methods with these names, whatever they belong to."""
    return _register(METHOD_RULES, names)


def on_attribute(*names: str) -> Register:
    """Reads of attributes with these names."""
    return _register(ATTRIBUTE_RULES, names)


def on_bare_call(rule: NodeRule) -> NodeRule:
    """Calls that are statements of their own, not awaited."""
    STATEMENT_RULES.append(rule)
    return rule


def on_binding(rule: BindingRule) -> BindingRule:
    BINDING_RULES.append(rule)
    return rule


def _register[K](table: dict[K, list[NodeRule]], keys: tuple[K, ...]) -> Register:
    def register(rule: NodeRule) -> NodeRule:
        for key in keys:
            table[key].append(rule)
        return rule

    return register
