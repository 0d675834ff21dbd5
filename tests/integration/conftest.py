"""Each test gets its own directory, port and processes; all of them are gone when it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from dev_session import Dev, Project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


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
