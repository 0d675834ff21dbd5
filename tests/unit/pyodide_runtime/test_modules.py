"""Where Pyodide gets a module from, and why it does not get one."""

from __future__ import annotations

import json
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from typing import TYPE_CHECKING, Any

import pytest
from tsumugi_emulator.pyodide_runtime.modules import PyodidePackage, locate

if TYPE_CHECKING:
    from pathlib import Path

LOCKED = {
    "needed": {"file_name": "needed-1.whl", "imports": ["needed"], "depends": []},
    "quick-core": {
        "file_name": "quick_core-2.whl",
        "imports": ["quick_core"],
        "depends": ["needed"],
    },
    "ssl": {"file_name": "ssl-1.whl", "imports": ["ssl"], "depends": []},
}


@pytest.fixture
def package(tmp_path: Path) -> PyodidePackage:
    folder = tmp_path / "pyodide"
    folder.mkdir()
    (folder / "pyodide-lock.json").write_text(json.dumps({"packages": LOCKED}))
    return PyodidePackage(folder, "0.28.2", "3.13", tmp_path / "project")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages that this Python finds."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    return folder


def made(folder: Path, name: str, *, compiled: bool = False) -> Path:
    package = folder / name
    package.mkdir()
    (package / "__init__.py").write_text("")
    if compiled:
        (package / f"_fast{EXTENSION_SUFFIXES[0]}").write_bytes(b"")
    return package


def test_a_package_of_python_only_is_shown_as_it_is(package: PyodidePackage, site: Path) -> None:
    assert locate("plain_one", package) is None
    folder = made(site, "plain_two")
    assert locate("plain_two", package) == ["folder", str(folder)]


def test_a_single_file_is_shown_as_it_is(package: PyodidePackage, site: Path) -> None:
    (site / "single_file.py").write_text("")
    assert locate("single_file", package) == ["file", str(site / "single_file.py")]


def test_a_compiled_package_comes_as_pyodides_own_wheels_if_they_are_there(
    package: PyodidePackage, site: Path
) -> None:
    made(site, "quick_core", compiled=True)
    wheels = [package.folder / name for name in ("needed-1.whl", "quick_core-2.whl")]
    for wheel in wheels:
        wheel.write_bytes(b"")
    assert locate("quick_core", package) == ["wheels", *map(str, wheels)]


def test_a_compiled_package_without_a_wheel_is_refused_with_the_next_step(
    package: PyodidePackage, site: Path
) -> None:
    made(site, "quick_core", compiled=True)
    kind, why = _two(locate("quick_core", package))
    assert kind == "refused"
    assert "No module named 'quick_core' in Pyodide 0.28.2" in why
    assert "quick_core-2.whl" in why
    assert f"pywrangler sync` in {package.project}" in why


def test_a_compiled_package_that_pyodide_does_not_know_is_refused(
    package: PyodidePackage, site: Path
) -> None:
    made(site, "only_native", compiled=True)
    kind, why = _two(locate("only_native", package))
    assert (kind, "only_native is compiled for CPython" in why) == ("refused", True)


def test_a_part_of_the_standard_library_that_npm_leaves_out_is_refused_by_name(
    package: PyodidePackage,
) -> None:
    kind, why = _two(locate("ssl", package))
    assert (kind, "Pyodide's own build is not here (ssl-1.whl)" in why) == ("refused", True)


@pytest.mark.parametrize("name", ["tsumugi_emulator", "pyodide", "_pyodide", "fcntl", "asyncio"])
def test_what_is_no_part_of_a_worker_is_not_there(package: PyodidePackage, name: str) -> None:
    assert locate(name, package) is None


def _two(found: Any) -> tuple[str, str]:
    kind, why = found
    return kind, why
