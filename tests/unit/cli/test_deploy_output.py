"""What ``tsumugi deploy --dry-run`` says of a configuration is said once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from tsumugi_emulator.cli.commands import cli

if TYPE_CHECKING:
    from pathlib import Path

MAIN = """\
from workers import DurableObject, Response, WorkerEntrypoint

class Room(DurableObject): ...

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response("ok")
"""
CONFIGURATION = {
    "name": "worker",
    "main": "src/entry.py",
    "compatibility_date": "2026-11-01",
    "compatibility_flags": ["python_workers"],
    "durable_objects": {"bindings": [{"name": "ROOMS", "class_name": "Room"}]},
}


@pytest.mark.parametrize("options", [(), ("--no-check",)])
def test_a_fault_of_the_configuration_is_said_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    options: tuple[str, ...],
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "entry.py").write_text(MAIN)
    (tmp_path / "wrangler.jsonc").write_text(json.dumps(CONFIGURATION))
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(cli, ["deploy", "--dry-run", *options])
    shown = "".join(capfd.readouterr())
    assert shown.count("No migration creates the Durable Object class Room") == 1
    assert ran.exit_code == (0 if options else 1)
