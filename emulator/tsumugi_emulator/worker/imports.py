"""How user modules are imported: from their source, never from a bytecode cache (ADR-0042)."""

from __future__ import annotations

import sys
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType, ModuleType

#: Below the import root, but not the user's own code.
_INSTALLED = frozenset({"site-packages", "python_modules", ".venv", ".venv-workers"})


class SourceOnlyLoader(SourceFileLoader):
    """Compiles what is on disk now; writes no cache."""

    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def prepare(main: Path, project: Path) -> None:
    """Make the Worker's directories importable, as production's search path does (ADR-0041)."""
    root = str(main.parent)

    def find_user_code(path: str) -> Any:
        if _INSTALLED.intersection(Path(path).parts) or not _is_below(path, root):
            raise ImportError(path)
        return FileFinder(path, (SourceOnlyLoader, SOURCE_SUFFIXES))

    sys.path_hooks.insert(0, find_user_code)
    sys.path.insert(0, root)
    sys.path.append(str(project / "python_modules"))


def import_main(main: Path) -> ModuleType:
    """Import the main file under its own module name.

    Raises:
        BaseException: whatever the user's code raised.
    """
    name = main.stem
    if name in sys.stdlib_module_names:
        name = f"worker_{name}"  # a main called queue.py must not replace the standard library's
    spec = spec_from_file_location(name, main, loader=SourceOnlyLoader(name, str(main)))
    if spec is None or spec.loader is None:
        raise ImportError(f"{main} is not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root + "/")
