"""A debugger in the Worker gets the keyboard of a real terminal, and gives it back."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from dev_session import RUNTIME, Dev, Project, eventually

if TYPE_CHECKING:
    from collections.abc import Callable

type MakeProject = Callable[..., Project]
type RunDev = Callable[..., Dev]

pytestmark = pytest.mark.skipif(
    RUNTIME == "pyodide", reason="breakpoint() does nothing in Pyodide, and says so (ADR-0213)"
)

#: Where ``breakpoint()`` on line 8 stops: from Python 3.13 on in its own line.
STOPS_AT = 8 if sys.version_info >= (3, 13) else 9

DEBUGGED = """
import asyncio
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        number = 41
        breakpoint()
        number += 1
        await asyncio.sleep(0.01)
        return Response(f"answer {number}")
"""


class Answer(threading.Thread):
    """A request in the background: its handler sits in the debugger meanwhile."""

    def __init__(self, session: Dev, path: str = "/") -> None:
        super().__init__()
        self._session = session
        self._path = path
        self.response: Any = None
        self.start()

    def run(self) -> None:
        self.response = self._session.get(self._path, timeout=20)

    @property
    def text(self) -> str:
        self.join()
        text: str = self.response.text
        return text


def prompt(session: Dev, times: int) -> None:
    session.wait_for(r"\(Pdb\) ", times=times)


def test_a_breakpoint_stops_in_the_handler(project: MakeProject, dev: RunDev) -> None:
    session = dev(project(entry=DEBUGGED), terminal=True).ready()
    answer = Answer(session)
    prompt(session, 1)
    assert f"src/entry.py({STOPS_AT})fetch()" in session.output
    assert f"-> {DEBUGGED.splitlines()[STOPS_AT - 1].strip()}" in session.output
    session.type("p number\n")
    session.wait_for("\n41\n")
    prompt(session, 2)
    session.type("where\n")
    prompt(session, 3)
    assert "tsumugi_emulator" not in session.output
    session.type("number = 99\n")
    prompt(session, 4)
    session.type("c\n")
    assert answer.text == "answer 100"


def test_pdb_set_trace_is_a_breakpoint_too(project: MakeProject, dev: RunDev) -> None:
    entry = DEBUGGED.replace("breakpoint()", "import pdb; pdb.set_trace()")
    session = dev(project(entry=entry), terminal=True).ready()
    for number in (1, 2):
        answer = Answer(session)
        prompt(session, number)
        session.type("c\n")
        assert answer.text == "answer 42"


def test_commands_given_to_a_breakpoint_run_at_its_prompt(
    project: MakeProject, dev: RunDev
) -> None:
    entry = DEBUGGED.replace("breakpoint()", "breakpoint(commands=['p number + 1', 'c'])")
    session = dev(project(entry=entry), terminal=True).ready()
    assert session.get("/").text == "answer 42"
    session.wait_for("\n42\n")


@pytest.mark.skipif(sys.version_info < (3, 14), reason="pdb.set_trace_async is new in 3.14")
def test_a_prompt_may_await_where_pdb_can(project: MakeProject, dev: RunDev) -> None:
    entry = DEBUGGED.replace("breakpoint()", "import pdb; await pdb.set_trace_async()")
    session = dev(project(entry=entry), terminal=True).ready()
    answer = Answer(session)
    prompt(session, 1)
    session.type("number = await asyncio.sleep(0.01, 70)\n")
    prompt(session, 2)
    session.type("c\n")
    assert answer.text == "answer 71"


def test_hotkeys_work_again_after_the_debugger(project: MakeProject, dev: RunDev) -> None:
    session = dev(project(entry=DEBUGGED), terminal=True).ready()
    answer = Answer(session)
    prompt(session, 1)
    assert session.echoes() or session.output  # the prompt edits lines itself
    session.type("c\n")
    assert answer.text == "answer 42"
    eventually(lambda: not session.echoes(), "keys are read one by one again")
    session.type("r")
    session.wait_for("Reloaded in")


def test_stepping_goes_over_awaits_and_ends_with_the_handler(
    project: MakeProject, dev: RunDev
) -> None:
    session = dev(project(entry=DEBUGGED), terminal=True).ready()
    answer = Answer(session)
    for number in range(STOPS_AT, 12):
        session.wait_for(rf"entry.py\({number}\)fetch\(\)")
        prompt(session, number - STOPS_AT + 1)
        session.type("n\n")
    assert answer.text == "answer 42"
    assert "(10)fetch()" in session.output
    assert "(11)fetch()" in session.output
    assert "tsumugi_emulator" not in session.output
    again = Answer(session)
    session.wait_for(rf"entry.py\({STOPS_AT}\)fetch\(\)", times=2)
    session.type("c\n")
    assert again.text == "answer 42"


def test_quitting_the_debugger_fails_the_event_only(project: MakeProject, dev: RunDev) -> None:
    session = dev(project(entry=DEBUGGED), terminal=True).ready()
    children = session.children()
    answer = Answer(session)
    prompt(session, 1)
    session.type("q\n")
    assert "BdbQuit" in answer.text
    assert answer.response.status_code == 500
    assert children <= session.children()
    again = Answer(session)
    prompt(session, 2)
    session.type("c\n")
    assert again.text == "answer 42"


def test_a_breakpoint_at_import_stops_there(project: MakeProject, dev: RunDev) -> None:
    made = project("web")
    made.replace("src/answers.py", 'ANSWER = "first"', 'ANSWER = "first"\nbreakpoint()\nLAST = 1')
    session = dev(made, terminal=True)
    prompt(session, 1)
    session.type("ANSWER = 'changed'\n")
    prompt(session, 2)
    session.type("c\n")
    session.ready()
    assert session.get("/").text == "changed"


def test_breakpoints_of_two_requests_come_one_after_the_other(
    project: MakeProject, dev: RunDev
) -> None:
    session = dev(project(entry=DEBUGGED), terminal=True).ready()
    answers = [Answer(session) for _ in range(2)]
    prompt(session, 1)
    session.type("c\n")
    prompt(session, 2)
    session.type("c\n")
    assert [answer.text for answer in answers] == ["answer 42", "answer 42"]


def test_old_and_new_code_take_turns_at_the_terminal(project: MakeProject, dev: RunDev) -> None:
    session = dev(project(entry=DEBUGGED), terminal=True).ready()
    old = Answer(session)
    prompt(session, 1)
    session.project.replace("src/entry.py", "number = 41", "number = 51")
    session.wait_for("Reloaded in")
    new = Answer(session)
    session.type("p number\n")
    session.wait_for("\n41\n")
    prompt(session, 2)
    session.type("c\n")
    assert old.text == "answer 42"
    prompt(session, 3)
    session.type("p number\n")
    session.wait_for("\n51\n")
    session.type("c\n")
    assert new.text == "answer 52"


def test_ctrl_c_at_the_prompt_ends_everything(project: MakeProject, dev: RunDev) -> None:
    session = dev(project(entry=DEBUGGED), terminal=True).ready()
    answer = Ignored(session)
    prompt(session, 1)
    session.children()
    session.type("\x03")
    assert session.wait() == 0
    assert session.echoes()
    answer.join()


class Ignored(threading.Thread):
    """A request nobody waits for the answer of."""

    def __init__(self, session: Dev) -> None:
        super().__init__()
        self._session = session
        self.start()

    def run(self) -> None:
        with contextlib.suppress(httpx.HTTPError):
            self._session.get("/", timeout=20)


def test_breakpoints_can_be_switched_off(project: MakeProject, dev: RunDev) -> None:
    session = dev(project(entry=DEBUGGED), terminal=True, env={"PYTHONBREAKPOINT": "0"}).ready()
    assert session.get("/").text == "answer 42"


def test_another_debugger_can_be_chosen(project: MakeProject, dev: RunDev) -> None:
    made = project(entry=DEBUGGED)
    made.write(
        "src/my_debugger.py",
        "import sys\n\n\ndef stop():\n"
        "    sys.stdout.write('what now? ')\n    sys.stdout.flush()\n"
        "    print('you said', sys.stdin.readline().strip())\n",
    )
    session = dev(made, terminal=True, env={"PYTHONBREAKPOINT": "my_debugger.stop"}).ready()
    answer = Answer(session)
    session.wait_for(r"what now\? ")
    session.type("nothing\n")
    session.wait_for("you said nothing")
    assert answer.text == "answer 42"
    eventually(lambda: not session.echoes(), "keys are read one by one again")


def test_a_breakpoint_works_without_a_terminal_too(project: MakeProject, dev: RunDev) -> None:
    read, write = os.pipe()
    session = dev(project(entry=DEBUGGED), stdin=read).ready()
    os.close(read)
    answer = Answer(session)
    prompt(session, 1)
    os.write(write, b"p number\nc\n")
    session.wait_for("41\n")
    os.close(write)
    assert answer.text == "answer 42"


def test_without_any_input_a_breakpoint_fails_its_event(project: MakeProject, dev: RunDev) -> None:
    session = dev(project(entry=DEBUGGED), stdin=subprocess.DEVNULL).ready()
    answer = Answer(session)
    assert "BdbQuit" in answer.text


def test_a_batch_in_the_debugger_is_settled_by_its_handler(
    project: MakeProject, dev: RunDev
) -> None:
    made = project("jobs")
    made.replace(
        "src/entry.py",
        "            message.ack()\n",
        ("            breakpoint()\n            message.ack()\n"),
    )
    session = dev(made, terminal=True).ready()
    with contextlib.suppress(httpx.ReadTimeout):  # the debugger holds up the answer too
        session.post("/", json=[{"name": "debugged"}], timeout=0.2)
    prompt(session, 1)
    session.type("p message.attempts\n")
    session.wait_for("\n1\n")
    session.type("c\n")
    session.wait_for(r"QUEUE\S* jobs \S*1/1")


def test_output_of_others_stays_whole_while_debugging(project: MakeProject, dev: RunDev) -> None:
    made = project(entry=DEBUGGED.replace("breakpoint()", "breakpoint(); print('printed')"))
    session = dev(made, terminal=True).ready()
    answer = Answer(session)
    prompt(session, 1)
    session.type("c\n")
    assert answer.text == "answer 42"
    session.wait_for(r"\[test-worker\].* printed\n")
