from __future__ import annotations

from hypothesis import given, strategies as st
from tsumugi import MAX_DELAY_S, exponential_backoff

attempts = st.integers(1, 10**6)
bases = st.floats(1, 1e6, allow_nan=False)
factors = st.none() | st.floats(1, 1e6, allow_nan=False)
caps = st.integers(0, MAX_DELAY_S)
shares = st.floats(0, 1)


@given(n=attempts, base_s=bases, factor=factors, cap_s=caps, jitter=shares, rand=shares)
def test_every_delay_is_a_whole_number_of_seconds_within_the_cap(
    n: int, base_s: float, factor: float | None, cap_s: int, jitter: float, rand: float
) -> None:
    delay_s = exponential_backoff(n, base_s, factor=factor, cap_s=cap_s, jitter=jitter, rand=rand)
    assert isinstance(delay_s, int)
    assert 0 <= delay_s <= cap_s


@given(n=attempts, base_s=bases, factor=factors, cap_s=caps)
def test_without_jitter_a_later_attempt_never_waits_less(
    n: int, base_s: float, factor: float | None, cap_s: int
) -> None:
    earlier = exponential_backoff(n, base_s, factor=factor, cap_s=cap_s)
    assert earlier <= exponential_backoff(n + 1, base_s, factor=factor, cap_s=cap_s)


@given(n=attempts, base_s=bases, jitter=shares, rand=shares)
def test_jitter_only_ever_shortens_and_by_no_more_than_its_share(
    n: int, base_s: float, jitter: float, rand: float
) -> None:
    whole = exponential_backoff(n, base_s)
    jittered = exponential_backoff(n, base_s, jitter=jitter, rand=rand)
    assert (1 - jitter) * (whole - 1) - 1e-6 <= jittered <= whole


@given(n=st.integers(1, 200), base_s=st.integers(1, 1000))
def test_whole_bases_follow_the_documented_formula_exactly(n: int, base_s: int) -> None:
    assert exponential_backoff(n, base_s) == min(base_s**n, MAX_DELAY_S)
