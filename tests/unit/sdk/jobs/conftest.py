"""Consumers on both kinds of loop: one starts tasks eagerly, the local runtime's files them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from consumer_harness import Consumer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(params=[False, True], ids=["eager", "filed"])
def consumer(request: pytest.FixtureRequest) -> Iterator[Callable[..., Consumer]]:
    """``consumer(SendMail)`` makes one."""
    made: list[Consumer] = []

    def make(*performers: Any) -> Consumer:
        made.append(Consumer(*performers, filed=request.param))
        return made[-1]

    yield make
    for one in made:
        one.close()
