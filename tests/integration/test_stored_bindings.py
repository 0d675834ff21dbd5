"""Stored bindings under ``tsumugi dev``: what was awaited is there, whatever dies."""

from __future__ import annotations

import json
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

import httpx
from dev_session import eventually, run_tsumugi

if TYPE_CHECKING:
    from collections.abc import Callable

    from dev_session import Dev, Project

type MakeProject = Callable[..., Project]
type RunDev = Callable[..., Dev]

BINDINGS: dict[str, Any] = {
    "d1_databases": [{"binding": "DB", "database_name": "data", "database_id": "data"}],
    "kv_namespaces": [{"binding": "KV", "id": "cache"}],
    "r2_buckets": [{"binding": "FILES", "bucket_name": "files"}],
    "analytics_engine_datasets": [{"binding": "EVENTS", "dataset": "events"}],
    "ratelimits": [{"name": "LIMIT", "namespace_id": "1", "simple": {"limit": 100, "period": 60}}],
    "version_metadata": {"binding": "VERSION"},
}

WORKER = """
import json
import os
from urllib.parse import urlparse

from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        path = urlparse(request.url).path
        if path == "/pid":
            return Response(str(os.getpid()))
        if path == "/version":
            return Response(self.env.VERSION.id)
        await self.env.DB.exec("CREATE TABLE IF NOT EXISTS t (name TEXT PRIMARY KEY)")
        if request.method == "POST":
            return await self.write(await request.text())
        keys = await self.env.KV.list()
        rows = await self.env.DB.prepare("SELECT name FROM t").all()
        files = await self.env.FILES.list()
        return Response(json.dumps({
            "kv": [key.name for key in keys["keys"]],
            "d1": [row.name for row in rows.results],
            "r2": [file.key for file in files["objects"]],
        }))

    async def write(self, name):
        env = self.env
        await env.KV.put(name, name)
        await env.DB.batch([env.DB.prepare("INSERT INTO t VALUES (?)").bind(name)])
        await env.FILES.put(name, name)
        env.EVENTS.writeDataPoint(blobs=[name], indexes=[name])
        allowed = await env.LIMIT.limit(key="writes")
        return Response(str(allowed.success))
"""


def kept(dev: Dev) -> dict[str, set[str]]:
    found: dict[str, list[str]] = dev.get("/").json()
    return {kind: set(names) for kind, names in found.items()}


class Writer:
    """Writes name after name until it is told to stop; remembers which were answered."""

    def __init__(self, url: str) -> None:
        self.answered: list[str] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write, args=(url,), daemon=True)
        self._thread.start()

    def _write(self, url: str) -> None:
        with httpx.Client(base_url=url, timeout=20, trust_env=False) as client:
            number = 0
            while not self._stop.is_set():
                number += 1
                name = f"n{number:05}"
                try:
                    if client.post("/", content=name).status_code == 200:
                        self.answered.append(name)
                except httpx.HTTPError:
                    return

    def wait_for(self, count: int) -> None:
        eventually(lambda: len(self.answered) >= count, f"{count} writes")

    def stop(self) -> set[str]:
        self._stop.set()
        self._thread.join(20)
        return set(self.answered)


def test_everything_is_bound_and_shown(project: MakeProject, dev: RunDev) -> None:
    session = dev(project(entry=WORKER, **BINDINGS)).ready()
    for row in (
        r"env\.KV +KV Namespace cache",
        r"env\.DB +D1 Database data",
        r"env\.FILES +R2 Bucket files",
        r"env\.EVENTS +Analytics Engine Dataset events",
        r"env\.LIMIT +Rate Limit 100 / 60 s",
        r"env\.VERSION +Worker Version Metadata",
    ):
        session.wait_for(row)
    assert session.post("/", content="one").text == "True"
    assert kept(session) == {kind: {"one"} for kind in ("kv", "d1", "r2")}


def test_nothing_awaited_is_lost_when_the_child_is_killed_in_a_burst(
    project: MakeProject, dev: RunDev
) -> None:
    session = dev(project(entry=WORKER, **BINDINGS)).ready()
    writer = Writer(session.url)
    for count in (20, 40):
        writer.wait_for(count)
        os.kill(session.serving_child(), signal.SIGKILL)
    writer.wait_for(60)
    answered = writer.stop()
    for kind, names in kept(session).items():
        assert answered <= names, kind


def test_nothing_awaited_is_lost_when_the_supervisor_is_killed(
    project: MakeProject, dev: RunDev
) -> None:
    made = project(entry=WORKER, **BINDINGS)
    first = dev(made).ready()
    writer = Writer(first.url)
    writer.wait_for(20)
    first.kill()
    answered = writer.stop()
    second = dev(made).ready()
    for kind, names in kept(second).items():
        assert answered <= names, kind


def test_a_reload_keeps_data_and_is_a_new_version(project: MakeProject, dev: RunDev) -> None:
    made = project(entry=WORKER, **BINDINGS)
    session = dev(made).ready()
    version = session.get("/version").text
    writer = Writer(session.url)
    writer.wait_for(10)
    made.replace("src/entry.py", "import json\n", "import json  # changed\n")
    eventually(lambda: session.get("/version").text != version, "the new version")
    writer.wait_for(len(writer.answered) + 10)
    answered = writer.stop()
    for kind, names in kept(session).items():
        assert answered == names, kind


def test_commands_see_what_a_running_worker_wrote(project: MakeProject, dev: RunDev) -> None:
    made = project(entry=WORKER, **BINDINGS)
    session = dev(made).ready()
    session.post("/", content="one")
    query = "INSERT INTO t VALUES ('two'); SELECT name FROM t ORDER BY name"
    command = ("d1", "execute", "data", "--json", "--command", query)
    ran = run_tsumugi(*command, cwd=made.directory)
    assert json.loads(ran.stdout)[-1]["results"] == [{"name": "one"}, {"name": "two"}]
    assert kept(session)["d1"] == {"one", "two"}
    session.stop()
    ran = run_tsumugi(*command[:-1], "SELECT count(*) AS n FROM t", cwd=made.directory)
    assert json.loads(ran.stdout)[-1]["results"] == [{"n": 2}]
