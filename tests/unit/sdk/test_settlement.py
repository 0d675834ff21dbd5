from __future__ import annotations

import pytest
from tsumugi import Backoff, Reject, Retry
from tsumugi.settlement import Acknowledge, DeadLetter, RetryLater, settlement_of

BACKOFF = Backoff(base_s=10)


def test_a_handler_that_returns_acknowledges() -> None:
    assert settlement_of(None, attempts=1, retry=BACKOFF) == Acknowledge()


def test_an_exception_retries_after_the_backoff_for_the_attempts() -> None:
    decision = settlement_of(KeyError("id"), attempts=2, retry=BACKOFF)
    assert decision == RetryLater(100, "KeyError: 'id'", unexpected=True)


def test_a_retry_without_a_delay_uses_the_backoff() -> None:
    decision = settlement_of(Retry("busy"), attempts=2, retry=BACKOFF)
    assert decision == RetryLater(100, "busy", unexpected=False)


@pytest.mark.parametrize("delay_s", [0, 7, 86_400])
def test_a_retry_with_a_delay_gets_it(delay_s: int) -> None:
    decision = settlement_of(Retry(delay_s=delay_s), attempts=5, retry=BACKOFF)
    assert decision == RetryLater(delay_s, "the handler asked for a retry", unexpected=False)


def test_a_rejected_message_is_a_dead_letter() -> None:
    assert settlement_of(Reject("no such customer"), attempts=1, retry=BACKOFF) == DeadLetter(
        "no such customer"
    )


@pytest.mark.parametrize(("asked", "accepted"), [(10**6, 86_400), (-5, 0), (1.5, 2)])
def test_a_policy_of_ones_own_cannot_leave_the_accepted_range(asked: float, accepted: int) -> None:
    decision = settlement_of(OSError(), attempts=1, retry=lambda attempts: asked)  # type: ignore[arg-type,return-value]
    assert isinstance(decision, RetryLater)
    assert decision.delay_s == accepted


@pytest.mark.parametrize("delay_s", [-1, 86_401])
def test_a_retry_with_an_impossible_delay_fails_where_it_is_raised(delay_s: int) -> None:
    with pytest.raises(ValueError, match="delay_s must be 0 to 86400"):
        raise Retry(delay_s=delay_s)
