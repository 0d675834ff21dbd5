"""Which command uploads a project. Pure: what is on the machine is an argument."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


class NoTool(Exception):
    """Nothing here can deploy; the text says what to install."""


@dataclass(frozen=True, slots=True)
class Project:
    """What a deployment tool looks at."""

    root: Path
    #: The contents of ``pyproject.toml``, if there is one.
    pyproject: Mapping[str, Any] | None
    #: Where that is, if not in the root: Workers of a repository may share one.
    home: Path | None = None

    @property
    def dependencies(self) -> list[str]:
        """What the Worker imports from packages."""
        project = (self.pyproject or {}).get("project")
        found = project.get("dependencies") if isinstance(project, dict) else None
        return [entry for entry in found if isinstance(entry, str)] if found else []

    @property
    def lists_pywrangler(self) -> bool:
        groups = (self.pyproject or {}).get("dependency-groups")
        entries = [e for g in groups.values() for e in g] if isinstance(groups, dict) else []
        entries += self.dependencies
        return any(isinstance(e, str) and re.match(r"workers[-_]py\b", e) for e in entries)


def command(
    project: Project, find: Callable[[str], str | None], *, exists: Callable[[Path], bool]
) -> list[str]:
    """The start of the command line. ``find`` looks a program up in PATH.

    pywrangler vendors the dependencies before it uploads; wrangler alone uploads what lies in
    ``python_modules``. So a project with dependencies needs pywrangler. Raises ``NoTool``.
    """
    own = (project.home or project.root) / ".venv" / "bin" / "pywrangler"
    if exists(own):
        return [str(own)]
    if project.lists_pywrangler and (uv := find("uv")):
        return [uv, "run", "pywrangler"]
    if found := find("pywrangler"):
        return [found]
    if project.dependencies and not exists(project.root / "python_modules"):
        raise NoTool(
            f"The Worker depends on {', '.join(project.dependencies)}, which pywrangler vendors "
            'before it deploys, and there is no pywrangler here. Install uv, add "workers-py" to '
            "the dev group of pyproject.toml, and run this again."
        )
    local = project.root / "node_modules" / ".bin" / "wrangler"
    if exists(local):
        return [str(local)]
    if found := find("wrangler"):
        return [found]
    if npx := find("npx"):
        return [npx, "--yes", "wrangler"]
    raise NoTool(
        "Deploying is done by pywrangler or wrangler, and neither is here. Install Node.js, "
        'which brings npx, or uv with "workers-py" in the dev group of pyproject.toml.'
    )


def read_project(root: Path) -> Project:
    """With the nearest ``pyproject.toml`` going up, as pywrangler and uv find it.

    A file that cannot be read counts as none: the tool itself will say what is wrong with it.
    """
    for home in (root, *root.parents):
        try:
            text = (home / "pyproject.toml").read_text(encoding="utf-8")
            return Project(root, tomllib.loads(text), home)
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            break
    return Project(root, None)
