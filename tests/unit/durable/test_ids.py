from __future__ import annotations

import pytest
from tsumugi_emulator.durable import ids

ROOMS = ids.namespace_key("worker", "Room")
USERS = ids.namespace_key("worker", "User")


def test_a_name_always_gives_the_same_id_in_a_namespace() -> None:
    assert ids.from_name(ROOMS, "lobby") == ids.from_name(ROOMS, "lobby")
    assert ids.from_name(ROOMS, "lobby") != ids.from_name(USERS, "lobby")
    assert ids.from_name(ROOMS, "lobby") != ids.from_name(ROOMS, "hall")


def test_an_id_is_64_hex_digits_and_reads_back() -> None:
    made = ids.from_random(ROOMS, bytes(range(16)))
    assert len(made) == 64
    assert ids.from_text(ROOMS, made) == made
    assert ids.from_text(ROOMS, made.upper()) == made


@pytest.mark.parametrize(
    "text", ["", "abc", "g" * 64, "a" * 63, "a" * 65, " " * 64, "ab " * 21 + "a"]
)
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(ids.BadId, match="must be 64 hex digits"):
        ids.from_text(ROOMS, text)


def test_an_id_of_another_namespace_is_refused() -> None:
    with pytest.raises(ids.BadId, match="not valid for this namespace"):
        ids.from_text(USERS, ids.from_name(ROOMS, "lobby"))


def test_names_may_hold_any_characters() -> None:
    assert (
        len({ids.from_name(ROOMS, name) for name in ("", "a/b", "ä", "\ud800", "a" * 10_000)}) == 5
    )


def test_an_id_tells_its_jurisdiction() -> None:
    made = [ids.from_name(ROOMS, "lobby", place) for place in (None, *ids.JURISDICTIONS)]
    assert len(set(made)) == 1 + len(ids.JURISDICTIONS), "the same name is another object in each"
    found = [ids.jurisdiction_of(ROOMS, ids.from_text(ROOMS, text)) for text in made]
    assert found == [None, *ids.JURISDICTIONS]
    with pytest.raises(ids.BadId, match="not valid for this namespace"):
        ids.from_text(USERS, made[1])
