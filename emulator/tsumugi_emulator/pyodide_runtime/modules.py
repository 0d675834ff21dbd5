"""Where the packages of this Python are, for Pyodide to import, and Pyodide's own wheels.

Pure Python is shared as it is. What is compiled was compiled for CPython: its counterpart for
Pyodide has to be in ``python_modules`` or in the folder of the npm package. Installs nothing.
"""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

#: No part of any Worker, although this Python has it.
_OWN = frozenset({"_pyodide", "js", "pyodide", "pyodide_js", "tsumugi_emulator"})
#: Files looked at, at most, for compiled ones in a package.
MAX_FILES = 20_000


@dataclass(frozen=True, slots=True)
class PyodidePackage:
    """The npm package of one generation."""

    folder: Path
    version: str
    python: str
    #: The Worker's project, whose ``python_modules`` come first.
    project: Path


def locate(name: str, package: PyodidePackage) -> list[str] | None:
    """How Pyodide gets the top-level module ``name``.

    ["folder", path], ["file", path], ["wheels", path...] or ["refused", why]; None when it is
    nowhere.
    """
    known = _in_lock_file(name, package)
    if name in _OWN or (name in sys.stdlib_module_names and known is None):
        return None
    found = _in_this_python(name)
    if found is not None and not _is_compiled(found):
        return ["folder" if found.is_dir() else "file", str(found)]
    if known is not None:
        return _wheels(name, known, package)
    if found is None:
        return None
    return ["refused", refusal(name, package, f"{found.name} is compiled for CPython")]


def _in_this_python(name: str) -> Path | None:
    """The folder or file of a module outside the standard library."""
    spec = PathFinder.find_spec(name)
    if spec is None or name in sys.stdlib_module_names:
        return None
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    if spec.origin is None or spec.origin.startswith(sysconfig.get_path("stdlib") + "/lib-dynload"):
        return None
    return Path(spec.origin)


def _is_compiled(found: Path) -> bool:
    if found.is_file():
        return found.suffix != ".py"
    return any(path.endswith(tuple(EXTENSION_SUFFIXES)) for path in _files(found))


def _files(folder: Path) -> Iterator[str]:
    looked_at = 0
    for _, _, names in os.walk(folder):
        yield from names
        looked_at += len(names)
        if looked_at > MAX_FILES:
            return


# -- Pyodide's own packages ----------------------------------------------------------------------


def _in_lock_file(name: str, package: PyodidePackage) -> list[dict[str, Any]] | None:
    """The entry of a module in Pyodide's lock file, after those it depends on."""
    path = package.folder / "pyodide-lock.json"
    packages: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8"))["packages"]
    first = next((e for e in packages.values() if name in e.get("imports", ())), None)
    if first is None:
        return None
    ordered: dict[str, dict[str, Any]] = {}

    def add(entry: dict[str, Any]) -> None:
        for needed in entry.get("depends", ()):
            other = packages.get(needed.replace("_", "-").lower()) or packages.get(needed)
            if other is not None and other["file_name"] not in ordered:
                add(other)
        ordered[entry["file_name"]] = entry

    add(first)
    return list(ordered.values())


def _wheels(name: str, entries: list[dict[str, Any]], package: PyodidePackage) -> list[str]:
    files = [package.folder / entry["file_name"] for entry in entries]
    missing = [file.name for file in files if not file.exists()]
    if not missing:
        return ["wheels", *map(str, files)]
    return ["refused", refusal(name, package, f"Pyodide's own build is not here ({missing[-1]})")]


def refusal(name: str, package: PyodidePackage, why: str) -> str:
    """Why a module cannot be imported, and how to get it."""
    return (
        f"No module named {name!r} in Pyodide {package.version}: {why}. Vendor it as a deployment "
        f"does: run `uvx --from workers-py pywrangler sync` in {package.project}, which fills "
        f"python_modules. Or put Pyodide's wheel into {package.folder}."
    )
