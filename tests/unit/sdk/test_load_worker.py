"""Loading a Worker without an emulator, and everything else that can go wrong before it runs."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = """
from helper import NAME
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request, env, ctx):
        self.ctx.waitUntil(self.env.AUDIT.send(request.headers["x-who"]))
        return Response(NAME, status=201, headers={"X-Made-By": "test"})

    async def queue(self, batch, env=None, ctx=None):
        batch.retryAll(delaySeconds=5)
"""


def run(code: str, *, cwd: Path) -> subprocess.CompletedProcess[str]:
    prelude = "import asyncio\nfrom tsumugi.testing import *\n"
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", prelude + textwrap.dedent(code)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    source = tmp_path / "src"
    source.mkdir()
    (source / "entry.py").write_text(SAMPLE)
    (source / "helper.py").write_text("NAME = 'ada'\n")
    (source / "empty.py").write_text("class Worker: ...\n")
    return tmp_path


def test_a_worker_is_loaded_from_its_path_with_its_folder_importable(project: Path) -> None:
    result = run(
        """
        Default = load_worker("src/entry.py")
        audit = RecordingQueue()
        answer = asyncio.run(
            run_fetch_handler(Default, "/", headers={"x-who": "eve"}, env={"AUDIT": audit})
        )
        print(answer.status, answer.text, answer.headers["x-made-by"], audit.bodies)
        print(asyncio.run(run_queue_handler(Default, build_batch("q", [1]))).retried)
        """,
        cwd=project,
    )
    assert result.stderr == ""
    assert result.stdout.splitlines() == ["201 ada test ['eve']", "{'message-1': 5}"]


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("src/missing.py", "FileNotFoundError"),
        ("src/empty.py", "AttributeError: empty.py defines no class Default"),
    ],
)
def test_what_is_no_worker_is_named(project: Path, path: str, complaint: str) -> None:
    assert complaint in run(f"load_worker({path!r})", cwd=project).stderr


def test_without_the_emulator_the_error_says_what_to_install(project: Path) -> None:
    result = run(
        """
        import sys
        sys.modules["tsumugi_emulator"] = None
        load_worker("src/entry.py")
        """,
        cwd=project,
    )
    assert "RuntimeNotInstalled" in result.stderr
    assert "add tsumugi-workers to the dev dependencies" in result.stderr


def test_a_fetch_without_a_runtime_says_so(project: Path) -> None:
    result = run("asyncio.run(run_fetch_handler(object(), '/'))", cwd=project)
    assert "RuntimeNotInstalled" in result.stderr


def test_a_fetch_that_returns_no_response_fails_as_in_production(project: Path) -> None:
    (project / "src" / "entry.py").write_text(
        "from workers import WorkerEntrypoint\n"
        "class Default(WorkerEntrypoint):\n"
        "    def fetch(self, request):\n"
        "        return {'a': 1}\n"
    )
    result = run("asyncio.run(run_fetch_handler(load_worker('src/entry.py'), '/'))", cwd=project)
    assert "fetch must return a workers.Response, not dict" in result.stderr


def test_a_response_of_javascript_is_read_as_well(project: Path) -> None:
    (project / "src" / "entry.py").write_text(
        "import asgi\n"
        "from workers import Response, WorkerEntrypoint\n"
        "async def app(scope, receive, send):\n"
        "    if scope['type'] == 'lifespan':\n"
        "        raise NotImplementedError\n"
        "    await send({'type': 'http.response.start', 'status': 201, 'headers': []})\n"
        "    await send({'type': 'http.response.body', 'body': scope['path'].encode()})\n"
        "class Default(WorkerEntrypoint):\n"
        "    async def fetch(self, request):\n"
        "        if request.url.endswith('/old'):\n"
        "            return Response.redirect('http://worker.test/new')\n"
        "        return await asgi.fetch(app, request, self.env, self.ctx)\n"
    )
    result = run(
        """
        Default = load_worker("src/entry.py")
        moved = asyncio.run(run_fetch_handler(Default, "/old"))
        assert (moved.status, moved.headers["location"]) == (302, "http://worker.test/new")
        answer = asyncio.run(run_fetch_handler(Default, "/new"))
        assert (answer.status, answer.text) == (201, "/new")
        print("both were read")
        """,
        cwd=project,
    )
    assert result.stdout == "both were read\n", result.stderr
