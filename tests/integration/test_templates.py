"""Each template runs as it is, does what its README says, and can be created from the command."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from dev_session import Dev, Project, eventually, run_tsumugi
from tsumugi_emulator.config.jsonc import parse_jsonc

if TYPE_CHECKING:
    from collections.abc import Callable

type RunDev = Callable[..., Dev]

ROOT = Path(__file__).parents[2]
TEMPLATES = ("hello", "jobs", "queue")


def created(directory: Path, template: str, *, name: str = "my-worker") -> Project:
    result = run_tsumugi("init", name, "--template", template, cwd=directory)
    assert result.returncode == 0, result.stderr
    return Project(directory / name)


def test_hello_greets(tmp_path: Path, dev: RunDev) -> None:
    session = dev(created(tmp_path, "hello")).ready()
    assert session.get("/").text == "Hello, World!\n"
    assert session.get("/?name=Ada").text == "Hello, Ada!\n"
    assert 'env.GREETING  Variable "Hello"' in session.output


def test_queue_takes_a_job_and_does_it(tmp_path: Path, dev: RunDev) -> None:
    session = dev(created(tmp_path, "queue")).ready()
    answer = session.post("/", json={"text": "hello"})
    assert (answer.status_code, answer.json()) == (202, {"queued": 1})
    session.wait_for(r"\[my-worker\] Done: hello\n")
    session.wait_for(r"QUEUE my-worker-jobs 1/1")


def test_queue_retries_a_job_and_then_does_it(tmp_path: Path, dev: RunDev) -> None:
    made = created(tmp_path, "queue")
    made.replace("src/jobs.py", "BASE_DELAY_S = 2", "BASE_DELAY_S = 1")
    session = dev(made).ready()
    session.post("/", json={"text": "hello", "fail_times": 1})
    session.wait_for(r"Attempt 1 failed \(told to fail attempt 1\); next one in 1 s")
    session.wait_for("QUEUE my-worker-jobs 0/1")
    session.wait_for("Done: hello")


@pytest.mark.long
def test_queue_reports_a_job_that_keeps_failing(tmp_path: Path, dev: RunDev) -> None:
    made = created(tmp_path, "queue")
    made.replace("src/jobs.py", "BASE_DELAY_S = 2", "BASE_DELAY_S = 1")
    session = dev(made).ready()
    session.post("/batch", json=[{"text": "bad", "fail_times": 9}, {"text": "good"}])
    session.wait_for("Done: good")
    session.wait_for(r'to dead letter queue "my-worker-jobs-dlq" after 4 failed attempts')
    session.wait_for(r"Gave up on [0-9a-f]{32}: \{'text': 'bad', 'fail_times': 9\}")
    session.wait_for("QUEUE my-worker-jobs-dlq 1/1")


def test_the_front_page_of_queue_explains(tmp_path: Path, dev: RunDev) -> None:
    session = dev(created(tmp_path, "queue")).ready()
    assert "POST /batch" in session.get("/").text
    assert session.post("/", json={"text": 1}).status_code == 400
    assert session.get("/nowhere").status_code == 404


def test_jobs_charges_an_order_once_and_sends_its_receipt(tmp_path: Path, dev: RunDev) -> None:
    made = created(tmp_path, "jobs")
    session = dev(made).ready()
    order = {"id": "A-1", "customer": "ada", "cents": 1990}
    first = session.post("/orders", json=order)
    assert first.status_code == 202
    assert session.post("/orders", json=order).json() == first.json()
    session.wait_for(r"Charged ada: 19\.90\n")
    session.wait_for(r"Receipt of order A-1 sent to ada \(attempt 1\)")
    assert session.output.count("Charged") == 1
    assert session.get("/api/jobs").status_code == 401
    eventually(
        lambda: states(made) == {"ChargeCard": "COMPLETED", "SendReceipt": "COMPLETED"}, "list"
    )


def states(made: Project) -> dict[str, str]:
    """What `tsumugi jobs list` shows, which finds the running Worker and its token by itself."""
    listed = run_tsumugi("jobs", "list", "--json", cwd=made.directory)
    assert listed.returncode == 0, listed.stderr
    return {job["binding"]: job["state"] for job in json.loads(listed.stdout)["jobs"]}


def test_jobs_has_the_migrations_that_the_sdk_ships() -> None:
    shipped = ROOT / "sdk" / "tsumugi" / "jobs" / "read_model" / "migrations"
    copied = ROOT / "templates" / "jobs" / "migrations"
    assert {path.name: path.read_text() for path in copied.iterdir()} == {
        path.name: path.read_text() for path in shipped.glob("*.sql")
    }


def test_jobs_gets_a_secret_of_its_own(tmp_path: Path) -> None:
    texts = [
        (created(tmp_path, "jobs", name=name).directory / ".dev.vars").read_text()
        for name in ("one", "two")
    ]
    assert texts[0] != texts[1]
    for text in texts:
        assert re.search(r"^TSUMUGI_TOKEN=[\w-]{32}$", text, re.MULTILINE)


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_created_project_bears_its_name_everywhere(tmp_path: Path, template: str) -> None:
    made = created(tmp_path, template, name="Größe & Co_2")
    config = parse_jsonc((made.directory / "wrangler.jsonc").read_text()).value
    assert re.fullmatch(r"gr-e-co_2", config["name"])
    for path in files_of(made.directory):
        assert not re.search(rb"tsumugi-(hello|jobs|queue)-template", path.read_bytes())


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_created_project_has_all_files_and_no_leftovers(tmp_path: Path, template: str) -> None:
    made = created(tmp_path, template)
    tracked = subprocess.run(
        ["git", "ls-files", f"templates/{template}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if tracked.returncode:
        pytest.skip("not a git checkout")
    expected = {line.removeprefix(f"templates/{template}/") for line in tracked.stdout.split()}
    found = {str(path.relative_to(made.directory)) for path in files_of(made.directory)}
    assert found - {".dev.vars"} == expected


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_created_projects_own_tests_pass(tmp_path: Path, template: str) -> None:
    made = created(tmp_path, template)
    environ = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=made.directory,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_init_says_what_to_do_next(tmp_path: Path) -> None:
    result = run_tsumugi("init", "a b", cwd=tmp_path)
    assert "cd 'a b'\n" in result.stdout
    assert "uv run tsumugi dev\n" in result.stdout
    here = tmp_path / "here"
    (here / ".git").mkdir(parents=True)
    result = run_tsumugi("init", ".", cwd=here)
    assert result.returncode == 0
    assert "cd " not in result.stdout
    assert (here / "wrangler.jsonc").exists()


def test_a_project_made_from_a_checkout_takes_the_package_from_there(tmp_path: Path) -> None:
    if metadata.distribution("tsumugi-workers").read_text("direct_url.json") is None:
        pytest.skip("installed from an index")
    text = (created(tmp_path, "jobs").directory / "pyproject.toml").read_text()
    assert tomllib.loads(text)["tool"]["uv"]["sources"] == {"tsumugi-workers": {"path": str(ROOT)}}


def test_init_overwrites_nothing(tmp_path: Path) -> None:
    made = created(tmp_path, "hello")
    entry = made.directory / "src" / "entry.py"
    entry.write_text("# mine\n")
    shutil.rmtree(made.directory / "tests")
    before = {path: path.read_bytes() for path in files_of(made.directory)}
    result = run_tsumugi("init", "my-worker", cwd=tmp_path)
    assert result.returncode == 1
    assert "my-worker is not empty: .gitignore, README.md" in result.stderr
    assert {path: path.read_bytes() for path in files_of(made.directory)} == before


def test_init_names_a_file_that_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for target in ("file", "file/below"):
        result = run_tsumugi("init", target, cwd=tmp_path)
        assert result.returncode == 1
        assert "is not a directory" in result.stderr
        assert "Traceback" not in result.stderr


def files_of(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())
