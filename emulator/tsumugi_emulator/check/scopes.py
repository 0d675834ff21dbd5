"""Scopes of a module and what each name in them is bound to. Filled by walk.py, which see."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

type FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class How(Enum):
    """How a name came to be bound."""

    IMPORT = auto()
    #: To the value of an expression, which is the binding's node.
    VALUE = auto()
    #: To the items of an iterable, which is the binding's node.
    ITEM = auto()
    PARAMETER = auto()
    FUNCTION = auto()
    CLASS = auto()
    #: By unpacking, ``with``, ``except``, ``del`` and the like: nothing more is known.
    OTHER = auto()


class Binding(NamedTuple):
    how: How
    #: The value, the iterable, the definition, or the function a parameter belongs to.
    node: ast.AST | None
    #: What an import names, in full.
    qualified: str | None = None
    #: Made in an ``except`` clause: what happens when the usual way fails.
    is_fallback: bool = False
    #: Made where the code may be passed by, or run again.
    is_conditional: bool = False


class ScopeKind(Enum):
    MODULE = auto()
    CLASS = auto()
    FUNCTION = auto()
    LAMBDA = auto()
    COMPREHENSION = auto()


class Scope:
    """One block with names of its own."""

    __slots__ = (
        "attributes",
        "declared_outside",
        "has_yield",
        "kind",
        "names",
        "node",
        "parent",
        "returns",
        "runs_at_import",
    )

    def __init__(
        self, kind: ScopeKind, node: ast.AST, parent: Scope | None, *, runs_at_import: bool
    ) -> None:
        self.kind = kind
        self.node = node
        self.parent = parent
        #: Whether its code runs while the module is imported.
        self.runs_at_import = runs_at_import
        self.names: dict[str, list[Binding]] = {}
        #: Of a class: what ``self.name`` is set to in its methods, each with the method's scope.
        self.attributes: dict[str, list[tuple[ast.expr | None, Scope]]] = {}
        self.declared_outside: set[str] = set()
        self.has_yield = False
        #: Of a function: its own ``return`` statements.
        self.returns: list[ast.Return] = []

    def bind(self, name: str, binding: Binding) -> None:
        scope = self
        if name in self.declared_outside:
            scope = self.module
        found = scope.names.get(name)
        if found is None:
            scope.names[name] = [binding]
        else:
            found.append(binding)

    @property
    def module(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    @property
    def function(self) -> Scope | None:
        """The function this code is directly in; a lambda's code is in none."""
        scope: Scope | None = self
        while scope is not None and scope.kind is ScopeKind.COMPREHENSION:
            scope = scope.parent
        return scope if scope is not None and scope.kind is ScopeKind.FUNCTION else None

    @property
    def owner(self) -> Scope | None:
        """The class whose method this code is in, however deep."""
        scope: Scope | None = self
        while scope is not None:
            parent = scope.parent
            if (
                scope.kind is ScopeKind.FUNCTION
                and parent is not None
                and parent.kind is ScopeKind.CLASS
            ):
                return parent
            scope = parent
        return None

    @property
    def method(self) -> Scope | None:
        """The method of ``owner`` this code is in."""
        scope: Scope | None = self
        while scope is not None:
            if scope.parent is not None and scope.parent.kind is ScopeKind.CLASS:
                return scope if scope.kind is ScopeKind.FUNCTION else None
            scope = scope.parent
        return None

    def lookup(self, name: str) -> tuple[Sequence[Binding], Scope] | None:
        """What ``name`` is bound to as seen from here; None for builtins and the unknown."""
        scope: Scope | None = self.module if name in self.declared_outside else self
        while scope is not None:
            # Methods do not see the names of their class.
            if scope.kind is not ScopeKind.CLASS or scope is self:
                found = scope.names.get(name)
                if found is not None:
                    return found, scope
            scope = scope.parent
        return None


_CATCH_ALL = ("Exception", "BaseException", "*")


class Place:
    """Where in the flow of its scope a piece of code stands."""

    __slots__ = ("caught", "is_conditional", "is_fallback", "is_uncertain", "scope", "tests")

    def __init__(
        self,
        scope: Scope,
        *,
        is_conditional: bool = False,
        is_uncertain: bool = False,
        is_fallback: bool = False,
        caught: frozenset[str] = frozenset(),
        tests: tuple[ast.expr, ...] = (),
    ) -> None:
        self.scope = scope
        #: Whether it may be passed by: under ``if``, in a loop, after ``try``.
        self.is_conditional = is_conditional
        #: Whether it depends on the platform, so that it may never run in production.
        self.is_uncertain = is_uncertain
        #: In an ``except`` clause.
        self.is_fallback = is_fallback
        #: Names of exceptions that this function catches around it; "*" is any.
        self.caught = caught
        #: The conditions it stands under in this function.
        self.tests = tests

    def under(self, test: ast.expr, *, uncertain: bool = False) -> Place:
        return Place(
            self.scope,
            is_conditional=True,
            is_uncertain=self.is_uncertain or uncertain,
            is_fallback=self.is_fallback,
            caught=self.caught,
            tests=(*self.tests, test),
        )

    def sometimes(self) -> Place:
        if self.is_conditional:
            return self
        return Place(
            self.scope,
            is_conditional=True,
            is_uncertain=self.is_uncertain,
            is_fallback=self.is_fallback,
            caught=self.caught,
            tests=self.tests,
        )

    def catching(self, names: frozenset[str]) -> Place:
        return Place(
            self.scope,
            is_conditional=self.is_conditional,
            is_uncertain=self.is_uncertain,
            is_fallback=self.is_fallback,
            caught=self.caught | names,
            tests=self.tests,
        )

    def falling_back(self) -> Place:
        return Place(
            self.scope,
            is_conditional=True,
            is_uncertain=self.is_uncertain,
            is_fallback=True,
            caught=self.caught,
            tests=self.tests,
        )

    def inside(self, scope: Scope) -> Place:
        """The beginning of a scope that is defined here."""
        return Place(scope, is_uncertain=self.is_uncertain, is_fallback=self.is_fallback)

    def catches(self, *names: str) -> bool:
        return bool(self.caught) and not self.caught.isdisjoint((*names, *_CATCH_ALL))


class Site(NamedTuple):
    """A node that rules may look at, its parent, and its place."""

    node: ast.AST
    parent: ast.AST | None
    place: Place
