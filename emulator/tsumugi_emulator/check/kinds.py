"""Which of the runtime's objects an expression is, as far as that can be seen. Never guesses."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from tsumugi_emulator.check.module import the_one
from tsumugi_emulator.check.scopes import How, Scope, ScopeKind
from tsumugi_emulator.check.surfaces import (
    ATTRIBUTES,
    CONVERTING,
    ITEMS,
    RESULTS,
    SURFACES,
    Kind,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tsumugi_emulator.check.module import Module
    from tsumugi_emulator.check.scopes import Binding

#: How many assignments and attributes are followed from one expression.
MAX_STEPS = 12

#: What positional arguments of handlers on classes are, ``self`` not counted.
_METHOD_PARAMETERS = {
    ("fetch", 0): Kind.REQUEST,
    ("queue", 0): Kind.BATCH,
    ("scheduled", 0): Kind.CONTROLLER,
    ("alarm", 0): Kind.ALARM_INFO,
}
#: And of functions at the top of a module.
_FUNCTION_PARAMETERS = {
    ("on_fetch", 0): Kind.REQUEST,
    ("on_queue", 0): Kind.BATCH,
    ("on_scheduled", 0): Kind.CONTROLLER,
}

_ANNOTATIONS = {
    "tsumugi.MessageBatch": Kind.BATCH,
    "tsumugi.Message": Kind.MESSAGE,
    "tsumugi.Queue": Kind.QUEUE,
}


class Value(NamedTuple):
    kind: Kind
    #: The binding's name in ``env``, where there is one.
    name: str | None = None
    #: Whether the SDK leaves it as JavaScript's own object: arguments of top-level ``on_*``.
    is_raw: bool = False


class Kinds:
    """Infers kinds within one module."""

    def __init__(self, module: Module, bindings: Mapping[str, Kind]) -> None:
        self._module = module
        self._bindings = bindings
        self._known: dict[tuple[ast.AST, Scope], Value | None] = {}

    def of(self, expression: ast.AST | None, scope: Scope) -> Value | None:
        return self._of(expression, scope, MAX_STEPS)

    def _of(self, expression: ast.AST | None, scope: Scope, steps: int) -> Value | None:
        if expression is None or steps <= 0:
            return None
        infer = _INFER.get(type(expression))
        if infer is None:
            return None
        key = (expression, scope)
        if key not in self._known:
            self._known[key] = None  # what is defined by itself is nothing known
            self._known[key] = infer(self, expression, scope, steps - 1)
        return self._known[key]

    # -- Expressions ------------------------------------------------------------------------------

    def _name(self, node: ast.Name, scope: Scope, steps: int) -> Value | None:
        found = scope.lookup(node.id)
        if found is None:
            return None
        bindings, owner = found
        binding = binding_at(node, scope)
        if binding is not None:
            return self._binding(node.id, binding, owner, steps)
        if any(binding.how is not How.VALUE for binding in bindings):
            return None
        # Bound several times: known if it is the same each time.
        values = [self._of(binding.node, owner, steps) for binding in bindings]
        return values[0] if all(value == values[0] for value in values) else None

    def _binding(self, name: str, binding: Binding, owner: Scope, steps: int) -> Value | None:
        if binding.how is How.VALUE:
            return self._of(binding.node, owner, steps)
        if binding.how is How.ITEM:
            # The iterable of a comprehension is evaluated outside it.
            outside = owner.parent if owner.kind is ScopeKind.COMPREHENSION else owner
            iterable = self._of(binding.node, outside or owner, steps)
            kind = ITEMS.get(iterable.kind) if iterable else None
            return Value(kind, is_raw=iterable.is_raw) if kind and iterable else None
        if binding.how is How.PARAMETER:
            return self._parameter(name, binding.node, owner)
        if binding.how is How.IMPORT and binding.qualified == "workers.env":
            return Value(Kind.ENV)
        return None

    def _parameter(self, name: str, function: ast.AST | None, scope: Scope) -> Value | None:
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
        parent = scope.parent
        if name in names and parent is not None and parent.kind is ScopeKind.CLASS:
            kind = _METHOD_PARAMETERS.get((function.name, names.index(name) - 1))
            if kind is not None:
                return Value(kind)
        elif name in names and parent is not None and parent.kind is ScopeKind.MODULE:
            kind = _FUNCTION_PARAMETERS.get((function.name, names.index(name)))
            if kind is not None:
                return Value(kind, is_raw=True)
        annotated = self._annotated(name, function, scope)
        if annotated is not None:
            return Value(annotated)
        if function.name == "__init__" and name == "state":  # what an object's ctx was called once
            return Value(Kind.CTX)
        return _BY_NAME.get(name)

    def _annotated(
        self, name: str, function: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope
    ) -> Kind | None:
        arguments = function.args
        for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            annotation = one.annotation
            if one.arg != name or annotation is None:
                continue
            if isinstance(annotation, ast.Subscript):
                annotation = annotation.value
            return _ANNOTATIONS.get(self._module.qualified(annotation, scope) or "")
        return None

    def _attribute(self, node: ast.Attribute, scope: Scope, steps: int) -> Value | None:
        if self._module.qualified(node, scope) == "workers.env":
            return Value(Kind.ENV)
        if type(node.value) is ast.Name and node.value.id == "self":
            return self._own_attribute(node.attr, scope, steps)
        base = self._of(node.value, scope, steps)
        if base is None:
            # Something else's env: a request's, an application's.
            return Value(Kind.ENV) if node.attr == "env" else None
        if base.kind is Kind.ENV:
            return self._binding_of_env(node.attr)
        kind = ATTRIBUTES.get((base.kind, node.attr))
        return Value(kind, is_raw=base.is_raw) if kind else None

    def _own_attribute(self, name: str, scope: Scope, steps: int) -> Value | None:
        owner = scope.owner
        values = owner.attributes.get(name, []) if owner is not None else []
        known = {self._of(value, where, steps) for value, where in values}
        if len(known) == 1 and (found := next(iter(known))) is not None:
            return found
        if name == "env":
            return Value(Kind.ENV)
        # What the base class sets, unless the class sets something else.
        return Value(Kind.CTX) if name == "ctx" and not values else None

    def _binding_of_env(self, name: str) -> Value:
        return Value(self._bindings.get(name, Kind.UNKNOWN), name)

    def _subscript(self, node: ast.Subscript, scope: Scope, steps: int) -> Value | None:
        index = node.slice
        is_scope = isinstance(node.value, ast.Attribute) and node.value.attr == "scope"
        if is_scope and isinstance(index, ast.Constant) and index.value == "env":
            return Value(Kind.ENV)  # where an ASGI application finds it
        base = self._of(node.value, scope, steps)
        if base is None or isinstance(index, ast.Slice):
            return None
        kind = ITEMS.get(base.kind)
        return Value(kind, is_raw=base.is_raw) if kind else None

    def _call(self, node: ast.Call, scope: Scope, steps: int) -> Value | None:
        function = node.func
        if type(function) is ast.Attribute:
            base = self._of(function.value, scope, steps)
            kind = RESULTS.get((base.kind, function.attr)) if base else None
            return Value(kind, base.name if base else None) if kind else None
        if self._module.qualified(function, scope) == "builtins.getattr" and len(node.args) >= 2:
            base = self._of(node.args[0], scope, steps)
            name = node.args[1]
            if base and base.kind is Kind.ENV and isinstance(name, ast.Constant):
                return self._binding_of_env(str(name.value))
        return None

    def _await(self, node: ast.Await, scope: Scope, steps: int) -> Value | None:
        call = node.value
        if type(call) is not ast.Call or type(call.func) is not ast.Attribute:
            return None
        base = self._of(call.func.value, scope, steps)
        method = call.func.attr
        if base is None:
            return None
        if base.kind in (Kind.STUB, Kind.SERVICE):
            return Value(Kind.CONVERTED) if method != "fetch" else None
        if method not in CONVERTING.get(base.kind, ()):
            return None
        wants_bytes = base.kind is Kind.KV and any(
            isinstance(argument, ast.Constant) and argument.value == "arrayBuffer"
            for argument in (*call.args, *(keyword.value for keyword in call.keywords))
        )
        return Value(Kind.VIEW if wants_bytes else Kind.CONVERTED)

    def _either(self, node: ast.BoolOp | ast.IfExp, scope: Scope, steps: int) -> Value | None:
        choices = node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse]
        values = {
            self._of(choice, scope, steps)
            for choice in choices
            if not isinstance(choice, ast.Constant)
        }
        return next(iter(values)) if len(values) == 1 else None


def binding_at(use: ast.Name, scope: Scope) -> Binding | None:
    """What a name is bound to where it is used, if that is one thing."""
    found = scope.lookup(use.id)
    if found is None:
        return None
    bindings, owner = found
    binding = the_one(bindings)
    return _latest(bindings, use) if binding is None and scope is owner else binding


def _latest(bindings: Sequence[Binding], use: ast.Name) -> Binding | None:
    """Of bindings that are made one after the other, the last one before ``use``."""
    if any(b.is_conditional or b.how not in (How.VALUE, How.PARAMETER) for b in bindings):
        return None
    before = [b for b in bindings if _end(b) <= (use.lineno, use.col_offset)]
    return max(before, key=_end, default=None)


def _end(binding: Binding) -> tuple[int, int]:
    node = binding.node
    if binding.how is How.PARAMETER or node is None:
        return 0, 0
    return node.end_lineno or 0, node.end_col_offset or 0  # type: ignore[attr-defined]


#: Parameters whose name says enough, because what is done with them must fit the configuration.
_BY_NAME = {"env": Value(Kind.ENV), "ctx": Value(Kind.CTX)}

_INFER: dict[type, Callable[[Kinds, Any, Scope, int], Value | None]] = {
    ast.Name: Kinds._name,
    ast.Attribute: Kinds._attribute,
    ast.Subscript: Kinds._subscript,
    ast.Call: Kinds._call,
    ast.Await: Kinds._await,
    ast.BoolOp: Kinds._either,
    ast.IfExp: Kinds._either,
}


class BindingCall(NamedTuple):
    """A call of a method of one of the runtime's objects."""

    value: Value
    method: str

    @property
    def is_awaited(self) -> bool:
        """Whether the call gives something that has to be awaited."""
        surface = SURFACES.get(self.value.kind)
        return surface is not None and (surface.is_remote or self.method in surface.awaited)

    @property
    def returns_at_once(self) -> bool:
        surface = SURFACES.get(self.value.kind)
        return surface is not None and self.method in surface.sync

    def __str__(self) -> str:
        name = f"env.{self.value.name}" if self.value.name else _SHOWN.get(self.value.kind, "")
        return f"{name}.{self.method}()" if name else f"{self.method}()"


_SHOWN = {
    Kind.BATCH: "batch",
    Kind.MESSAGE: "message",
    Kind.STORAGE: "storage",
    Kind.SQL: "storage.sql",
    Kind.SYNC_KV: "storage.kv",
    Kind.STATEMENT: "statement",
    Kind.REQUEST: "request",
}
