"""An attribute that looks like a setting without effect stops the start; one of one's own never."""

from __future__ import annotations

from typing import Any

import pytest
from tsumugi.jobs.app import Tsumugi
from tsumugi.jobs.core.backoff import ExponentialBackoff, FixedBackoff
from tsumugi.jobs.core.bucket import Rate
from tsumugi.jobs.core.model import Policy
from tsumugi.jobs.performer import Performer, remote
from tsumugi.jobs.registry import PerformerError, registered_as


class Send(Performer[str]):
    async def perform(self, payload: str, ctx: Any) -> None: ...


def with_attributes(**attributes: Any) -> type[Performer[Any]]:
    return type("Sender", (Send,), {"__module__": "mails", **attributes})


@pytest.mark.parametrize(
    ("attributes", "meant"),
    [
        ({"max_attempt": 5}, "max_attempts"),
        ({"max_attemtps": 5}, "max_attempts"),
        ({"maxAttempts": 5}, "max_attempts"),
        ({"time_out_ms": 5}, "timeout_ms"),
        ({"timout_ms": 5}, "timeout_ms"),
        ({"prioritiy": 5}, "priority"),
        ({"guarrantee": "at-most-once"}, "guarantee"),
        ({"back_off": FixedBackoff(1)}, "backoff"),
        ({"require": ("unique_key",)}, "requires"),
        ({"required": ["unique_key"]}, "requires"),
        ({"bindings": "Mails"}, "binding"),
    ],
)
def test_a_misspelt_setting_names_the_one_that_was_meant(
    attributes: dict[str, Any], meant: str
) -> None:
    (name,) = attributes
    with pytest.raises(PerformerError) as refused:
        registered_as(with_attributes(**attributes))
    assert str(refused.value) == (
        f"mails.Sender: there is no setting {name}; did you mean {meant}?"
    )


@pytest.mark.parametrize(
    ("attributes", "step"),
    [
        ({"concurency_key": "a"}, 'requires = ("concurrency_key",)'),
        ({"unique_key": "a"}, "enqueue(..., unique_key=...)"),
        ({"delay_ms": 5}, "enqueue(..., delay_ms=...)"),
        ({"concurrency": 5}, "Policy(concurrency=...)"),
        ({"rate": Rate(1, per_ms=1)}, "Policy(rate=...)"),
        ({"policy": Policy()}, "Binding(policy=...)"),
        ({"shards": 4}, "Binding(shards=...)"),
    ],
)
def test_a_setting_of_something_else_says_where_it_belongs(
    attributes: dict[str, Any], step: str
) -> None:
    (name,) = attributes
    with pytest.raises(PerformerError) as refused:
        registered_as(with_attributes(**attributes))
    assert str(refused.value).startswith(f"mails.Sender: {name} has no effect here: ")
    assert step in str(refused.value)


@pytest.mark.parametrize(
    "attributes",
    [
        {"timeout_s": 5.0},
        {"timeout": 5},
        {"delay_s": 5},
        {"rate": 0.19},
        {"services": {"mail": "MAIL"}},
        {"policy": "strict"},
        {"priorities": [1, 2]},
        {"min_attempts": 1},
        {"retries": 3},
        {"device": "a"},
        {"concurrency_key": property(lambda _self: "a")},
        {"unique_key": staticmethod(str)},
        {"_max_attempt": 5},
        {"MAX_ATTEMPTS_A_DAY": 5},
        {"backoffs": [ExponentialBackoff()]},
        {"concurrency": True},
    ],
)
def test_attributes_of_ones_own_are_left_alone(attributes: dict[str, Any]) -> None:
    assert registered_as(with_attributes(**attributes)).name == "Sender"


def test_an_attribute_that_a_base_class_misspells_is_found() -> None:
    class Slow:
        time_out_ms = 5

    class SlowSend(Slow, Send): ...

    with pytest.raises(PerformerError, match="did you mean timeout_ms"):
        Tsumugi(performers=[SlowSend])


def test_an_option_that_remote_does_not_have_is_refused() -> None:
    options: dict[str, Any] = {"max_attempt": 5}
    with pytest.raises(TypeError, match=r"no option 'max_attempt' \(there are: requires, priority"):
        remote("MAILS", "Send", payload=str, **options)
