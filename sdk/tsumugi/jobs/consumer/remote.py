"""Jobs that another Worker performs: asking it to, and performing for one that asks.

The call is one JSON text each way over a service binding, and a function for what the performer
says meanwhile. The coordinator stays with the caller.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final

from tsumugi.jobs.consumer.attempt import attempt
from tsumugi.jobs.consumer.log_lines import log_end
from tsumugi.jobs.consumer.reports import Ended, failed, refused
from tsumugi.jobs.context import JobContext
from tsumugi.jobs.core.reports import Outcome, is_beat_due
from tsumugi.jobs.stubs import bound, is_no_such_method
from tsumugi.jobs.wire import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tsumugi.jobs.consumer.running import Running
    from tsumugi.jobs.registry import Registered, Registry

#: How long a performer that was cancelled may take to wind up.
WIND_UP_MS: Final = 1_000


async def attempt_elsewhere(registered: Registered, env: Any, running: Running) -> Ended:
    """Have the job performed by the Worker it is bound to, once.

    When the call breaks, the other Worker may go on: that is no failure of the performer, but the
    end of waiting for it.
    """
    try:
        service = bound(env, registered.service or "", "service")
    except LookupError as error:
        return failed(Outcome.IMPOSSIBLE, error)
    job, ctx = running.dispatched, running.ctx
    request = {
        "performer": registered.name,
        "job": job.job_id,
        "attempt": job.attempt,
        "timeout_ms": job.timeout_ms,
        "traceparent": job.traceparent,
        "payload": running.payload,
    }

    async def hear(text: str) -> None:
        said = loads(text)
        if "log" in said:
            await ctx.log(said["log"])
        else:
            await ctx.heartbeat(said["progress"])

    try:
        with lent(hear) as ear:
            answer = loads(await service.perform(dumps(request), ear))
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        if is_no_such_method(lines[-1]):
            return refused(
                Outcome.IMPOSSIBLE,
                "tsumugi.UnknownPerformer",
                f"the Worker bound as {registered.service} performs no jobs ({lines[-1]}): its "
                "entrypoint has to derive from Entrypoint of its own Tsumugi(performers=[...])",
            )
        return failed(Outcome.TIMED_OUT, error)
    return _ended(answer)


@contextlib.contextmanager
def lent(function: Any) -> Iterator[Any]:
    """The function for as long as a call takes: JavaScript would keep it, and the job, for ever."""
    try:
        from pyodide.ffi import create_proxy
    except ImportError:  # plain Python, as in unit tests
        yield function
        return
    proxy = create_proxy(function)
    try:
        yield proxy
    finally:
        destroy = getattr(proxy, "destroy", None)  # outside of a runtime it is the function itself
        if destroy is not None:
            destroy()


def _ended(answer: dict[str, Any]) -> Ended:
    kept = {name: answer[name] for name in ("result", "note", "error") if name in answer}
    return Ended(Outcome(answer["outcome"]), f",{dumps(kept)[1:-1]}" if kept else "")


async def perform_for(
    text: str, hear: Any, env: Any, *, registry: Registry, now_ms: Callable[[], int]
) -> str:
    """Perform one attempt for another Worker; ``hear`` is called with what the performer says.

    The answer says how it ended, and never raises for the performer.
    """
    request = loads(text)
    registered = registry.get(request["performer"])
    if registered is None or registered.service is not None:
        ended = refused(
            Outcome.IMPOSSIBLE,
            "tsumugi.UnknownPerformer",
            f"the Worker that is asked to perform {request['performer']!r} performs "
            f"{', '.join(sorted(registry.names)) or 'nothing'}: list the class in its "
            "Tsumugi(performers=[...])",
        )
    else:
        ended = await _in_time(registered, request, hear, env, now_ms)
    log_end(request["job"], request["attempt"], ended)
    return f'{{"outcome":"{ended.outcome}"{ended.members}}}'


async def _in_time(
    registered: Registered, request: dict[str, Any], hear: Any, env: Any, now_ms: Callable[[], int]
) -> Ended:
    timeout_ms = request["timeout_ms"]
    ctx = JobContext(
        _FarVoice(hear, now_ms),
        job_id=request["job"],
        attempt=request["attempt"],
        deadline_at_ms=None if timeout_ms is None else now_ms() + timeout_ms,
        traceparent=request["traceparent"],
    )
    task = asyncio.ensure_future(attempt(registered, env, request["payload"], ctx))
    try:
        await asyncio.wait({task}, timeout=None if timeout_ms is None else timeout_ms / 1_000)
        if task.done():
            return task.result()
    finally:
        ctx.cancelled.set()
        task.cancel()
    # The caller has stopped waiting as well; what stays is to let the performer wind up.
    await asyncio.wait({task}, timeout=WIND_UP_MS / 1_000)
    return refused(Outcome.TIMED_OUT, "TimeoutError", f"it did not end within {timeout_ms} ms")


class _FarVoice:
    """Passes on to the caller what a performer says."""

    def __init__(self, hear: Any, now_ms: Callable[[], int]) -> None:
        self._hear = hear
        self._now_ms = now_ms
        self._beat_ms: int | None = None

    async def heartbeat(self, progress: float | None) -> None:
        if is_beat_due(self._beat_ms, now_ms=self._now_ms()):
            self._beat_ms = self._now_ms()
            await self._say({"progress": progress})

    async def log(self, text: str) -> None:
        await self._say({"log": text})

    async def _say(self, said: dict[str, Any]) -> None:
        if self._hear is None:
            return
        # The caller may have gone: that it does not hear is not the performer's fault.
        with contextlib.suppress(Exception):
            await self._hear(dumps(said))
