"""Word the broker's events for a terminal, as wrangler does where it has words. Pure.

No colours and no prefix: those belong to whoever prints.
"""

from __future__ import annotations

from typing import Literal, assert_never

from . import events

type Level = Literal["debug", "info", "warn", "error"]


def log_line(event: events.BrokerEvent) -> tuple[Level, str]:
    match event:
        case events.BatchDone(queue=queue, acked=acked, total=total, duration_ms=duration_ms):
            return "info", f"QUEUE {queue} {acked}/{total} ({duration_ms}ms)"
        case events.Retried(queue=queue, message_id=id_):
            return "debug", f'Retrying message "{id_}" on queue "{queue}"...'
        case events.DeadLettered():
            return "warn", (
                f'Moving message "{event.message_id}" on queue "{event.queue}" to dead letter queue'
                f' "{event.dead_letter_queue}" after {_attempts(event.attempts)}...'
            )
        case events.Dropped(queue=queue, message_id=id_, attempts=attempts):
            return "warn", (
                f'Dropped message "{id_}" on queue "{queue}" after {_attempts(attempts)}!'
            )
        case events.Sent() | events.HandedOut() | events.PullDone():
            return "debug", _watched(event)
        case events.LeasesExpired() | events.PullConsumerKept():
            return _of_pullers(event)
        case _:
            return _own_words(event)


def _watched(event: events.Sent | events.HandedOut | events.PullDone) -> str:
    match event:
        case events.Sent(count=count, size_bytes=size_bytes, bodies=bodies):
            more = ", ..." if count > len(bodies) else ""
            return f"sent {count} ({size_bytes} bytes): {', '.join(bodies)}{more}"
        case events.HandedOut(count=count):
            return f"pulled {count}"
        case events.PullDone(acked=acked, retried=retried):
            return f"acknowledged {acked}, retried {retried}"
        case _:
            assert_never(event)


def _of_pullers(event: events.LeasesExpired | events.PullConsumerKept) -> tuple[Level, str]:
    if isinstance(event, events.LeasesExpired):
        noun = "message" if event.count == 1 else "messages"
        return "info", (
            f'Visibility timeout of {event.count} {noun} pulled from queue "{event.queue}" ended.'
        )
    return "warn", (
        f'Queue "{event.queue}" has an http_pull consumer: Worker "{event.script}" gets none of its'
        f" messages. To switch, run: tsumugi queues consumer http remove {event.queue}"
    )


def _attempts(count: int) -> str:
    return f"{count} failed attempt{'' if count == 1 else 's'}"


type _Ours = (
    events.DelayClamped
    | events.DeliveryFailed
    | events.OverranWallTime
    | events.Expired
    | events.NoConsumer
    | events.StoreFailed
)


def _own_words(event: _Ours) -> tuple[Level, str]:
    match event:
        case events.DelayClamped():
            return "warn", (
                f'Retry delay of {event.asked_s} s for message "{event.message_id}" on queue'
                f' "{event.queue}" is out of range (0 to 86400); using {event.delay_s} s.'
            )
        case events.DeliveryFailed(queue=queue, reason=reason):
            return "error", f'Batch on queue "{queue}" got no result: {reason}'
        case events.OverranWallTime(queue=queue, limit_ms=limit_ms):
            return "error", (
                f'Handler of queue "{queue}" was still running after {limit_ms // 1000} s,'
                " the longest an invocation may take; its unsettled messages are retried."
            )
        case events.Expired(queue=queue, count=count, retention_s=retention_s):
            noun = "message" if count == 1 else "messages"
            return "warn", (
                f'Expired {count} {noun} on queue "{queue}": kept for {retention_s} s, the'
                " queue's retention period."
            )
        case events.NoConsumer(queue=queue, waiting=waiting):
            noun = "message waits" if waiting == 1 else "messages wait"
            return "warn", (
                f'Queue "{queue}" has no consumer: {waiting} {noun} until a Worker with'
                " queues.consumers for it runs."
            )
        case events.StoreFailed(reason=reason, retry_in_ms=retry_in_ms):
            return "error", (
                f"Queues could not be written: {reason}. Trying again in {retry_in_ms} ms."
            )
        case _:
            assert_never(event)
