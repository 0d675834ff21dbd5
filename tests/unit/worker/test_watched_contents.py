"""A save counts when it changes what is in a file that may be the Worker's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tsumugi_emulator.worker.watch import Contents, is_source

if TYPE_CHECKING:
    from pathlib import Path


def known(directory: Path) -> tuple[Contents, Path]:
    entry = directory / "entry.py"
    entry.write_text("one")
    contents = Contents()
    contents.learn(directory, ())
    return contents, entry


def test_the_same_content_is_no_change(tmp_path: Path) -> None:
    contents, entry = known(tmp_path)
    entry.write_text("one")
    assert contents.changed([entry]) == set()


def test_other_content_is_a_change_once(tmp_path: Path) -> None:
    contents, entry = known(tmp_path)
    entry.write_text("two")
    assert contents.changed([entry]) == {entry}
    assert contents.changed([entry]) == set()


def test_a_new_file_and_a_removed_one_are_changes(tmp_path: Path) -> None:
    contents, entry = known(tmp_path)
    new = tmp_path / "new.py"
    new.write_text("")
    entry.unlink()
    assert contents.changed([entry, new]) == {entry, new}


def test_what_was_written_since_a_moment_is_known(tmp_path: Path) -> None:
    contents, entry = known(tmp_path)
    os.utime(entry, (1000, 1000))
    assert contents.saved_since(1001) == set()
    assert contents.saved_since(1000) == {entry}


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("entry.py", True),
        ("package/deep/module.py", True),
        ("notes.txt", False),
        (".venv/lib/module.py", False),
        ("python_modules/package/module.py", False),
        (".wrangler/tsumugi/x.py", False),
        ("wrangler.jsonc", False),
    ],
)
def test_only_python_files_of_the_project_count(tmp_path: Path, name: str, counts: bool) -> None:
    assert is_source(tmp_path / name, tmp_path, frozenset()) is counts


def test_a_configuration_file_counts_wherever_it_is(tmp_path: Path) -> None:
    file = tmp_path / "elsewhere" / ".dev.vars"
    assert is_source(file, tmp_path / "project", frozenset({file}))
