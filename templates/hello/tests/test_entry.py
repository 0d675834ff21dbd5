"""The whole Worker in plain Python: `load_worker` brings what `import workers` needs."""

import asyncio
from pathlib import Path

import pytest
from tsumugi.testing import load_worker, run_fetch_handler

Default = load_worker(Path(__file__).parents[1] / "src" / "entry.py")


@pytest.mark.parametrize(
    ("path", "greeting"),
    [
        ("/", "Hello, World!\n"),
        ("/?name=Ada", "Hello, Ada!\n"),
        ("/?name=Grace%20Hopper", "Hello, Grace Hopper!\n"),
    ],
)
def test_every_request_is_greeted(path, greeting):
    answer = asyncio.run(run_fetch_handler(Default, path, env={"GREETING": "Hello"}))
    assert (answer.status, answer.text) == (200, greeting)
