"""The boundary under the web tests: registered once, before any of them imports ``js``."""

from __future__ import annotations

import sys

import pytest
from tsumugi_emulator.javascript import install

if "js" not in sys.modules:
    install(compatibility_flags=frozenset({"python_request_headers_preserve_commas"}))

from web_event import Event


@pytest.fixture
def event() -> Event:
    """One event of a Worker: run handlers in it and see what it warned of."""
    return Event()
