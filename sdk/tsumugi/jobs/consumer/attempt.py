"""One attempt of one job: payload, performer, and how it ended. Counts no time; reports nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tsumugi.jobs.consumer.reports import Ended, failed, refused, succeeded
from tsumugi.jobs.core.reports import Outcome
from tsumugi.jobs.payloads import PayloadError
from tsumugi.settlement import Reject

if TYPE_CHECKING:
    from tsumugi.jobs.context import JobContext
    from tsumugi.jobs.registry import Registered
    from tsumugi.jobs.wire import Json


async def attempt(registered: Registered, env: Any, payload: Json, ctx: JobContext) -> Ended:
    """Perform the job once, here. Raises ``CancelledError`` only when nobody waits any more.

    Nothing else escapes a performer: ``sys.exit()`` and a cancellation of its own making fail the
    attempt. What stops the whole event is handed on beside the failure.
    """
    try:
        value = registered.codec.load(payload)
    except PayloadError as error:
        return refused(Outcome.IMPOSSIBLE, "tsumugi.PayloadError", str(error))
    try:
        result: Any = registered.performer(env).perform(value, ctx)
        if hasattr(result, "__await__"):
            result = await result
    except Reject as error:
        return failed(Outcome.IMPOSSIBLE, error)
    except (Exception, SystemExit) as error:
        return failed(Outcome.FAILED, error)
    except asyncio.CancelledError as error:
        if ctx.cancelled.is_set():
            raise
        return failed(Outcome.FAILED, error)  # it awaited something that was cancelled
    except GeneratorExit:
        raise
    except BaseException as error:  # the CPU limit, an abort: the event ends, and this is why
        return failed(Outcome.FAILED, error, fatal=error)
    return succeeded(result)
