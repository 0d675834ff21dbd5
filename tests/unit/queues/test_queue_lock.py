from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tsumugi_emulator.queues import StateInUseError, StateLock

if TYPE_CHECKING:
    from pathlib import Path

HOLDER = """
import sys
from pathlib import Path
from tsumugi_emulator.queues import StateLock
lock = StateLock.acquire(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_the_second_emulator_is_refused_and_told_who_is_first(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    with pytest.raises(StateInUseError) as raised:
        StateLock.acquire(tmp_path)
    assert raised.value.pid == holder.pid
    assert f"process {holder.pid}" in str(raised.value)
    assert "--persist-to" in str(raised.value)


def test_a_holder_that_was_killed_leaves_no_lock(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    holder.kill()
    holder.wait()
    with StateLock.acquire(tmp_path):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_a_released_lock_can_be_taken_again(tmp_path: Path) -> None:
    directory = tmp_path / "not" / "yet"
    lock = StateLock.acquire(directory)
    with pytest.raises(StateInUseError):
        StateLock.acquire(directory)
    lock.release()
    lock.release()
    StateLock.acquire(directory).release()
