"""Names for events: what code in Node runs in, and how deep."""

from __future__ import annotations

import contextvars
from typing import TYPE_CHECKING

import pytest
from tsumugi_emulator.javascript import io_context
from tsumugi_emulator.javascript.depth import MAX_DEPTH, deeper, descend
from tsumugi_emulator.javascript.errors import JsException
from tsumugi_emulator.pyodide_runtime.scopes import GLOBAL, Scopes

if TYPE_CHECKING:
    from collections.abc import Callable


def in_event(event: io_context.IoContext, depth: int, work: Callable[[], object]) -> object:
    def run() -> object:
        io_context.enter(event)
        descend(depth)
        return work()

    return contextvars.Context().run(run)


def test_code_outside_of_events_has_no_name() -> None:
    assert contextvars.Context().run(Scopes(lambda *_: None).name) == GLOBAL


def test_a_chain_of_calls_through_one_event_keeps_its_depth() -> None:
    scopes = Scopes(lambda *_: None)
    event = io_context.IoContext("fetch", print)
    shallow = str(in_event(event, 0, scopes.name))
    deep = str(in_event(event, MAX_DEPTH, scopes.name))
    assert in_event(event, 0, scopes.name) == shallow != deep
    assert scopes.context(shallow).run(deeper) == 1
    with pytest.raises(JsException, match="Subrequest depth limit exceeded"):
        scopes.context(deep).run(deeper)


def test_all_names_of_an_event_end_with_it() -> None:
    ended: list[tuple[str, str]] = []
    scopes = Scopes(lambda *told: ended.append(told))
    event, other = (io_context.IoContext("fetch", print) for _ in range(2))
    names = [str(in_event(event, depth, scopes.name)) for depth in (0, 3)]
    kept = str(in_event(other, 0, scopes.name))
    for callback in event.on_end:
        callback()
    assert sorted(ended) == sorted((name, "fetch") for name in names)
    for name in names:
        with pytest.raises(JsException, match="different request"):
            scopes.context(name)
    assert scopes.context(kept).run(io_context.current) is other
