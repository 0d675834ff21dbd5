"""How ``tsumugi jobs`` writes durations, ages and texts of others."""

from __future__ import annotations

import pytest
from tsumugi_emulator.cli.jobs_text import age, moment, plain


@pytest.mark.parametrize(
    ("duration_ms", "text"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1.0 s"),
        (59_940, "59.9 s"),
        (60_000, "1m 0s"),
        (3_725_000, "1h 2m"),
        (90_000_000, "1d 1h"),
    ],
)
def test_durations_have_two_units_at_most(duration_ms: int, text: str) -> None:
    assert moment(duration_ms) == text


def test_ages_look_both_ways_and_texts_cannot_move_the_cursor() -> None:
    assert (age(0, 1_000), age(1_000, 0)) == ("1.0 s ago", "in 1.0 s")
    assert plain("a\x1b[2J\r\nü") == "a\\x1b[2J\\r\nü"
