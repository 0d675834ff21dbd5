"""The judge's own parts: normalising and comparing."""

from __future__ import annotations

from compare import differences
from differences import EXPLAINED
from normalise import clean


def entry(label, text):
    return {"label": label, "type": "str", "repr": text}


def test_addresses_and_frames_do_not_count():
    text = "<x at 0x16a5720> Traceback (most recent call last):\n  File 'a', line 1\nKeyError: 1\n"
    assert clean(text) == "<x at 0x…> Traceback (most recent call last):\nKeyError: 1\n"


def test_frames_inside_a_repr_do_not_count():
    text = r"'Traceback (most recent call last):\n  File a\n    x()\nKeyError: 1'"
    assert clean(text) == r"'Traceback (most recent call last):\nKeyError: 1'"


def test_the_source_of_a_function_does_not_count():
    emulated = "function plus() { [native code] }"
    assert clean("function plus(a, b) { return a + b; }") == clean(emulated)


def test_a_newer_pythons_wording_is_no_difference():
    newer = [{"label": "a", "raises": "TypeError", "text": "'NoneType' object can't be awaited"}]
    older = [
        {
            "label": "a",
            "raises": "TypeError",
            "text": "object NoneType can't be used in 'await' expression",
        }
    ]
    assert differences("m", {"s": newer}, {"s": older}) == []


def test_another_value_another_call_and_a_missing_label_are_differences():
    real = {"s": [{"host": "sent 1"}, entry("a", "'x'"), entry("b", "'y'"), entry("b", "'z'")]}
    emulated = {"s": [{"host": "sent 2"}, entry("a", "'x'"), entry("b", "'y'")]}
    found = differences("m", real, emulated)
    assert [difference.where for difference in found] == ["m.s: a", "m.s: b (2)"]


def test_every_difference_is_told_completely():
    titles = [explained.title for explained in EXPLAINED]
    assert len(set(titles)) == len(titles)
    for explained in EXPLAINED:
        assert all((explained.title, explained.production, explained.emulator, explained.places))
        assert explained.reason.endswith(".")
        assert explained.versions
