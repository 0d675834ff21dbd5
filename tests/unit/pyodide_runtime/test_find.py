"""Finding Node and Pyodide: what is taken, and what is said when there is nothing to take."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tsumugi_emulator.pyodide_runtime.find import NotFoundError, find, find_node

if TYPE_CHECKING:
    from pathlib import Path

V8_OPTIONS = "--turbo-inline-js-wasm-calls (x) --experimental-wasm-stack-switching (x)"


def node(folder: Path, version: str = "v20.1.0", v8_options: str = V8_OPTIONS) -> Path:
    """A program that answers as Node does."""
    path = folder / f"node-{version}"
    path.write_text(
        f'#!/bin/sh\nif [ "$1" = --version ]; then echo "{version}"; else echo "{v8_options}"; fi\n'
    )
    path.chmod(0o755)
    return path


def package(folder: Path, version: str, *, name: str = "pyodide", complete: bool = True) -> Path:
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"name": name, "version": version}))
    if complete:
        (folder / "pyodide.asm.wasm").write_bytes(b"")
    return folder


def test_the_package_of_the_configured_generation_is_taken(tmp_path: Path) -> None:
    modules = tmp_path / "node_modules"
    package(modules / "pyodide", "314.0.7")
    older = package(modules / "pyodide-older", "0.28.2")
    environ = {"TSUMUGI_NODE": str(node(tmp_path))}
    found = find("3.13", tmp_path / "project", environ)
    assert (found.folder, found.version) == (str(older), "0.28.2")
    assert found.node_version == "20.1.0"


def test_a_folder_named_by_the_environment_comes_first(tmp_path: Path) -> None:
    package(tmp_path / "node_modules" / "pyodide", "314.0.1")
    named = package(tmp_path / "elsewhere", "314.0.7")
    environ = {"TSUMUGI_NODE": str(node(tmp_path)), "TSUMUGI_PYODIDE": str(named)}
    assert find("3.14", tmp_path, environ).folder == str(named)


@pytest.mark.parametrize(
    ("python", "version", "options"),
    [
        ("3.12", "0.26.0-alpha.4", ()),
        ("3.13", "0.28.2", ("--experimental-wasm-stack-switching",)),
        ("3.14", "314.0.7", ("--experimental-wasm-stack-switching",)),
    ],
)
def test_node_switches_stacks_where_production_does(
    tmp_path: Path, python: str, version: str, options: tuple[str, ...]
) -> None:
    package(tmp_path / "node_modules" / "pyodide", version)
    found = find(python, tmp_path, {"TSUMUGI_NODE": str(node(tmp_path))})
    assert found.node_options == ("--no-turbo-inline-js-wasm-calls", *options)


def test_options_that_a_node_does_not_know_are_not_given_to_it(tmp_path: Path) -> None:
    package(tmp_path / "node_modules" / "pyodide", "314.0.7")
    newer = node(tmp_path, "v26.0.0", v8_options="--other (x)")
    assert find("3.14", tmp_path, {"TSUMUGI_NODE": str(newer)}).node_options == ()


def test_a_missing_node_is_named_with_the_next_step(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        find_node({"PATH": str(tmp_path)})
    text = str(caught.value)
    assert "needs Node 20 or newer, and there is no `node` on the PATH" in text
    assert "https://nodejs.org" in text
    assert "TSUMUGI_NODE" in text


def test_a_node_that_is_too_old_is_named_with_its_version(tmp_path: Path) -> None:
    old = node(tmp_path, "v18.20.0")
    with pytest.raises(NotFoundError, match=rf"needs Node 20 or newer, and {old} is v18\.20\.0"):
        find_node({"TSUMUGI_NODE": str(old)})


def test_a_program_that_is_no_node_is_not_taken_for_one(tmp_path: Path) -> None:
    other = node(tmp_path, "GNU something")
    with pytest.raises(NotFoundError, match="is none: it answers 'GNU something'"):
        find_node({"TSUMUGI_NODE": str(other)})


def test_a_missing_package_is_named_with_the_command_that_brings_it(tmp_path: Path) -> None:
    package(tmp_path / "node_modules" / "pyodide", "0.28.2")
    with pytest.raises(NotFoundError) as caught:
        find("3.14", tmp_path, {"TSUMUGI_NODE": str(node(tmp_path))})
    text = str(caught.value)
    assert "pyodide@314.0.7 for Python 3.14" in text
    assert f"Found: 0.28.2 in {tmp_path / 'node_modules' / 'pyodide'}" in text
    assert f"npm install --no-save --prefix {tmp_path} pyodide@314.0.7" in text


@pytest.mark.parametrize("wrong", [{"name": "pyodide-tools"}, {"complete": False}])
def test_what_only_looks_like_the_package_is_passed_over(
    tmp_path: Path, wrong: dict[str, object]
) -> None:
    package(tmp_path / "node_modules" / "pyodide", "314.0.7", **wrong)  # type: ignore[arg-type]
    with pytest.raises(NotFoundError):
        find("3.14", tmp_path, {"TSUMUGI_NODE": str(node(tmp_path))})
