from __future__ import annotations

from tsumugi_emulator.queues import events, log_line

ID = "0123456789abcdef0123456789abcdef"


def test_settled_batches_are_worded_as_wrangler_words_them() -> None:
    done = events.BatchDone("q", "ok", acked=2, total=3, duration_ms=12, retried=1)
    assert log_line(done) == ("info", "QUEUE q 2/3 (12ms)")
    assert log_line(events.Retried("q", ID, attempts=1, delay_s=0)) == (
        "debug",
        f'Retrying message "{ID}" on queue "q"...',
    )
    assert log_line(events.DeadLettered("q", ID, "dlq", attempts=1)) == (
        "warn",
        f'Moving message "{ID}" on queue "q" to dead letter queue "dlq" after 1 failed attempt...',
    )
    assert log_line(events.DeadLettered("q", ID, "dlq", attempts=3))[1].endswith(
        "after 3 failed attempts..."
    )
    assert log_line(events.Dropped("q", ID, attempts=4)) == (
        "warn",
        f'Dropped message "{ID}" on queue "q" after 4 failed attempts!',
    )
    assert log_line(events.Dropped("q", ID, attempts=1))[1].endswith("after 1 failed attempt!")


def test_what_wrangler_never_says_names_the_queue_and_what_happens_next() -> None:
    for event, level, parts in (
        (events.NoConsumer("q", 2), "warn", ['"q"', "2 messages wait", "queues.consumers"]),
        (events.NoConsumer("q", 1), "warn", ["1 message waits"]),
        (events.Expired("q", 1, 60), "warn", ['"q"', "1 message ", "60 s"]),
        (events.DelayClamped("q", ID, 90_000, 86_400), "warn", [ID, "90000", "86400"]),
        (events.DeliveryFailed("q", "EOFError: x"), "error", ['"q"', "EOFError: x"]),
        (events.OverranWallTime("q", 900_000), "error", ['"q"', "900 s", "retried"]),
        (events.StoreFailed("disk full", 1_000), "error", ["disk full", "1000 ms"]),
    ):
        said = log_line(event)
        assert said[0] == level
        for part in parts:
            assert part in said[1]
