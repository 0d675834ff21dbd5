"""The one walk over a file: fills its scopes and collects the nodes that rules look at.

Iterative, so that no nesting is too deep. Judges nothing.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.check import conditions
from tsumugi_emulator.check.scopes import Binding, How, Place, Scope, ScopeKind, Site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: Fields that hold no code that runs, or no nodes. Annotations are not evaluated from 3.14 on, nor
#: under ``from __future__ import annotations``.
_NOT_WALKED = frozenset(
    {
        "annotation", "arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind",
        "kwd_attrs", "level", "module", "name", "names", "op", "ops", "rest", "returns", "simple",
        "str", "type_comment", "type_ignores", "type_params",
    }
)  # fmt: skip

#: Nodes with nothing inside; ``{**other}`` has None for a key.
_LEAVES = frozenset({ast.Constant, ast.Pass, ast.Break, ast.Continue, ast.alias, type(None)})

_FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(name for name in kind._fields if name not in _NOT_WALKED)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
} | {ast.Constant: (), ast.MatchSingleton: ()}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which nodes to collect."""

    #: All nodes of these types, but for attributes.
    types: frozenset[type]
    #: Attributes are many: those with these names.
    attributes: frozenset[str]


@dataclass(slots=True)
class Walked:
    scope: Scope
    sites: list[Site] = field(default_factory=list)
    imports: list[Site] = field(default_factory=list)
    #: Classes, each with the scope of its body.
    classes: list[tuple[Site, Scope]] = field(default_factory=list)
    #: Functions and methods, each with the scope of its body.
    functions: list[tuple[Site, Scope]] = field(default_factory=list)
    #: Every attribute that is read from ``self``, with the scope it is read in.
    uses_of_self: list[tuple[ast.Attribute, Scope]] = field(default_factory=list)
    has_star_import: bool = False
    #: What the module imports where no Worker gets to: under ``if TYPE_CHECKING``.
    never_imported: set[str] = field(default_factory=set)


def walk(tree: ast.Module, wanted: Wanted, *, package: tuple[str, ...]) -> Walked:
    """``package`` is what relative imports in the module start from."""
    walker = _Walker(tree, wanted, package)
    walker.run(tree)
    return walker.walked


class _Walker:
    def __init__(self, tree: ast.Module, wanted: Wanted, package: tuple[str, ...]) -> None:
        scope = Scope(ScopeKind.MODULE, tree, None, runs_at_import=True)
        self.walked = Walked(scope)
        self.package = package
        self.wanted = wanted
        self.platform_names = conditions.platform_names(tree.body)
        self._stack: list[tuple[ast.AST, ast.AST | None, Place]] = []

    def run(self, tree: ast.Module) -> None:
        stack, sites = self._stack, self.walked.sites
        types = self.wanted.types
        place = Place(self.walked.scope)
        self.push(tree.body, tree, place)
        while stack:
            node, parent, place = stack.pop()
            kind = type(node)
            if kind in types:
                sites.append(Site(node, parent, place))
            enter = _ENTER.get(kind)
            if enter is not None:
                enter(self, node, parent, place)
                continue
            for name in _FIELDS[kind]:
                value = getattr(node, name)
                if type(value) is list:
                    for item in value:
                        if type(item) not in _LEAVES:
                            stack.append((item, node, place))
                elif type(value) not in _LEAVES:
                    stack.append((value, node, place))

    def push(self, nodes: Iterable[ast.AST | None], parent: ast.AST, place: Place) -> None:
        self._stack += [(node, parent, place) for node in nodes if node is not None]

    def bind_target(self, target: ast.AST, how: How, value: ast.AST | None, place: Place) -> None:
        """Bind what ``target`` names; what it evaluates on the way is walked as a name's store."""
        if type(target) is ast.Name:
            binding = Binding(how, value, None, place.is_fallback, place.is_conditional)
            place.scope.bind(target.id, binding)
        elif type(target) in (ast.Tuple, ast.List):
            for item in target.elts:  # type: ignore[attr-defined]
                self.bind_target(item, How.OTHER, None, place)
        elif type(target) is ast.Starred:
            self.bind_target(target.value, How.OTHER, None, place)
        elif type(target) is ast.Attribute:
            self._bind_attribute(target, value if how is How.VALUE else None, place)

    def _bind_attribute(self, target: ast.Attribute, value: ast.AST | None, place: Place) -> None:
        owner = place.scope.owner
        if type(target.value) is ast.Name and target.value.id == "self" and owner is not None:
            known = value if isinstance(value, ast.expr) else None
            owner.attributes.setdefault(target.attr, []).append((known, place.scope))


def _attribute(walker: _Walker, node: ast.Attribute, parent: Any, place: Place) -> None:
    if node.attr in walker.wanted.attributes:
        walker.walked.sites.append(Site(node, parent, place))
    if type(node.value) is not ast.Name:
        walker.push((node.value,), node, place)
    elif node.value.id == "self":
        walker.walked.uses_of_self.append((node, place.scope))


# -- Statements that bind -------------------------------------------------------------------------


def _assign(walker: _Walker, node: Any, _parent: Any, place: Place) -> None:
    for target in node.targets:
        walker.bind_target(target, How.VALUE, node.value, place)
    walker.push((*node.targets, node.value), node, place)


def _annotated(walker: _Walker, node: Any, _parent: Any, place: Place) -> None:
    if node.value is not None:
        walker.bind_target(node.target, How.VALUE, node.value, place)
    walker.push((node.target, node.value), node, place)


def _augmented(walker: _Walker, node: Any, _parent: Any, place: Place) -> None:
    walker.bind_target(node.target, How.OTHER, None, place)
    walker.push((node.target, node.value), node, place)


def _walrus(walker: _Walker, node: Any, _parent: Any, place: Place) -> None:
    scope = place.scope
    while scope.kind is ScopeKind.COMPREHENSION and scope.parent is not None:
        scope = scope.parent
    scope.bind(node.target.id, Binding(How.VALUE, node.value, is_fallback=place.is_fallback))
    walker.push((node.value,), node, place)


def _delete(walker: _Walker, node: Any, _parent: Any, place: Place) -> None:
    for target in node.targets:
        walker.bind_target(target, How.OTHER, None, place)
    walker.push(node.targets, node, place)


def _outside(_walker: _Walker, node: Any, _parent: Any, place: Place) -> None:
    place.scope.declared_outside.update(node.names)


def _import(walker: _Walker, node: ast.Import, parent: Any, place: Place) -> None:
    walker.walked.imports.append(Site(node, parent, place))
    for alias in node.names:
        bound = alias.asname or alias.name.partition(".")[0]
        qualified = alias.name if alias.asname else bound
        place.scope.bind(bound, Binding(How.IMPORT, node, qualified, place.is_fallback))


def _import_from(walker: _Walker, node: ast.ImportFrom, parent: Any, place: Place) -> None:
    walker.walked.imports.append(Site(node, parent, place))
    base = absolute_module(node, walker.package)
    for alias in node.names:
        if alias.name == "*":
            walker.walked.has_star_import = True
            continue
        qualified = f"{base}.{alias.name}" if base else alias.name
        binding = Binding(How.IMPORT, node, qualified, place.is_fallback)
        place.scope.bind(alias.asname or alias.name, binding)


def absolute_module(node: ast.ImportFrom, package: tuple[str, ...]) -> str:
    """The module of ``from ... import``, counted from the import root."""
    if not node.level:
        return node.module or ""
    base = package[: len(package) - (node.level - 1)]
    return ".".join((*base, *((node.module,) if node.module else ())))


# -- Definitions ----------------------------------------------------------------------------------


def _function(walker: _Walker, node: Any, parent: Any, place: Place) -> None:
    binding = Binding(How.FUNCTION, node, is_fallback=place.is_fallback)
    place.scope.bind(node.name, binding)
    arguments = node.args
    defaults = (*arguments.defaults, *arguments.kw_defaults)
    walker.push((*node.decorator_list, *defaults), node, place)
    scope = Scope(ScopeKind.FUNCTION, node, place.scope, runs_at_import=False)
    _bind_parameters(scope, node)
    walker.walked.functions.append((Site(node, parent, place), scope))
    walker.push(node.body, node, place.inside(scope))


def _lambda(walker: _Walker, node: ast.Lambda, _parent: Any, place: Place) -> None:
    walker.push((*node.args.defaults, *node.args.kw_defaults), node, place)
    scope = Scope(ScopeKind.LAMBDA, node, place.scope, runs_at_import=False)
    _bind_parameters(scope, node)
    walker.push((node.body,), node, place.inside(scope))


def _bind_parameters(scope: Scope, node: Any) -> None:
    arguments = node.args
    rest = (arguments.vararg, arguments.kwarg)
    for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest):
        if parameter is not None:
            scope.bind(parameter.arg, Binding(How.PARAMETER, node))


def _class(walker: _Walker, node: ast.ClassDef, parent: Any, place: Place) -> None:
    place.scope.bind(node.name, Binding(How.CLASS, node, is_fallback=place.is_fallback))
    keywords = (keyword.value for keyword in node.keywords)
    walker.push((*node.decorator_list, *node.bases, *keywords), node, place)
    scope = Scope(ScopeKind.CLASS, node, place.scope, runs_at_import=place.scope.runs_at_import)
    walker.walked.classes.append((Site(node, parent, place), scope))
    body = place.inside(scope)
    body.is_conditional = place.is_conditional
    walker.push(node.body, node, body)


def _yield(walker: _Walker, node: Any, _parent: Any, place: Place) -> None:
    if place.scope.kind is ScopeKind.FUNCTION:
        place.scope.has_yield = True
    walker.push((node.value,), node, place)


def _return(walker: _Walker, node: ast.Return, _parent: Any, place: Place) -> None:
    if place.scope.kind is ScopeKind.FUNCTION:
        place.scope.returns.append(node)
    walker.push((node.value,), node, place)


# -- Flow -----------------------------------------------------------------------------------------


def _if(walker: _Walker, node: ast.If, _parent: Any, place: Place) -> None:
    walker.push((node.test,), node, place)
    what = conditions.classify(node.test, walker.platform_names)
    uncertain = what is not conditions.Condition.ORDINARY
    under = place.under(node.test, uncertain=uncertain)
    if what is conditions.Condition.NEVER_IN_A_WORKER:
        _bind_unwalked(walker, node.body, under)
    else:
        walker.push(node.body, node, under)
    walker.push(node.orelse, node, under)


def _bind_unwalked(walker: _Walker, body: list[ast.stmt], place: Place) -> None:
    """Names that only type checkers or the command line see; their code is no Worker's."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            _ENTER[type(node)](walker, node, None, place)
            walker.walked.imports.pop()
            if place.scope is walker.walked.scope:
                walker.walked.never_imported |= {
                    alias.asname or alias.name.partition(".")[0] for alias in node.names
                }


def _choice(walker: _Walker, node: ast.IfExp, _parent: Any, place: Place) -> None:
    walker.push((node.test,), node, place)
    what = conditions.classify(node.test, walker.platform_names)
    uncertain = what is not conditions.Condition.ORDINARY
    walker.push((node.body, node.orelse), node, place.under(node.test, uncertain=uncertain))


def _all_or_any(walker: _Walker, node: ast.BoolOp, _parent: Any, place: Place) -> None:
    first, *others = node.values
    walker.push((first,), node, place)
    for test, value in zip(node.values, others, strict=False):
        place = place.under(test)
        walker.push((value,), node, place)


def _for(walker: _Walker, node: Any, _parent: Any, place: Place) -> None:
    walker.bind_target(node.target, How.ITEM, node.iter, place)
    walker.push((node.target, node.iter), node, place)
    walker.push((*node.body, *node.orelse), node, place.sometimes())


def _while(walker: _Walker, node: ast.While, _parent: Any, place: Place) -> None:
    walker.push((node.test,), node, place)
    walker.push((*node.body, *node.orelse), node, place.under(node.test))


def _with(walker: _Walker, node: Any, _parent: Any, place: Place) -> None:
    caught: frozenset[str] = frozenset()
    for item in node.items:
        walker.push((item.context_expr, item.optional_vars), node, place)
        caught |= conditions.suppressed(item.context_expr)
        if item.optional_vars is not None:
            walker.bind_target(item.optional_vars, How.OTHER, None, place)
    walker.push(node.body, node, place.catching(caught) if caught else place)


def _try(walker: _Walker, node: Any, _parent: Any, place: Place) -> None:
    caught = frozenset(name for one in node.handlers for name in conditions.caught(one))
    walker.push(node.body, node, place.catching(caught))
    fallback = place.falling_back()
    for handler in node.handlers:
        if handler.name:
            place.scope.bind(handler.name, Binding(How.OTHER, None))
        walker.push((handler.type,), handler, place)
        walker.push(handler.body, handler, fallback)
    walker.push(node.orelse, node, place.sometimes())
    walker.push(node.finalbody, node, place)


def _match(walker: _Walker, node: ast.Match, _parent: Any, place: Place) -> None:
    walker.push((node.subject,), node, place)
    for case in node.cases:
        walker.push((case.pattern, case.guard), node, place)
        walker.push(case.body, node, place.sometimes())


def _pattern(walker: _Walker, node: Any, _parent: Any, place: Place) -> None:
    for name in (getattr(node, "name", None), getattr(node, "rest", None)):
        if name is not None:
            place.scope.bind(name, Binding(How.OTHER, None))
    for field_name in _FIELDS[type(node)]:
        value = getattr(node, field_name)
        walker.push(value if isinstance(value, list) else (value,), node, place)


def _comprehension(walker: _Walker, node: Any, parent: Any, place: Place) -> None:
    # A generator that is passed on at once runs at once; any other one runs later or never.
    at_once = type(node) is not ast.GeneratorExp or type(parent) is ast.Call
    scope = Scope(
        ScopeKind.COMPREHENSION,
        node,
        place.scope,
        runs_at_import=at_once and place.scope.runs_at_import,
    )
    inside = place.inside(scope)
    inside.is_conditional, inside.caught = place.is_conditional, place.caught
    for generator in node.generators:
        walker.bind_target(generator.target, How.ITEM, generator.iter, inside)
        walker.push((generator.target, generator.iter, *generator.ifs), node, inside)
    walker.push((getattr(node, name, None) for name in ("elt", "key", "value")), node, inside)


_ENTER: dict[type, Callable[[_Walker, Any, Any, Place], None]] = {
    ast.Name: lambda _walker, _node, _parent, _place: None,
    ast.Attribute: _attribute,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.NamedExpr: _walrus,
    ast.Delete: _delete,
    ast.Global: _outside,
    ast.Nonlocal: lambda _walker, _node, _parent, _place: None,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.Lambda: _lambda,
    ast.ClassDef: _class,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.Return: _return,
    ast.If: _if,
    ast.IfExp: _choice,
    ast.BoolOp: _all_or_any,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.Match: _match,
    ast.MatchAs: _pattern,
    ast.MatchStar: _pattern,
    ast.MatchMapping: _pattern,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
}
