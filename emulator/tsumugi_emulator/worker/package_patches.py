"""The SDK's patches of packages, which production finds by the SDK's .pth file.

``anyio.to_thread`` runs a function at once there: without that a ``def`` route of FastAPI needs a
thread, which Workers do not have. Only the child applies them, before it imports user code.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from pathlib import Path

from tsumugi_emulator.javascript.mode import MODE

#: The runtime's package that patches are registered with, as Pyodide gets it here, too.
_PACKAGE = Path(__file__).parents[1] / "pyodide_host" / "python" / "_cloudflare"


def apply() -> None:
    """Patch what is imported from now on. Idempotent."""
    if not MODE.flag("python_process_pth_files") or "_cloudflare" in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(
        "_cloudflare", _PACKAGE / "__init__.py", submodule_search_locations=[str(_PACKAGE)]
    )
    assert spec is not None and spec.loader is not None  # noqa: PT018
    package = importlib.util.module_from_spec(spec)
    sys.modules["_cloudflare"] = package
    spec.loader.exec_module(package)
    from _cloudflare import import_patch_manager

    with contextlib.suppress(ImportError):  # an SDK without patches
        import_patch_manager.install()
