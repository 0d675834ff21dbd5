from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from tsumugi.testing import (
    BatchOutcome,
    FakeContext,
    RecordingQueue,
    build_batch,
    run_queue_handler,
)

DONE = BatchOutcome(["message-1"], {}, None, [])
RETRIED = {"message-1": None}


def run(handler: Any, **options: Any) -> BatchOutcome:
    return asyncio.run(run_queue_handler(handler, build_batch("q", ["x"]), **options))


class Worker:
    """An entrypoint without any SDK: a plain class is a first-class citizen."""

    def __init__(self, ctx: FakeContext, env: Any) -> None:
        self.ctx = ctx
        self.env = env


def test_a_class_is_instantiated_with_its_context_and_bindings() -> None:
    class Default(Worker):
        async def queue(self, batch: Any, env: Any = None, ctx: Any = None) -> None:
            assert (env, ctx) == (None, None)
            for message in batch.messages:
                await self.env.OUT.send(message.body)

    out = RecordingQueue()
    assert run(Default, env=SimpleNamespace(OUT=out)) == DONE
    assert out.bodies == ["x"]


def test_an_instance_is_used_as_it_is() -> None:
    class Default(Worker):
        def queue(self, batch: Any, *nothing: Any) -> None:
            batch.retryAll(delaySeconds=self.env)

    assert run(Default(FakeContext(), 7)).retried == {"message-1": 7}


def test_a_method_that_takes_the_batch_alone_fails_as_in_production() -> None:
    class Default(Worker):
        async def queue(self, batch: Any) -> None: ...

    outcome = run(Default)
    assert "takes 2 positional arguments but 4 were given" in str(outcome.error)
    assert outcome.retried == RETRIED


def test_a_class_without_a_queue_method_fails_as_in_production() -> None:
    assert "Method queue does not exist" in str(run(Worker).error)


def test_a_function_gets_as_much_as_it_takes() -> None:
    seen: list[Any] = []
    ctx = FakeContext()

    async def one(batch: Any) -> None:
        seen.append((batch.queue,))

    def two(batch: Any, env: Any) -> None:
        seen.append((batch.queue, env.NAME))

    def three(batch: Any, env: Any, context: Any) -> None:
        seen.append((batch.queue, env.NAME, context is ctx))

    for handler in (one, two, three):
        assert run(handler, env={"NAME": "n"}, ctx=ctx) == DONE
    assert seen == [("q",), ("q", "n"), ("q", "n", True)]


def test_a_missing_binding_is_an_error_of_the_handler() -> None:
    async def handler(batch: Any, env: Any) -> None:
        await env.MISSING.send("x")

    assert isinstance(run(handler).error, AttributeError)


def test_work_handed_to_wait_until_may_still_decide() -> None:
    class Default(Worker):
        async def later(self, batch: Any) -> None:
            await asyncio.sleep(0)
            batch.messages[0].retry(delaySeconds=3)

        async def queue(self, batch: Any, env: Any = None, ctx: Any = None) -> None:
            self.ctx.waitUntil(self.later(batch))

    assert run(Default).retried == {"message-1": 3}


def test_work_handed_to_wait_until_that_fails_fails_the_batch() -> None:
    class Default(Worker):
        async def later(self) -> None:
            raise OSError("late")

        async def queue(self, batch: Any, env: Any = None, ctx: Any = None) -> None:
            self.ctx.waitUntil(self.later())

    outcome = run(Default)
    assert (str(outcome.error), outcome.retried) == ("late", RETRIED)


def test_a_task_nobody_waits_for_is_dropped_with_a_warning() -> None:
    out = RecordingQueue()
    tasks: list[Any] = []

    async def handler(batch: Any) -> None:
        tasks.append(asyncio.create_task(out.send("lost")))

    with pytest.warns(RuntimeWarning, match="production drops it"):
        assert run(handler) == DONE
    assert out.sent == []


def test_a_decision_after_the_handler_returned_is_an_error() -> None:
    kept: list[Any] = []

    async def handler(batch: Any) -> None:
        kept.append(batch)

    run(handler)
    with pytest.raises(RuntimeError, match=r"ack\(\) after the handler returned"):
        kept[0].messages[0].ack()
    with pytest.raises(RuntimeError, match=r"retryAll\(\) after the handler returned"):
        kept[0].retryAll()


def test_a_handler_with_a_yield_is_reported_instead_of_acknowledged() -> None:
    async def handler(batch: Any) -> Any:
        yield batch

    assert "contains a yield" in str(run(handler).error)


def test_a_tuple_as_the_result_fails_after_the_work_as_in_production() -> None:
    async def handler(batch: Any) -> tuple[int, int]:
        batch.ackAll()
        return (1, 2)

    outcome = run(handler)
    assert isinstance(outcome.error, TypeError)
    assert outcome.acked == ["message-1"]


def test_a_coroutine_as_the_result_fails_and_never_runs() -> None:
    async def inner() -> None:
        raise AssertionError("ran")

    async def handler(batch: Any) -> Any:
        return inner()

    outcome = run(handler)
    assert "await it instead" in str(outcome.error)
    assert outcome.retried == RETRIED


@pytest.mark.parametrize("error", [ValueError(), GeneratorExit(), asyncio.CancelledError()])
def test_whatever_escapes_the_handler_fails_the_batch(error: BaseException) -> None:
    def handler(batch: Any) -> None:
        raise error

    outcome = run(handler)
    assert (outcome.error, outcome.retried) == (error, RETRIED)


def test_a_cancelled_test_is_not_taken_for_a_failing_handler() -> None:
    async def handler(batch: Any) -> None:
        await asyncio.get_running_loop().create_future()

    async def cancel_it() -> None:
        task = asyncio.create_task(run_queue_handler(handler, build_batch("q", ["x"])))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel_it())
