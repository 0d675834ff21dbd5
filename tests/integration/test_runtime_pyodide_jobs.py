"""Jobs in Pyodide as a person tries them: the template, with packages as a deployment has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from dev_session import Project, eventually, run_tsumugi
from pyodide_session import WITHIN_S, PyodideDev
from vendored import vendor

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


def test_the_jobs_template_charges_an_order_once_and_sends_its_receipt(tmp_path: Path) -> None:
    assert run_tsumugi("init", "shop", "--template", "jobs", cwd=tmp_path).returncode == 0
    made = vendor(Project(tmp_path / "shop"))
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
