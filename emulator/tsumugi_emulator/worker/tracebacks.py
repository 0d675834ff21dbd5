"""Tracebacks as the user should see them: their frames, without the emulator's below them."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

_EMULATOR = str(Path(__file__).resolve().parent.parent)


def is_machinery(path: str) -> bool:
    """Whether a code object's file is not the user's and tells them nothing."""
    # The SDK's wrappers, asyncio and the import system carry no information for the user.
    return (
        path.startswith((_EMULATOR, "<frozen importlib"))
        or "/site-packages/workers/" in path
        or path.endswith("/site-packages/asgi.py")
        or f"/python3.{sys.version_info.minor}/asyncio/" in path
        or f"/python3.{sys.version_info.minor}/importlib/" in path
    )


def trim(tb: TracebackType | None) -> TracebackType | None:
    """Drop the leading frames that are not the user's; keep everything if none is."""
    start = tb
    while start is not None and is_machinery(start.tb_frame.f_code.co_filename):
        start = start.tb_next
    return start


def report(error: BaseException) -> str:
    """The whole exception chain as text, each part trimmed to the user's frames."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        link.__traceback__ = trim(link.__traceback__)
        link = link.__cause__ or link.__context__
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    return "".join(lines).rstrip()


def summary(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(type(error), error)).strip().split("\n")[-1]
