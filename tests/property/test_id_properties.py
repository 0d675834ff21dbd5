"""Ids read back in their own namespace and in no other."""

from __future__ import annotations

import contextlib

from hypothesis import given, strategies as st
from tsumugi_emulator.durable import ids

KEYS = st.builds(ids.namespace_key, st.text(min_size=1), st.text(min_size=1))


@given(KEYS, st.text(), st.binary(min_size=16, max_size=16))
def test_an_id_reads_back_in_its_namespace(key: str, name: str, random: bytes) -> None:
    for made in (ids.from_name(key, name), ids.from_random(key, random)):
        assert ids.from_text(key, made) == made


@given(KEYS, KEYS, st.text())
def test_an_id_is_refused_by_every_other_namespace(key: str, other: str, name: str) -> None:
    if key == other:
        return
    with contextlib.suppress(ids.BadId):
        ids.from_text(other, ids.from_name(key, name))
        raise AssertionError("accepted")
