"""A jobs API that answers what a test says, and commands run beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from jobs_server import CONFIG, JobsServer, Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def server() -> Iterator[JobsServer]:
    made = JobsServer()
    yield made
    made.close()


@pytest.fixture
def terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Terminal:
    monkeypatch.chdir(tmp_path)
    for name in ("TSUMUGI_TOKEN", "CLOUDFLARE_ENV"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "wrangler.json").write_text(json.dumps(CONFIG))
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "entry.py").write_text("")
    return Terminal(tmp_path, capfd)
