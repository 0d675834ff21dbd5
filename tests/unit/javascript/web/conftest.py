"""The boundary under the web tests: registered once, before any of them imports ``js``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from tsumugi_emulator.javascript import install
from tsumugi_emulator.javascript.mode import MODE

if "js" not in sys.modules:
    install()

from web_event import Event

if TYPE_CHECKING:
    from collections.abc import Iterator

FLAGS = frozenset({"python_request_headers_preserve_commas"})


@pytest.fixture(autouse=True)
def flags() -> Iterator[None]:
    """Compatibility flags of these tests, whoever installed the boundary in this process."""
    before, MODE.compatibility_flags = MODE.compatibility_flags, FLAGS
    yield
    MODE.compatibility_flags = before


@pytest.fixture
def event() -> Event:
    """One event of a Worker: run handlers in it and see what it warned of."""
    return Event()
