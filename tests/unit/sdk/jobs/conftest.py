"""Consumers on both kinds of loop (eager tasks, or filed as the runtime does), shards, APIs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from consumer_harness import Consumer
from jobs_api_harness import Api
from shard_harness import World

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


@pytest.fixture
def shard() -> Iterator[Callable[..., World]]:
    """``shard(policy)`` makes one; in the end all is in order in it."""
    made: list[World] = []

    def make(*arguments: Any, **options: Any) -> World:
        made.append(World(*arguments, **options))
        return made[-1]

    yield make
    try:
        for world in made:
            world.check()
    finally:
        for world in made:
            world.close()


@pytest.fixture
def api() -> Api:
    return Api()
