from __future__ import annotations

import pytest
from tsumugi import MAX_DELAY_S, Backoff, exponential_backoff
from tsumugi.backoff import clamp_delay_s


def test_the_delay_is_the_base_to_the_power_of_the_attempts() -> None:
    assert [exponential_backoff(n, 30) for n in (1, 2, 3)] == [30, 900, 27_000]


def test_a_factor_makes_the_growth_independent_of_the_base() -> None:
    assert [exponential_backoff(n, 30, factor=2) for n in (1, 2, 3, 4)] == [30, 60, 120, 240]


def test_a_factor_of_one_waits_the_same_every_time() -> None:
    assert [exponential_backoff(n, 30, factor=1) for n in (1, 50)] == [30, 30]


def test_no_delay_exceeds_what_queues_accepts() -> None:
    assert exponential_backoff(4, 30) == MAX_DELAY_S == 86_400


def test_no_delay_exceeds_the_cap() -> None:
    assert exponential_backoff(3, 30, cap_s=3600) == 3600


def test_a_power_too_large_for_a_float_is_the_cap() -> None:
    assert exponential_backoff(10_000, 30) == MAX_DELAY_S


def test_fractions_are_rounded_up_so_that_no_wait_is_cut() -> None:
    assert exponential_backoff(2, 1.5) == 3  # 2.25 s


@pytest.mark.parametrize(
    ("jitter", "rand", "delay_s"),
    [(0, 0.9, 100), (0.5, 0, 100), (0.5, 1, 50), (1, 1, 0), (1, 0.25, 75)],
)
def test_jitter_takes_its_share_of_the_delay_by_chance(
    jitter: float, rand: float, delay_s: int
) -> None:
    assert exponential_backoff(2, 10, jitter=jitter, rand=rand) == delay_s


def test_jitter_finds_its_own_chance_when_none_is_given() -> None:
    delays = {exponential_backoff(4, 10, jitter=0.5) for _ in range(50)}
    assert all(5_000 <= delay_s <= 10_000 for delay_s in delays)
    assert len(delays) > 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"attempts": 0, "base_s": 30}, "attempts counts deliveries from 1, not 0"),
        ({"attempts": 1, "base_s": 0}, "base_s must be greater than 0"),
        ({"attempts": 1, "base_s": float("nan")}, "base_s must be greater than 0"),
        ({"attempts": 1, "base_s": 0.5}, "a delay must not shrink"),
        ({"attempts": 1, "base_s": 30, "factor": 0.5}, "a delay must not shrink"),
        ({"attempts": 1, "base_s": 30, "cap_s": 86_401}, "cap_s must be 0 to 86400"),
        ({"attempts": 1, "base_s": 30, "jitter": 1.1}, "jitter is a share from 0 to 1"),
        ({"attempts": 1, "base_s": 30, "rand": 2}, "rand must be 0 to 1"),
    ],
)
def test_an_argument_out_of_range_is_named(arguments: dict[str, float], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        exponential_backoff(**arguments)  # type: ignore[arg-type]


def test_a_policy_is_called_with_the_attempts() -> None:
    policy = Backoff(base_s=30, factor=2, cap_s=100, jitter=1)
    assert [policy(n, rand=0) for n in (1, 2, 3)] == [30, 60, 100]


def test_the_default_policy_outlasts_a_quarter_of_an_hour_within_three_retries() -> None:
    assert sum(map(Backoff(), (1, 2, 3))) > 15 * 60


def test_a_wrong_policy_fails_where_it_is_written() -> None:
    with pytest.raises(ValueError, match="cap_s"):
        Backoff(cap_s=100_000)


@pytest.mark.parametrize(("asked", "accepted"), [(-1, 0), (1.2, 2), (1e9, 86_400), (0, 0)])
def test_a_delay_is_moved_to_the_nearest_accepted_one(asked: float, accepted: int) -> None:
    assert clamp_delay_s(asked) == accepted
