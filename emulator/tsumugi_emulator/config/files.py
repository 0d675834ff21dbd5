"""Read small text files for people who may have got them wrong. Parses nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsumugi_emulator.config.diagnostics import Diagnostic, Severity
from tsumugi_emulator.config.document import LineIndex

if TYPE_CHECKING:
    from pathlib import Path

#: Far above any configuration; below what would make a start feel like a hang.
MAX_FILE_BYTES = 4 * 1024 * 1024


def read_text(path: Path) -> str | Diagnostic:
    """The text of a UTF-8 file, or the reason why it cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as exc:
        reason = exc.strerror or type(exc).__name__
        return _fault(path, f"Could not read the file: {reason}.")
    except ValueError:  # a NUL in the name
        return _fault(path, "Could not read the file: the name is not valid.")
    if len(data) > MAX_FILE_BYTES:
        return _fault(path, f"The file is larger than {MAX_FILE_BYTES // 1024 // 1024} MB.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as exc:
        valid = data[: exc.start].decode("utf-8")
        line, column = LineIndex(valid).position(len(valid))
        return Diagnostic(
            severity=Severity.ERROR,
            message=f"The file is not UTF-8: byte 0x{data[exc.start]:02x}. Save it as UTF-8.",
            path=path,
            line=line,
            column=column,
        )


def is_file(path: Path) -> bool:
    """Whether there is a file to read, taking every error for a no."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _fault(path: Path, message: str) -> Diagnostic:
    return Diagnostic(severity=Severity.ERROR, message=message, path=path)
