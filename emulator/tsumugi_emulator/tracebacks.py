"""Tracebacks as the user should see them: their frames, not the emulator's or the SDK's."""

from __future__ import annotations

import functools
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsumugi_emulator.paths import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType, TracebackType

_EMULATOR = str(Path(__file__).resolve().parent)
_LIBRARY = f"/python3.{sys.version_info.minor}"
#: Pyodide keeps its library in an archive.
_ARCHIVE = f"/python3{sys.version_info.minor}.zip"

#: Endless recursion has far more, all alike, and formatting them takes seconds.
MAX_FRAMES = 1_000


def is_machinery(path: str) -> bool:
    """Whether a code object's file is not the user's and tells them nothing."""
    # The SDK's wrappers, asyncio and the import system carry no information for the user.
    return (
        path.startswith((_EMULATOR, "<frozen importlib"))
        or "/site-packages/workers/" in path
        or path.endswith("/site-packages/asgi.py")
        or f"{_LIBRARY}/asyncio/" in path
        or f"{_LIBRARY}/importlib/" in path
        or f"{_ARCHIVE}/" in path
    )


def leave_out_emulator() -> None:
    """Let what this process formats by itself name no frame of the emulator. Idempotent.

    ``logging.exception``, ``traceback.format_exc`` and the error pages of frameworks show these
    frames otherwise, where production has JavaScript's or none. Only the child applies this.
    """
    for name in ("walk_tb", "_walk_tb_with_full_positions"):
        walk = getattr(traceback, name, None)
        if walk is not None and getattr(walk, "__wrapped__", None) is None:
            setattr(traceback, name, _without_emulator(walk))


def show_emulator() -> None:
    """Take :func:`leave_out_emulator` back: the emulator's own faults are told in full."""
    for name in ("walk_tb", "_walk_tb_with_full_positions"):
        walk = getattr(traceback, name, None)
        setattr(traceback, name, getattr(walk, "__wrapped__", walk))


type _Walk = Callable[[TracebackType | None], Iterator[tuple[FrameType, Any]]]


def _without_emulator(walk: _Walk) -> _Walk:
    @functools.wraps(walk)
    def users(tb: TracebackType | None) -> Iterator[tuple[FrameType, Any]]:
        for frame, place in walk(tb):
            if not frame.f_code.co_filename.startswith(_EMULATOR):
                yield frame, place

    return users


def hold_report(error: BaseException, text: str, last_line: str) -> None:
    """Give an exception of another process the report that was made there."""
    error.__dict__["_held_report"] = (text, last_line)


def report(error: BaseException) -> str:
    """The whole exception chain as text, without machinery frames and with short paths."""
    held: tuple[str, str] | None = error.__dict__.get("_held_report")
    if held is not None:
        return held[0]
    formatted = traceback.TracebackException.from_exception(error, compact=True, limit=MAX_FRAMES)
    _clean(formatted, set())
    return "".join(formatted.format()).removesuffix("\n")


_HEADER = "Traceback (most recent call last):"


def message(error: BaseException) -> str:
    """A Python exception as JavaScript holds it: the traceback is the message."""
    text = report(error)
    if not text.partition("\n")[0].endswith(_HEADER):  # that of a group begins with a "+"
        text = f"{_HEADER}\n{text}"  # raised by the call itself: no frame is the user's
    return f"{text}\n"


def message_at_once(error: BaseException) -> str:
    """The same of what raised before a coroutine was made: no traceback without a frame."""
    text = report(error)
    header, _, rest = text.partition("\n")
    if header == _HEADER and not rest.startswith("  File"):
        text = rest  # the call itself raised
    return f"{text}\n"


def _clean(formatted: traceback.TracebackException, seen: set[int]) -> None:
    if id(formatted) in seen:
        return
    seen.add(id(formatted))
    if formatted.stack is not None:
        frames = [frame for frame in formatted.stack if not is_machinery(frame.filename)]
        for frame in frames:
            frame.filename = shown(frame.filename)
        formatted.stack[:] = frames
    if getattr(formatted, "filename", None):  # a SyntaxError names its file itself
        formatted.filename = shown(formatted.filename)
    for linked in (formatted.__cause__, formatted.__context__, *(formatted.exceptions or ())):
        if linked is not None:
            _clean(linked, seen)


def summary(error: BaseException) -> str:
    """The exception's last line, which names its type and message."""
    held: tuple[str, str] | None = error.__dict__.get("_held_report")
    if held is not None:
        return held[1]
    formatted = traceback.TracebackException(type(error), error, None, compact=True)
    formatted.__notes__ = None  # they come after it
    return "".join(formatted.format_exception_only()).strip().split("\n")[-1]
