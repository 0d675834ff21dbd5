"""The classes a Worker exports: its entrypoint and its shard, over the runtime's base classes.

They are made on use: ``workers`` exists inside a runtime only (ADR-0031), and a runtime may be
loaded after this module. What they do is ``app``'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tsumugi.jobs.app import Tsumugi


class PlainEntrypoint:
    """Takes the place of ``workers.WorkerEntrypoint`` where no Workers runtime is loaded."""

    def __init__(self, ctx: Any, env: Any) -> None:
        self.ctx = ctx
        self.env = env


def entrypoint_base() -> type:
    """``workers.WorkerEntrypoint``, or a stand-in for it in plain Python, as in unit tests."""
    try:
        from workers import WorkerEntrypoint
    except ModuleNotFoundError as error:
        if error.name not in ("js", "workers"):
            raise  # anything else that is missing is a real fault
        return PlainEntrypoint
    base: type = WorkerEntrypoint
    return base


def entrypoint_on(base: type, tsumugi: Tsumugi) -> type:
    """The entrypoint of this Worker, derived from ``base``."""

    class Entrypoint(base):  # type: ignore[misc]
        """Serves the jobs API, consumes the queue of jobs, and cleans up by cron.

        Override what the Worker does besides, and call ``super()`` for the rest:
        ``super().fetch(request)`` answers 404 for what is not under ``/api``, and ``queue`` drops
        messages that are no dispatches, so a Worker that consumes other queues as well tells them
        apart by ``batch.queue``.
        """

        async def fetch(self, request: Any) -> Any:
            answer = await tsumugi.handle(request, self.env)
            if answer is not None:
                return answer
            from workers import Response

            return Response("Not found\n", status=404)

        # The runtime passes three arguments, the last two of them None.
        async def queue(self, batch: Any, env: object = None, ctx: object = None) -> None:
            await tsumugi.consume(batch, self.env)

        async def scheduled(self, controller: Any, env: object = None, ctx: object = None) -> None:
            await tsumugi.cleanup(self.env)

        async def perform(self, text: str, hear: Any = None) -> str:
            """Perform a job of another Worker, over a service binding; see ``tsumugi.remote``."""
            return await tsumugi.perform_for(text, hear, self.env)

    return Entrypoint
