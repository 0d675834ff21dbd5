"""What is told when an object's file cannot be used: the fault, the file, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from tsumugi_emulator.paths import shown

if TYPE_CHECKING:
    from pathlib import Path

_NEXT_STEPS: tuple[tuple[tuple[type[apsw.Error], ...], str], ...] = (
    ((apsw.BusyError, apsw.LockedError), "close the program that has the file open"),
    (
        (apsw.NotADBError, apsw.CorruptError),
        "the file is damaged: move it away, and the object begins anew",
    ),
    ((apsw.FullError, apsw.IOError), "make room on the disk"),
    (
        (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError),
        "the file must be there for this user to read and write",
    ),
)


def storage_failure(path: Path, error: apsw.Error) -> str:
    steps = [step for kinds, step in _NEXT_STEPS if isinstance(error, kinds)]
    return (
        f"internal error: the storage of this object, {shown(str(path))}, cannot be used: "
        f"{': '.join([str(error), *steps])}."
    )
