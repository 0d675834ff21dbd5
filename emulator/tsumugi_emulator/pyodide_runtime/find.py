"""Find Node and the npm package of the right Pyodide, or say what is missing and how to get it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tsumugi_emulator.paths import shown
from tsumugi_emulator.worker.spawn import Pyodide

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Older ones lack what Pyodide and this runtime need of them.
MIN_NODE = 20
NODE_TIMEOUT_S = 20
#: Where another Node, and more packages, may be.
NODE_VARIABLE = "TSUMUGI_NODE"
FOLDER_VARIABLE = "TSUMUGI_PYODIDE"
#: An optimisation that V8 11 now and then gives up at, when it takes a call into WebAssembly back.
_NOT_WANTED = ("turbo-inline-js-wasm-calls",)
#: Node's names, newest first, for what lets Python wait synchronously (``run_sync``).
_STACK_SWITCHING = ("--experimental-wasm-jspi", "--experimental-wasm-stack-switching")


class Generation(NamedTuple):
    """The Pyodide that the Workers runtime has for a Python, as npm offers it."""

    series: str
    install: str
    #: Whether production can wait synchronously with it.
    switches_stacks: bool


GENERATIONS = {
    "3.12": Generation("0.26.", "0.26.0-alpha.4", False),
    "3.13": Generation("0.28.", "0.28.2", True),
    "3.14": Generation("314.", "314.0.7", True),
}


class NotFoundError(Exception):
    """The text says what is missing, and the command that brings it."""


def find(python_version: str, project: Path, environ: Mapping[str, str]) -> Pyodide:
    """What runs Workers of this Python.

    Raises:
        NotFoundError: Node or the package is missing, or too old.
    """
    generation = GENERATIONS[python_version]
    node = find_node(environ)
    folder, version = _package(generation, python_version, project, environ)
    options = _options(node.path, generation)
    return Pyodide(node.path, options, node.version, str(folder), version)


class Node(NamedTuple):
    path: str
    version: str


def find_node(environ: Mapping[str, str]) -> Node:
    """Raises:
    NotFoundError: there is none, it does not run, or it is too old.
    """
    wanted = environ.get(NODE_VARIABLE, "node")
    path = shutil.which(wanted, path=environ.get("PATH"))
    if path is None:
        raise NotFoundError(
            f"--runtime pyodide needs Node {MIN_NODE} or newer, and there is no `{wanted}` on the "
            f"PATH. Install it (https://nodejs.org), or set {NODE_VARIABLE} to where it is."
        )
    said = _output(path, "--version")
    found = re.match(r"v(\d+)\.", said)
    if found is None:
        raise NotFoundError(
            f"--runtime pyodide needs Node, and {path} is none: it answers {said!r} to --version. "
            f"Set {NODE_VARIABLE} to where Node {MIN_NODE} or newer is."
        )
    if int(found[1]) < MIN_NODE:
        raise NotFoundError(
            f"--runtime pyodide needs Node {MIN_NODE} or newer, and {path} is {said}. "
            f"Install a newer one (https://nodejs.org), or set {NODE_VARIABLE} to where it is."
        )
    return Node(path, said.removeprefix("v"))


@cache
def _output(*command: str) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=NODE_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (done.stdout or done.stderr).strip()


def _options(node: str, generation: Generation) -> tuple[str, ...]:
    """The options that this Node needs for this Pyodide."""
    known = _output(node, "--v8-options")
    options = [f"--no-{name}" for name in _NOT_WANTED if f"--{name} " in known]
    if generation.switches_stacks:
        options += [option for option in _STACK_SWITCHING if f"{option} " in known][:1]
    return tuple(options)


# -- The package -----------------------------------------------------------------------------------


def _package(
    generation: Generation, python_version: str, project: Path, environ: Mapping[str, str]
) -> tuple[Path, str]:
    others = []
    for folder in _candidates(project, environ):
        version = _version_of(folder)
        if version is not None and version.startswith(generation.series):
            return folder, version
        if version is not None:
            others.append(f"{version} in {folder}")
    found = f" Found: {', '.join(others)}." if others else ""
    command = f"npm install --no-save --prefix {shown(str(project))} pyodide@{generation.install}"
    raise NotFoundError(
        f"--runtime pyodide needs the npm package pyodide@{generation.install} for Python "
        f"{python_version}, which the compatibility date selects.{found} Install it beside the "
        f"Worker: `{command}`, or set {FOLDER_VARIABLE} to a folder that has it."
    )


def _candidates(project: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Folders that may hold the package: as npm names it, or under an alias."""
    given = environ.get(FOLDER_VARIABLE)
    roots = [Path(given)] if given else []
    for root in (*roots, *(folder / "node_modules" for folder in (project, *project.parents))):
        if root.is_dir():
            yield root
            yield from sorted(root.glob("pyodide*"))
            yield from sorted((root / "node_modules").glob("pyodide*"))


def _version_of(folder: Path) -> str | None:
    try:
        described = json.loads((folder / "package.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    complete = (folder / "pyodide.asm.wasm").exists()
    return str(described["version"]) if described.get("name") == "pyodide" and complete else None
