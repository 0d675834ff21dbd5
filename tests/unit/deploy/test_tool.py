"""Who deploys, by what is on the machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tsumugi_emulator.deploy.tool import NoTool, Project, command, read_project

ROOT = Path("/project")
WITH_PYWRANGLER = {"dependency-groups": {"dev": ["workers-py>=1.9", {"include-group": "x"}]}}
WITH_DEPENDENCIES = {"project": {"dependencies": ["httpx"]}}


def chosen(
    pyproject: dict[str, Any] | None = None, *, programs: str = "", files: str = ""
) -> list[str]:
    present = {ROOT / name for name in files.split()}
    return command(
        Project(ROOT, pyproject),
        lambda name: f"/bin/{name}" if name in programs.split() else None,
        exists=lambda path: path in present,
    )


def test_a_project_that_lists_pywrangler_runs_it_through_uv() -> None:
    assert chosen(WITH_PYWRANGLER, programs="uv npx") == ["/bin/uv", "run", "pywrangler"]


def test_pywrangler_of_the_projects_own_environment_comes_first() -> None:
    assert chosen(WITH_PYWRANGLER, programs="uv", files=".venv/bin/pywrangler") == [
        "/project/.venv/bin/pywrangler"
    ]


def test_a_project_without_dependencies_needs_only_wrangler() -> None:
    assert chosen(programs="npx") == ["/bin/npx", "--yes", "wrangler"]
    assert chosen(programs="npx wrangler") == ["/bin/wrangler"]
    assert chosen(programs="npx", files="node_modules/.bin/wrangler") == [
        "/project/node_modules/.bin/wrangler"
    ]


def test_dependencies_that_nobody_vendored_need_pywrangler() -> None:
    with pytest.raises(NoTool, match=r"depends on httpx, .* Install uv"):
        chosen(WITH_DEPENDENCIES, programs="npx")
    assert chosen(WITH_DEPENDENCIES, programs="npx", files="python_modules") == [
        "/bin/npx", "--yes", "wrangler",
    ]  # fmt: skip


def test_a_machine_with_nothing_says_what_to_install() -> None:
    with pytest.raises(NoTool, match=r"Install Node\.js"):
        chosen()


def test_a_pyproject_that_cannot_be_read_counts_as_none(tmp_path: Path) -> None:
    assert read_project(tmp_path).pyproject is None
    (tmp_path / "pyproject.toml").write_text("not toml")
    assert read_project(tmp_path).dependencies == []


def test_the_nearest_pyproject_going_up_counts_with_its_environment(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["httpx"]\n')
    below = tmp_path / "workers" / "api"
    below.mkdir(parents=True)
    project = read_project(below)
    assert project.dependencies == ["httpx"]
    pywrangler = tmp_path / ".venv" / "bin" / "pywrangler"
    assert command(project, lambda _: None, exists=lambda path: path == pywrangler) == [
        str(pywrangler)
    ]
    (below / "pyproject.toml").write_text("")
    assert read_project(below).dependencies == []
