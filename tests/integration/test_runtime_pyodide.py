"""``tsumugi dev --runtime pyodide``: the shortest way through, and what is said when it is closed.

The rest is in ``test_runtime_pyodide_*.py``, which take longer.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
from dev_session import Project, run_tsumugi
from pyodide_session import PyodideDev

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    MakeProject = Callable[..., Project]

ENTRY = """
import sys
from workers import Response, WorkerEntrypoint, WorkerEntrypoint as Base

class Default(Base):
    async def fetch(self, request):
        if request.url.endswith("/fail"):
            raise ValueError("told to fail")
        await self.env.KV.put("seen", request.url)
        found = await self.env.KV.get("seen")
        print("in", sys.platform, type(self.env.KV).__name__)
        return Response(f"{self.env.GREETING} {found} {sys.version_info[:2]}")
"""


@pytest.mark.timeout(180)
def test_a_worker_answers_from_pyodide_and_shows_its_failures(project: MakeProject) -> None:
    made = project(
        entry=ENTRY,
        vars={"GREETING": "Hello"},
        kv_namespaces=[{"binding": "KV", "id": "kv"}],
    )
    session = PyodideDev(made, "--no-reload")
    try:
        session.ready()
        assert "Runs in Pyodide 314." in session.output
        assert session.get("/here").text == f"Hello {session.url}/here (3, 14)"
        session.wait_for(r"\[test-worker\] in emscripten _BindingWrapper")
        answer = session.get("/fail")
        assert answer.status_code == 500
        assert answer.text == (
            "Traceback (most recent call last):\n"
            '  File "src/entry.py", line 8, in fetch\n'
            '    raise ValueError("told to fail")\n'
            "ValueError: told to fail\n"
        )
        session.wait_for(r"GET /fail failed")
        assert session.stop() == 0
    finally:
        session.close()


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        (
            {"TSUMUGI_NODE": "no-such-node"},
            "needs Node 20 or newer, and there is no `no-such-node`",
        ),
        pytest.param(
            {},
            "needs the npm package pyodide@314.0.7 for Python 3.14",
            marks=pytest.mark.skipif(shutil.which("node") is None, reason="needs Node"),
        ),
    ],
)
def test_a_missing_runtime_ends_the_command_with_the_next_step(
    project: MakeProject, environ: dict[str, str], said: str, tmp_path: Path
) -> None:
    made = project(entry=ENTRY)
    options: dict[str, Any] = {"TSUMUGI_PYODIDE": str(tmp_path / "nowhere"), **environ}
    done = run_tsumugi("dev", "--runtime", "pyodide", "--port", "0", cwd=made.directory, **options)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Install it" in done.stderr
