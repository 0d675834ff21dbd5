"""A process that is killed, truly: what it was told is stored, is stored."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from tsumugi_emulator.queues import QueueStore

if TYPE_CHECKING:
    from pathlib import Path

VICTIM = """
import sys
from pathlib import Path
from tsumugi_emulator.queues import OutgoingMessage, QueueStore

store = QueueStore.open(Path(sys.argv[1]))
store.ensure("q", now_ms=1_000)
number = 0
while True:
    batch = [OutgoingMessage(b"%d" % (number + i), "text") for i in range(10)]
    store.put("q", batch, default_delay_s=0, now_ms=1_000)
    number += 10
    print("put", number, flush=True)
    if number % 30 == 0:
        lease, messages = store.lease("q", size=10)
        store.settle(lease, [], now_ms=1_000)
        print("acked", messages[-1].body.decode(), flush=True)
    if number % 500 == 0:
        lease, messages = store.lease("q", size=5)
        print("leased", messages[0].body.decode(), messages[-1].body.decode(), flush=True)
        sys.stdin.read()
"""


def test_nothing_acknowledged_is_lost_and_nothing_acked_returns(tmp_path: Path) -> None:
    victim = subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert victim.stdout is not None
    put = acked = -1
    for line in victim.stdout:
        word, *numbers = line.split()
        if word == "put":
            put = int(numbers[0])
        elif word == "acked":
            acked = int(numbers[0])
        else:
            break
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    victim.communicate()

    store = QueueStore.open(tmp_path)
    _, messages = store.lease("q", size=10_000)
    assert [int(message.body) for message in messages] == list(range(acked + 1, put))
    assert [message.attempts for message in messages[:6]] == [2, 2, 2, 2, 2, 1]
    assert store.line("q").ready_count == 0
    store.close()
