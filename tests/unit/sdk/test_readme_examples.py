"""The README's Workers, run as they are printed there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[3] / "README.md"
EXAMPLES = re.findall(r"^```python\n(.+?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
PRELUDE = """
import asyncio
from tsumugi.testing import *
Default = load_worker("entry.py")
"""

QUEUE = """
jobs = RecordingQueue()
answer = asyncio.run(run_fetch_handler(Default, "/", env={"JOBS": jobs}))
assert (answer.text, jobs.bodies) == ("queued", [{"hello": "queue"}])
outcome = asyncio.run(run_queue_handler(Default, build_batch("jobs", jobs.bodies)))
assert outcome.acked == ["message-1"]
"""
CONSUMER = """
batch = build_batch("orders", [{"id": 1}, {"id": -1}, {"name": "no order"}])
outcome = asyncio.run(run_queue_handler(Default, batch))
assert outcome.acked == ["message-1"]
assert outcome.retried == {"message-2": 0, "message-3": 0}
"""
JOBS = """
from entry import tsumugi

async def story():
    with InMemoryJobs(tsumugi) as memory:
        answer = await run_fetch_handler(Default, "/enqueue", env=vars(memory.env))
        await memory.run()
        return await memory.get(answer.json()["id"])

job = asyncio.run(story())
assert (job["state"], job["binding"]) == ("COMPLETED", "SendMail"), job
"""


STORIES = (QUEUE, CONSUMER, JOBS)


@pytest.mark.parametrize("number", range(len(STORIES)), ids=["queue", "consumer", "jobs"])
def test_an_example_of_the_readme_does_what_it_is_there_for(tmp_path: Path, number: int) -> None:
    (tmp_path / "entry.py").write_text(EXAMPLES[number])
    code = PRELUDE + STORIES[number]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_example_of_the_readme_is_run() -> None:
    assert len(EXAMPLES) == len(STORIES)
