"""One parsed file as rules see it: what names mean, and which functions importing it calls."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING

from tsumugi_emulator.check.facts import Spot
from tsumugi_emulator.check.scopes import Binding, How, Scope, ScopeKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tsumugi_emulator.check.scopes import Place
    from tsumugi_emulator.check.walk import Walked

#: ``a = b; b = c; ...``: how many such steps are followed.
MAX_ALIASES = 4

#: Where Python's parser sees the end of a line.
_LINE_END = re.compile(r"\r\n|\r|\n")

_BUILTINS = frozenset(
    {
        "__import__", "bytearray", "dict", "eval", "exec", "exit", "frozenset", "getattr",
        "hasattr", "input", "len", "list", "memoryview", "open", "quit", "range", "set", "super",
        "tuple", "type",
    }
)  # fmt: skip


class Module:
    """A file that was walked."""

    def __init__(self, name: str, walked: Walked, text: str) -> None:
        #: As it is imported, counted from the import root.
        self.name = name
        self.walked = walked
        self._text = text
        self._is_ascii = text.isascii()
        self._roots: dict[tuple[Scope, str], str | None] = {}

    # -- Places -----------------------------------------------------------------------------------

    def spot(self, node: ast.AST) -> Spot:
        """Where the node starts, in characters; ``ast`` counts columns in bytes, from 0."""
        line: int = node.lineno  # type: ignore[attr-defined]
        offset: int = node.col_offset  # type: ignore[attr-defined]
        if not self._is_ascii:
            data = self._lines[line - 1].encode()[:offset] if line <= len(self._lines) else b""
            offset = len(data.decode("utf-8", "replace"))
        return Spot(line, offset + 1)

    @cached_property
    def _lines(self) -> list[str]:
        return _LINE_END.split(self._text)

    # -- Names ------------------------------------------------------------------------------------

    def qualified(self, expression: ast.AST | None, scope: Scope) -> str | None:
        """What a name or dotted name means, in full: ``"random.random"``.

        ``"builtins.open"`` for builtins, ``"module.name"`` for what a module of the project
        defines at its top. None when it is anything else or cannot be known.
        """
        return self._qualified(expression, scope, MAX_ALIASES)

    def _qualified(self, expression: ast.AST | None, scope: Scope, steps: int) -> str | None:
        parts: list[str] = []
        while type(expression) is ast.Attribute:
            parts.append(expression.attr)
            expression = expression.value
        if type(expression) is not ast.Name:
            return None
        root = self._root(expression.id, scope, steps)
        if root is None or not parts:
            return root
        return ".".join((root, *reversed(parts)))

    def _root(self, name: str, scope: Scope, steps: int) -> str | None:
        key = (scope, name)
        if key not in self._roots:
            self._roots[key] = self._find_root(name, scope, steps)
        return self._roots[key]

    def _find_root(self, name: str, scope: Scope, steps: int) -> str | None:
        found = scope.lookup(name)
        if found is None:
            known = name in _BUILTINS and not self.walked.has_star_import
            return f"builtins.{name}" if known else None
        bindings, owner = found
        binding = the_one(bindings)
        if binding is None:
            return None
        if binding.how is How.IMPORT:
            return binding.qualified
        if binding.how in (How.FUNCTION, How.CLASS) and owner.kind is ScopeKind.MODULE:
            return f"{self.name}.{name}"
        is_alias = binding.how is How.VALUE and isinstance(binding.node, ast.Name | ast.Attribute)
        if is_alias and steps > 0:
            return self._qualified(binding.node, owner, steps - 1)
        return None

    def definition(self, expression: ast.AST, scope: Scope) -> ast.AST | None:
        """The function or class of this module that a plain name means."""
        if type(expression) is not ast.Name:
            return None
        found = scope.lookup(expression.id)
        binding = the_one(found[0]) if found else None
        known = binding is not None and binding.how in (How.FUNCTION, How.CLASS)
        return binding.node if binding is not None and known else None

    def method(self, expression: ast.AST, scope: Scope) -> ast.AST | None:
        """The method of the class around it that ``self.name`` means, if the class defines it."""
        owner = scope.owner
        if type(expression) is not ast.Attribute or owner is None:
            return None
        if type(expression.value) is not ast.Name or expression.value.id != "self":
            return None
        if expression.attr in owner.attributes:
            return None
        binding = the_one(owner.names.get(expression.attr, ()))
        return binding.node if binding is not None and binding.how is How.FUNCTION else None

    # -- What runs --------------------------------------------------------------------------------

    def runs_at_import(self, place: Place) -> bool:
        """Whether importing the module certainly gets here, unless an exception is raised."""
        if place.is_conditional or place.is_uncertain or place.is_fallback:
            return False
        if place.scope.runs_at_import:
            return True
        function = place.scope.function
        return function is not None and function.node in self.called_at_import

    @cached_property
    def called_at_import(self) -> set[ast.AST]:
        """Functions of this module that importing it certainly calls."""
        calls: dict[ast.AST | None, list[ast.AST]] = {}
        for site in self.walked.sites:
            place = site.place
            if type(site.node) is not ast.Call or place.is_conditional or place.is_uncertain:
                continue
            function = place.scope.function
            if function is None and not place.scope.runs_at_import:
                continue
            called = self.definition(site.node.func, place.scope)
            if called is not None:
                caller = function.node if function is not None else None
                calls.setdefault(caller, []).append(called)
        found: set[ast.AST] = set()
        pending = list(calls.get(None, ()))
        while pending:
            called = pending.pop()
            if called not in found and called in self._plain_functions:
                found.add(called)
                pending += calls.get(called, ())
        return found

    @cached_property
    def _plain_functions(self) -> set[ast.AST]:
        """Functions whose body runs when they are called."""
        return {
            site.node
            for site, scope in self.walked.functions
            if type(site.node) is ast.FunctionDef
            and not scope.has_yield
            and not site.node.decorator_list
        }


def the_one(bindings: Sequence[Binding]) -> Binding | None:
    """The binding that counts: the only one, but for fallbacks; None if there are several."""
    if len(bindings) == 1:
        return bindings[0]
    usual = [binding for binding in bindings if not binding.is_fallback]
    if len(usual) == 1:
        return usual[0]
    first = usual[0] if usual else None
    if first is not None and first.how is How.IMPORT:
        same = all(binding.qualified == first.qualified for binding in usual)
        return first if same else None
    return None
