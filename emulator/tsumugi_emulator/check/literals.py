"""What a literal expression is, and what is inside it. Pure; everything unknown is None."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsumugi_emulator.check.ruleset import At

#: Integers from here on leave Python as BigInt.
FIRST_BIG_INT = 2**53 - 1

#: Functions whose results are Python objects that JavaScript cannot copy, and what those are.
_UNCOPYABLE = {
    "decimal.Decimal": "a Decimal",
    "fractions.Fraction": "a Fraction",
    "uuid.uuid4": "a UUID",
    "uuid.UUID": "a UUID",
    "uuid.uuid1": "a UUID",
    "uuid.uuid5": "a UUID",
    "datetime.date": "a date",
    "datetime.date.today": "a date",
    "datetime.timedelta": "a timedelta",
    "datetime.time": "a time",
    "builtins.frozenset": "a frozenset",
}

_DATACLASS = frozenset({"dataclasses.dataclass", "pydantic.dataclasses.dataclass", "attrs.define"})
_MODELS = frozenset({"pydantic.BaseModel"})
_TUPLES = frozenset({"typing.NamedTuple"})

#: Powers that are worked out have exponents up to this.
MAX_EXPONENT = 1024

#: Literals that are walked into, to this depth.
MAX_DEPTH = 8


def constant(node: ast.AST | None) -> Any:
    """The value of a constant, also of a negative number; None for everything else."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = constant(node.operand)
        return -value if isinstance(value, int | float) else None
    return None


def is_big_integer(node: ast.expr, at: At) -> bool:
    """Whether it is certainly an integer that JavaScript has no number for."""
    if isinstance(node, ast.Call):
        return at.qualified(node.func) in ("time.time_ns", "time.monotonic_ns")
    value = _integer(node)
    return value is not None and abs(value) >= FIRST_BIG_INT


def _integer(node: ast.expr) -> int | None:
    """The value of an integer, also of ``2**60`` and ``1 << 60``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow | ast.LShift):
        left, right = constant(node.left), constant(node.right)
        if type(left) is not int or type(right) is not int or not 0 <= right <= MAX_EXPONENT:
            return None
        return int(left**right) if isinstance(node.op, ast.Pow) else left << right
    value = constant(node)
    return value if type(value) is int else None


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def parts(node: ast.expr, depth: int = MAX_DEPTH) -> Iterator[ast.expr]:
    """The expression, and the values inside it if it is a dict or list literal."""
    yield node
    if depth <= 0:
        return
    if isinstance(node, ast.Dict):
        for value in node.values:
            yield from parts(value, depth - 1)
    elif isinstance(node, ast.List):
        for item in node.elts:
            yield from parts(item, depth - 1)
    elif isinstance(node, ast.ListComp):
        yield from parts(node.elt, depth - 1)
    elif isinstance(node, ast.DictComp):
        yield from parts(node.value, depth - 1)


def refused(node: ast.expr, at: At) -> str | None:
    """What the value is, if converting it raises TypeError at once."""
    if isinstance(node, ast.Tuple):
        return "a tuple"
    if not isinstance(node, ast.Call):
        return None
    name = at.qualified(node.func)
    if name in ("builtins.tuple", "builtins.bytearray"):
        return f"a {name.removeprefix('builtins.')}"
    definition = at.module.definition(node.func, at.place.scope)
    if isinstance(definition, ast.ClassDef) and _bases(definition, at) & _TUPLES:
        return f"a {definition.name}, which is a tuple"
    return None


def uncopyable(node: ast.expr, at: At) -> str | None:
    """What the value is, if it reaches JavaScript as a Python object that cannot be copied."""
    if not isinstance(node, ast.Call):
        return None
    known = _UNCOPYABLE.get(at.qualified(node.func) or "")
    if known is not None:
        return known
    definition = at.module.definition(node.func, at.place.scope)
    if not isinstance(definition, ast.ClassDef):
        return None
    decorators = {
        at.module.qualified(one.func if isinstance(one, ast.Call) else one, at.place.scope)
        for one in definition.decorator_list
    }
    if decorators & _DATACLASS or _bases(definition, at) & _MODELS:
        return f"a {definition.name} object"
    return None


def _bases(definition: ast.ClassDef, at: At) -> set[str | None]:
    return {at.module.qualified(base, at.place.scope) for base in definition.bases}


def is_dict(node: ast.expr, at: At) -> bool:
    return isinstance(node, ast.Dict | ast.DictComp) or (
        isinstance(node, ast.Call) and at.qualified(node.func) == "builtins.dict"
    )


def is_list(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.ListComp)


def described(node: ast.expr, at: At) -> str | None:
    """What a literal is, in words."""
    if is_dict(node, at):
        return "a dict"
    if is_list(node):
        return "a list"
    if isinstance(node, ast.Set | ast.SetComp):
        return "a set"
    if isinstance(node, ast.JoinedStr):
        return "a str"
    value = constant(node)
    if isinstance(node, ast.Constant) and value is None:
        return "None"
    named = (bool, int, float, str, bytes)
    found = next((kind for kind in named if type(value) is kind), None)
    if found is None:
        return refused(node, at)
    return "an int" if found is int else f"a {found.__name__}"


def keyword(node: ast.Call, name: str) -> ast.expr | None:
    return next((one.value for one in node.keywords if one.arg == name), None)
