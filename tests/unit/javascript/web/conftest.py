"""What the tests of the web platform share."""

from __future__ import annotations

import pytest
from web_event import Event


@pytest.fixture
def event() -> Event:
    """One event of a Worker: run handlers in it and see what it warned of."""
    return Event()
