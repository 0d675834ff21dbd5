"""The short way of a JSON body gives what the SDK's own conversion gives, type for type."""

from __future__ import annotations

import contextvars
import functools
import json
import sys
from typing import TYPE_CHECKING, Any

from hypothesis import example, given, strategies as st
from tsumugi_emulator.javascript import install

if "js" not in sys.modules:
    install()

from tsumugi_emulator.bindings.queue_batch import QueueMessage, Settlement
from tsumugi_emulator.bindings.sdk_message import wrapped
from tsumugi_emulator.javascript.io_context import IoContext, enter
from tsumugi_emulator.javascript.values import JsProxy
from workers.rpc import _BindingWrapper

if TYPE_CHECKING:
    from collections.abc import Callable

KEYS = st.one_of(
    st.text(max_size=6), st.sampled_from(["1", "10", "2", "constructor", "__proto__", "a"])
)
NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False), st.just(-0.0)
)
DOCUMENTS = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)


def in_its_own_context(test: Callable[..., None]) -> Callable[..., None]:
    """The event a test enters ends with it."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        contextvars.copy_context().run(test, *args, **kwargs)

    return run


def message(document: Any) -> QueueMessage:
    event = IoContext("queue", lambda _text: None)
    enter(event)
    data = json.dumps(document).encode()
    return QueueMessage(Settlement(event), ("id", 1_700_000_000_000, 1, "json", data))


def described(value: Any) -> Any:
    if isinstance(value, dict):
        return type(value).__name__, [(key, described(item)) for key, item in value.items()]
    if isinstance(value, list):
        return "list", [described(item) for item in value]
    return type(value).__name__, repr(value)


@given(DOCUMENTS)
@example({"b": 1, "1": 2})
@example({"constructor": 1})
@example([1.0, 2**53, 1e20, -0.0, None])
@in_its_own_context
def test_a_body_reads_the_same_both_ways(document: Any) -> None:
    def read(wrapper: Any) -> Any:
        try:
            return described(wrapper.body)
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    sdk: Any = _BindingWrapper(message(document))
    assert read(wrapped(message(document))) == read(sdk)


@in_its_own_context
def test_it_is_the_sdks_wrapper_to_everybody() -> None:
    made, sdk = wrapped(message(1)), _BindingWrapper(message(1))
    assert isinstance(made, _BindingWrapper)
    assert not isinstance(made, JsProxy)
    assert (type(made).__name__, type(made).__module__) == ("_BindingWrapper", "workers.rpc")
    for name in ("id", "attempts", "timestamp", "body"):
        assert getattr(made, name) == getattr(sdk, name)
    assert not hasattr(made, "ack_all")


@in_its_own_context
def test_it_settles_like_the_sdks_whatever_the_spelling() -> None:
    calls = [
        lambda m: m.ack(),
        lambda m: m.retry(),
        lambda m: m.retry(delaySeconds=5),
        lambda m: m.retry({"delaySeconds": 5}),
        lambda m: m.retry(delaySeconds="7"),
        lambda m: m.retry(delay_seconds=5),
        lambda m: m.retry(delaySeconds=-1),
        lambda m: m.retry(delaySeconds=None),
    ]
    for call in calls:
        short, long = message(1), message(1)
        call(wrapped(short))
        call(_BindingWrapper(long))
        for kept in ("explicit_acks", "retries"):
            assert getattr(short._settlement, kept) == getattr(long._settlement, kept)
