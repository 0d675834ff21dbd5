from __future__ import annotations

from typing import Any

import pytest
from tsumugi import Backoff, Message, QueueConsumer, RouteError, UnknownQueue, consumes
from tsumugi.routes import route_for, routes_of


def method_for(queue: str, *patterns_by_method: tuple[str, ...]) -> str:
    """The name of the method (m0, m1, ...) that gets the queue's messages."""

    def method(patterns: tuple[str, ...]) -> Any:
        @consumes(*patterns)
        async def handle(self: object, body: object) -> None: ...

        return handle

    methods = {f"m{i}": method(patterns) for i, patterns in enumerate(patterns_by_method)}
    name, _ = route_for(queue, routes_of(type("Worker", (), methods)))
    return name


def test_a_queue_goes_to_the_method_that_names_it() -> None:
    assert method_for("orders", ("mails",), ("orders",)) == "m1"


def test_one_method_may_consume_several_queues() -> None:
    assert method_for("orders-dev", ("orders", "orders-dev")) == "m0"


def test_a_pattern_covers_every_environment() -> None:
    assert method_for("orders-production", ("orders-*",), ("mails-*",)) == "m0"


def test_an_exact_name_wins_over_a_pattern() -> None:
    assert method_for("orders-dlq", ("orders-*",), ("orders-dlq",)) == "m1"


def test_the_longer_pattern_wins_over_the_shorter() -> None:
    assert method_for("orders-dlq-dev", ("orders-*",), ("orders-dlq-*",), ("*",)) == "m1"


def test_a_star_alone_takes_what_nothing_else_names() -> None:
    assert method_for("surprise", ("orders",), ("*",)) == "m1"


@pytest.mark.parametrize(
    ("pattern", "queue"),
    [("a*a", "a"), ("ab*ba", "aba"), ("*-dlq", "orders-dlq-dev"), ("a*b*c", "ac"), ("a?", "ab")],
)
def test_a_star_stands_for_characters_and_nothing_else_is_special(pattern: str, queue: str) -> None:
    with pytest.raises(UnknownQueue):
        method_for(queue, (pattern,))


@pytest.mark.parametrize(
    ("pattern", "queue"), [("a*a", "aa"), ("*-dlq*", "orders-dlq-dev"), ("a*b*c", "a-b-b-c")]
)
def test_a_star_may_stand_anywhere_and_for_nothing(pattern: str, queue: str) -> None:
    assert method_for(queue, (pattern,)) == "m0"


def test_an_unknown_queue_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownQueue) as caught:
        method_for("order", ("orders",), ("mails", "mails-*"))
    assert caught.value.known == ("mails", "mails-*", "orders")
    assert "no method consumes queue 'order'" in str(caught.value)
    assert "(known: mails, mails-*, orders)" in str(caught.value)


def test_a_subclass_keeps_the_routes_of_its_base_and_may_replace_their_methods() -> None:
    class Base(QueueConsumer):
        @consumes("orders")
        async def orders(self, body: object) -> None: ...

        @consumes("mails")
        async def mails(self, body: object) -> None: ...

    class Default(Base):
        async def orders(self, body: object) -> None: ...

        @consumes("letters")
        async def mails(self, body: object) -> None: ...

    assert {name: route.queues for name, route in routes_of(Default).items()} == {
        "orders": ("orders",),
        "mails": ("letters",),
    }


def test_two_claims_to_one_queue_fail_when_the_class_is_made() -> None:
    with pytest.raises(RouteError, match=r"Default\.a and Default\.b both consume 'orders'"):

        class Default(QueueConsumer):
            @consumes("orders")
            async def a(self, body: object) -> None: ...

            @consumes("orders")
            async def b(self, body: object) -> None: ...


def test_a_method_chooses_whether_it_takes_the_message_too() -> None:
    class Default(QueueConsumer):
        @consumes("a")
        async def alone(self, body: object) -> None: ...

        @consumes("b")
        async def both(self, body: object, message: Message[Any]) -> None: ...

        @consumes("c")
        async def optional(self, body: object, message: Message[Any] | None = None) -> None: ...

    takes = {name: route.takes_message for name, route in routes_of(Default).items()}
    assert takes == {"alone": False, "both": True, "optional": True}


def test_a_plain_function_is_refused_because_its_work_could_not_be_awaited() -> None:
    with pytest.raises(RouteError, match="must be an async def method"):

        @consumes("orders")  # type: ignore[arg-type]
        def handle(self: object, body: object) -> None: ...


def test_a_generator_is_refused_because_it_would_never_run() -> None:
    with pytest.raises(RouteError, match="contains a yield"):

        @consumes("orders")  # type: ignore[arg-type]
        async def handle(self: object, body: object) -> Any:
            yield body


@pytest.mark.parametrize("parameters", ["self", "self, a, b, c", "self, *, body"])
def test_a_signature_that_cannot_be_called_is_refused(parameters: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"async def handle({parameters}): ...", scope)
    with pytest.raises(RouteError, match=r"must accept \(self, body\)"):
        consumes("orders")(scope["handle"])


def test_a_route_without_a_queue_is_refused() -> None:
    with pytest.raises(RouteError, match="name the queue"):
        consumes()
    with pytest.raises(RouteError, match="name the queue"):

        @consumes  # type: ignore[call-overload,arg-type]
        async def handle(self: object, body: object) -> None: ...


def test_a_concurrency_below_one_is_refused() -> None:
    with pytest.raises(RouteError, match="from 1, not 0"):
        consumes("orders", concurrency=0)


def test_the_default_is_one_after_the_other_with_the_default_backoff() -> None:
    class Default(QueueConsumer):
        @consumes("orders")
        async def orders(self, body: object) -> None: ...

    route = routes_of(Default)["orders"]
    assert (route.concurrency, route.retry, route.dead_letter) == (1, Backoff(), None)
