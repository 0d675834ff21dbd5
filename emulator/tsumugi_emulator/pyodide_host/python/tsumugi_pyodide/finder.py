"""Find modules where the user's own Python has them: production would have them vendored.

Asked last, after the Worker's code, ``python_modules`` and what Pyodide brings. Unpacks Pyodide's
own wheel of a package that is compiled, if the folder of the npm package has it.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import zipfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

#: Where what is found is put: the SDK is there, too.
SITE_PACKAGES = f"/lib/python3.{sys.version_info.minor}/site-packages"


class HostFinder:
    """A meta path finder for top-level modules."""

    def __init__(self, locate: Callable[[str], Any]) -> None:
        """``locate(name)`` gives ["mounted"], ["wheels", path...], ["refused", why] or None."""
        self._locate = locate
        self._asked: set[str] = set()

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        if path is not None or "." in name or name in self._asked:
            return None
        self._asked.add(name)
        found = self._locate(name)
        if not found:  # JavaScript's null is not always None
            return None
        kind, *details = found
        if kind == "refused":
            raise ModuleNotFoundError(details[0], name=name)
        if kind == "wheels":
            for wheel in details:
                with zipfile.ZipFile(wheel) as archive:
                    archive.extractall(SITE_PACKAGES)
        importlib.invalidate_caches()
        return importlib.machinery.PathFinder.find_spec(name)


def install(locate: Callable[[str], Any]) -> None:
    sys.meta_path.append(HostFinder(locate))
