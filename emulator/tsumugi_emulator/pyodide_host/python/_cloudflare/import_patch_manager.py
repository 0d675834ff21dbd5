"""Run a patch around the execution of a module, as the Workers runtime does for the SDK."""

from __future__ import annotations

import importlib.machinery
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from types import ModuleType

    type Patch = Callable[[ModuleType], AbstractContextManager[None]]

_patches: dict[str, Patch] = {}


def register_exec_patch(name: str) -> Callable[[Patch], Patch]:
    """``name`` is executed inside the context manager that the decorated function makes."""

    def decorate(patch: Patch) -> Patch:
        _patches[name] = patch
        return patch

    return decorate


class _PatchFinder:
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        patch = _patches.get(name)
        spec = importlib.machinery.PathFinder.find_spec(name, path) if patch else None
        if spec is None or spec.loader is None or patch is None:
            return None
        loader: Any = spec.loader
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            with patch(module):
                execute(module)

        loader.exec_module = exec_module
        return spec


def install() -> None:
    """Patch what is imported from now on, if the SDK has patches."""
    import _workers_sdk_package_patches  # noqa: F401

    sys.meta_path.insert(0, _PatchFinder())
