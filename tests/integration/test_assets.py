"""Static files through a real HTTP client: before the Worker, and by its binding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from dev_session import Dev, Project

if TYPE_CHECKING:
    from collections.abc import Callable

type MakeProject = Callable[..., Project]
type RunDev = Callable[..., Dev]

ENTRY = """
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if "/own/" in request.url:
            response = await self.env.ASSETS.fetch(request.url.replace("/own/", "/"))
            return Response(await response.text() + "!", status=response.status)
        if "/through/" in request.url:
            return await self.env.SELF.fetch(request.url.replace("/through/", "/"))
        return Response(f"worker {request.method.value}")
"""


@pytest.fixture
def start(project: MakeProject, dev: RunDev) -> Callable[..., Dev]:
    def run(**assets: Any) -> Dev:
        made = project(
            entry=ENTRY,
            name="site",
            assets={"directory": "./public", "binding": "ASSETS", **assets},
            services=[{"binding": "SELF", "service": "site"}],
        )
        made.write("public/index.html", "<p>home")
        made.write("public/about.html", "<p>about")
        made.write("public/docs/404.html", "<p>no such page")
        made.write("public/app.js", "let a = 1")
        return dev(made).ready()

    return run


def test_files_come_before_the_worker(start: Callable[..., Dev]) -> None:
    session = start()
    home = session.get("/")
    assert (home.text, home.headers["content-type"]) == ("<p>home", "text/html; charset=utf-8")
    assert session.get("/app.js").headers["content-length"] == "9"
    assert session.get("/api").text == "worker GET"
    assert session.post("/app.js").status_code == 405
    moved = session.get("/about.html?a=1")
    assert (moved.status_code, moved.headers["location"]) == (307, "/about?a=1")
    assert session.get("/about").text == "<p>about"


def test_a_browser_that_has_a_file_is_not_sent_it_again(start: Callable[..., Dev]) -> None:
    session = start()
    tag = session.get("/app.js").headers["etag"]
    again = session.get("/app.js", headers={"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")
    session.project.write("public/app.js", "let a = 2")
    assert session.get("/app.js", headers={"if-none-match": tag}).text == "let a = 2"


def test_head_has_the_headers_and_no_content(start: Callable[..., Dev]) -> None:
    answer = start().client.head("/app.js")
    assert (answer.status_code, answer.headers["content-length"], answer.content) == (200, "9", b"")


def test_a_single_page_application_is_what_browsers_navigate_to(start: Callable[..., Dev]) -> None:
    session = start(not_found_handling="single-page-application")
    assert session.get("/page", headers={"sec-fetch-mode": "navigate"}).text == "<p>home"
    assert session.get("/page").text == "worker GET"
    assert session.get("/own/page").text == "<p>home!"


def test_the_binding_finds_the_nearest_404_page(start: Callable[..., Dev]) -> None:
    answer = start(not_found_handling="404-page").get("/own/docs/missing")
    assert (answer.status_code, answer.text) == (404, "<p>no such page!")


def test_the_worker_can_come_first(start: Callable[..., Dev]) -> None:
    session = start(run_worker_first=True)
    assert session.get("/app.js").text == "worker GET"
    assert session.get("/own/app.js").text == "let a = 1!"


def test_the_worker_can_come_first_for_some_paths(start: Callable[..., Dev]) -> None:
    session = start(run_worker_first=["/a*", "!/app.js"])
    assert session.get("/about").text == "worker GET"
    assert session.get("/app.js").text == "let a = 1"


def test_a_service_binding_gets_files_as_a_browser_does(start: Callable[..., Dev]) -> None:
    session = start()
    assert session.get("/through/app.js").text == "let a = 1"
    assert session.get("/through/api").text == "worker GET"


def test_a_workflow_is_an_error_that_says_so(project: MakeProject, dev: RunDev) -> None:
    entry = """
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        try:
            await self.env.FLOW.create()
        except Exception as error:
            return Response(str(error))
"""
    flows = [{"binding": "FLOW", "name": "flow", "class_name": "Flow"}]
    session = dev(project(entry=entry, workflows=flows)).ready()
    assert session.get("/").text == (
        "Error: env.FLOW.create: Workflow bindings are not emulated by tsumugi yet; "
        "it works when deployed"
    )


def test_headers_and_redirects_are_obeyed_and_their_faults_told(
    start: Callable[..., Dev],
) -> None:
    session = start()
    session.project.write("public/_headers", "/*\n  X-Frame-Options: DENY\n  nonsense\n")
    session.project.write("public/_redirects", "/old/* /about 301\n")
    session.wait_for(r"Expected a colon-separated header pair")
    session.wait_for(r"public/_headers:3")
    moved = session.get("/old/x?a=1")
    assert (moved.status_code, moved.headers["location"]) == (301, "/about?a=1")
    assert session.get("/app.js").headers["x-frame-options"] == "DENY"
    assert session.get("/own/old/x").status_code == 301
    assert "x-frame-options" not in session.get("/api").headers
