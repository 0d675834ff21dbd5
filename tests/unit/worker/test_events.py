"""What becomes of an event: its result, its leftovers, its accidents."""

from __future__ import annotations

import re

import pytest
from child_harness import child
from tsumugi_emulator.worker import frames

IMPORTS = """
import asyncio
from workers import Response, WorkerEntrypoint
"""


def worker(body: str) -> str:
    indented = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    return f"{IMPORTS}\nclass Default(WorkerEntrypoint):\n{indented}\n"


def test_a_handler_that_returns_leaves_an_ok_outcome() -> None:
    with child(worker("async def queue(self, batch, env=None, ctx=None):\n    pass")) as it:
        result = it.queue()
    assert result.outcome == "ok"
    assert (result.ack_all, result.retry_all, result.explicit_acks) == (False, False, [])


def test_an_explicit_ack_survives_a_failing_handler() -> None:
    source = worker("""
async def queue(self, batch, env=None, ctx=None):
    batch.messages[0].ack()
    raise ValueError("late")
""")
    with child(source) as it:
        result = it.queue(b"1", b"2")
    assert result.outcome == "exception"
    assert result.explicit_acks == ["id-0"]
    assert "ValueError: late" in result.error


def test_the_traceback_shows_only_the_users_frames() -> None:
    source = worker("""
async def queue(self, batch, env=None, ctx=None):
    self.fail()
def fail(self):
    raise ValueError("here")
""")
    with child(source) as it:
        result = it.queue()
    files = [line for line in result.error.splitlines() if line.startswith("  File ")]
    assert len(files) == 2
    assert all("/project/src/" in line for line in files)


def test_an_entrypoint_instance_never_survives_its_event() -> None:
    source = worker("""
async def fetch(self, request):
    seen = getattr(self, "seen", 0)
    self.seen = seen + 1
    return Response(str(seen))
""")
    with child(source) as it:
        answers = [it.fetch().body for _ in range(2)]
    assert answers == [b"0", b"0"]


def test_awaiting_what_nothing_resolves_ends_the_event_as_hung() -> None:
    source = worker("""
async def queue(self, batch, env=None, ctx=None):
    await asyncio.Event().wait()
""")
    with child(source) as it:
        result = it.queue()
    assert result.outcome == "exception"
    assert "had hung and would never generate a response" in result.error
    assert result.error.splitlines()[1].endswith(", in queue")


def test_a_sleep_is_not_a_hang() -> None:
    source = worker("""
async def fetch(self, request):
    await asyncio.sleep(0.01)
    return Response("awake")
""")
    with child(source) as it:
        assert it.fetch().body == b"awake"


def test_a_lock_held_by_another_request_hangs_the_waiter_only() -> None:
    source = f"""{IMPORTS}
lock = asyncio.Lock()
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        async with lock:
            await asyncio.sleep(0.02)
            return Response("held")
"""
    with child(source) as it:
        holder, waiter = it.start_fetch(), it.start_fetch()
        failed = it.answer_to(waiter)
        held = it.answer_to(holder)
    assert isinstance(failed, frames.Failed)
    assert "hung" in failed.summary
    assert held.body == b"held"


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_an_unawaited_send_in_a_queue_handler_is_lost_with_a_warning_that_names_the_line() -> None:
    source = worker("""
async def queue(self, batch, env=None, ctx=None):
    self.env.QUEUE.send("lost")
""")
    with child(source) as it:
        result = it.queue()
    assert result.outcome == "ok"
    assert it.messages_sent == []
    (warning,) = [w for w in it.warnings if "not awaited" in w]
    assert ".py:7: send() to queue 'jobs' was not awaited" in warning


def test_a_send_in_a_task_nobody_awaits_is_lost_too() -> None:
    source = worker("""
async def queue(self, batch, env=None, ctx=None):
    asyncio.create_task(self.env.QUEUE.send("lost"))
    await asyncio.sleep(0)
""")
    with child(source) as it:
        it.queue()
        it.settle()
    assert it.messages_sent == []
    assert any("not awaited" in warning for warning in it.warnings)


@pytest.mark.parametrize("how", ["await send", "self.ctx.waitUntil(send)"])
def test_a_send_that_is_held_leaves(how: str) -> None:
    line = how.replace("send", 'self.env.QUEUE.send("kept")')
    source = worker(f"async def queue(self, batch, env=None, ctx=None):\n    {line}")
    with child(source) as it:
        assert it.queue().outcome == "ok"
    assert it.messages_sent == [b'"kept"']


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_an_unawaited_send_in_a_fetch_handler_is_delivered() -> None:
    source = worker("""
async def fetch(self, request):
    self.pending = self.env.QUEUE.send("kept")
    return Response("ok")
""")
    with child(source) as it:
        it.fetch()
        it.settle()
    assert it.messages_sent == [b'"kept"']


def test_a_task_left_running_is_dropped_and_named() -> None:
    source = worker("""
async def work(self):
    await asyncio.sleep(60)
async def queue(self, batch, env=None, ctx=None):
    asyncio.create_task(self.work())
    await asyncio.sleep(0)
""")
    with child(source) as it:
        assert it.queue().outcome == "ok"
        it.settle()
    (warning,) = it.warnings
    assert "Default.work()" in warning
    assert ":7:" in warning
    assert "waitUntil" in warning


def test_wait_until_keeps_the_event_and_a_retry_made_there_counts() -> None:
    source = worker("""
async def later(self, message):
    await asyncio.sleep(0.005)
    message.retry(delaySeconds=7)
async def queue(self, batch, env=None, ctx=None):
    self.ctx.waitUntil(self.later(batch.messages[0]))
""")
    with child(source) as it:
        result = it.queue()
    assert list(result.retries) == [("id-0", 7)]


def test_a_failing_wait_until_fails_the_batch() -> None:
    source = worker("""
async def later(self):
    raise ValueError("in waitUntil")
async def queue(self, batch, env=None, ctx=None):
    self.ctx.waitUntil(self.later())
""")
    with child(source) as it:
        result = it.queue()
    assert result.outcome == "exception"
    assert "in waitUntil" in result.error


def test_with_the_flag_the_batch_does_not_wait_for_wait_until() -> None:
    source = worker("""
async def later(self, message):
    await asyncio.sleep(0.005)
    raise ValueError("too late to matter")
async def queue(self, batch, env=None, ctx=None):
    self.ctx.waitUntil(self.later(batch.messages[0]))
""")
    flags = frozenset({"queue_consumer_no_wait_for_wait_until", "queues_json_messages"})
    with child(source, flags=flags) as it:
        result = it.queue()
    assert result.outcome == "ok"


def test_wait_until_of_a_number_fails_the_batch_with_productions_text() -> None:
    source = worker("""
async def queue(self, batch, env=None, ctx=None):
    self.ctx.waitUntil(5)
""")
    with child(source) as it:
        result = it.queue()
    assert result.outcome == "exception"
    assert "Cannot use 'in' operator to search for 'copy' in 5" in result.error


@pytest.mark.parametrize("statement", ["raise SystemExit(3)", "import sys; sys.exit(3)"])
def test_a_fatal_exit_costs_one_event(statement: str) -> None:
    source = worker(f"""
async def fetch(self, request):
    if request.url.endswith("/exit"):
        {statement}
    return Response("alive")
""")
    with child(source) as it:
        failed = it.fetch("/exit")
        assert failed.summary.startswith("Exit: Program terminated with exit(3)")
        assert "in fetch\n" in failed.report
        assert it.fetch("/").body == b"alive"


@pytest.mark.parametrize(
    "error", ["KeyboardInterrupt()", "asyncio.CancelledError()", "BaseException('base')"]
)
def test_no_exception_of_a_handler_ends_the_child(error: str) -> None:
    source = worker(f"""
async def fetch(self, request):
    if request.url.endswith("/fail"):
        raise {error}
    return Response("alive")
""")
    with child(source) as it:
        assert isinstance(it.fetch("/fail"), frames.Failed)
        assert it.fetch("/").body == b"alive"


@pytest.mark.parametrize(
    ("statement", "what"), [("return 'text'", "an object of type str"), ("pass", "None")]
)
def test_a_response_of_another_type_fails_with_productions_text_and_who_gave_it(
    statement: str, what: str
) -> None:
    source = worker(f"async def fetch(self, request):\n    {statement}")
    with child(source) as it:
        failed = it.fetch()
    assert failed.summary.endswith("the Promise did not resolve to 'Response'.")
    assert re.search(rf"\.py:\d+: Default\.fetch\(\) returned {what}\.$", failed.report)


def test_settling_a_message_after_its_batch_warns_and_is_refused_when_strict() -> None:
    source = f"""{IMPORTS}
kept = []
class Default(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        kept.append(batch.messages[0])
    async def fetch(self, request):
        kept[0].ack()
        return Response("acked")
"""
    with child(source) as it:
        it.queue()
        assert it.fetch().body == b"acked"
        assert any("on behalf of a different request" in w for w in it.warnings)
    with child(source, strict=True) as it:
        it.queue()
        assert "on behalf of a different request" in it.fetch().summary


def test_the_scheduled_handler_gets_a_raw_controller() -> None:
    source = worker("""
async def scheduled(self, controller, env=None, ctx=None):
    assert (env, ctx) == (None, None)
    assert controller.cron == "*/5 * * * *"
    assert controller.scheduledTime == 0
    controller.noRetry()
""")
    with child(source) as it:
        done = it.scheduled("*/5 * * * *")
    assert list(done.result) == ["ok", True, ""]


def test_a_batch_out_of_time_stops_and_reports_what_it_settled() -> None:
    source = worker("""
async def queue(self, batch, env=None, ctx=None):
    batch.messages[0].ack()
    await asyncio.sleep(60)
""")
    with child(source) as it:
        it.loop.call_later(0.01, it.dispatcher.cancel, frames.Cancel(1))
        result = it.queue(b"1", b"2")
    assert result.outcome == "exception"
    assert result.explicit_acks == ["id-0"]


def test_what_an_object_does_while_it_is_freed_is_not_told() -> None:
    """An object of another request is freed whenever Python likes; nobody sees it fail deployed."""
    source = """
        from workers import Response, WorkerEntrypoint

        class Reader:
            def __init__(self, reader):
                self.reader = reader

            def __del__(self):
                self.reader.cancel()

        kept = []

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                if request.url.endswith("/keep"):
                    kept.append(Reader(request.body.getReader()))
                else:
                    kept.clear()
                return Response("ok")
    """
    with child(source) as worker:
        worker.fetch("/keep", method="POST", body=b"body")
        worker.fetch("/free")
        assert worker.warnings == []


def test_what_a_body_of_the_sdks_wsgi_does_while_it_is_freed_is_not_told() -> None:
    """Python closes such a file itself, from C: no ``__del__`` is on the stack."""
    source = """
        from workers import Response, WorkerEntrypoint, wsgi

        kept = []

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                if request.url.endswith("/keep"):
                    kept.append(wsgi._make_wsgi_input(request))
                else:
                    kept.clear()
                return Response("ok")
    """
    with child(source) as worker:
        worker.fetch("/keep", method="POST", body=b"body")
        worker.fetch("/free")
        assert worker.warnings == []
