"""``tsumugi check`` as a person runs it, and the check under ``tsumugi dev``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from dev_session import Dev, Project, eventually, run_tsumugi

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

type RunDev = Callable[..., Dev]

ROOT = Path(__file__).parents[2]
QUEUES: dict[str, Any] = {
    "queues": {
        "producers": [{"binding": "JOBS", "queue": "jobs"}],
        "consumers": [{"queue": "jobs"}],
    }
}
SOUND = """\
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        await self.env.JOBS.send(1)
        return Response("sound")

    async def queue(self, batch, env=None, ctx=None):
        pass
"""
FAULTY = SOUND.replace("send(1)", "send(1, delay_seconds=60)").replace("sound", "faulty")
DOUBTFUL = SOUND.replace("await self.env", "self.env").replace("sound", "doubtful")


@pytest.fixture
def worker(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.configure(**QUEUES)
    project.write("src/entry.py", SOUND)
    return project


def check(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_tsumugi("check", *arguments, cwd=project.directory)


def test_a_sound_worker_is_clean(worker: Project) -> None:
    result = check(worker)
    assert (result.returncode, result.stdout) == (0, "Checked 1 file: nothing found.\n")


def test_an_error_is_exit_code_1(worker: Project) -> None:
    worker.write("src/entry.py", FAULTY)
    result = check(worker)
    assert result.returncode == 1
    assert result.stdout == (
        "src/entry.py:5:37: error TSU420: env.JOBS.send() ignores `delay_seconds=`.\n"
        "    Write `delaySeconds=`.\n"
        "Checked 1 file: 1 error.\n"
    )


def test_a_warning_is_none(worker: Project) -> None:
    worker.write("src/entry.py", DOUBTFUL)
    result = check(worker)
    assert result.returncode == 0
    assert "warning TSU502" in result.stdout


def test_a_configuration_with_faults_is_exit_code_2(worker: Project) -> None:
    worker.configure(main="src/missing.py")
    result = check(worker)
    assert result.returncode == 2
    assert 'entry-point file at "src/missing.py" was not found' in result.stderr
    assert check(worker, "--no-such-option").returncode == 2


def test_json_is_for_tools(worker: Project) -> None:
    worker.write("src/entry.py", FAULTY)
    result = check(worker, "--json")
    assert result.returncode == 1
    told = json.loads(result.stdout)
    assert [(one["code"], one["line"], one["column"]) for one in told["findings"]] == [
        ("TSU420", 5, 37)
    ]
    assert told["files"] == [str(worker.directory / "src" / "entry.py")]


def test_an_environment_is_checked_as_it_deploys(worker: Project) -> None:
    worker.configure(**QUEUES, env={"staging": {"triggers": {"crons": ["* * * * *"]}}})
    assert check(worker).returncode == 0
    result = check(worker, "--env", "staging")
    assert result.returncode == 1
    assert "TSU108" in result.stdout


def test_several_workers_are_checked_together(worker: Project, tmp_path: Path) -> None:
    other = Project(tmp_path / "other")
    other.configure(name="other", queues={"consumers": [{"queue": "mail"}]})
    other.write("src/entry.py", SOUND.replace("self.env.JOBS.send(1)", "later()"))
    alone = check(worker, "--config", "other/wrangler.json")
    assert "TSU605" in alone.stdout
    producers = [*QUEUES["queues"]["producers"], {"binding": "MAIL", "queue": "mail"}]
    worker.configure(queues={**QUEUES["queues"], "producers": producers})
    both = check(worker, "-c", "wrangler.json", "-c", "other/wrangler.json")
    assert (both.returncode, both.stdout) == (0, "Checked 2 files: nothing found.\n")


def test_secrets_of_this_machine_are_not_needed(worker: Project) -> None:
    worker.write(".dev.vars", "TOKEN=x\n")
    result = check(worker)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("template", sorted(path.name for path in (ROOT / "templates").iterdir()))
def test_a_template_is_clean(template: str, tmp_path: Path) -> None:
    config = ROOT / "templates" / template / "wrangler.jsonc"
    result = check(Project(tmp_path), "--config", str(config))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.endswith("nothing found.\n")


# -- Under dev ------------------------------------------------------------------------------------


def test_dev_warns_of_what_fails_in_production_and_serves(worker: Project, dev: RunDev) -> None:
    worker.write("src/entry.py", FAULTY)
    session = dev(worker).ready()
    assert session.get("/").text == "faulty"
    session.wait_for(r"\[WARNING\].*\n\s+src/entry\.py:5:37: error TSU420: ")


def test_a_reload_warns_of_what_it_brings(worker: Project, dev: RunDev) -> None:
    session = dev(worker).ready()
    worker.write("src/entry.py", FAULTY)
    session.wait_for(r"Reloaded in")
    session.wait_for(r"error TSU420: ")
    worker.write("src/entry.py", f"# moved\n{FAULTY.replace('faulty', 'moved')}")
    session.wait_for(r"Reloaded in", times=2)
    worker.write("src/entry.py", DOUBTFUL)
    session.wait_for(r"warning TSU502: ")
    assert session.output.count("TSU420") == 1


def test_strictly_such_a_worker_does_not_start(worker: Project, dev: RunDev) -> None:
    worker.write("src/entry.py", FAULTY)
    session = dev(worker, "--strict")
    session.wait_for(r"answers with the error until it is fixed")
    answer = session.get("/")
    assert answer.status_code == 500
    assert "src/entry.py:5:37: error TSU420: " in answer.text
    worker.write("src/entry.py", SOUND)
    eventually(lambda: session.get("/").text == "sound", "the mended code")


def test_strictly_sound_code_serves_on_when_a_save_breaks_it(worker: Project, dev: RunDev) -> None:
    session = dev(worker, "--strict").ready()
    worker.write("src/entry.py", FAULTY)
    session.wait_for(r"the previous version keeps serving")
    session.wait_for(r"error TSU420: ")
    assert session.get("/").text == "sound"
