"""Workers in Pyodide from outside: templates, every Python, bindings, objects, crashes, reloads."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from dev_session import Project, eventually, is_gone
from pyodide_session import DATES, WITHIN_S, PyodideDev

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    MakeProject = Callable[..., Project]

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

TEMPLATES = Path(__file__).parents[2] / "templates"
#: Calls between two reloads.
LOAD = 50
#: Enough to meet whatever order frames arrive in.
BATCHES = 25

BINDINGS: dict[str, Any] = {
    "kv_namespaces": [{"binding": "KV", "id": "kv"}],
    "d1_databases": [{"binding": "DB", "database_name": "db", "database_id": "db"}],
    "r2_buckets": [{"binding": "R2", "bucket_name": "files"}],
    "queues": {
        "producers": [{"binding": "Q", "queue": "q"}, {"binding": "LOST", "queue": "lost"}],
        "consumers": [{"queue": "q", "max_batch_timeout": 0}],
    },
    "vars": {"SETTINGS": {"list": [1, 2]}},
}
ENTRY = """
import asyncio
import contextlib
import os
import sys
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(repr(await getattr(self, request.url.rpartition("/")[2])()))

    async def stores(self):
        await self.env.KV.put("k", b"bytes", metadata={"m": 1})
        await self.env.DB.exec("CREATE TABLE IF NOT EXISTS t (a, b)")
        await self.env.DB.prepare("INSERT INTO t VALUES (?, ?)").bind(1.5, "x").run()
        await self.env.R2.put("f", "text")
        found = await self.env.KV.getWithMetadata("k", "arrayBuffer")
        rows = (await self.env.DB.prepare("SELECT * FROM t").all()).results
        return [bytes(found.value), found.metadata, rows, await (await self.env.R2.get("f")).text()]

    async def refusals(self):
        said = []
        for attempt in (
            lambda: self.env.KV.put("k", {"a": 1}),
            lambda: self.env.Q.send(2**60),
            lambda: self.env.Q.send({"a": object()}, contentType="v8"),
        ):
            try:
                await attempt()
            except Exception as error:
                said.append(f"{type(error).__name__} {error}")
        return said

    async def hangs(self):
        await asyncio.get_event_loop().create_future()

    async def times_out(self):
        try:
            async with asyncio.timeout(0.05):
                await asyncio.sleep(60)
        except TimeoutError:
            return "timed out"

    async def leaves_a_task(self):
        async def later():
            await asyncio.sleep(60)
        asyncio.create_task(later())

    async def leaves_a_failure(self):
        async def fails():
            raise ValueError("of no interest")
        asyncio.create_task(fails())
        awaited = asyncio.create_task(fails())
        with contextlib.suppress(ValueError):
            await awaited

    async def stops(self):
        breakpoint()

    async def recurses(self):
        sys.setrecursionlimit(10**9)
        def deeper():
            return [deeper()]
        deeper()

    async def exits(self):
        os._exit(3)

    async def holds(self):
        async def later():
            await asyncio.sleep(0.05)
            print("held", list(self.env.SETTINGS.list))
        self.ctx.waitUntil(later())

    async def waits_synchronously(self):
        from pyodide.ffi import run_sync
        return run_sync(asyncio.sleep(0.01, "waited"))

    async def send(self):
        await self.env.Q.send({"n": 1.5, "none": None, "text": "é"})

    async def queue(self, batch, env=None, ctx=None):
        for message in batch.messages:
            print("message", message.body, type(message.body).__name__)
            message.ack()
            message.retry()
        self.env.LOST.send("nobody awaits this")

    async def scheduled(self, controller, env=None, ctx=None):
        print("cron", controller.cron)
"""


@pytest.fixture
def dev() -> Iterator[Callable[..., PyodideDev]]:
    started: list[PyodideDev] = []

    def start(made: Project, *arguments: str, **options: Any) -> PyodideDev:
        session = PyodideDev(made, *arguments, **options)
        started.append(session)
        session.ready()
        return session

    yield start
    for session in started:
        session.close()


def template(name: str, directory: Path) -> Project:
    shutil.copytree(TEMPLATES / name, directory / name, ignore=shutil.ignore_patterns(".*"))
    return Project(directory / name)


def test_the_hello_template_runs_as_it_is(tmp_path: Path, dev: Callable[..., PyodideDev]) -> None:
    session = dev(template("hello", tmp_path))
    assert session.get("/?name=Mika").text == "Hello, Mika!\n"


def test_the_queue_template_runs_as_it_is(tmp_path: Path, dev: Callable[..., PyodideDev]) -> None:
    session = dev(template("queue", tmp_path))
    jobs = [{"text": "one"}, {"text": "two", "fail_times": 1}]
    assert session.post("/batch", json=jobs).json() == {"queued": 2}
    session.wait_for("Done: one")
    session.wait_for(r"Attempt 1 failed .*; next one in 2 s")
    session.wait_for("Done: two")


@pytest.mark.parametrize("python", list(DATES))
def test_every_python_has_its_bindings_events_and_refusals(
    project: MakeProject, dev: Callable[..., PyodideDev], python: str
) -> None:
    session = dev(project(entry=ENTRY, compatibility_date=DATES[python], **BINDINGS))
    assert f"(Python {python})" in session.output
    assert session.get("/stores").text == ("[b'bytes', {'m': 1}, [{'a': 1.5, 'b': 'x'}], 'text']")
    refused = session.get("/refusals").text
    assert "JsException TypeError: KV put() accepts only strings" in refused
    assert "JsException TypeError: Do not know how to serialize a BigInt" in refused
    assert "JsException DataCloneError: [object Object] could not be cloned." in refused
    hung = session.get("/hangs")
    assert (hung.status_code, "code had hung" in hung.text) == (500, True)
    assert session.get("/times_out").text == "'timed out'"
    session.get("/leaves_a_task")
    session.wait_for(r"src/entry\.py:\d+: .*later\(\) was still running when its fetch event ended")
    session.get("/holds")
    session.wait_for(r"held \[1, 2\]")
    waited = session.get("/waits_synchronously")
    assert (waited.status_code, waited.text) == (200, "'waited'") or python == "3.12"
    session.get("/send")
    none = "" if python == "3.12" else ", 'none': None"
    session.wait_for(rf"message \{{'n': 1\.5{none}, 'text': 'é'\}} JsDict")
    session.wait_for(r"Received a call to retry\(\) on message \w+ after ack\(\)")
    session.wait_for(r"send\(\) to queue 'lost' was not awaited .* 1 message\(s\) lost")
    session.get("/cdn-cgi/handler/scheduled?cron=*+*+*+*+*")
    session.wait_for(r"cron \* \* \* \* \*")


@pytest.mark.parametrize("python", list(DATES))
def test_every_python_tells_of_failed_tasks_of_breakpoints_and_of_its_end(
    project: MakeProject, dev: Callable[..., PyodideDev], python: str
) -> None:
    session = dev(project(entry=ENTRY, compatibility_date=DATES[python], **BINDINGS))
    session.get("/leaves_a_failure")
    session.wait_for(r"Uncaught exception in a task\n(.*\n)+?\s*ValueError: of no interest\n")
    assert session.get("/stops").status_code == 200
    session.wait_for(r"src/entry\.py:\d+: breakpoint\(\) does nothing in Pyodide")
    deep = session.get("/recurses")
    assert (deep.status_code, "RecursionError" in deep.text) == (500, True)
    gone = session.get("/exits")
    assert (gone.status_code, "exited with code 3." in gone.text) == (503, True)
    session.wait_for("exited with code 3; starting it again")
    assert session.get("/times_out").text == "'timed out'"
    assert session.count("ValueError: of no interest") == 1


def test_a_send_nobody_awaits_is_lost_every_time(
    project: MakeProject, dev: Callable[..., PyodideDev]
) -> None:
    session = dev(project(entry=ENTRY, **BINDINGS))
    for count in range(1, BATCHES + 1):
        session.get("/send")
        session.wait_for("QUEUE q 1/1", times=count)
    session.wait_for("1 message\\(s\\) lost", times=BATCHES)
    assert 'Queue "lost" has no consumer' not in session.output


def test_functions_cross_to_another_worker_and_chains_of_them_end(
    project: MakeProject, dev: Callable[..., PyodideDev]
) -> None:
    project("callee", at="callee")
    caller = project("caller", at="caller")
    session = dev(caller, "-c", "wrangler.json", "-c", "../callee/wrangler.json")
    code = """
count = 0
async def again(*_):
    nonlocal count
    count += 1
    return await env.CALLEE.call(again)
async def later():
    await asyncio.sleep(0.01)
    return "later"
calls = [await outcome(env.CALLEE.call(function)) for function in (later, lambda: "now", again)]
return [*calls, count]
"""
    later, now, endless, count = eval(session.post("/run", content=code).text)
    assert [later, now, count] == ["later", "now", 8]
    assert "Subrequest depth limit exceeded" in endless


def test_killing_node_costs_one_start_and_no_write(
    project: MakeProject, dev: Callable[..., PyodideDev]
) -> None:
    session = dev(project("objects"))
    assert [session.post("/bump").json()[0] for _ in range(3)] == [1, 2, 3]
    for node in session.nodes():
        os.kill(node, signal.SIGKILL)
    session.wait_for("The Node process with Pyodide was killed by SIGKILL")
    session.wait_for("starting it again")
    assert eventually(lambda: bumped(session), "it serves again", WITHIN_S) == 4
    found = session.get("/read").json()
    assert found == {"n": 4, "log": [1, 2, 3, 4]}


def bumped(session: PyodideDev) -> int | None:
    answer = session.post("/bump")
    return answer.json()[0] if answer.status_code == 200 else None


def test_objects_lose_nothing_while_their_code_is_saved_under_load(
    project: MakeProject, dev: Callable[..., PyodideDev]
) -> None:
    made = project("objects")
    session = dev(made)
    counts = {"a": 0, "b": 0}
    failures: list[str] = []
    over = threading.Event()

    def bump(name: str) -> None:
        with httpx.Client(base_url=session.url, timeout=WITHIN_S, trust_env=False) as client:
            while not over.is_set():
                answer = client.post(f"/bump?name={name}")
                if answer.status_code == 200:
                    counts[name] += 1
                else:
                    failures.append(answer.text)

    threads = [threading.Thread(target=bump, args=(name,)) for name in counts]
    for thread in threads:
        thread.start()
    try:
        for version in (1, 2, 3):
            wanted = sum(counts.values()) + LOAD
            eventually(lambda wanted=wanted: sum(counts.values()) >= wanted, "calls", WITHIN_S)
            mark = session.mark()
            made.replace("src/entry.py", f'"v{version}"', f'"v{version + 1}"')
            session.wait_for("Reloaded in", after=mark)
    finally:
        over.set()
        for thread in threads:
            thread.join(WITHIN_S)
    assert failures == []
    for name, count in counts.items():
        found = json.loads(session.get(f"/read?name={name}").text)
        assert found == {"n": count, "log": list(range(1, count + 1))}


def test_code_that_does_not_load_leaves_the_old_code_serving(
    tmp_path: Path, dev: Callable[..., PyodideDev]
) -> None:
    made = template("hello", tmp_path)
    session = dev(made)
    made.write("src/greeting.py", "def greet(:\n")
    session.wait_for(r'File "src/greeting\.py", line 1')
    session.wait_for("the previous version keeps serving")
    assert session.get("/").text == "Hello, World!\n"


def test_vendored_packages_come_first_and_compiled_ones_are_refused_with_the_next_step(
    project: MakeProject, dev: Callable[..., PyodideDev]
) -> None:
    made = project(
        entry="import vendored, sniffio\n"
        "from workers import Response, WorkerEntrypoint\n"
        "class Default(WorkerEntrypoint):\n"
        "    async def fetch(self, request):\n"
        "        return Response(f'{vendored.__file__} {sniffio.__file__}')\n"
    )
    made.write("python_modules/vendored.py", "")
    session = dev(made)
    assert session.get("/").text == (
        "/session/python_modules/vendored.py /lib/python3.14/site-packages/sniffio/__init__.py"
    )
    made.replace("src/entry.py", "import vendored, sniffio", "import pydantic_core")
    session.wait_for("No module named 'pydantic_core' in Pyodide 314")
    session.wait_for("pywrangler sync")
    session.wait_for("the previous version keeps serving")


def test_nothing_is_left_when_the_command_is_killed(
    tmp_path: Path, dev: Callable[..., PyodideDev]
) -> None:
    made = template("hello", tmp_path)
    made.write(
        "src/entry.py",
        "from workers import WorkerEntrypoint\n"
        "class Default(WorkerEntrypoint):\n"
        "    async def fetch(self, request):\n"
        "        print('busy')\n"
        "        while True: pass\n",
    )
    session = dev(made, "--no-reload")
    thread = threading.Thread(target=lambda: _ignored(session))
    thread.start()
    session.wait_for("busy")
    nodes = session.nodes()
    assert nodes
    session.kill()
    eventually(lambda: all(map(is_gone, nodes)), "Node is gone, too", WITHIN_S)
    thread.join(WITHIN_S)


def _ignored(session: PyodideDev) -> None:
    with contextlib.suppress(httpx.HTTPError):  # it is killed meanwhile
        httpx.get(session.url, timeout=WITHIN_S, trust_env=False)
