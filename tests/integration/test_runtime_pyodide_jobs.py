"""Jobs in Pyodide as a person tries them: the template, with packages as a deployment has them."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import jobs_run
import pytest
from dev_session import Project, eventually, run_tsumugi
from pyodide_session import WITHIN_S, PyodideDev

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

#: What `pywrangler sync` vendors beside the SDK, for the Pyodide of the template's date.
PACKAGES = ("pydantic>=2.10",)
PLATFORM = "pyemscripten_2026_0_wasm32"


@pytest.fixture(scope="module")
def vendored() -> Path:
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


def test_the_jobs_template_charges_an_order_once_and_sends_its_receipt(
    tmp_path: Path, vendored: Path
) -> None:
    assert run_tsumugi("init", "shop", "--template", "jobs", cwd=tmp_path).returncode == 0
    made = Project(tmp_path / "shop")
    shutil.copytree(vendored, made.directory / "python_modules")
    session = PyodideDev(made)
    try:
        session.ready()
        order = {"id": "A-1", "customer": "ada", "cents": 1990}
        first = session.post("/orders", json=order)
        assert first.status_code == 202, first.text
        assert session.post("/orders", json=order).json() == first.json()
        session.wait_for(r"Receipt of order A-1 sent to ada \(attempt 1\)")
        assert session.output.count("Charged ada: 19.90") == 1
        assert session.get("/api/jobs").status_code == 401
        eventually(
            lambda: run_tsumugi("jobs", "list", cwd=made.directory).stdout.count("COMPLETED") == 2,
            "the read model",
            WITHIN_S,
        )
    finally:
        session.close()
