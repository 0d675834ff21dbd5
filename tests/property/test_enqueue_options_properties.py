"""What is written of a job's options does not depend on the jobs before it in the same call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import given, strategies as st
from tsumugi import OptionError, Performer
from tsumugi.jobs.client.options import Addressing
from tsumugi.jobs.core.options import KEY_NAMES, MAX_KEY_LENGTH, check_key, check_keys
from tsumugi.jobs.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable

NOW_MS = 1_750_000_000_000


class Free(Performer[Any]):
    async def perform(self, payload: Any, ctx: Any) -> None: ...


class Strict(Free):
    requires = ("concurrency_key",)


class Text(str):
    """A text of a class of its own, which writes itself otherwise than it reads."""

    def __format__(self, spec: str) -> str:
        return "formatted"


PERFORMERS = Registry([Free, Strict])

keys = st.one_of(
    st.text(max_size=6),
    st.text('ab"\\/\0\x7f \n<é\ud800😀', max_size=6),
    st.sampled_from([None, "", 5, b"a", Text("own"), "k" * MAX_KEY_LENGTH, "k" * 513]),
)
own_options = st.one_of(
    st.fixed_dictionaries({}, optional=dict.fromkeys(KEY_NAMES, keys)),
    st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(KEY_NAMES, keys),
            "priority": st.sampled_from([0, 3, "high"]),
            "unique_for_ms": st.sampled_from([None, 5_000]),
        },
    ),
)


def written(addressing: Addressing, own: Any) -> tuple[str, Any] | str:
    try:
        shard, text = addressing.of(own)
    except (OptionError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    return shard, json.loads(f'{{"payload":0{text}}}')


@given(
    performer=st.sampled_from([Free, Strict]),
    common=own_options,
    jobs=st.lists(own_options, max_size=6),
    shards=st.sampled_from([1, 3]),
)
def test_each_job_of_a_call_is_written_as_if_it_were_alone(
    performer: Any, common: dict[str, Any], jobs: list[dict[str, Any]], shards: int
) -> None:
    registered = PERFORMERS.of(performer)

    def addressing() -> Addressing:
        return Addressing(registered, common, shards=shards, now_ms=NOW_MS)

    together = addressing()
    for own in jobs:
        assert written(together, own) == written(addressing(), own)


@given(key=st.text('ab"\\/\x7f \n<é😀', min_size=1, max_size=6))
def test_a_key_arrives_as_it_was_given(key: str) -> None:
    addressing = Addressing(PERFORMERS.of(Free), {}, shards=1, now_ms=NOW_MS)
    for _ in range(2):
        shard, options = written(addressing, {"concurrency_key": key})
        assert (shard, options) == ("Free#0", {"payload": 0, "concurrency_key": key})


def refusal(check: Callable[[], None]) -> str | None:
    try:
        check()
    except OptionError as error:
        return str(error)
    return None


@given(many=st.lists(keys.filter(lambda key: key is not None), max_size=5))
def test_many_keys_are_refused_for_the_first_that_cannot_be_one(many: list[Any]) -> None:
    alone = [refusal(lambda key=key: check_key("unique_key", key)) for key in many]
    first = next(filter(None, alone), None)
    assert refusal(lambda: check_keys("unique_key", many)) == first
