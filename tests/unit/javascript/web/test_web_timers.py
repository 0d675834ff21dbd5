"""Timers, microtasks, abort signals and events (rows 9, 16, a9)."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import js
import pytest
from pyodide.ffi import JsException, create_once_callable, create_proxy
from tsumugi_emulator.clock import FakeClock
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.web import timers
from web_event import Event, at_import

if TYPE_CHECKING:
    from collections.abc import Iterator

SEEN: ContextVar[str] = ContextVar("seen", default="default")


@pytest.fixture
def clock() -> Iterator[FakeClock]:
    before, fake = timers.CLOCK[0], FakeClock()
    timers.CLOCK[0] = fake
    yield fake
    timers.CLOCK[0] = before


def test_a_proxied_callback_fires_after_its_delay(event: Event, clock: FakeClock) -> None:
    async def handler() -> None:
        fired: list[Any] = []
        js.setTimeout(create_proxy(fired.append), 1000, "argument")
        await clock.advance(999)
        assert fired == []
        await clock.advance(1)
        assert fired == ["argument"]

    event.run(handler)


def test_a_bare_lambda_never_fires_and_says_why(event: Event, clock: FakeClock) -> None:
    async def handler() -> None:
        fired: list[Any] = []
        js.setTimeout(lambda: fired.append("x"), 10)
        await clock.advance(10)
        assert fired == []

    event.run(handler)
    assert len(event.warnings) == 1
    assert "Uncaught Error: This borrowed proxy was automatically destroyed" in event.warnings[0]


def test_a_timer_is_pending_until_it_fires_or_is_cleared(event: Event, clock: FakeClock) -> None:
    async def handler() -> None:
        js.setTimeout(create_once_callable(lambda: None), 10)
        cleared = js.setTimeout(create_once_callable(lambda: None), 10)
        assert event.context.pending == 2
        js.clearTimeout(cleared)
        await clock.settle()
        assert event.context.pending == 1
        await clock.advance(10)
        assert event.context.pending == 0

    event.run(handler)


def test_an_interval_repeats_until_it_is_cleared(event: Event, clock: FakeClock) -> None:
    async def handler() -> None:
        fired: list[int] = []
        timer = js.setInterval(create_proxy(lambda: fired.append(clock.now_ms())), 10)
        await clock.advance(35)
        assert len(fired) == 3
        js.clearInterval(timer)
        await clock.advance(100)
        assert len(fired) == 3

    event.run(handler)


def test_context_variables_have_defaults_in_a_callback_and_the_event_stays(
    event: Event, clock: FakeClock
) -> None:
    async def handler() -> None:
        SEEN.set("set")
        seen: list[Any] = []
        callback = create_proxy(lambda: seen.extend([SEEN.get(), io_context.current()]))
        js.setTimeout(callback, 1)
        await clock.advance(1)
        assert seen == ["default", event.context]

    event.run(handler)


def test_an_exception_in_a_callback_is_reported(event: Event, clock: FakeClock) -> None:
    async def handler() -> None:
        def fail() -> None:
            raise ValueError("in the timer")

        js.setTimeout(create_proxy(fail), 1)
        await clock.advance(1)

    event.run(handler)
    assert "ValueError: in the timer" in event.warnings[0]


def test_at_global_scope_only_a_zero_delay_is_allowed() -> None:
    callback = create_proxy(lambda: None)
    assert at_import(lambda: js.setTimeout(callback, 0)) > 0
    for action in (lambda: js.setTimeout(callback, 1), lambda: js.setInterval(callback, 0)):
        with pytest.raises(JsException, match="Disallowed operation called within global scope"):
            at_import(action)


def test_scheduler_wait_resolves_after_its_delay(event: Event, clock: FakeClock) -> None:
    async def handler() -> None:
        waiting = js.scheduler.wait(1000)
        await clock.advance(999)
        assert not waiting.done()
        await clock.advance(1)
        await waiting
        controller = js.AbortController.new()
        aborted = js.scheduler.wait(1000, signal=controller.signal)
        controller.abort()
        with pytest.raises(JsException, match="AbortError"):
            await aborted

    event.run(handler)


def test_a_microtask_runs_before_anything_waits(event: Event) -> None:
    async def handler() -> None:
        ran: list[str] = []
        js.queueMicrotask(create_once_callable(lambda: ran.append("microtask")))
        await asyncio.sleep(0)
        assert ran == ["microtask"]

    event.run(handler)


def test_an_abort_signal_tells_its_listeners_once(event: Event) -> None:
    async def handler() -> None:
        heard: list[str] = []
        controller = js.AbortController.new()
        controller.signal.addEventListener("abort", create_proxy(lambda e: heard.append(e.type)))
        controller.signal.onabort = lambda e: heard.append("handler")
        controller.abort("because")
        controller.abort("again")
        assert heard == ["handler", "abort"]
        assert (controller.signal.aborted, controller.signal.reason) == (True, "because")
        with pytest.raises(JsException, match="because"):
            controller.signal.throwIfAborted()

    event.run(handler)


def test_a_timeout_signal_aborts_with_a_timeout_error(event: Event, clock: FakeClock) -> None:
    async def handler() -> None:
        signal = js.AbortSignal.timeout(50)
        either = js.AbortSignal.any(js.Array.of(js.AbortController.new().signal, signal))
        await clock.advance(50)
        assert either.aborted
        assert either.reason.name == "TimeoutError"

    event.run(handler)


def test_events_reach_their_listeners(event: Event) -> None:
    async def handler() -> None:
        heard: list[Any] = []
        target = js.EventTarget.new()
        listener = create_proxy(lambda e: (heard.append(e.detail), e.preventDefault()))
        target.addEventListener("x", listener)
        target.addEventListener("x", listener)
        assert target.dispatchEvent(js.CustomEvent.new("x", detail=5, cancelable=True)) is False
        target.removeEventListener("x", listener)
        assert target.dispatchEvent(js.Event.new("x")) is True
        assert heard == [5]

    event.run(handler)


def test_a_bare_listener_never_hears_and_says_why(event: Event) -> None:
    async def handler() -> None:
        target = js.EventTarget.new()
        target.addEventListener("x", lambda e: None)
        target.dispatchEvent(js.Event.new("x"))

    event.run(handler)
    assert "This borrowed proxy was automatically destroyed" in event.warnings[0]
