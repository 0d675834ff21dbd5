"""How long a job waits between attempts."""

from __future__ import annotations

from typing import Any

import pytest
from tsumugi.jobs.core.backoff import ExponentialBackoff, FixedBackoff, JobBackoff, backoff_ms
from tsumugi.jobs.core.model import DEFAULT_BACKOFF

STEADY = ExponentialBackoff(jitter=False)


def test_the_default_doubles_from_a_second_and_jitters() -> None:
    assert ExponentialBackoff(1_000, 2, 3_600_000, jitter=True) == DEFAULT_BACKOFF


def test_without_jitter_it_doubles() -> None:
    waits = [backoff_ms(STEADY, attempts, chance=0.9) for attempts in (1, 2, 3, 4)]
    assert waits == [1_000, 2_000, 4_000, 8_000]


@pytest.mark.parametrize("attempts", [13, 2_000, 10**9])
def test_it_stops_growing_at_an_hour(attempts: int) -> None:
    assert backoff_ms(STEADY, attempts, chance=0) == 3_600_000


def test_a_cap_below_the_base_wins() -> None:
    assert backoff_ms(ExponentialBackoff(5_000, max_ms=100, jitter=False), 1, chance=0) == 100


def test_a_base_of_nothing_never_waits() -> None:
    assert backoff_ms(ExponentialBackoff(0), 10**9, chance=0.5) == 0


@pytest.mark.parametrize(
    ("backoff", "attempts", "whole"),
    [(ExponentialBackoff(), 3, 4_000), (FixedBackoff(30_001), 9, 30_001)],
)
def test_jitter_leaves_half_of_it_to_chance(backoff: JobBackoff, attempts: int, whole: int) -> None:
    assert backoff_ms(backoff, attempts, chance=0) == whole // 2
    assert backoff_ms(backoff, attempts, chance=0.5) == whole // 2 + (whole - whole // 2) // 2
    assert backoff_ms(backoff, attempts, chance=0.999_999_999) == whole - 1


def test_a_fixed_one_is_always_the_same() -> None:
    backoff = FixedBackoff(30_000, jitter=False)
    assert {backoff_ms(backoff, attempts, chance=0.3) for attempts in (1, 2, 50)} == {30_000}


@pytest.mark.parametrize(
    "fields",
    [
        {"base_ms": -1},
        {"max_ms": 1.5},
        {"factor": 0.5},
        {"factor": "2"},
        {"factor": None},
        {"base_ms": True},
        {"jitter": 0.5},
    ],
)
def test_a_wrong_one_fails_where_it_is_written(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must"):
        ExponentialBackoff(**fields)


def test_a_negative_delay_is_refused() -> None:
    with pytest.raises(ValueError, match="delay_ms"):
        FixedBackoff(-1)


def test_a_share_of_jitter_is_refused_since_it_is_a_flag() -> None:
    share: Any = 0.5
    with pytest.raises(ValueError, match=r"jitter must be True or False, not 0\.5"):
        FixedBackoff(1, jitter=share)


@pytest.mark.parametrize(("attempts", "chance"), [(0, 0.5), (1, 1.0), (1, -0.1)])
def test_arguments_out_of_range_are_refused(attempts: int, chance: float) -> None:
    with pytest.raises(ValueError):
        backoff_ms(STEADY, attempts, chance=chance)
