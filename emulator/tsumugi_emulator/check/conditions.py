"""What the conditions around a piece of code say about whether a Worker runs it. Pure."""

from __future__ import annotations

import ast
from enum import Enum, auto


class Condition(Enum):
    ORDINARY = auto()
    #: Depends on the platform or the Python version.
    PLATFORM = auto()
    #: True only for type checkers or when run as a command.
    NEVER_IN_A_WORKER = auto()


#: Attributes and functions that tell one platform from another.
_PLATFORM_NAMES = frozenset(
    {
        "sys.platform", "sys.version_info", "sys.version", "sys.implementation.name", "sys.modules",
        "os.name", "platform.system", "platform.machine", "platform.python_implementation",
        "find_spec", "importlib.util.find_spec",
    }
)  # fmt: skip


def platform_names(body: list[ast.stmt]) -> frozenset[str]:
    """Names at the top of a file that tell the platform: ``IN_WORKER = sys.platform == ...``.

    Also those that are set to True or False by whether an import fails.
    """
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.Assign) and _asks_platform(statement.value, frozenset(found)):
            found |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
        elif isinstance(statement, ast.Try):
            found |= _set_by_imports(statement)
    return frozenset(found)


def _set_by_imports(statement: ast.Try) -> set[str]:
    names: set[str] = set()
    for handler in statement.handlers:
        if not caught(handler).isdisjoint(("ImportError", "ModuleNotFoundError", "*")):
            names |= {
                target.id
                for one in handler.body
                if isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant)
                for target in one.targets
                if isinstance(target, ast.Name)
            }
    return names


def classify(test: ast.expr, names: frozenset[str] = frozenset()) -> Condition:
    """``names`` are those that tell the platform."""
    if _dotted(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
        return Condition.NEVER_IN_A_WORKER
    if _is_run_as_command(test):
        return Condition.NEVER_IN_A_WORKER
    return Condition.PLATFORM if _asks_platform(test, names) else Condition.ORDINARY


def _asks_platform(node: ast.AST, names: frozenset[str]) -> bool:
    if isinstance(node, ast.Attribute | ast.Name):
        dotted = _dotted(node)
        return dotted in _PLATFORM_NAMES or dotted in names
    return any(_asks_platform(part, names) for part in _parts(node))


def _parts(node: ast.AST) -> tuple[ast.expr, ...] | list[ast.expr]:
    """Where a platform may be asked for in a condition."""
    match node:
        case ast.Compare():
            return (node.left, *node.comparators)
        case ast.BoolOp():
            return node.values
        case ast.UnaryOp():
            return (node.operand,)
        case ast.Call():
            return (node.func, *node.args)
        case ast.Subscript():
            return (node.value,)
    return ()


def _is_run_as_command(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], ast.Eq)
        and any(isinstance(side, ast.Name) and side.id == "__name__" for side in _sides(test))
        and any(isinstance(s, ast.Constant) and s.value == "__main__" for s in _sides(test))
    )


def _sides(test: ast.Compare) -> tuple[ast.expr, ...]:
    return (test.left, *test.comparators)


def caught(handler: ast.ExceptHandler) -> frozenset[str]:
    """The last parts of the names of what is caught; "*" is everything."""
    if handler.type is None:
        return frozenset({"*"})
    return _names(handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type])


def suppressed(context: ast.expr) -> frozenset[str]:
    """What ``contextlib.suppress(...)`` suppresses."""
    if not isinstance(context, ast.Call):
        return frozenset()
    name = _dotted(context.func)
    if name is None or name.rpartition(".")[2] != "suppress":
        return frozenset()
    return _names(context.args)


def _names(expressions: list[ast.expr]) -> frozenset[str]:
    dotted = (_dotted(expression) for expression in expressions)
    # What is not a plain name may be anything.
    return frozenset("*" if name is None else name.rpartition(".")[2] for name in dotted)


def _dotted(node: ast.AST) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join((node.id, *reversed(parts)))
