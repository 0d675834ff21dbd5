"""``tsumugi deploy``: what it lists is what the real wrangler would upload."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from dev_session import Project, run_tsumugi

from benchmarks import tools

ROOT = Path(__file__).parents[2]
#: What a plan without payment takes is 3 MiB; pydantic needs most of that.
SDK_GZIP_LIMIT_KIB = 256
TEMPLATES = sorted(path.name for path in (ROOT / "templates").iterdir() if path.is_dir())

needs_wrangler = pytest.mark.skipif(
    shutil.which("node") is None or shutil.which("npm") is None, reason="needs node and npm"
)


def created(directory: Path, template: str) -> Project:
    result = run_tsumugi("init", "my-worker", "--template", template, cwd=directory)
    assert result.returncode == 0, result.stderr
    return Project(directory / "my-worker")


def uploaded_by_wrangler(project: Project) -> tuple[set[str], str]:
    """The modules wrangler's dry run writes, and what it prints."""
    assert tools.peer_is_ready(), "wrangler could not be installed"
    out = project.directory / "out"
    done = subprocess.run(
        ["node", str(tools.WRANGLER), "deploy", "--dry-run", "--outdir", str(out)],
        cwd=project.directory,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    shutil.rmtree(out)
    return found - {"README.md"}, done.stdout  # wrangler's own note about the folder


def listed(project: Project) -> set[str]:
    """The modules that ``--dry-run`` names; vendored packages as their folders."""
    result = run_tsumugi("deploy", "--dry-run", cwd=project.directory)
    assert result.returncode == 0, result.stdout + result.stderr
    rows = re.findall(r"^(\S+) +(\S+|\d+ files?) +[\d.]+ KiB$", result.stdout, re.MULTILINE)
    return {name for name, _ in rows}


def with_packages_as_folders(names: set[str]) -> set[str]:
    return {
        "/".join(name.split("/")[:2]) if name.startswith("python_modules/") else name
        for name in names
    }


def vendor_sdk(project: Project, wheel: Path) -> None:
    """What pywrangler would put into python_modules, of this distribution alone."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(project.directory / "python_modules")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    return next(directory.glob("*.whl"))


@needs_wrangler
@pytest.mark.parametrize("template", TEMPLATES)
def test_wrangler_uploads_what_is_listed_for_a_template(tmp_path: Path, template: str) -> None:
    project = created(tmp_path, template)
    uploaded, output = uploaded_by_wrangler(project)
    assert with_packages_as_folders(uploaded) == listed(project)
    assert "entry.py" in uploaded
    total = re.search(r"Total Upload: ([\d.]+) KiB", output)
    assert total is not None
    assert float(total[1]) < 64


@needs_wrangler
def test_wrangler_uploads_what_is_listed_with_rules_and_packages(tmp_path: Path) -> None:
    project = created(tmp_path, "hello")
    fields: dict[str, Any] = {
        "rules": [{"type": "Data", "globs": ["**/*.json"], "fallthrough": True}],
        "python_modules": {"exclude": ["**/*.pyc", "big/**"]},
    }
    (project.directory / "wrangler.jsonc").unlink()
    project.configure(**fields)
    for name in (
        "src/a.json", "src/sub/b.json", "src/c.md", "src/d.txt", "src/e.bin", "src/x/__init__.py",
        "src/__pycache__/a.pyc", "python_modules/pkg/__init__.py", "python_modules/pkg/data.txt",
        "python_modules/pkg/a.pyc", "python_modules/big/a.py", "python_modules/one.py",
    ):  # fmt: skip
        path = project.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"0")
    uploaded, _ = uploaded_by_wrangler(project)
    assert {"src/c.md"}.isdisjoint(uploaded)
    assert with_packages_as_folders(uploaded) == listed(project)


def test_code_of_the_emulator_is_never_uploaded(tmp_path: Path, wheel: Path) -> None:
    project = created(tmp_path, "hello")
    vendor_sdk(project, wheel)
    result = run_tsumugi("deploy", "--dry-run", cwd=project.directory)
    assert result.returncode == 1
    assert "files of the emulator would be uploaded" in result.stderr
    assert '"exclude": ["**/*.pyc", "tsumugi_emulator/**"]' in result.stderr


def test_a_dry_run_shows_no_local_secret_and_names_what_stays_at_home(tmp_path: Path) -> None:
    project = created(tmp_path, "hello")
    project.write(".dev.vars", "TOKEN=s3cret\n")
    project.write("src/prices.json", "{}")
    result = run_tsumugi("deploy", "--dry-run", cwd=project.directory)
    assert result.returncode == 0
    assert "TOKEN" not in result.stdout + result.stderr
    assert "Not uploaded: prices.json." in result.stdout


def test_deploying_hands_all_other_options_to_the_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = created(tmp_path, "hello")
    tool = project.write("node_modules/.bin/wrangler", '#!/bin/sh\necho called with: "$@"\n')
    tool.chmod(0o755)
    (project.directory / "pyproject.toml").unlink()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    result = run_tsumugi("deploy", "--env", "", "--tag", "v1", cwd=project.directory)
    assert result.returncode == 0, result.stderr
    assert f"deploy --config {project.directory}/wrangler.jsonc --env  --tag v1" in result.stdout


def test_what_fails_in_production_is_not_deployed_unless_told_to(tmp_path: Path) -> None:
    project = created(tmp_path, "queue")
    project.replace("src/entry.py", "batch, env=None, ctx=None", "batch")
    refused = run_tsumugi("deploy", "--dry-run", cwd=project.directory)
    assert refused.returncode == 1
    assert "src/entry.py:" in refused.stdout
    assert "Deploy all the same with --no-check" in refused.stderr
    assert "entry.py " not in refused.stdout.splitlines()[-1]
    forced = run_tsumugi("deploy", "--dry-run", "--no-check", cwd=project.directory)
    assert forced.returncode == 0


@needs_wrangler
def test_the_jobs_template_uploads_the_sdk_and_nothing_of_the_emulator(
    tmp_path: Path, wheel: Path
) -> None:
    project = created(tmp_path, "jobs")
    vendor_sdk(project, wheel)
    uploaded, output = uploaded_by_wrangler(project)
    assert with_packages_as_folders(uploaded) == listed(project)
    vendored = {name.removeprefix("python_modules/") for name in uploaded}
    assert {
        "tsumugi/__init__.py",
        "tsumugi/jobs/app.py",
        "tsumugi/jobs/shard/durable.py",
    } <= vendored
    assert "tsumugi/jobs/read_model/migrations/0001_tsumugi_jobs.sql" in vendored
    assert not [name for name in vendored if "tsumugi_emulator" in name]
    total = re.search(r"Total Upload: ([\d.]+) KiB / gzip: ([\d.]+) KiB", output)
    assert total is not None
    assert float(total[2]) < SDK_GZIP_LIMIT_KIB
