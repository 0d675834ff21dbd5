"""No connection of one test is left for the next, where Python would complain about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from queue_harness import close_connections

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def connections() -> Iterator[None]:
    yield
    close_connections()
