"""Job ids and the shards they address."""

from __future__ import annotations

import pytest
from job_builders import T0
from tsumugi.jobs.core.ids import (
    CHANCE_BYTES,
    JobId,
    MalformedJobId,
    created_ms,
    local_ids,
    parse_job_id,
    shard_name,
)
from tsumugi.jobs.core.options import OptionError
from tsumugi.jobs.core.sharding import fnv1a, shard_of

LOW, HIGH = bytes(CHANCE_BYTES), b"\xff" * CHANCE_BYTES
LOCAL = local_ids(1, now_ms=T0, chance=LOW)[0]


class TestAJobId:
    def test_is_read_as_it_is_written(self) -> None:
        job_id = JobId("SendMail", 3, LOCAL)
        assert str(job_id) == f"SendMail#3:{LOCAL}"
        assert parse_job_id(str(job_id)) == job_id

    @pytest.mark.parametrize(
        "text",
        [
            "",
            LOCAL,
            f"MAIL:{LOCAL}",
            f"MAIL#:{LOCAL}",
            f"MAIL#-1:{LOCAL}",
            f"MAIL#01:{LOCAL}",
            f"MAIL#0:{LOCAL[:-1]}",
            f"MAIL#0:{LOCAL}\n",
            f"MAIL#0:{LOCAL[:-1]}G",
            f"#0:{LOCAL}",
            f"MA#IL#0:{LOCAL}",
            f"MAIL#٣:{LOCAL}",
        ],
    )
    def test_is_nothing_else(self, text: str) -> None:
        with pytest.raises(MalformedJobId, match="<binding>#<shard>:<local>"):
            parse_job_id(text)

    @pytest.mark.parametrize(("binding", "shard"), [("", 0), ("A#B", 0), ("A:B", 0), ("A", -1)])
    def test_cannot_be_made_of_what_could_not_be_read(self, binding: str, shard: int) -> None:
        with pytest.raises(ValueError):
            shard_name(binding, shard)


class TestALocalId:
    def test_sorts_by_time_whatever_the_chance(self) -> None:
        (earlier,) = local_ids(1, now_ms=T0, chance=HIGH)
        (later,) = local_ids(1, now_ms=T0 + 1, chance=LOW)
        assert earlier < later

    def test_sorts_as_made_within_a_millisecond(self) -> None:
        first = local_ids(1_000, now_ms=T0, chance=HIGH)
        second = local_ids(1_000, now_ms=T0, chance=LOW, after=first[-1])
        assert sorted({*first, *second}) == first + second

    def test_sorts_as_made_when_the_clock_goes_back(self) -> None:
        (first,) = local_ids(1, now_ms=T0, chance=LOW)
        (second,) = local_ids(1, now_ms=T0 - 60_000, chance=HIGH, after=first)
        assert first < second

    def test_tells_when_it_was_made(self) -> None:
        ids = local_ids(10_000, now_ms=T0, chance=HIGH)
        assert {created_ms(ids[0]), created_ms(ids[-1])} == {T0}

    @pytest.mark.parametrize(("now_ms", "chance"), [(T0, b""), (-1, LOW), (2**48, LOW)])
    def test_needs_a_time_and_eight_bytes(self, now_ms: int, chance: bytes) -> None:
        with pytest.raises(ValueError):
            local_ids(1, now_ms=now_ms, chance=chance)


class TestAShard:
    @pytest.mark.parametrize(
        ("text", "hashed"),
        [
            ("", 0x811C9DC5),
            ("a", 0xE40C292C),
            ("foobar", 0xBF9CF968),
            ("あ", ((0x811C9DC5 ^ 0x3042) * 0x01000193) % 2**32),
        ],
    )
    def test_is_chosen_by_the_published_hash(self, text: str, hashed: int) -> None:
        assert fnv1a(text) == hashed

    def test_is_chosen_by_code_units_so_that_other_languages_agree(self) -> None:
        assert fnv1a("😀") == fnv1a("\ud83d\ude00")

    def test_is_the_only_one_without_any_key(self) -> None:
        assert shard_of(None, shards=1) == shard_of("a", shards=1) == 0

    def test_needs_a_key_when_there_are_several(self) -> None:
        with pytest.raises(OptionError, match=r"partition_key: is required.* 4 shards"):
            shard_of(None, shards=4)

    def test_is_one_of_those_there_are(self) -> None:
        assert {shard_of(f"key-{n}", shards=4) for n in range(100)} == {0, 1, 2, 3}

    def test_needs_at_least_one(self) -> None:
        with pytest.raises(ValueError, match="at least 1"):
            shard_of("a", shards=0)
