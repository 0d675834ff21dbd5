"""Check once in a process of its own: a request on standard input, an answer on standard output.

``python -m tsumugi_emulator.check.background [--nice]``
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsumugi_emulator.check.exchange import Answer, Request

#: How much other processes are preferred.
NICE = 10


def answer(request: Request) -> Answer:
    # Loaded only here: already at the low priority that main() has taken.
    from tsumugi_emulator.check.exchange import Answer
    from tsumugi_emulator.check.judge import judge
    from tsumugi_emulator.check.reader import Reader

    known = None if request.memory is None else pickle.loads(request.memory)  # our own
    reader = Reader(known=known)
    projects = [reader.read(config) for config in request.configs]
    found = judge(projects, with_configuration=False)
    return Answer(tuple(found), pickle.dumps(reader.memory()), reader.examined)


def main() -> None:
    # Ctrl-C goes to every process of the terminal; the one that asked ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if "--nice" in sys.argv[1:] and hasattr(os, "nice"):
        os.nice(NICE)
    gc.disable()  # trees are many objects, and the process ends soon
    pickle.dump(answer(pickle.load(sys.stdin.buffer)), sys.stdout.buffer)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
