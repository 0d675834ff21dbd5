"""A consumer without a queue: dispatches in, what shards were told out. Time jumps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fake_time import FakeTimeLoop
from shard_fakes import FakeShards, env_of, local_id
from tsumugi import Performer, Tsumugi
from tsumugi.testing import FakeBatch, build_batch, build_message

if TYPE_CHECKING:
    from collections.abc import Callable


class Consumer:
    """``perform`` of a test is given to performer "Work"; others are listed beside it."""

    def __init__(self, *performers: type[Performer[Any]], filed: bool = False) -> None:
        self.loop = FakeTimeLoop(filed=filed)
        self.shards = FakeShards()
        self.env: Any = env_of(self.shards)
        self.app = Tsumugi(performers=performers, now_ms=self.loop.now_ms)

    def consume(self, *messages: Any) -> FakeBatch:
        """Run a batch to its end. A message is a body or a ``FakeMessage``."""
        batch = build_batch(
            "jobs",
            [m if hasattr(m, "body") else build_message(m, content_type="text") for m in messages],
        )
        self.loop.run(self.app.consume(batch, self.env))
        return batch

    def close(self) -> None:
        self.loop.close()


def performer(name: str, perform: Callable[..., Any], **attributes: Any) -> type[Performer[Any]]:
    """A performer of plain JSON; ``perform(payload, ctx)``."""

    async def asynchronous(self: Any, payload: Any, ctx: Any) -> Any:
        return await perform(payload, ctx)

    def synchronous(self: Any, payload: Any, ctx: Any) -> Any:
        return perform(payload, ctx)

    import inspect

    chosen = asynchronous if inspect.iscoroutinefunction(perform) else synchronous
    body = {"perform": chosen, "__module__": __name__, **attributes}
    return type(name, (Performer,), body)


def dispatch(number: int = 1, *, binding: str = "Work", shard: int = 0, **fields: Any) -> str:
    """The body of a message; ``payload`` is the number unless told."""
    body = {
        "v": 1,
        "job": f"{binding}#{shard}:{local_id(number)}",
        "epoch": 1,
        "attempt": 1,
        "timeout_ms": 60_000,
        "payload": number,
        **fields,
    }
    return json.dumps({name: value for name, value in body.items() if value is not ...})
