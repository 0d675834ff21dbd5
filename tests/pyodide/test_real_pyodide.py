"""The stored transcripts are what real Pyodide says today."""

from __future__ import annotations

import pytest
from compare import said_by_label
from judge import GENERATIONS, modules, node_available, record, stored


@pytest.mark.long
@pytest.mark.timeout(150)
@pytest.mark.skipif(not node_available(), reason="needs node and npm")
@pytest.mark.parametrize("version", GENERATIONS)
def test_stored_transcripts_are_what_real_pyodide_says(version):
    generation = GENERATIONS[version]
    recorded = record(generation)
    assert sorted(recorded) == modules()
    for module, transcript in recorded.items():
        kept = stored(generation, module)
        assert list(kept) == list(transcript)
        for scenario, entries in transcript.items():
            assert said_by_label(kept[scenario]) == said_by_label(entries), f"{module}.{scenario}"


def test_every_scenario_has_a_transcript_for_every_python():
    for generation in GENERATIONS.values():
        for module in modules():
            transcript = stored(generation, module)
            assert transcript, module
            for scenario, entries in transcript.items():
                assert entries, f"{module}.{scenario}"
                assert not any("scenario failed" in entry.get("note", "") for entry in entries)
