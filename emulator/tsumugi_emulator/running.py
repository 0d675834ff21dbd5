"""Which emulator runs on a state directory, and how to talk to it. Talks to nobody."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from tsumugi_emulator.tokens import write_private

if TYPE_CHECKING:
    from pathlib import Path

FILE = "dev.json"
API_PATH = "/client/v4"
#: Any account is answered; this one is shown.
ACCOUNT_ID = "local"


@dataclass(frozen=True, slots=True)
class Running:
    pid: int
    #: The address of the API, as CLOUDFLARE_API_BASE_URL wants it.
    api: str
    token: str
    #: The state directory, absolute.
    state: str
    #: Where the primary Worker answers.
    worker: str = ""

    def write(self, directory: Path) -> None:
        write_private(directory / FILE, json.dumps(asdict(self), indent=2))

    def remove(self, directory: Path) -> None:
        (directory / FILE).unlink(missing_ok=True)


def find(directory: Path) -> Running | None:
    """The emulator on this state directory, if its process is alive."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        found = Running(**json.loads((directory / FILE).read_text("utf-8")))
        if is_alive(found.pid):
            return found
    return None


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
