"""Which calls read a file or directory by a relative path. Pure: looks at no file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsumugi_emulator.check import literals
from tsumugi_emulator.check.facts import FileRead
from tsumugi_emulator.check.rules.platform import is_written

if TYPE_CHECKING:
    from tsumugi_emulator.check.ruleset import At

#: Function -> the parameter that is a path: its position, and its name.
_READERS = {
    "builtins.open": (0, "file"),
    "io.open": (0, "file"),
    "os.listdir": (0, "path"),
    "os.scandir": (0, "path"),
    "jinja2.FileSystemLoader": (0, "searchpath"),
    "fastapi.templating.Jinja2Templates": (0, "directory"),
    "starlette.templating.Jinja2Templates": (0, "directory"),
    "fastapi.staticfiles.StaticFiles": (0, "directory"),
    "starlette.staticfiles.StaticFiles": (0, "directory"),
    "pandas.read_csv": (0, "filepath_or_buffer"),
    "pandas.read_json": (0, "path_or_buf"),
}
#: Methods of ``Path("relative")`` that read.
_PATH_READERS = frozenset({"read_text", "read_bytes", "open", "iterdir", "glob", "rglob"})


def may_read(node: ast.Call, name: str | None) -> bool:
    """Whether it is worth asking; ``name`` is what is called, in full."""
    if type(node.func) is ast.Attribute and node.func.attr in _PATH_READERS:
        return True
    return name in _READERS


def file_read(node: ast.Call, at: At, name: str | None) -> FileRead | None:
    """``name`` is what is called, in full."""
    if at.place.is_uncertain or at.place.is_fallback or at.place.catches("OSError"):
        return None
    if at.place.catches("FileNotFoundError"):
        return None
    path = _path(node, at, name)
    value = literals.constant(path)
    if path is None or not isinstance(value, str) or value.startswith(("/", "~")) or not value:
        return None
    return FileRead(at.module.spot(node), value)


def _path(node: ast.Call, at: At, name: str | None) -> ast.expr | None:
    if name in _READERS:
        if name.endswith("open") and is_written(node):
            return None
        position, keyword = _READERS[name]
        given = node.args[position] if len(node.args) > position else None
        return given or literals.keyword(node, keyword)
    if isinstance(node.func, ast.Attribute) and node.func.attr in _PATH_READERS:
        owner = node.func.value
        is_path = isinstance(owner, ast.Call) and at.qualified(owner.func) == "pathlib.Path"
        if is_path and len(owner.args) == 1:  # type: ignore[attr-defined]
            path: ast.expr = owner.args[0]  # type: ignore[attr-defined]
            return path
    return None
