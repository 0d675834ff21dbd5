"""``tsumugi init``: copy a template under a name of its own. Never overwrites anything."""

from __future__ import annotations

import json
import os
import re
import secrets
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from tsumugi_emulator.cli.terminal import BOLD, DIM, Terminal

DISTRIBUTION = "tsumugi-workers"
PACKAGE = Path(__file__).resolve().parents[1]
#: What running or testing a template leaves behind.
LEFTOVERS = frozenset(
    {
        ".dev.vars",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".venv",
        ".venv-workers",
        ".wrangler",
        "__pycache__",
        "node_modules",
        "python_modules",
        "uv.lock",
    }
)
#: A Worker's name is part of a host name, and the longest queue name made of it has 63 characters.
MAX_NAME_LENGTH = 54
DEFAULT_NAME = "my-worker"
MAX_NAMED_FILES = 5

SECRETS = ".dev.vars"
SECRETS_EXAMPLE = ".dev.vars.example"
#: Stands in the example where a secret is to be made up.
SECRET_PLACEHOLDER = "change-me"
SECRET_BYTES = 24


def run(directory: Path, template: str) -> int:
    """Write the template's files into ``directory``; the process's exit code."""
    terminal = Terminal()
    if fault := obstacle(directory):
        terminal.log("error", fault)
        return 1
    name = worker_name(directory.resolve().name)
    source = templates_directory() / template
    for relative, data in renamed_files(source, template, name):
        path = directory / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    write_secrets(directory)
    write_origin(directory)
    terminal.write(_next_steps(terminal, directory, name))
    return 0


def obstacle(directory: Path) -> str | None:
    """Why nothing may be written to ``directory``; None if something may."""
    if directory.is_dir():
        present = sorted(entry.name for entry in directory.iterdir() if entry.name != ".git")
        if not present:
            return None
        shown = ", ".join(present[:MAX_NAMED_FILES])
        more = len(present) - MAX_NAMED_FILES
        rest = f" and {more} more" if more > 0 else ""
        return f"{directory} is not empty: {shown}{rest}. Choose another directory, or empty it."
    # exists() follows links, and a broken one is in the way too.
    if directory.exists() or directory.is_symlink():
        return f"{directory} exists and is not a directory. Choose another name."
    blocking = next((parent for parent in directory.parents if parent.exists()), None)
    if blocking is not None and not blocking.is_dir():
        return f"{blocking} is not a directory. Choose another place."
    return None


def worker_name(text: str) -> str:
    """``text`` as wrangler accepts it: lower-case letters, digits, dashes and underscores."""
    name = re.sub(r"[^a-z0-9_-]+", "-", text.lower())
    # Queues are named after it, and their names begin and end with a letter or a digit.
    name = name[:MAX_NAME_LENGTH].strip("-_")
    return name or DEFAULT_NAME


def templates_directory() -> Path:
    """Inside the package when installed from a wheel, at the repository's root otherwise."""
    packaged = PACKAGE / "templates"
    return packaged if packaged.is_dir() else PACKAGE.parents[1] / "templates"


def renamed_files(source: Path, template: str, name: str) -> list[tuple[Path, bytes]]:
    """The files of a project called ``name``: relative paths and contents."""
    placeholder = f"tsumugi-{template}-template".encode()
    found: list[tuple[Path, bytes]] = []
    for parent, directories, files in os.walk(source):
        directories[:] = sorted(set(directories) - LEFTOVERS)
        for file in sorted(set(files) - LEFTOVERS):
            path = Path(parent, file)
            data = path.read_bytes().replace(placeholder, name.encode())
            found.append((path.relative_to(source), data))
    return found


def write_secrets(directory: Path) -> None:
    """Local secrets of one's own, where the template says which: random, and git-ignored."""
    try:
        example = (directory / SECRETS_EXAMPLE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return
    parts = example.split(SECRET_PLACEHOLDER)
    text = parts[0] + "".join(secrets.token_urlsafe(SECRET_BYTES) + part for part in parts[1:])
    path = directory / SECRETS
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")


def write_origin(directory: Path) -> None:
    """Have uv take this package from where it was installed, if that was no index of packages.

    Somebody who tries a checkout could not `uv sync` otherwise.
    """
    source = uv_source(_direct_url())
    if source is not None:
        with (directory / "pyproject.toml").open("a", encoding="utf-8") as file:
            file.write(f"\n[tool.uv.sources]\n# Where `tsumugi init` was run from.\n{source}\n")


def uv_source(direct_url: dict[str, Any] | None) -> str | None:
    """An entry of ``tool.uv.sources`` for what a ``direct_url.json`` says (PEP 610)."""
    if direct_url is None:
        return None
    url = direct_url["url"]
    match direct_url:
        case {"vcs_info": {"vcs": "git", "commit_id": commit}}:
            source = {"git": url, "rev": commit}
        case {"url": str()} if url.startswith("file://"):
            # Never editable: pywrangler would upload a path of this machine, not the package.
            source = {"path": unquote(urlsplit(url).path)}
        case _:
            source = {"url": url}
    members = ", ".join(f"{key} = {json.dumps(value)}" for key, value in source.items())
    return f"{DISTRIBUTION} = {{ {members} }}"


def _direct_url() -> dict[str, Any] | None:
    try:
        text = metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None
    return None if text is None else json.loads(text)


def _next_steps(terminal: Terminal, directory: Path, name: str) -> str:
    steps = ["uv sync", "uv run tsumugi dev", "uv run pytest"]
    if directory.resolve() != Path.cwd():
        steps.insert(0, f"cd {_quoted(directory)}")
    lines = "\n".join(f"  {step}" for step in steps)
    return (
        f"Created {terminal.paint(name, BOLD)} in {directory}\n\n{lines}\n\n"
        f"{terminal.paint('README.md says what is where, and how to deploy.', DIM)}"
    )


def _quoted(directory: Path) -> str:
    import shlex

    return shlex.quote(str(directory))
