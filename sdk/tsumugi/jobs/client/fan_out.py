"""Ask several shards at once, and say which of them failed. Knows no request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from tsumugi.jobs.stubs import ShardError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

#: Calls under way at once: a binding may have a thousand shards.
SHARDS_AT_ONCE: Final = 16


class PartialFailure(RuntimeError):
    """Some shards did what was asked and some did not. Repeating the call is safe."""

    def __init__(
        self, what: str, failures: Mapping[str, ShardError], answers: Mapping[str, object]
    ) -> None:
        self.failures = dict(failures)
        self.answers = dict(answers)
        reasons = "; ".join(f"{shard}: {error.reason}" for shard, error in failures.items())
        super().__init__(
            f"{what} failed on {len(failures)} of {len(failures) + len(answers)} shards "
            f"({reasons}): the others have done it; repeat the call"
        )


async def ask_each[T](
    shards: Iterable[str], ask: Callable[[str], Awaitable[T]]
) -> tuple[dict[str, T], dict[str, ShardError]]:
    """What every shard answered, and the errors of those that did not.

    Any other error is a fault that all shards meet, such as ``MissingBinding``: it is raised once,
    as it is.
    """
    answers: dict[str, T] = {}
    failures: dict[str, ShardError] = {}
    slots = asyncio.Semaphore(SHARDS_AT_ONCE)

    async def one(shard: str) -> None:
        async with slots:
            try:
                answers[shard] = await ask(shard)
            except ShardError as error:
                failures[shard] = error

    try:
        async with asyncio.TaskGroup() as tasks:
            for shard in shards:
                tasks.create_task(one(shard))
    except BaseExceptionGroup as met:
        raise met.exceptions[0] from None
    return answers, failures


async def ask_all[T](
    what: str, shards: Iterable[str], ask: Callable[[str], Awaitable[T]]
) -> dict[str, T]:
    """What every shard answered, by shard.

    Raises the ``ShardError`` if there is one shard, and ``PartialFailure`` if any of several
    failed.
    """
    wanted = list(shards)
    if len(wanted) == 1:
        return {wanted[0]: await ask(wanted[0])}
    answers, failures = await ask_each(wanted, ask)
    if failures:
        raise PartialFailure(what, failures, answers)
    return answers
