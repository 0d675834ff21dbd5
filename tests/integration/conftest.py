"""Each test gets its own directory, port and processes; all of them are gone when it ends."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import judge
import pytest
from dev_session import RUNTIME, Dev, Project
from gates import Gate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(scope="session", autouse=RUNTIME == "pyodide")
def _pyodide() -> None:
    """The packages of the judge are where the sessions look for Pyodide."""
    judge.install()
    os.environ["TSUMUGI_PYODIDE"] = str(judge.PACKAGES)


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Project]:
    """``project("web")`` copies a Worker; ``project(entry="...")`` writes one."""

    def make(
        worker: str | None = None, *, entry: str = "", at: str = "project", **config: Any
    ) -> Project:
        if worker is not None:
            return Project.of_worker(worker, tmp_path / at, **config)
        made = Project(tmp_path / at)
        made.configure(**config)
        made.write("src/entry.py", entry)
        return made

    return make


@pytest.fixture
def dev() -> Iterator[Callable[..., Dev]]:
    """``dev(project, "--strict")`` runs ``tsumugi dev`` there."""
    started: list[Dev] = []

    def start(made: Project, *arguments: str, **options: Any) -> Dev:
        session = Dev(made, *arguments, **options)
        started.append(session)
        return session

    yield start
    for session in started:
        session.close()


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.close()
