"""Packages that are compiled, as a deployment has them: built for Pyodide, in `python_modules`."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import jobs_run
import pytest
from dev_session import RUNTIME

if TYPE_CHECKING:
    from pathlib import Path

    from dev_session import Project

#: What `pywrangler sync` vendors beside the SDK, for the Pyodide of these tests' date.
PACKAGES = ("pydantic>=2.10",)
PLATFORM = "pyemscripten_2026_0_wasm32"


def vendor_if_needed(project: Project) -> Project:
    """The same project, which can import pydantic in the runtime that these tests have."""
    return vendor(project) if RUNTIME == "pyodide" else project


def vendor(project: Project) -> Project:
    shutil.copytree(_downloaded(), project.directory / "python_modules")
    return project


def _downloaded() -> Path:
    """A folder with the packages, downloaded once for all runs."""
    kept = jobs_run.KEPT / f"vendored-{PLATFORM}"
    with jobs_run.alone():
        if kept.is_dir():
            return kept
        uv = os.environ.get("UV") or shutil.which("uv")
        if uv is None:
            pytest.skip("needs uv, to get pip")
        part = kept.with_suffix(f".{os.getpid()}")
        command = [
            uv, "tool", "run", "pip", "install", "--quiet", "--target", str(part),
            "--platform", PLATFORM, "--python-version", "3.14", "--implementation", "cp",
            "--only-binary", ":all:", *PACKAGES,
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"needs a network on the first run: {done.stderr}")
        part.rename(kept)
    return kept
