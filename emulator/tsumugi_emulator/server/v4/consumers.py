"""The routes of consumers: the Worker or the pullers of a queue. One for each queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsumugi_emulator.queues import limits
from tsumugi_emulator.queues.messages import ConsumerSettings, PullSettings

from . import bodies, envelope, errors, views
from .endpoint import READ, WRITE, queue_id, route

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from tsumugi_emulator.queues.control import QueueControl
    from tsumugi_emulator.queues.messages import AnyConsumer

MAX_WAIT_TIME_MS = limits.MAX_BATCH_TIMEOUT_S * 1000


def routes(control: QueueControl) -> list[BaseRoute]:
    handlers = Consumers(control)
    one = "/{queue_id}/consumers/{consumer_id}"
    return [
        route("/{queue_id}/consumers", "GET", handlers.list, READ),
        route("/{queue_id}/consumers", "POST", handlers.create, WRITE),
        route(one, "GET", handlers.get, READ),
        route(one, "PUT", handlers.replace, WRITE),
        route(one, "DELETE", handlers.delete, WRITE),
    ]


class Consumers:
    def __init__(self, control: QueueControl) -> None:
        self._control = control

    async def list(self, request: Request) -> Response:
        known = self._control.get(queue_id(request)).consumer
        return envelope.success([views.consumer(known)] if known else [])

    async def create(self, request: Request) -> Response:
        queue = self._control.get(queue_id(request)).record.name
        settings = consumer_settings(await bodies.read_object(request), queue)
        record = self._control.add_consumer(queue_id(request), settings)
        return envelope.success(views.consumer(record))

    async def get(self, request: Request) -> Response:
        record = self._control.consumer(queue_id(request), request.path_params["consumer_id"])
        return envelope.success(views.consumer(record))

    async def replace(self, request: Request) -> Response:
        known = self._control.consumer(queue_id(request), request.path_params["consumer_id"])
        body = await bodies.read_object(request)
        if known.type == "worker" and isinstance(known.settings, ConsumerSettings):
            body.setdefault("script_name", known.settings.script)
        settings = consumer_settings({"type": known.type} | body, known.settings.queue)
        record = self._control.change_consumer(queue_id(request), known.consumer_id, settings)
        return envelope.success(views.consumer(record))

    async def delete(self, request: Request) -> Response:
        self._control.remove_consumer(queue_id(request), request.path_params["consumer_id"])
        return envelope.success(None)


def consumer_settings(body: dict[str, Any], queue: str) -> AnyConsumer:
    """What a request asks for; what it does not name has the platform's default."""
    given = bodies.optional_object(body, "settings")
    dead_letters = bodies.optional_text(body, "dead_letter_queue") or None
    if dead_letters == queue:
        raise errors.consumer_settings_invalid(
            f'dead letter queue for queue "{queue}" cannot be itself', pointer="/dead_letter_queue"
        )
    match body.get("type"):
        case "worker":
            return _worker(body, given, queue, dead_letters)
        case "http_pull":
            return _http_pull(given, queue, dead_letters)
    raise errors.invalid_body('must be "worker" or "http_pull"', pointer="/type")


def _worker(
    body: dict[str, Any], given: dict[str, Any], queue: str, dead_letters: str | None
) -> ConsumerSettings:
    script = bodies.optional_text(body, "script_name") or bodies.optional_text(body, "script")
    if not script:
        raise errors.invalid_body("must name a Worker", pointer="/script_name")
    wait_ms = _number(
        given, "max_wait_time_ms", 0, MAX_WAIT_TIME_MS, limits.DEFAULT_BATCH_TIMEOUT_S * 1000
    )
    concurrency = given.get("max_concurrency")
    if concurrency is not None:
        concurrency = _number(given, "max_concurrency", 1, limits.MAX_CONCURRENCY, 1)
    return ConsumerSettings(
        queue,
        max_batch_size=_number(
            given, "batch_size", 1, limits.MAX_BATCH_SIZE, limits.DEFAULT_BATCH_SIZE
        ),
        max_batch_timeout_s=wait_ms / 1000,
        max_retries=_retries(given),
        dead_letter_queue=dead_letters,
        max_concurrency=concurrency,
        retry_delay_s=_number(given, "retry_delay", 0, limits.MAX_DELAY_S, 0),
        script=script,
    )


def _http_pull(given: dict[str, Any], queue: str, dead_letters: str | None) -> PullSettings:
    return PullSettings(
        queue,
        batch_size=_number(
            given, "batch_size", 1, limits.MAX_PULL_BATCH_SIZE, limits.DEFAULT_PULL_BATCH_SIZE
        ),
        visibility_timeout_ms=_number(
            given,
            "visibility_timeout_ms",
            0,
            limits.MAX_VISIBILITY_TIMEOUT_MS,
            limits.DEFAULT_VISIBILITY_TIMEOUT_MS,
        ),
        max_retries=_retries(given),
        dead_letter_queue=dead_letters,
        retry_delay_s=_number(given, "retry_delay", 0, limits.MAX_DELAY_S, 0),
    )


def _retries(given: dict[str, Any]) -> int:
    return _number(given, "max_retries", 0, limits.MAX_RETRIES, limits.DEFAULT_MAX_RETRIES)


def _number(given: dict[str, Any], key: str, lowest: int, highest: int, otherwise: int) -> int:
    if given.get(key) is None:
        return otherwise
    value = bodies.whole(given[key], lowest, highest)
    if value is None:
        raise errors.consumer_settings_invalid(
            f"{key} {bodies.shown(given[key])} must be a whole number from {lowest} to {highest}",
            pointer=f"/settings/{key}",
        )
    return value
