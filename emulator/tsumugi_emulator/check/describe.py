"""From a walked module to facts about its classes, functions and imports. Pure."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsumugi_emulator.check import handlers, missing_types
from tsumugi_emulator.check.facts import ClassFact, FunctionFact, ImportFact, MethodFact
from tsumugi_emulator.check.module import the_one
from tsumugi_emulator.check.scopes import How
from tsumugi_emulator.check.walk import absolute_module

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi_emulator.check.facts import Spot
    from tsumugi_emulator.check.module import Module
    from tsumugi_emulator.check.scopes import FunctionNode, Scope, Site

_BASE_ATTRIBUTES = ("env", "ctx")


# -- Imports --------------------------------------------------------------------------------------


def imports(module: Module, package: tuple[str, ...]) -> Iterator[ImportFact]:
    for site in module.walked.imports:
        node = site.node
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield _import(module, site, alias, alias.name, None)
        elif isinstance(node, ast.ImportFrom):
            is_above = node.level > len(package)
            base = "" if is_above else absolute_module(node, package)
            for alias in node.names:
                yield _import(module, site, node, base, alias.name)


def _import(module: Module, site: Site, node: ast.AST, base: str, name: str | None) -> ImportFact:
    place = site.place
    origin = node if isinstance(node, ast.ImportFrom) else None
    is_caught = place.catches("ImportError", "ModuleNotFoundError")
    return ImportFact(
        spot=module.spot(node),
        module=base,
        name=name,
        level=origin.level if origin else 0,
        written=(origin.module or "") if origin else base,
        is_lazy=place.is_conditional or not place.scope.runs_at_import,
        is_optional=(place.is_conditional or place.is_uncertain or place.is_fallback or is_caught),
    )


def imported_names(scope: Scope) -> dict[str, str]:
    found = {}
    for name, bindings in scope.names.items():
        binding = the_one(bindings)
        if binding is not None and binding.how is How.IMPORT and binding.qualified:
            found[name] = binding.qualified
    return found


def exported(scope: Scope) -> tuple[str, ...] | None:
    """``__all__``, if it is one plain list."""
    binding = the_one(scope.names.get("__all__", ()))
    if binding is None or not isinstance(binding.node, ast.List | ast.Tuple):
        return None
    names = [one.value for one in binding.node.elts if isinstance(one, ast.Constant)]
    return tuple(str(name) for name in names) if len(names) == len(binding.node.elts) else None


# -- Functions ------------------------------------------------------------------------------------


def functions(module: Module) -> dict[str, FunctionFact]:
    """Functions at the top of the module that nothing rebinds."""
    found = {}
    for name, bindings in module.walked.scope.names.items():
        binding = the_one(bindings)
        if binding is not None and isinstance(binding.node, ast.FunctionDef | ast.AsyncFunctionDef):
            if binding.how is not How.FUNCTION:
                continue
            found[name] = FunctionFact(
                spot=module.spot(binding.node),
                is_async=isinstance(binding.node, ast.AsyncFunctionDef),
                is_decorated=bool(binding.node.decorator_list),
            )
    return found


# -- Classes --------------------------------------------------------------------------------------


def classes(module: Module) -> dict[str, ClassFact]:
    """Classes at the top of the module, also those under ``if`` and ``try``."""
    top = module.walked.scope
    scopes = {site.node: scope for site, scope in module.walked.functions}
    uses = _uses_of_self(module)
    return {
        site.node.name: _class(module, site.node, scope, scopes, uses.get(scope, {}))
        for site, scope in module.walked.classes
        if isinstance(site.node, ast.ClassDef) and site.place.scope is top
    }


type _Uses = dict[str, list[ast.Attribute]]


def _class(
    module: Module, node: ast.ClassDef, scope: Scope, scopes: dict[ast.AST, Scope], uses: _Uses
) -> ClassFact:
    methods: dict[str, MethodFact] = {}
    others = set()
    for name, bindings in scope.names.items():
        binding = bindings[-1]
        inner = scopes.get(binding.node) if binding.node is not None else None
        if binding.how is How.FUNCTION and inner is not None:
            methods[name] = _method(module, inner)
        else:
            others.add(name)
    first_use = min(
        (use for name in _BASE_ATTRIBUTES for use in uses.get(name, ())),
        key=lambda use: (use.lineno, use.col_offset),
        default=None,
    )
    return ClassFact(
        name=node.name,
        spot=module.spot(node),
        bases=tuple(_base(module, base, scope) for base in node.bases),
        methods=methods,
        called_by_itself=frozenset(uses),
        other_names=frozenset(others),
        first_use_of_base=None if first_use is None else module.spot(first_use),
        skips_base_init=_skips_base_init(scope, scopes),
    )


def _base(module: Module, base: ast.expr, scope: Scope) -> str | None:
    named = base.value if isinstance(base, ast.Subscript) else base  # Generic[T]
    return module.qualified(named, scope.parent or scope)


def _uses_of_self(module: Module) -> dict[Scope, _Uses]:
    """By class: every attribute that is read from ``self``, with the places."""
    found: dict[Scope, _Uses] = {}
    for node, scope in module.walked.uses_of_self:
        owner = scope.owner
        if owner is not None and type(node.ctx) is ast.Load:
            found.setdefault(owner, {}).setdefault(node.attr, []).append(node)
    return found


def _skips_base_init(scope: Scope, scopes: dict[ast.AST, Scope]) -> bool:
    """Whether ``__init__`` neither calls that of a base nor sets what it would set."""
    bindings = scope.names.get("__init__", [])
    node = bindings[-1].node if bindings else None
    if not isinstance(node, ast.FunctionDef) or node not in scopes or node.decorator_list:
        return False
    if not scope.attributes.keys().isdisjoint(_BASE_ATTRIBUTES):
        return False
    return not any(
        isinstance(part, ast.Attribute) and part.attr == "__init__" for part in ast.walk(node)
    )


def _method(module: Module, scope: Scope) -> MethodFact:
    node = scope.node
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    arguments = node.args
    names = tuple(one.arg for one in (*arguments.posonlyargs, *arguments.args))
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    decorators = [getattr(one, "id", "") for one in node.decorator_list]
    is_handler = node.name in handlers.HANDLERS
    return MethodFact(
        name=node.name,
        spot=module.spot(node),
        parameters=names,
        required=len(names) - len(arguments.defaults),
        takes_any_positional=arguments.vararg is not None,
        required_keywords=tuple(one.arg for one, default in keywords if default is None),
        is_async=isinstance(node, ast.AsyncFunctionDef),
        has_yield=scope.has_yield,
        is_static="staticmethod" in decorators,
        is_decorated=any(name not in ("staticmethod", "override") for name in decorators),
        none_uses=tuple(handlers.none_uses(module, scope)) if is_handler else (),
        tuple_returns=tuple(handlers.tuple_returns(module, scope)),
        other_returns=tuple(handlers.no_responses(module, scope)) if node.name == "fetch" else (),
        consumes=tuple(_consumed(module, node, scope.parent or scope)),
        missing_type=_missing_type(module, node, scope.parent or scope),
    )


def _consumed(module: Module, node: FunctionNode, scope: Scope) -> Iterator[str | None]:
    for one in node.decorator_list:
        if isinstance(one, ast.Call):
            name = module.qualified(one.func, scope)
            if name in ("tsumugi.consumes", "tsumugi.routes.consumes"):
                yield from (_text(queue) for queue in one.args)
                continue
        yield None  # any other decorator may do the same


def _text(node: ast.expr) -> str | None:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text else None  # type: ignore[attr-defined]


def _missing_type(module: Module, node: FunctionNode, scope: Scope) -> tuple[Spot, str] | None:
    found = missing_types.missing_type(module, node, scope)
    return None if found is None else (module.spot(found[0]), found[1])
