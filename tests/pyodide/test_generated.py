"""Values drawn anew cross the border alike on both sides. The kept ones are in the transcripts."""

from __future__ import annotations

import json
import os
import secrets

import corpus
import generated_run
import pytest
from harness.shapes import has_cycle, is_sound
from judge import GENERATIONS, node_available

#: Values for each Python version; `TSUMUGI_SEED` draws the same ones again.
COUNT = 300


def test_the_same_seed_draws_the_same_values():
    assert corpus.drawn(5, 10) == corpus.drawn(5, 10)
    assert corpus.drawn(5, 10) != corpus.drawn(6, 10)


def test_kept_values_are_sound_and_of_every_kind():
    kept = corpus.kept()
    assert all(map(is_sound, kept))
    assert any(map(has_cycle, kept))
    kinds = set().union(*map(corpus.kinds, kept))
    assert {"bytes", "datetime", "set", "tuple", "function", "object"} <= kinds
    assert {"js.object", "js.map", "js.set", "js.typed", "js.date", "js.error"} <= kinds


def test_a_smaller_value_is_found_by_leaving_out_parts():
    smaller = list(
        generated_run.shrunk(["list", [["int", "1"], ["dict", [[["str", "a"], ["none"]]]]]])
    )
    assert ["list", [["int", "1"]]] in smaller
    assert ["list", [["int", "1"], ["dict", []]]] in smaller
    assert ["dict", [[["str", "a"], ["none"]]]] in smaller


@pytest.mark.parametrize(
    "recipe",
    [
        ["js.object", [["a", ["js.array", [["int", "1"]]]]]],
        ["js.map", [[["str", "a"], ["js.array", [["int", "1"]]]]]],
        ["list", [["js.object", [["a", ["tuple", [["int", "1"]]]]]]]],
    ],
)
def test_smaller_values_are_found_inside_others(recipe):
    text = json.dumps(recipe).replace('["int", "1"]', "")
    assert text in map(json.dumps, generated_run.shrunk(recipe))


@pytest.mark.long
@pytest.mark.timeout(200)
@pytest.mark.skipif(not node_available(), reason="needs node and npm")
@pytest.mark.parametrize("version", GENERATIONS)
def test_new_values_cross_alike(version):
    start = int(os.environ.get("TSUMUGI_SEED") or secrets.randbelow(10**9))
    lines = generated_run.report(version, corpus.drawn(start, COUNT))
    assert not lines, "\n".join([f"TSUMUGI_SEED={start}", *lines])
