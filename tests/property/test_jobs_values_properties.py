"""What holds for every backoff, bucket, id, shard, batch, reservation and answer."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import given, strategies as st
from jobs_model import NOW, job_lists
from tsumugi.jobs.core.backoff import ExponentialBackoff, FixedBackoff, JobBackoff, backoff_ms
from tsumugi.jobs.core.bucket import Rate, full_bucket, given_back, refilled, taken, worth_waking_ms
from tsumugi.jobs.core.control import Cancelled, Rescheduled, Retried, cancel, reschedule, retry
from tsumugi.jobs.core.handover import HandoverLimits, packed
from tsumugi.jobs.core.ids import JobId, created_ms, local_ids, parse_job_id
from tsumugi.jobs.core.sharding import fnv1a, shard_of
from tsumugi.jobs.core.states import JobState, can_transition
from tsumugi.jobs.core.unique import Hold, Wanted, reserve

if TYPE_CHECKING:
    from tsumugi.jobs.core.model import JobView

chances = st.floats(0, 1, exclude_max=True)
rates = st.builds(Rate, st.integers(1, 50), st.integers(1, 100_000))
times = st.integers(0, 2**47)
eight_bytes = st.binary(min_size=8, max_size=8)
any_backoff = st.builds(FixedBackoff, st.integers(0, 10**9), st.booleans()) | st.builds(
    ExponentialBackoff,
    st.integers(0, 10**6),
    st.floats(1, 100),
    st.integers(0, 10**9),
    st.booleans(),
)


@given(backoff=any_backoff, attempts=st.integers(1, 10**6), chance=chances)
def test_a_backoff_is_between_half_and_all_of_its_whole_delay(
    backoff: JobBackoff, attempts: int, chance: float
) -> None:
    waits = backoff_ms(backoff, attempts, chance=chance)
    least = backoff_ms(backoff, attempts, chance=0)
    assert least <= waits <= 2 * least + 1
    longest = backoff.delay_ms if isinstance(backoff, FixedBackoff) else backoff.max_ms
    assert 0 <= waits <= longest
    assert isinstance(waits, int)


@given(backoff=any_backoff, attempts=st.integers(1, 10**6))
def test_a_later_attempt_never_waits_less(backoff: JobBackoff, attempts: int) -> None:
    assert backoff_ms(backoff, attempts, chance=0) <= backoff_ms(backoff, attempts + 1, chance=0)


@given(
    rate=rates,
    uses=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 60)), max_size=30),
)
def test_a_bucket_agrees_with_fractions_and_is_never_overdrawn(
    rate: Rate, uses: list[tuple[int, int]]
) -> None:
    bucket = full_bucket(rate, now_ms=0)
    level = Fraction(rate.tokens)
    now_ms = 0
    for passed_ms, wanted in uses:
        now_ms += passed_ms
        level = min(Fraction(rate.tokens), level + Fraction(passed_ms * rate.tokens, rate.per_ms))
        bucket = refilled(bucket, rate, now_ms=now_ms)
        assert bucket.tokens == level.numerator // level.denominator
        used = min(wanted, bucket.tokens)
        bucket, level = taken(bucket, used), level - used
    started = full_bucket(rate, now_ms=0).tokens + now_ms * rate.tokens // rate.per_ms
    assert 0 <= bucket.tokens <= started


@given(rate=rates, passed=st.lists(st.integers(-5_000, 5_000), max_size=20))
def test_however_a_clock_jumps_no_more_refills_than_time_went_forward(
    rate: Rate, passed: list[int]
) -> None:
    bucket = taken(full_bucket(rate, now_ms=NOW), rate.tokens)
    now_ms = NOW
    for step in passed:
        now_ms += step
        bucket = refilled(bucket, rate, now_ms=now_ms)
    forward = sum(step for step in passed if step > 0)
    assert 0 <= bucket.parts <= min(rate.capacity, forward * rate.tokens)


@given(rate=rates, used=st.integers(0, 50), back=st.integers(0, 50))
def test_giving_back_undoes_taking(rate: Rate, used: int, back: int) -> None:
    used = min(used, rate.tokens)
    whole = full_bucket(rate, now_ms=NOW)
    assert given_back(taken(whole, used), used, rate=rate) == whole
    assert given_back(taken(whole, used), used + back, rate=rate) == whole


@given(rate=rates)
def test_a_shard_out_of_tokens_wakes_later_and_finds_one_then(rate: Rate) -> None:
    empty = taken(full_bucket(rate, now_ms=NOW), rate.tokens)
    wake_ms = worth_waking_ms(empty, rate)
    assert wake_ms > NOW
    assert refilled(empty, rate, now_ms=wake_ms).tokens >= 1


@given(rate=rates, other=rates, used=st.integers(0, 50))
def test_a_change_of_rate_makes_no_tokens(rate: Rate, other: Rate, used: int) -> None:
    bucket = taken(full_bucket(rate, now_ms=NOW), min(used, rate.tokens))
    assert refilled(bucket, other, now_ms=NOW).tokens <= min(bucket.tokens, other.tokens)


@given(batches=st.lists(st.tuples(times, st.integers(1, 20), eight_bytes), max_size=10))
def test_local_ids_ascend_whatever_the_clock_and_the_chance(
    batches: list[tuple[int, int, bytes]],
) -> None:
    made: list[str] = []
    for now_ms, count, chance in batches:
        made += local_ids(count, now_ms=now_ms, chance=chance, after=made[-1] if made else None)
    assert all(earlier < later for earlier, later in pairwise(made))
    assert {len(local) for local in made} <= {28}
    assert all(created_ms(local) <= max(now_ms for now_ms, _, _ in batches) for local in made)


@given(
    binding=st.from_regex(r"\A[A-Za-z_$][A-Za-z0-9_$.-]{0,20}\Z"),
    shard=st.integers(0, 10**9 - 1),
    now_ms=times,
    chance=eight_bytes,
)
def test_every_job_id_reads_back(binding: str, shard: int, now_ms: int, chance: bytes) -> None:
    job_id = JobId(binding, shard, local_ids(1, now_ms=now_ms, chance=chance)[0])
    assert parse_job_id(str(job_id)) == job_id


@given(text=st.text(st.characters()), shards=st.integers(1, 64))
def test_a_partition_always_has_the_same_one_shard(text: str, shards: int) -> None:
    units = text.encode("utf-16-be", "surrogatepass")
    numbers = [int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2)]
    hashed = reduce(lambda h, unit: ((h ^ unit) * 16_777_619) % 2**32, numbers, 2_166_136_261)
    assert fnv1a(text) == hashed
    assert shard_of(text, shards=shards) == hashed % shards


@given(
    sizes=st.lists(st.integers(0, 50), max_size=60),
    limits=st.builds(
        HandoverLimits,
        messages=st.integers(1, 10),
        batch_bytes=st.integers(50, 120),
        message_bytes=st.just(50),
    ),
)
def test_batches_keep_every_message_in_order_within_both_limits(
    sizes: list[int], limits: HandoverLimits
) -> None:
    batches = packed(((at, size) for at, size in enumerate(sizes)), limits=limits)
    assert [at for batch in batches for at in batch] == list(range(len(sizes)))
    for batch in batches:
        assert 1 <= len(batch) <= limits.messages
        assert sum(sizes[at] for at in batch) <= limits.batch_bytes
    for batch, following in pairwise(batches):
        full = len(batch) == limits.messages
        assert full or sum(sizes[at] for at in [*batch, following[0]]) > limits.batch_bytes


@given(
    keys=st.lists(st.none() | st.sampled_from("abc"), max_size=20),
    held=st.dictionaries(
        st.sampled_from("abc"), st.builds(Hold, st.just("old"), st.integers(NOW - 2, NOW + 2))
    ),
)
def test_a_key_has_one_job_within_its_window(keys: list[str | None], held: dict[str, Hold]) -> None:
    wanted = [Wanted(job_id=f"{at}", unique_key=key) for at, key in enumerate(keys)]
    answer = reserve(wanted, held, now_ms=NOW)
    assert len(answer.job_ids) == len(wanted)
    by_key: dict[str, set[str]] = {}
    for want, job_id in zip(wanted, answer.job_ids, strict=True):
        assert (job_id in answer.created) is (job_id != "old")
        if want.unique_key is None:
            assert job_id == want.job_id
        else:
            by_key.setdefault(want.unique_key, set()).add(job_id)
    assert all(len(ids) == 1 for ids in by_key.values())
    assert max(Counter(answer.created).values(), default=0) <= 1


@given(jobs=job_lists(), later_ms=st.integers(0, 10**9))
def test_manual_control_only_goes_where_the_table_allows(
    jobs: list[JobView], later_ms: int
) -> None:
    for job in jobs:
        answer = cancel(job, now_ms=NOW + later_ms)
        if isinstance(answer, Cancelled):
            assert can_transition(job.state, answer.to)
        answer = retry(job, now_ms=NOW + later_ms)
        if isinstance(answer, Retried):
            assert can_transition(job.state, answer.to)
        answer = reschedule(job, now_ms=NOW + later_ms, priority=1)
        assert isinstance(answer, Rescheduled) is (job.state is JobState.SCHEDULED)
