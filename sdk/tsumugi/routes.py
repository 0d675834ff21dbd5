"""Which method consumes which queue, and how. Pure declarations: nothing is received here."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, overload

from tsumugi.backoff import Backoff
from tsumugi.signatures import signature_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from tsumugi.queues import Message

#: Where a decorated method keeps its route until its class is complete.
_MARK = "__tsumugi_route__"


class UnknownQueue(LookupError):
    """A batch came from a queue that no method of the consumer names."""

    def __init__(self, queue: str, known: Iterable[str]) -> None:
        self.queue = queue
        self.known = tuple(sorted(known))
        super().__init__(
            f"no method consumes queue {queue!r}: add @consumes({queue!r}), or @consumes('*') "
            f"for every other queue (known: {', '.join(self.known) or 'none'})"
        )


class RouteError(TypeError):
    """``@consumes`` is used in a way that could never work; raised while the module loads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One ``@consumes``: which queues, and how their messages are treated."""

    queues: tuple[str, ...]
    parse: Callable[[object], object] | None = None
    retry: Callable[[int], int]
    concurrency: int = 1
    dead_letter: str | None = None
    takes_message: bool = True


class _Decorator[T](Protocol):
    @overload
    def __call__[C](
        self, handler: Callable[[C, T], Awaitable[None]], /
    ) -> Callable[[C, T], Awaitable[None]]: ...

    @overload
    def __call__[C](
        self, handler: Callable[[C, T, Message[T]], Awaitable[None]], /
    ) -> Callable[[C, T, Message[T]], Awaitable[None]]: ...


@overload
def consumes(
    *queues: str,
    model: None = None,
    retry: Callable[[int], int] = ...,
    concurrency: int = 1,
    dead_letter: str | None = None,
) -> _Decorator[Any]: ...


@overload
def consumes[T](
    *queues: str,
    model: type[T],
    retry: Callable[[int], int] = ...,
    concurrency: int = 1,
    dead_letter: str | None = None,
) -> _Decorator[T]: ...


def consumes(
    *queues: str,
    model: Any = None,
    retry: Callable[[int], int] | None = None,
    concurrency: int = 1,
    dead_letter: str | None = None,
) -> Any:
    """Make an ``async`` method of a :class:`~tsumugi.QueueConsumer` the consumer of ``queues``.

    The method takes ``(self, body)`` or ``(self, body, message)`` and is called once per message.
    Returning acknowledges; an exception retries; :class:`~tsumugi.Retry` and
    :class:`~tsumugi.Reject` say it explicitly, and so do ``message.ack()`` and
    ``message.retry()``, which leave nothing to decide.

    ``queues``
        Names as in wrangler.jsonc, where ``*`` stands for any run of characters: ``orders-*``
        covers ``orders-dev`` and ``orders-production``. An exact name wins over a pattern, a
        longer pattern over a shorter one, so ``orders-dlq-*`` is safe beside ``orders-*``.
    ``model``
        What bodies must be: a pydantic model, or any type pydantic can validate. The method
        then receives an instance, also as ``message.body``.
    ``retry``
        Delay in seconds by ``message.attempts``; the default is ``Backoff()``.
    ``concurrency``
        How many messages of a batch run at once. The default is one after the other, in order.
    ``dead_letter``
        Name of a producer binding that takes what can never succeed: a body that does not
        validate, or a :class:`~tsumugi.Reject`. The original body is sent there, and only then
        is the message acknowledged. Without it the message is retried with no delay until the
        consumer's ``max_retries`` moves it to the ``dead_letter_queue`` of wrangler.jsonc, or
        drops it when there is none. The reason is logged either way.

    Raises :class:`RouteError` for a declaration that could never work.
    """
    if not queues or not all(isinstance(name, str) and name for name in queues):
        raise RouteError('name the queue: @consumes("orders")')
    if concurrency < 1:
        raise RouteError(f"concurrency counts messages at once, from 1, not {concurrency}")

    def mark(handler: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        route = Route(
            queues=queues,
            parse=_parser(model),
            retry=Backoff() if retry is None else retry,
            concurrency=concurrency,
            dead_letter=dead_letter,
            takes_message=_takes_message(handler),
        )
        setattr(handler, _MARK, route)
        return handler

    return mark


def routes_of(cls: type) -> dict[str, Route]:
    """The routes of a class by method name, its bases' included; two claims to a queue raise."""
    routes: dict[str, Route] = {}
    for owner in reversed(cls.__mro__):
        for name, value in vars(owner).items():
            if isinstance(route := getattr(value, _MARK, None), Route):
                routes[name] = route
    owners: dict[str, str] = {}
    for name, route in routes.items():
        for queue in route.queues:
            if queue in owners:
                raise RouteError(
                    f"{cls.__name__}.{owners[queue]} and {cls.__name__}.{name} both consume "
                    f"{queue!r}: a queue has one consumer"
                )
            owners[queue] = name
    return routes


def route_for(queue: str, routes: Mapping[str, Route]) -> tuple[str, Route]:
    """The method name and route for a queue; :class:`UnknownQueue` when there is none."""
    candidates = [
        (pattern != queue, -len(pattern), name)
        for name, route in routes.items()
        for pattern in route.queues
        if _matches(queue, pattern)
    ]
    if not candidates:
        raise UnknownQueue(queue, (name for route in routes.values() for name in route.queues))
    _, _, name = min(candidates)
    return name, routes[name]


def _matches(queue: str, pattern: str) -> bool:
    first, *rest = pattern.split("*")
    if not rest:
        return queue == pattern
    *middle, last = rest
    if not (queue.startswith(first) and queue.endswith(last)):
        return False
    position, end = len(first), len(queue) - len(last)
    for part in middle:
        position = queue.find(part, position, end)
        if position < 0:
            return False
        position += len(part)
    return position <= end


def _takes_message(handler: Callable[..., object]) -> bool:
    name = getattr(handler, "__qualname__", repr(handler))
    if inspect.isasyncgenfunction(handler):
        # The runtime would acknowledge the batch without running a line of it.
        raise RouteError(f"{name} contains a yield: it would never run")
    if not inspect.iscoroutinefunction(handler):
        raise RouteError(f"{name} must be an async def method")
    signature = signature_of(handler)
    for count in (3, 2):
        try:
            signature.bind(*([None] * count))
        except TypeError:
            continue
        return count == 3
    raise RouteError(f"{name}{signature} must accept (self, body) or (self, body, message)")


def _parser(model: Any) -> Callable[[object], object] | None:
    if model is None:
        return None
    # Imported only when asked for: pydantic is most of a small Worker's start-up time.
    from tsumugi.bodies import parser_for

    return parser_for(model)
