"""Load a Worker's entry module in a plain Python test. Starts no server and no event loop."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any


class RuntimeNotInstalled(ImportError):
    """``import workers`` needs a Workers runtime, and the local one is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "a Worker imports `workers`, which needs a Workers runtime; the local one comes with "
            "the emulator: add tsumugi-workers to the dev dependencies. Logic that does not "
            "import `workers` is testable without it: pass the function to run_queue_handler()."
        )


def load_worker(
    path: str | Path, *, compatibility_flags: frozenset[str] = frozenset()
) -> type[Any]:
    """The ``Default`` class of the entry module at ``path``, as ``main`` of wrangler.jsonc.

    Its folder becomes importable, like the module root in the runtime, and stays so. Every call
    runs the entry module anew; the modules that it imports are shared.

    Raises :class:`RuntimeNotInstalled` without the emulator, ``FileNotFoundError`` for a wrong
    path, ``AttributeError`` when there is no class ``Default``, and what the module raises.
    """
    entry = Path(path).resolve(strict=True)
    _install_runtime(compatibility_flags)
    root = str(entry.parent)
    if root not in sys.path:
        sys.path.append(root)
    spec = importlib.util.spec_from_file_location(entry.stem, entry)
    if spec is None or spec.loader is None:
        raise ImportError(f"{entry} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[entry.stem] = module
    spec.loader.exec_module(module)
    default = getattr(module, "Default", None)
    if not isinstance(default, type):
        raise AttributeError(
            f"{entry.name} defines no class Default, the name the runtime looks for"
        )
    return default


def _install_runtime(compatibility_flags: frozenset[str]) -> None:
    # By name: the SDK deploys without the emulator and must never import it (ADR-0034).
    try:
        boundary = importlib.import_module("tsumugi_emulator.javascript")
        install = boundary.install
    except (ModuleNotFoundError, AttributeError) as error:
        raise RuntimeNotInstalled from error
    install(compatibility_flags=compatibility_flags)
