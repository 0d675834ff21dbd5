"""What an emulator of several Workers says about their queues while they start."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tsumugi_emulator.config.jsonc import parse_jsonc
from tsumugi_emulator.config.parse import parse
from tsumugi_emulator.emulator import Emulator
from tsumugi_emulator.queues.messages import OutgoingMessage

CONSUMES = ', "queues": {"consumers": [{"queue": "jobs"}]}'
PRODUCES = ', "queues": {"producers": [{"binding": "JOBS", "queue": "jobs"}]}'
HEAD = '"main": "entry.py", "compatibility_flags": ["python_workers"]'


def config(name: str, more: str = "") -> Any:
    (Path.cwd() / "entry.py").touch()
    text = f'{{"name": "{name}", "compatibility_date": "2026-11-01", {HEAD}{more}}}'
    path = Path.cwd() / "wrangler.jsonc"
    parsed = parse(parse_jsonc(text), path=path, environment=None, today="2026-11-29")
    assert parsed.config is not None, parsed.report.diagnostics
    return parsed.config


async def said_about_waiting(state: Path, *, consumer: str) -> list[str]:
    """What is said when "other" serves, while "worker" starts and messages wait for it."""
    said: list[str] = []
    emulator = Emulator(state, lambda _level, text: said.append(text))
    emulator.open()
    try:
        emulator.add_worker(config("worker", consumer))
        other = emulator.add_worker(config("other", PRODUCES))
        other.serving = other.config
        emulator.configure_queues()
        emulator.broker.send("jobs", [OutgoingMessage(b"1")])
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    finally:
        await emulator.close()
    return said


def test_a_consumer_that_is_still_starting_is_not_missing(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert asyncio.run(said_about_waiting(tmp_path / "state", consumer=CONSUMES)) == []


def test_a_queue_that_nobody_consumes_is_told(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (text,) = asyncio.run(said_about_waiting(tmp_path / "state", consumer=""))
    assert text.startswith('Queue "jobs" has no consumer: 1 message waits')
