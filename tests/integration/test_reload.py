"""A save reaches the running Worker at once, and never takes a working one away."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from dev_session import Dev, Project, eventually, is_gone

if TYPE_CHECKING:
    from collections.abc import Callable

    from gates import Gate

type MakeProject = Callable[..., Project]
type RunDev = Callable[..., Dev]

QUEUE_ENTRY = """
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        for number in range(4):
            await self.env.JOBS.send(number)
        return Response("sent")

    async def queue(self, batch, env=None, ctx=None):
        print("batch of", len(batch.messages))
"""


def queues(**consumer: Any) -> dict[str, Any]:
    return {
        "producers": [{"binding": "JOBS", "queue": "jobs"}],
        "consumers": [{"queue": "jobs", **consumer}],
    }


def test_a_save_of_an_imported_module_is_served(project: MakeProject, dev: RunDev) -> None:
    session = dev(project("web")).ready()
    assert session.get("/").text == "first"
    session.project.replace("src/answers.py", "first", "second")
    session.wait_for(r"Reloaded in \d+ms")
    assert session.get("/").text == "second"


def test_a_save_right_after_the_start_is_not_missed(project: MakeProject, dev: RunDev) -> None:
    session = dev(project("web"))
    session.url  # noqa: B018 - it listens; the watcher may still be starting
    session.project.replace("src/answers.py", "first", "second")
    eventually(lambda: session.get("/").text == "second", "the new code")


def test_saving_the_same_content_changes_nothing(project: MakeProject, dev: RunDev) -> None:
    session = dev(project("web")).ready()
    child = session.serving_child()
    (session.project.directory / "src" / "entry.py").touch()
    session.project.replace("src/answers.py", "first", "first")
    session.project.write("src/notes.txt", "not code")
    # A real change after them is seen, and it is the only one.
    session.project.replace("src/answers.py", "first", "second")
    session.wait_for("Reloaded in")
    eventually(lambda: session.serving_child() != child, "the new code has its own process")
    assert session.count("Reloaded in") == 1


def test_code_that_does_not_load_leaves_the_old_one_serving(
    project: MakeProject, dev: RunDev
) -> None:
    session = dev(project("web")).ready()
    session.project.write("src/answers.py", "ANSWER = undefined_name\n")
    session.wait_for("the previous version keeps serving")
    assert "NameError: name 'undefined_name' is not defined" in session.output
    assert 'File "src/answers.py", line 1, in <module>' in session.output
    assert "importlib" not in session.output
    assert session.get("/").text == "first"
    session.project.write("src/answers.py", "ANSWER = 'third'\n")
    session.wait_for("Reloaded in")
    assert session.get("/").text == "third"


def test_a_syntax_error_is_shown_with_its_line(project: MakeProject, dev: RunDev) -> None:
    session = dev(project("web")).ready()
    session.project.write("src/answers.py", "ANSWER = (\n")
    session.wait_for("the previous version keeps serving")
    assert "SyntaxError: '(' was never closed" in session.output
    assert 'File "src/answers.py", line 1' in session.output


def test_a_worker_that_fails_at_the_start_is_fixed_by_a_save(
    project: MakeProject, dev: RunDev
) -> None:
    made = project("web")
    made.replace("src/answers.py", "ANSWER", "import nothing_of_this_name\nANSWER")
    session = dev(made)
    session.wait_for("No module named 'nothing_of_this_name'")
    answer = session.get("/", headers={"accept": "text/html"})
    assert answer.status_code == 500
    assert "No module named &#x27;nothing_of_this_name&#x27;" in answer.text
    assert "src/entry.py" in answer.text
    session.wait_for("Ctrl-C")
    assert "Ready on" not in session.output
    made.write("src/answers.py", "ANSWER = 'fixed'\n")
    session.wait_for("Reloaded in")
    assert session.get("/").text == "fixed"


def test_code_that_imports_for_ever_is_mended_by_a_save(project: MakeProject, dev: RunDev) -> None:
    made = project("web")
    made.write("src/answers.py", "print('importing')\nwhile True: pass\n")
    session = dev(made)
    session.wait_for("importing")
    made.write("src/answers.py", "ANSWER = 'mended'\n")
    session.ready()
    assert session.get("/").text == "mended"
    made.write("src/answers.py", "print('importing again')\nwhile True: pass\n")
    session.wait_for("importing again")
    assert session.get("/").text == "mended"
    made.write("src/answers.py", "ANSWER = 'mended again'\n")
    session.wait_for("Reloaded in")
    assert session.get("/").text == "mended again"
    assert "ERROR" not in session.output
    eventually(lambda: len(session.children()) == 2, "one child serves, one is spare")


def test_a_running_request_ends_on_the_code_it_began_on(
    project: MakeProject, dev: RunDev, gate: Gate
) -> None:
    session = dev(project("web")).ready()
    old = session.serving_child()
    answers: list[str] = []
    path = f"/wait_outside?gate={gate.url}"
    request = threading.Thread(target=lambda: answers.append(session.get(path).text))
    request.start()
    session.wait_for("waiting at the gate outside")
    session.project.replace("src/answers.py", "first", "second")
    session.wait_for("Reloaded in")
    with httpx.Client(trust_env=False) as other:
        assert other.get(session.url).text == "second"
    assert answers == []
    assert not is_gone(old)
    gate.open()
    request.join()
    assert answers == ["first"]
    eventually(lambda: is_gone(old), "the old process ends when it has nothing left to do")


def test_a_busy_handler_does_not_keep_new_code_from_serving(
    project: MakeProject, dev: RunDev
) -> None:
    session = dev(project("web")).ready()
    stuck = threading.Thread(target=ignore_failure, args=(session.url + "/busy",))
    stuck.start()
    session.wait_for("busy from now on")
    session.project.replace("src/answers.py", "first", "second")
    session.wait_for("Reloaded in")
    with httpx.Client(trust_env=False) as client:
        assert client.get(session.url).text == "second"
    session.stop()
    stuck.join()


def test_no_request_fails_while_files_are_saved(project: MakeProject, dev: RunDev) -> None:
    session = dev(project("web")).ready()
    stop = threading.Event()
    answers: list[str] = []
    failures: list[Exception] = []

    def load() -> None:
        with httpx.Client(base_url=session.url, trust_env=False, timeout=10) as client:
            while not stop.is_set():
                try:
                    answer = client.get("/")
                    answer.raise_for_status()
                    answers.append(answer.text)
                except Exception as error:
                    failures.append(error)

    threads = [threading.Thread(target=load) for _ in range(2)]
    for thread in threads:
        thread.start()
    before = "first"
    for number in range(5):
        session.project.replace("src/answers.py", before, f"answer {number}")
        before = f"answer {number}"
        session.wait_for("Reloaded in", times=number + 1)
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert session.get("/").text == "answer 4"
    # Old code never answers after newer code did, as far as one client can tell.
    assert len(set(answers)) > 1


def test_changed_consumer_settings_apply_at_once(project: MakeProject, dev: RunDev) -> None:
    made = project(entry=QUEUE_ENTRY, queues=queues(max_batch_size=2, max_batch_timeout=60))
    session = dev(made).ready()
    session.get("/")
    session.wait_for("batch of 2", times=2)
    made.configure(queues=queues(max_batch_size=4, max_batch_timeout=60))
    session.wait_for("Reloaded in")
    session.get("/")
    session.wait_for("batch of 4")


def test_a_broken_configuration_leaves_the_old_one_in_force(
    project: MakeProject, dev: RunDev
) -> None:
    made = project("web")
    session = dev(made).ready()
    made.write("wrangler.json", '{ "name": ')
    session.wait_for("The previous configuration stays in force")
    assert session.get("/").text == "first"
    made.configure(name="web", vars={"NEW": "value"})
    session.wait_for("Reloaded in")
    assert session.get("/").text == "first"


def test_secrets_that_appear_are_read(project: MakeProject, dev: RunDev) -> None:
    entry = """
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(getattr(self.env, "TOKEN", "none"))
"""
    made = project(entry=entry)
    session = dev(made).ready()
    assert session.get("/").text == "none"
    made.write(".dev.vars", "TOKEN=sesame\n")
    session.wait_for("Reloaded in")
    session.wait_for(r"Using secrets defined in \.dev\.vars")
    assert session.get("/").text == "sesame"
    assert "sesame" not in session.output


def test_another_compatibility_date_holds_for_the_new_code(
    project: MakeProject, dev: RunDev
) -> None:
    entry = """
import _cloudflare_compat_flags as flags
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(str(flags.queue_expose_error_codes))
"""
    made = project(entry=entry)
    session = dev(made).ready()
    assert session.get("/").text == "True"
    # Not the child that stands ready, which was started with the old date.
    made.configure(compatibility_date="2026-03-11")
    session.wait_for("Reloaded in")
    assert session.get("/").text == "False"


def test_without_reload_a_save_changes_nothing(project: MakeProject, dev: RunDev) -> None:
    session = dev(project("web"), "--no-reload").ready()
    child = session.serving_child()
    session.project.replace("src/answers.py", "first", "second")
    assert session.get("/").text == "first"
    assert session.serving_child() == child
    assert "Reloaded" not in session.output


def test_a_batch_ends_on_the_code_it_began_on(
    project: MakeProject, dev: RunDev, gate: Gate
) -> None:
    session = dev(project("jobs")).ready()
    old = session.serving_child()
    session.post("/", json=[{"name": "slow", "do": "wait", "gate": gate.url}])
    session.wait_for("jobs slow attempt 1")
    session.project.replace("src/entry.py", '"sent"', '"sent by new code"')
    session.wait_for("Reloaded in")
    assert session.post("/", json=[]).text == "sent by new code"
    assert not is_gone(old)
    gate.open()
    session.wait_for("finished slow")
    session.wait_for(r"QUEUE jobs 1/1")
    eventually(lambda: is_gone(old), "the old process ends when it has nothing left to do")
    assert session.count("jobs slow attempt") == 1


@pytest.mark.long
def test_of_many_old_versions_still_at_work_the_oldest_is_ended(
    project: MakeProject, dev: RunDev
) -> None:
    session = dev(project("web")).ready()
    oldest = session.serving_child()
    waiting = []
    for number in range(5):
        path = f"{session.url}/wait?gate=never"
        waiting.append(threading.Thread(target=ignore_failure, args=(path,)))
        waiting[-1].start()
        session.wait_for("waiting for never", times=number + 1)
        session.project.write("src/answers.py", f"ANSWER = 'answer {number}'\n")
        session.wait_for("Reloaded in", times=number + 1)
    session.wait_for("An old version of the Worker still had 1 event")
    eventually(lambda: is_gone(oldest), "the oldest is gone")
    assert session.get("/").text == "answer 4"
    session.stop()
    for thread in waiting:
        thread.join()


def ignore_failure(url: str) -> None:
    with contextlib.suppress(httpx.HTTPError):
        httpx.get(url, timeout=None, trust_env=False)  # until the session ends


def test_the_process_id_of_the_child_changes_with_each_reload(
    project: MakeProject, dev: RunDev
) -> None:
    session = dev(project("web")).ready()
    first = session.serving_child()
    session.project.replace("src/answers.py", "first", "second")
    session.wait_for("Reloaded in")
    eventually(lambda: is_gone(first), "the idle old process ends")
    assert session.serving_child() not in (first, os.getpid())
