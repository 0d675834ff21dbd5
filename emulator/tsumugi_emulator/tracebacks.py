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


def warning_text(message: object, category: type[Warning], filename: str, lineno: int) -> str:
    """One line. A coroutine that nobody awaited is noticed where it is freed, which may be here."""
    text = f"{category.__name__}: {message}"
    freed_by_us = "was never awaited" in text and (
        is_machinery(filename) or filename.startswith(_sdk())
    )
    return text if freed_by_us else f"{shown(filename)}:{lineno}: {text}"


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


@functools.cache
def _sdk() -> str:
    """Where the package ``tsumugi`` is; it need not be loaded."""
    from importlib.util import find_spec

    spec = find_spec("tsumugi")
    places = spec.submodule_search_locations if spec is not None else None
    return f"{places[0]}/" if places else "\0"


def _clean(
    formatted: traceback.TracebackException, seen: set[int], *, hides_sdk: bool | None = None
) -> None:
    """``hides_sdk`` is decided by the exception itself, for those that led to it as well.

    Where the user's code called our SDK, how that found the fault out tells nothing. Without a
    frame of the user's the fault may be the SDK's.
    """
    if id(formatted) in seen:
        return
    seen.add(id(formatted))
    if formatted.stack is not None:
        frames = [frame for frame in formatted.stack if not is_machinery(frame.filename)]
        users = [frame for frame in frames if not frame.filename.startswith(_sdk())]
        if hides_sdk is None:
            hides_sdk = bool(users)
        if hides_sdk:
            frames = users
        for frame in frames:
            frame.filename = shown(frame.filename)
        formatted.stack[:] = frames
    if getattr(formatted, "filename", None):  # a SyntaxError names its file itself
        formatted.filename = shown(formatted.filename)
    for linked in (formatted.__cause__, formatted.__context__, *(formatted.exceptions or ())):
        if linked is not None:
            _clean(linked, seen, hides_sdk=hides_sdk)


def summary(error: BaseException) -> str:
    """The exception's last line, which names its type and message."""
    held: tuple[str, str] | None = error.__dict__.get("_held_report")
    if held is not None:
        return held[1]
    formatted = traceback.TracebackException(type(error), error, None, compact=True)
    formatted.__notes__ = None  # they come after it
    return "".join(formatted.format_exception_only()).strip().split("\n")[-1]
