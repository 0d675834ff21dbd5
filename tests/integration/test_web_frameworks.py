"""Flask and Django through the SDK's WSGI adapter, and a pytest run inside a handler."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest
from dev_session import Dev, Project, needs_compiled_packages

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = needs_compiled_packages

ENTRY = """
import contextlib, io, sys
from pathlib import Path

import django_app, flask_app
from workers import Response, WorkerEntrypoint, wsgi

CALLS = []

def add(a, b):
    CALLS.append((a, b))
    return a + b

class Results:
    def __init__(self, env):
        self.env_of_event, self.outcomes = env, {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid.rpartition("::")[2]] = report.outcome

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if "/flask/" in request.url:
            return await wsgi.fetch(flask_app.app, request, self.env)
        if "/django/" in request.url:
            return await wsgi.fetch(django_app.app, request, self.env)
        if "/pytest" in request.url:
            return self.run_tests()
        return Response("none", status=404)

    def run_tests(self):
        import pytest

        results, output = Results(self.env), io.StringIO()
        folder = Path(__file__).parent
        arguments = ["-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(folder)]
        with contextlib.redirect_stdout(output):
            pytest.main([*arguments, str(folder / "inside.py")], plugins=[results])
        return Response(repr([results.outcomes, CALLS]))
"""

FLASK = """
import time

from flask import Flask, jsonify, request, session
from pyodide.ffi import run_sync
from workers import env

app = Flask(__name__)
app.secret_key = "not secret"

@app.route("/flask/kv/<key>", methods=["PUT", "GET"])
def record(key):
    if request.method == "PUT":
        run_sync(env.KV.put(key, request.get_data()))
        session["last"] = key
    return jsonify(value=run_sync(request.environ["workers.env"].KV.get(key)),
                   last=session.get("last"))

@app.post("/flask/form")
def form():
    return jsonify(name=request.form["name"], file=request.files["file"].read().decode())

@app.get("/flask/stream")
def stream():
    def pieces():
        for number in range(3):
            time.sleep(0.001)
            yield f"{number} "
    return pieces()
"""

DJANGO = """
import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="not secret", USE_TZ=True,
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
)
django.setup()

from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse, HttpResponse, StreamingHttpResponse
from django.template import engines
from django.urls import path
from pyodide.ffi import run_sync
from workers import env

def rows(request):
    statement = env.DB.prepare("SELECT ? AS name").bind(request.POST["name"])
    return JsonResponse({"rows": run_sync(statement.all())["results"]})

def page(request, name):
    template = engines["django"].from_string("Hello {{ name }}")
    return HttpResponse(template.render({"name": name}, request))

def stream(request):
    return StreamingHttpResponse(str(number) for number in range(3))

urlpatterns = [path("django/rows", rows), path("django/page/<name>", page),
               path("django/stream", stream)]
app = get_wsgi_application()
"""

INSIDE = """
import asyncio

import pytest
from entry import CALLS, Default, add
from pyodide.ffi import run_sync
from workers import WorkerEntrypoint, env

async def kept(value):
    await env.KV.put("kept", value)
    await asyncio.sleep(0.001)
    return await env.KV.get("kept")

def test_main_is_the_module_that_serves():
    assert add(1, 2) == 3
    assert issubclass(Default, WorkerEntrypoint)

def test_waiting_synchronously():
    assert run_sync(kept("a")) == "a"

def test_running_until_complete():
    loop = asyncio.new_event_loop()
    assert loop.run_until_complete(asyncio.ensure_future(kept("b"), loop=loop)) == "b"

def test_asyncio_run():
    assert asyncio.run(kept("c")) == "c"

def test_that_fails():
    assert add(1, 1) == 3

@pytest.mark.parametrize("n", [1])
def test_with_parameters(n, tmp_path):
    (tmp_path / "file").write_text("x")
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    project = Project(tmp_path_factory.mktemp("frameworks") / "project")
    project.configure(
        kv_namespaces=[{"binding": "KV", "id": "kv"}],
        d1_databases=[{"binding": "DB", "database_name": "db", "database_id": "db"}],
    )
    project.write("src/entry.py", ENTRY)
    project.write("src/flask_app.py", FLASK)
    project.write("src/django_app.py", DJANGO)
    project.write("src/inside.py", INSIDE)
    session = Dev(project)
    yield session.ready()
    session.close()


def test_flask_waits_for_bindings_and_keeps_its_sessions(served: Dev) -> None:
    put = served.client.put("/flask/kv/a", content=b"one")
    assert put.json() == {"value": "one", "last": "a"}
    assert served.get("/flask/kv/a").json() == {"value": "one", "last": "a"}
    assert served.get("/flask/nothing").status_code == 404


def test_flask_reads_forms_and_streams(served: Dev) -> None:
    answer = served.post("/flask/form", data={"name": "n"}, files={"file": ("f.txt", b"content")})
    assert answer.json() == {"name": "n", "file": "content"}
    assert served.get("/flask/stream").text == "0 1 2 "


def test_django_serves_pages_forms_and_streams(served: Dev) -> None:
    assert served.get("/django/page/<b>").text == "Hello &lt;b&gt;"
    assert served.post("/django/rows", data={"name": "n"}).json() == {"rows": [{"name": "n"}]}
    assert served.get("/django/stream").text == "012"
    assert served.get("/django/nothing").status_code == 404


def test_pytest_runs_inside_a_handler(served: Dev) -> None:
    outcomes, calls = ast.literal_eval(served.get("/pytest").text)
    assert outcomes == {
        "test_main_is_the_module_that_serves": "passed",
        "test_waiting_synchronously": "passed",
        "test_running_until_complete": "passed",
        "test_asyncio_run": "passed",
        "test_that_fails": "failed",
        "test_with_parameters[1]": "passed",
    }
    assert calls == [(1, 2), (1, 1)]
