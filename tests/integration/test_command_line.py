"""What `tsumugi dev` is told, and what it says when it cannot do it."""

from __future__ import annotations

import signal
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx
import pytest
from dev_session import TSUMUGI, Dev, Project, eventually, free_port, run_tsumugi

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

type MakeProject = Callable[..., Project]
type RunDev = Callable[..., Dev]

SHOWS_VARIABLES = """
import json
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        names = ("FIRST", "SECOND", "SECRET")
        return Response(json.dumps({name: getattr(self.env, name, None) for name in names}))
"""


def test_a_taken_port_gives_the_next_and_says_so_in_one_line(
    project: MakeProject, dev: RunDev
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        session = dev(project("web"), port=port).ready()
        assert session.port > port
        assert session.count(f"Port {port} is in use: listening on {session.port} instead.") == 1
        assert session.get("/").text == "first"


def test_the_configured_port_is_used(project: MakeProject, dev: RunDev) -> None:
    port = free_port()
    session = dev(project("web", dev={"port": port}), port=None).ready()
    assert session.port >= port


def test_an_address_can_be_chosen(project: MakeProject, dev: RunDev) -> None:
    session = dev(project("web"), "--ip", "127.0.0.2").ready()
    assert session.url == f"http://127.0.0.2:{session.port}"
    assert session.get("/").text == "first"


def test_an_address_of_another_machine_is_refused(project: MakeProject, dev: RunDev) -> None:
    session = dev(project("web"), "--ip", "192.0.2.1")
    assert session.wait() == 1
    assert "Cannot listen on 192.0.2.1" in session.output
    assert "Traceback" not in session.output


def test_variables_come_from_options_files_and_configuration(
    project: MakeProject, dev: RunDev
) -> None:
    made = project(entry=SHOWS_VARIABLES, vars={"FIRST": "configured", "SECOND": "configured"})
    made.write(".dev.vars", "SECRET=sesame\n")
    session = dev(made, "--var", "SECOND:from: option").ready()
    assert session.get("/").json() == {
        "FIRST": "configured",
        "SECOND": "from: option",
        "SECRET": "sesame",
    }
    assert session.count("Using secrets defined in .dev.vars") == 1
    assert "sesame" not in session.output


@pytest.mark.parametrize("variable", ["NAME", "NAME=value", ":value", ""])
def test_a_variable_without_a_colon_is_refused(
    project: MakeProject, dev: RunDev, variable: str
) -> None:
    session = dev(project("web"), "--var", variable)
    assert session.wait() == 1
    assert "not of the form KEY:VALUE" in session.output
    assert not (session.project.directory / ".wrangler").exists()


def test_every_fault_of_a_configuration_is_told_at_once(project: MakeProject, dev: RunDev) -> None:
    made = project("web")
    made.configure(name="Not A Name", main="src/missing.py", queues={"consumers": [{}]})
    session = dev(made)
    assert session.wait() == 1
    assert "wrangler.json:2:" in session.output
    assert '"queue"' in session.output
    assert "Traceback" not in session.output
    assert not (made.directory / ".wrangler").exists()


def test_without_a_configuration_it_says_what_to_create(tmp_path: Path) -> None:
    result = run_tsumugi("dev", cwd=tmp_path)
    assert result.returncode == 1
    assert "Could not find a configuration file" in result.stderr
    assert "tsumugi init" in result.stderr


def test_a_named_configuration_and_environment_are_used(project: MakeProject, dev: RunDev) -> None:
    made = project(
        entry=SHOWS_VARIABLES,
        vars={"FIRST": "top"},
        env={"staging": {"vars": {"FIRST": "staging"}}},
    )
    (made.directory / "wrangler.json").rename(made.directory / "other.json")
    session = dev(made, "--config", "other.json", "--env", "staging").ready()
    assert session.get("/").json()["FIRST"] == "staging"
    assert "(staging)" in session.output


@pytest.mark.parametrize("signal_name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_it_and_all_its_processes(
    project: MakeProject, dev: RunDev, signal_name: str
) -> None:
    session = dev(project("web")).ready()
    # The one that serves and the spare for the next save.
    eventually(lambda: len(session.children()) == 2, "two children")
    port = session.port
    assert session.stop(getattr(signal, signal_name)) == 0
    assert session.output.rstrip().endswith("Shutting down...")
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}", trust_env=False)


def test_another_port_than_the_one_given_for_the_queues_api_is_told(
    project: MakeProject, dev: RunDev
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        session = dev(project("web"), "--api-port", str(port))
        session.wait_for(rf"Port {port} is in use: the queues API listens on \d+ instead\.")
        session.wait_for("Queues API on")


def test_ctrl_c_tells_the_clients_of_requests_under_way_and_shows_no_traceback(
    project: MakeProject, dev: RunDev
) -> None:
    session = dev(project("web")).ready()
    url = f"http://127.0.0.1:{session.port}"
    with (
        ThreadPoolExecutor() as threads,
        httpx.stream("GET", f"{url}/endless", trust_env=False) as endless,
    ):
        chunks = endless.iter_raw()
        assert next(chunks)
        waiting = threads.submit(httpx.get, f"{url}/wait?gate=never", timeout=30, trust_env=False)
        session.wait_for("waiting for never")
        session.process.send_signal(signal.SIGINT)
        answer = waiting.result()
    assert session.wait() == 0
    assert (answer.status_code, answer.text.splitlines()[0]) == (503, "tsumugi dev was stopped")
    assert "2 requests were still under way and had to be cut off." in session.output
    assert "Traceback" not in session.output
    assert "ASGI" not in session.output


def test_it_ends_while_the_worker_is_still_importing(project: MakeProject, dev: RunDev) -> None:
    session = dev(project(entry="print('importing')\nwhile True: pass\n"))
    session.wait_for("importing")
    assert session.stop() == 0


def test_a_closed_output_does_not_end_it(project: MakeProject) -> None:
    # As in `tsumugi dev | head -1`: the reader goes away, the Worker goes on.
    made = project("web")
    port = free_port()
    process = subprocess.Popen(
        [*TSUMUGI, "dev", "--port", str(port)],
        cwd=made.directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    process.stdout.close()
    try:

        def answers() -> bool:
            try:
                return httpx.get(f"http://127.0.0.1:{port}", trust_env=False).text == "first"
            except httpx.TransportError:
                return False

        eventually(answers, "an answer")
    finally:
        process.terminate()
        assert process.wait(10) == 0


def test_a_worker_without_a_queue_handler_says_what_to_add(
    project: MakeProject, dev: RunDev
) -> None:
    made = project("web", queues={"consumers": [{"queue": "jobs"}]})
    session = dev(made).ready()
    session.wait_for("async def queue")
    assert session.get("/").text == "first"


def test_long_names_fit_eighty_columns(project: MakeProject, dev: RunDev) -> None:
    long = "a-queue-with-a-name-as-long-as-the-longest-allowed-one-is-today"
    queues = {
        "producers": [{"binding": "A_BINDING_WITH_A_LONG_NAME", "queue": long}],
        "consumers": [{"queue": long, "dead_letter_queue": long[:-5] + "-dead", "retry_delay": 5}],
    }
    made = project("jobs", queues=queues)
    session = dev(made, env={"COLUMNS": "80"}).ready()
    too_wide = [line for line in session.output.splitlines() if len(line) > 80]
    assert [line for line in too_wide if long not in line and long[:-5] not in line] == []
