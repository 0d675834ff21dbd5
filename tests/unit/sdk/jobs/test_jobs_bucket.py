"""The durable token bucket."""

from __future__ import annotations

import pytest
from job_builders import HOUR, MINUTE, SECOND, T0
from tsumugi.jobs.core.bucket import (
    Bucket,
    Rate,
    full_bucket,
    given_back,
    refilled,
    taken,
    worth_waking_ms,
)

THREE_A_SECOND = Rate(tokens=3, per_ms=SECOND)


def test_it_starts_full() -> None:
    assert refilled(None, THREE_A_SECOND, now_ms=T0).tokens == 3


def test_a_token_comes_back_to_the_millisecond() -> None:
    empty = taken(full_bucket(THREE_A_SECOND, now_ms=T0), 3)
    assert refilled(empty, THREE_A_SECOND, now_ms=T0 + 333).tokens == 0
    assert refilled(empty, THREE_A_SECOND, now_ms=T0 + 334).tokens == 1


def test_nothing_is_lost_however_often_it_is_refilled() -> None:
    bucket = taken(full_bucket(THREE_A_SECOND, now_ms=T0), 3)
    for passed in range(1, SECOND):
        bucket = refilled(bucket, THREE_A_SECOND, now_ms=T0 + passed)
    assert bucket.tokens == 2
    assert refilled(bucket, THREE_A_SECOND, now_ms=T0 + SECOND).tokens == 3


def test_it_never_holds_more_than_the_rate() -> None:
    assert refilled(full_bucket(THREE_A_SECOND, now_ms=0), THREE_A_SECOND, now_ms=T0).tokens == 3


def test_a_clock_that_went_back_adds_nothing_and_filling_goes_on_from_there() -> None:
    empty = taken(full_bucket(THREE_A_SECOND, now_ms=T0), 3)
    earlier = refilled(empty, THREE_A_SECOND, now_ms=T0 - HOUR)
    assert earlier.tokens == 0
    assert refilled(earlier, THREE_A_SECOND, now_ms=T0 - HOUR + SECOND).tokens == 3


def test_a_change_of_rate_keeps_the_tokens_it_holds() -> None:
    two = taken(full_bucket(THREE_A_SECOND, now_ms=T0), 1)
    slower = refilled(two, Rate(10, HOUR), now_ms=T0)
    assert slower.tokens == 2
    assert refilled(slower, Rate(1, MINUTE), now_ms=T0).tokens == 1


def test_more_than_it_holds_cannot_be_taken() -> None:
    with pytest.raises(ValueError, match="4 tokens asked of a bucket that holds 3"):
        taken(full_bucket(THREE_A_SECOND, now_ms=T0), 4)


def test_what_was_not_used_goes_back_up_to_the_brim() -> None:
    one = taken(full_bucket(THREE_A_SECOND, now_ms=T0), 2)
    assert given_back(one, 1, rate=THREE_A_SECOND).tokens == 2
    assert given_back(one, 9, rate=THREE_A_SECOND).tokens == 3


class TestWaking:
    def empty(self, rate: Rate) -> Bucket:
        return taken(full_bucket(rate, now_ms=T0), rate.tokens)

    def test_a_slow_rate_wakes_for_its_next_token(self) -> None:
        assert worth_waking_ms(self.empty(Rate(1, MINUTE)), Rate(1, MINUTE)) == T0 + MINUTE

    def test_a_fast_rate_gathers_tokens_for_a_while(self) -> None:
        rate = Rate(5_000, SECOND)
        wake_ms = worth_waking_ms(self.empty(rate), rate)
        assert wake_ms == T0 + 25
        assert refilled(self.empty(rate), rate, now_ms=wake_ms).tokens == 125

    def test_a_bucket_that_would_overflow_meanwhile_is_not_kept_waiting(self) -> None:
        assert worth_waking_ms(self.empty(Rate(1, 1)), Rate(1, 1)) == T0 + 1


@pytest.mark.parametrize(
    ("tokens", "per_ms"), [(0, 1), (1, 0), (1.5, 1), (True, 1), (2**30, 2**30)]
)
def test_a_wrong_rate_fails_where_it_is_written(tokens: int, per_ms: int) -> None:
    with pytest.raises(ValueError):
        Rate(tokens, per_ms)
