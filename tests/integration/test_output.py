"""Everything a Worker prints appears once, whole, under its name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dev_session import ANSI, Dev, Project, free_port

if TYPE_CHECKING:
    from collections.abc import Callable

type MakeProject = Callable[..., Project]
type RunDev = Callable[..., Dev]

TALKATIVE = """
import logging
import sys
import warnings

from js import console
from workers import Response, WorkerEntrypoint

print("at import")


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        print("from print")
        print("in", "two ", end="")
        print("parts")
        sys.stdout.write("from stdout\\n")
        sys.stderr.write("from stderr\\n")
        console.log("from console.log", 1)
        console.warn("from console.warn")
        console.error("from console.error")
        logging.info("from logging.info")
        logging.warning("from logging.warning")
        logging.getLogger("mine").error("from a logger")
        warnings.warn("from warnings")
        warnings.warn("from deprecation", DeprecationWarning)
        print("two\\nlines")
        print("no newline at the end", end="")
        return Response("said")
"""

LINES = [
    "at import",
    "from print",
    "in two parts",
    "from stdout",
    "from stderr",
    "from console.log 1",
    "from console.warn",
    "from console.error",
    "WARNING:root:from logging.warning",
    "ERROR:mine:from a logger",
    "two",
    "lines",
]


def test_each_line_appears_once_under_the_workers_name(project: MakeProject, dev: RunDev) -> None:
    session = dev(project(entry=TALKATIVE, name="talker"), env={"PYTHONWARNINGS": ""}).ready()
    assert session.get("/").text == "said"
    session.wait_for("lines")
    lines = session.output.splitlines()
    for line in LINES:
        assert lines.count(f"[talker] {line}") == 1, line
    assert "logging.info" not in session.output
    assert "from deprecation" not in session.output


def test_a_warning_names_its_line_once(project: MakeProject, dev: RunDev) -> None:
    session = dev(project(entry=TALKATIVE, name="talker"), env={"PYTHONWARNINGS": ""}).ready()
    session.get("/")
    session.get("/")
    session.wait_for("at the end", times=1)
    warned = re.findall(r"\[talker\] src/entry.py:\d+: UserWarning: from warnings", session.output)
    assert len(warned) == 1


def test_text_without_a_newline_is_shown_when_its_event_ends(
    project: MakeProject, dev: RunDev
) -> None:
    session = dev(project(entry=TALKATIVE)).ready()
    session.get("/")
    session.wait_for(r"\[test-worker\] no newline at the end\n")


def test_a_failing_batch_is_told_once_with_the_users_lines_only(
    project: MakeProject, dev: RunDev
) -> None:
    session = dev(project("jobs")).ready()
    session.post("/", json=[{"name": "bad", "do": "once then ack"}])
    session.wait_for("QUEUE jobs 1/1")
    assert session.count("ValueError: the first time fails") == 1
    assert session.count('Handler of queue "jobs" failed') == 1
    assert re.search(r'File "src/entry\.py", line \d+, in perform', session.output)
    assert "tsumugi_emulator" not in session.output
    assert "site-packages" not in session.output


def test_queue_lines_count_what_was_acknowledged(project: MakeProject, dev: RunDev) -> None:
    session = dev(project("jobs")).ready()
    session.post("/", json=[{"name": "bad", "do": "once then ack"}])
    session.wait_for(r"QUEUE jobs 0/1 \(\d+ms\)")
    session.wait_for(r"QUEUE jobs 1/1 \(\d+ms\)")


def test_a_task_that_fails_unawaited_is_told_with_its_line(
    project: MakeProject, dev: RunDev
) -> None:
    entry = """
import asyncio
from workers import Response, WorkerEntrypoint

async def background():
    raise KeyError("nobody awaits this")

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        asyncio.ensure_future(background())
        await asyncio.sleep(0)
        return Response("ok")
"""
    session = dev(project(entry=entry)).ready()
    assert session.get("/").text == "ok"
    session.wait_for("KeyError: 'nobody awaits this'")
    assert session.count("nobody awaits this") == session.count("KeyError: 'nobody awaits") + 1
    assert 'File "src/entry.py", line 6, in background' in session.output


def test_tracebacks_that_the_worker_writes_itself_have_no_line_of_the_emulator(
    project: MakeProject, dev: RunDev
) -> None:
    entry = """
import asyncio
import logging
import traceback
from workers import Response, WorkerEntrypoint

async def background():
    raise KeyError("in a task")

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        try:
            await asyncio.create_task(background())
        except KeyError:
            logging.exception("logged")
        try:
            await self.env.JOBS.send("x" * 200_000)
        except Exception:
            return Response(traceback.format_exc())
"""
    queues = {"producers": [{"binding": "JOBS", "queue": "jobs"}]}
    session = dev(project(entry=entry, queues=queues)).ready()
    answer = session.get("/").text
    assert "in fetch" in answer
    assert "exceeds limit of 128000" in answer
    session.wait_for("KeyError: 'in a task'")
    assert "in background" in session.output
    assert "tsumugi_emulator" not in answer + session.output


def test_long_lines_and_odd_characters_pass_whole_or_are_refused(
    project: MakeProject, dev: RunDev
) -> None:
    entry = """
import sys
from js import console
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        print("x" * 200_000)
        try:
            print("a lone \\ud800 surrogate")
        except UnicodeEncodeError as error:
            print("snowman \\u2603 and", error.reason)
        print("a lone \\ud801 surrogate", file=sys.stderr)
        console.log("a lone \\ud802 surrogate")
        return Response("ok")
"""
    session = dev(project(entry=entry)).ready()
    session.wait_for("CLOUDFLARE_API_TOKEN=")  # the last of what might come into the middle of it
    session.get("/")
    session.wait_for("snowman ☃ and surrogates not allowed")
    session.wait_for(r"a lone \\ud801 surrogate")
    session.wait_for("a lone \ufffd surrogate")
    assert session.count("[test-worker] " + "x" * 200_000 + "\n") == 1


def test_colours_only_where_a_person_sees_them(project: MakeProject, dev: RunDev) -> None:
    plain = dev(project("web")).ready()
    assert ANSI.search(plain.output) is None
    plain.stop()
    forced = dev(project("web", at="forced"), env={"FORCE_COLOR": "1"}).ready()
    assert ANSI.search(forced.output) is not None
    forced.stop()
    on_terminal = dev(project("web", at="tty"), env={"NO_COLOR": "1"}, terminal=True).ready()
    on_terminal.wait_for("exit")
    assert "\x1b[3" not in on_terminal.output


def test_log_levels_choose_what_the_emulator_says(project: MakeProject, dev: RunDev) -> None:
    quiet = dev(project("jobs"), "--log-level", "error", port=free_port())
    quiet.wait_until_it_listens()
    quiet.post("/", json=[{"name": "bad", "do": "once then ack"}])
    quiet.wait_for("jobs bad attempt 2")
    assert quiet.count("Handler of queue") == 1
    assert "QUEUE" not in quiet.output
    assert "Ready" not in quiet.output
    loud = dev(project("jobs", at="loud"), "--log-level", "debug").ready()
    loud.post("/", json=[{"name": "bad", "do": "once then ack"}])
    loud.wait_for(r'Retrying message "[0-9a-f]+" on queue "jobs"\.\.\.')
