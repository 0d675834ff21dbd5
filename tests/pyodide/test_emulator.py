"""The emulated boundary says what real Pyodide said."""

from __future__ import annotations

import re

import pytest
from differences import EXPLAINED
from emulator_run import all_differences, unexplained
from judge import GENERATIONS, modules


@pytest.mark.parametrize("module", modules())
@pytest.mark.parametrize("version", GENERATIONS)
def test_the_emulator_says_what_real_pyodide_says(version, module, emulated):
    found = unexplained(version, module, emulated(version)[module])
    assert not found, "\n" + "\n".join(map(str, found))


@pytest.mark.parametrize("version", GENERATIONS)
def test_no_explanation_outlives_its_difference(version, emulated):
    transcripts = emulated(version)
    places = [
        difference.where
        for module in modules()
        for difference in all_differences(version, module, transcripts[module])
    ]
    idle = [
        pattern
        for explained in EXPLAINED
        for pattern in explained.places
        if version in explained.versions and not any(re.search(pattern, place) for place in places)
    ]
    assert idle == []
