"""docs/architecture.md names what is there, and all of it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
PACKAGES = ("sdk/tsumugi", "emulator/tsumugi_emulator")
SOURCES = (".py", ".mjs")


def folders() -> set[str]:
    """The folders right below the two packages that hold code, by name."""
    return {
        folder.name
        for package in PACKAGES
        for folder in (ROOT / package).iterdir()
        if folder.is_dir() and any(path.suffix in SOURCES for path in folder.rglob("*"))
    }


def paths() -> set[str]:
    """Folders and modules from the root on, without endings."""
    return {
        f"/{path.relative_to(ROOT).with_suffix('')}"
        for package in PACKAGES
        for path in (ROOT / package, *(ROOT / package).rglob("*"))
        if path.suffix in (*SOURCES, "") and "__pycache__" not in path.parts
    }


def test_every_folder_of_the_packages_has_its_row() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")]
    named = {name for row in rows for name in re.findall(r"\w+", row.split("|")[1])}
    assert folders() - named == set()


def test_every_path_it_names_is_there() -> None:
    known = paths()
    named = re.findall(r"[`\s(]([a-z][a-z_\d]*(?:/[a-z_\d]+)+)(?:\.[\w.]+)?(?=[`\s,)])", PAGE)
    assert {name for name in named if not any(path.endswith(f"/{name}") for path in known)} == set()
