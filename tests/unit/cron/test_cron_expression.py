"""When cron expressions fire, against the documentation's examples and a minute-by-minute model."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings, strategies as st
from tsumugi_emulator.cron.expression import CronError, parse


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def shown(time_ms: int | None) -> str:
    assert time_ms is not None
    return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M %a")


@pytest.mark.parametrize(
    ("expression", "after", "expected"),
    [
        ("* * * * *", "2026-11-29 10:00:30", "2026-11-29 10:01 Sun"),
        ("*/30 * * * *", "2026-11-29 10:00", "2026-11-29 10:30 Sun"),
        ("0 17 * * sun", "2026-11-29 18:00", "2026-12-06 17:00 Sun"),
        ("0 17 * * 1", "2026-11-29 18:00", "2026-12-06 17:00 Sun"),
        ("10 7 * * mon-fri", "2026-11-28 00:00", "2026-11-30 07:10 Mon"),
        ("10 7 * * 2-6", "2026-11-28 00:00", "2026-11-30 07:10 Mon"),
        ("0 15 1 * *", "2026-11-29 00:00", "2026-12-01 15:00 Tue"),
        ("0 18 * * 6L", "2026-11-01 00:00", "2026-11-27 18:00 Fri"),
        ("0 18 * * friL", "2026-11-01 00:00", "2026-11-27 18:00 Fri"),
        ("59 23 LW * *", "2026-10-01 00:00", "2026-10-30 23:59 Fri"),
        ("0 9 L * *", "2028-02-01 00:00", "2028-02-29 09:00 Tue"),
        ("0 9 15W * *", "2026-11-01 00:00", "2026-11-16 09:00 Mon"),
        ("0 10 * * MON#2", "2026-11-01 00:00", "2026-11-09 10:00 Mon"),
        ("0 0 29 2 *", "2026-01-01 00:00", "2028-02-29 00:00 Tue"),
        ("5/20 3 * JAN,jul *", "2026-02-01 00:00", "2026-07-01 03:05 Wed"),
        ("0 0 13 * 6", "2026-11-01 00:00", "2026-11-06 00:00 Fri"),
        ("0 0 * * FRI-MON", "2026-12-01 00:00", "2026-12-04 00:00 Fri"),
        ("0 0 * * FRI-MON", "2026-12-04 00:00", "2026-12-05 00:00 Sat"),
        ("0 22-2 * * *", "2026-11-29 23:30", "2026-11-30 00:00 Mon"),
        ("0 0 1 NOV-FEB *", "2026-02-01 00:00", "2026-11-01 00:00 Sun"),
        ("50-10/10 * * * *", "2026-11-29 10:50", "2026-11-29 11:00 Sun"),
        ("7,* * * * *", "2026-11-29 10:00", "2026-11-29 10:07 Sun"),
        ("0 0 L-3W * *", "2026-11-01 00:00", "2026-11-27 00:00 Fri"),
        ("0 0 L-1W * *", "2026-11-01 00:00", "2026-11-30 00:00 Mon"),
        ("0 0 * * L", "2026-11-29 00:00", "2026-12-05 00:00 Sat"),
    ],
)
def test_an_expression_fires_next(expression: str, after: str, expected: str) -> None:
    assert shown(parse(expression).next_after(at(after))) == expected


def test_a_date_that_never_comes_never_fires() -> None:
    assert parse("0 0 31 2 *").next_after(at("2026-01-01")) is None


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("* * * *", "has 4 fields"),
        ("60 * * * *", "minute '60' is not a number from 0 to 59"),
        ("* * * foo *", "month 'foo'"),
        ("* * * * 0", "weekday '0' is not a number from 1 to 7"),
        ("*/0 * * * *", "step of minute '0' is not a number from 1 to 59"),
        ("*/60 * * * *", "step of minute '60' is not a number from 1 to 59"),
        ("*,5 * * * *", r"minute '\*,5' goes on after '\*', which is everything"),
        ("* * ? * *", r"day of month '\?'"),
        ("* * L,15 * *", "day of month 'L'"),
        ("* * lw * *", "day of month 'lw'"),
        ("* * 15W,20 * *", "day of month '15W'"),
        ("* * * * MON#2,TUE", "weekday number '2,TUE'"),
        ("* * * * fri-", "weekday ''"),
        ("* * * * mon#6", "weekday number '6'"),
        (", * * * *", "minute ''"),
    ],
)
def test_a_fault_is_named(expression: str, fault: str) -> None:
    with pytest.raises(CronError, match=fault):
        parse(expression)


FIELDS = st.tuples(
    st.sampled_from(["*", "*/7", "0", "15,45", "10-20/3"]),
    st.sampled_from(["*", "0", "*/5", "9-17"]),
    st.sampled_from(["*", "1", "31", "L", "10-12"]),
    st.sampled_from(["*", "2", "JAN-MAR", "*/4"]),
    st.sampled_from(["*", "mon", "1,7", "3#2", "6L"]),
)


@settings(max_examples=60, deadline=None)
@given(fields=FIELDS, start=st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1)))
def test_no_minute_before_the_next_firing_matches(
    fields: tuple[str, str, str, str, str], start: datetime
) -> None:
    cron = parse(" ".join(fields))
    moment = start.replace(tzinfo=UTC)
    found = cron.next_after(int(moment.timestamp() * 1000))
    minute = moment.replace(second=0, microsecond=0)
    for _ in range(3 * 24 * 60):
        minute += timedelta(minutes=1)
        matches = (
            minute.minute in cron.minutes and minute.hour in cron.hours and cron.fires_on(minute)
        )
        if matches:
            assert found == int(minute.timestamp() * 1000)
            return
    assert found is None or found > int(minute.timestamp() * 1000)
