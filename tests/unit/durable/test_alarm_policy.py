from __future__ import annotations

from tsumugi_emulator.durable.alarms import GiveUp, Retry, after_failure


def test_a_failed_alarm_waits_twice_as_long_each_time_and_is_given_up_after_six_retries() -> None:
    now_ms, retry_count, waits = 1_000, 0, []
    while isinstance(outcome := after_failure(retry_count, now_ms=now_ms), Retry):
        waits.append(outcome.due_ms - now_ms)
        now_ms, retry_count = outcome.due_ms, outcome.retry_count
    assert waits == [2_000, 4_000, 8_000, 16_000, 32_000, 64_000]
    assert outcome == GiveUp(attempts=7)
