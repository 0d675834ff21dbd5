"""The options of an enqueue, trace context, and unique keys."""

from __future__ import annotations

import pytest
from job_builders import HOUR, SECOND, T0
from tsumugi.jobs.core.model import DEFAULT_BACKOFF, Guarantee
from tsumugi.jobs.core.options import EnqueueOptions, OptionError, checked, new_job
from tsumugi.jobs.core.traceparent import is_traceparent
from tsumugi.jobs.core.unique import Hold, Wanted, reserve

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
DAY = 24 * HOUR


class TestOptions:
    def test_default_to_the_specified_ones(self) -> None:
        made = new_job(checked(EnqueueOptions(), now_ms=T0), local_id="a", now_ms=T0)
        assert (made.priority, made.max_attempts, made.backoff) == (0, 3, DEFAULT_BACKOFF)
        assert (made.timeout_ms, made.guarantee) == (60_000, Guarantee.AT_LEAST_ONCE)
        assert (made.ready_ms, made.expires_ms, made.concurrency_key) == (T0, None, None)

    @pytest.mark.parametrize(
        ("option", "value"),
        [
            ("priority", 1.5),
            ("priority", True),
            ("priority", 10**12),
            ("max_attempts", 0),
            ("timeout_ms", 0),
            ("delay_ms", -1),
            ("run_at_ms", -1),
            ("run_at_ms", 2**60),
            ("expires_in_ms", 0),
            ("concurrency_key", ""),
            ("unique_key", "x" * 513),
            ("partition_key", "a\0b"),
            ("concurrency_key", "\ud83d"),
            ("concurrency_key", 7),
            ("traceparent", "nonsense"),
        ],
    )
    def test_that_no_job_can_have_are_named(self, option: str, value: object) -> None:
        with pytest.raises(OptionError, match=f"^{option}: ") as caught:
            checked(EnqueueOptions(**{option: value}), now_ms=T0)  # type: ignore[arg-type]
        assert caught.value.option == option

    def test_delay_and_run_at_exclude_each_other(self) -> None:
        with pytest.raises(OptionError, match="exclude each other"):
            checked(EnqueueOptions(delay_ms=1, run_at_ms=T0), now_ms=T0)

    def test_a_delay_may_be_years(self) -> None:
        options = checked(EnqueueOptions(delay_ms=3650 * DAY), now_ms=T0)
        assert new_job(options, local_id="a", now_ms=T0).ready_ms == T0 + 3650 * DAY

    def test_a_time_that_is_past_buys_no_age(self) -> None:
        assert new_job(EnqueueOptions(run_at_ms=0), local_id="a", now_ms=T0).ready_ms == T0

    @pytest.mark.parametrize("when", [{"delay_ms": HOUR}, {"run_at_ms": T0 + HOUR}])
    def test_a_job_that_expires_before_it_may_start_is_refused(self, when: dict[str, int]) -> None:
        checked(EnqueueOptions(expires_in_ms=HOUR + 1, **when), now_ms=T0)  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="could never run"):
            checked(EnqueueOptions(expires_in_ms=HOUR, **when), now_ms=T0)  # type: ignore[arg-type]

    def test_a_window_needs_a_unique_key(self) -> None:
        with pytest.raises(OptionError, match="unique_key"):
            checked(EnqueueOptions(unique_for_ms=HOUR), now_ms=T0)

    @pytest.mark.parametrize("name", ["concurrency_key", "unique_key"])
    def test_a_key_the_performer_requires_cannot_be_left_out(self, name: str) -> None:
        with pytest.raises(OptionError, match=f"{name}: this performer requires it"):
            checked(EnqueueOptions(), now_ms=T0, required={name})
        given = EnqueueOptions(**{name: "k"})  # type: ignore[arg-type]
        assert checked(given, now_ms=T0, required={name}) is given

    def test_no_timeout_is_a_choice(self) -> None:
        made = new_job(EnqueueOptions(timeout_ms=None), local_id="a", now_ms=T0)
        assert made.timeout_ms is None


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        (TRACE, True),
        (TRACE.upper(), False),
        (f"{TRACE}-more", False),
        (f"cc{TRACE[2:]}-what-the-future-adds", True),
        (f"cc{TRACE[2:]}more", False),
        (f"ff{TRACE[2:]}", False),
        (f"00-{'0' * 32}-00f067aa0ba902b7-01", False),
        (f"00-4bf92f3577b34da6a3ce929d0e0e4736-{'0' * 16}-01", False),
        (f"{TRACE}\n", False),
        (f"cc{TRACE[2:]}-{'x' * 1_000}", False),
        ("", False),
    ],
)
def test_a_traceparent_has_the_form_of_the_recommendation(text: str, accepted: bool) -> None:
    assert is_traceparent(text) is accepted


class TestUniqueKeys:
    def test_a_taken_key_answers_with_the_job_that_has_it(self) -> None:
        held = {"k": Hold("old", T0 + 1)}
        answer = reserve([Wanted(job_id="new", unique_key="k")], held, now_ms=T0)
        assert (answer.job_ids, answer.created, answer.holds) == (("old",), frozenset(), {})

    def test_a_key_is_free_again_when_its_window_ends(self) -> None:
        held = {"k": Hold("old", T0)}
        wanted = Wanted(job_id="new", unique_key="k", unique_for_ms=5 * SECOND)
        answer = reserve([wanted], held, now_ms=T0)
        assert answer.job_ids == ("new",)
        assert answer.holds == {"k": Hold("new", T0 + 5 * SECOND)}

    def test_the_window_is_a_day_unless_said_otherwise(self) -> None:
        answer = reserve([Wanted(job_id="a", unique_key="k")], {}, now_ms=T0)
        assert answer.holds["k"].until_ms == T0 + DAY

    def test_within_one_batch_the_first_has_it(self) -> None:
        wanted = [
            Wanted(job_id="a", unique_key="k"),
            Wanted(job_id="b"),
            Wanted(job_id="c", unique_key="k"),
        ]
        answer = reserve(wanted, {}, now_ms=T0)
        assert (answer.job_ids, answer.created) == (("a", "b", "a"), {"a", "b"})
