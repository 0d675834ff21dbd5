"""The event loop: callbacks and when they are for."""

import asyncio
import math


async def scenario_times_of_callbacks(record, env, host):
    loop = asyncio.get_running_loop()
    called = []

    def schedule(label, action):
        record.outcome(label, lambda: type(action()).__name__ != "")

    schedule("call_later", lambda: loop.call_later(0, called.append, "later"))
    schedule("call_later False", lambda: loop.call_later(False, called.append, "false"))
    schedule("call_later in the past", lambda: loop.call_later(-0.001, called.append, "past"))
    schedule("call_later None", lambda: loop.call_later(None, called.append, "none"))
    schedule("call_later text", lambda: loop.call_later("1", called.append, "text"))
    schedule("call_later never", lambda: loop.call_later(math.inf, called.append, "never"))
    schedule("call_later always", lambda: loop.call_later(-math.inf, called.append, "always"))
    schedule("call_later no number", lambda: loop.call_later(math.nan, called.append, "nan"))
    schedule("call_at", lambda: loop.call_at(loop.time() + 0.001, called.append, "at"))
    schedule("call_at a second ago", lambda: loop.call_at(loop.time() - 1, called.append, "ago"))
    schedule("call_at 0", lambda: loop.call_at(0, called.append, "zero"))
    schedule("call_at never", lambda: loop.call_at(math.inf, called.append, "never at"))
    schedule("call_at None", lambda: loop.call_at(None, called.append, "none at"))
    await asyncio.sleep(0.02)
    record("called", sorted(called))


async def scenario_waiting_no_time(record, env, host):
    await record.settled("sleep before now", lambda: asyncio.sleep(-1, "slept"))
    await record.settled("wait_for 0", lambda: asyncio.wait_for(asyncio.sleep(1), 0))
    await record.settled("wait_for -1", lambda: asyncio.wait_for(asyncio.sleep(1), -1))

    async def timed_out(timeout):
        async with timeout:
            await asyncio.sleep(1)

    loop = asyncio.get_running_loop()
    await record.settled("timeout -1", lambda: timed_out(asyncio.timeout(-1)))
    await record.settled("timeout_at 0", lambda: timed_out(asyncio.timeout_at(0)))
    past = asyncio.timeout_at(loop.time() + 5)

    async def rescheduled():
        async with past:
            past.reschedule(0)
            await asyncio.sleep(1)

    await record.settled("rescheduled to the past", rescheduled)
    done, pending = await asyncio.wait([asyncio.ensure_future(asyncio.sleep(0.01))], timeout=0)
    record("wait 0", [len(done), len(pending)])
